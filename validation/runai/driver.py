"""Submits, lists and removes workloads over REST; who asks is in the environment, in no variable."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

from components.runai.access import Access
from components.runai.client import Client
from components.runai.errors import NotFoundError
from components.runai.transport import Patience
from validation import names
from validation.runai.kinds import API, KINDS, TYPES
from validation.runai.requests import body, refusal
from validation.settings import OutputsError, StackOutputs

Json = dict[str, Any]
CLIENT_ID, CLIENT_SECRET = "KIT_RUNAI_CLIENT_ID", "KIT_RUNAI_CLIENT_SECRET"


def connect(outputs: StackOutputs, patience: Patience | None = None) -> Client:
    """A client of the stack's control plane. Raises OutputsError for what is missing."""
    place = outputs.controlPlane
    if not place.url:
        raise OutputsError("the stack's outputs name no control plane: run `pulumi up` with profile full")
    who, secret = os.environ.get(CLIENT_ID, ""), os.environ.get(CLIENT_SECRET, "")
    if not (who and secret):
        raise OutputsError(
            f"{CLIENT_ID} and {CLIENT_SECRET} are not both set: expected a service account that may submit "
            "workloads, such as one of runai-kit:serviceAccounts (pulumi stack output serviceAccounts)"
        )
    return Client(Access(place.url, place.ca, client_id=who, client_secret=secret), patience)


def submit(client: Client, outputs: StackOutputs, test: str, items: Sequence[Json]) -> list[str]:
    """Ids of the accepted workloads. Raises ValueError for what it cannot state, before any request."""
    if wrong := [text for item in items if (text := refusal(item))]:
        raise ValueError("; ".join(wrong))
    projects = _projects(client, outputs.controlPlane.clusterId)
    unknown = sorted({item["project"] for item in items} - set(projects))
    if unknown:
        known = ", ".join(sorted(projects)) or "none"
        raise ValueError(f"projects {', '.join(unknown)}: not in the control plane, which has {known}")
    cluster = outputs.controlPlane.clusterId
    return [
        str(
            client.post(KINDS[item["kind"]].path, body(item, test, projects[item["project"]], cluster))[
                "workloadId"
            ]
        )
        for item in items
    ]


def own(client: Client, outputs: StackOutputs, test: str = "") -> Iterator[Json]:
    """The suite's workloads as the control plane lists them; of one test by its label."""
    cluster = [("filterBy", f"clusterId=={outputs.controlPlane.clusterId}")]
    for item in client.pages(API, "workloads", cluster):
        if not str(item["name"]).startswith(names.WORKLOAD_PREFIX) or item["type"] not in TYPES:
            continue
        if not test or _test(client, item) == test:
            yield item


def ask_to_go(client: Client, outputs: StackOutputs, test: str = "") -> list[str]:
    """Names of the workloads whose removal was asked for; it takes the agents time."""
    asked = []
    for item in list(own(client, outputs, test)):
        try:
            client.delete(f"{TYPES[item['type']].path}/{item['id']}")
        except NotFoundError:
            continue
        asked.append(str(item["name"]))
    return asked


def left(client: Client, outputs: StackOutputs, test: str, timeout: float) -> list[str]:
    """Names of what is still there after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while (
        found := [str(item["name"]) for item in own(client, outputs, test)]
    ) and time.monotonic() < deadline:
        time.sleep(1)
    return found


def _test(client: Client, item: Json) -> str:
    """The test that a workload belongs to, from the labels that it was submitted with."""
    try:
        spec = client.get(f"{TYPES[item['type']].path}/{item['id']}").get("spec") or {}
    except NotFoundError:
        return ""
    labels = {pair["name"]: pair["value"] for pair in spec.get("labels") or []}
    return str(labels.get(names.TEST_LABEL, ""))


def _projects(client: Client, cluster: str) -> dict[str, str]:
    listed = client.pages("/api/v1/org-unit/projects", "projects", [("filterBy", f"clusterId=={cluster}")])
    return {str(item["name"]): str(item["id"]) for item in listed}
