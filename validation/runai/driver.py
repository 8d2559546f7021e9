"""Submits and removes workloads over REST; who asks is in the environment, in no variable of a play."""

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
from validation.runai.requests import refusal, training
from validation.settings import OutputsError, StackOutputs

Json = dict[str, Any]
CLIENT_ID, CLIENT_SECRET = "KIT_RUNAI_CLIENT_ID", "KIT_RUNAI_CLIENT_SECRET"
_TRAININGS = "/api/v1/workloads/trainings"
_WORKLOADS = "/api/v1/workloads"


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
    """Ids of the accepted trainings. Raises ValueError for what it cannot state, before any request."""
    if wrong := [text for item in items if (text := refusal(item))]:
        raise ValueError("; ".join(wrong))
    projects = _projects(client, outputs.controlPlane.clusterId)
    unknown = sorted({item["project"] for item in items} - set(projects))
    if unknown:
        known = ", ".join(sorted(projects)) or "none"
        raise ValueError(f"projects {', '.join(unknown)}: not in the control plane, which has {known}")
    cluster = outputs.controlPlane.clusterId
    bodies = [training(item, test, projects[item["project"]], cluster) for item in items]
    return [str(client.post(_TRAININGS, body)["workloadId"]) for body in bodies]


def remove(client: Client, outputs: StackOutputs, timeout: float) -> tuple[list[str], list[str]]:
    """(removed, left): names of the suite's workloads, asked to go and waited for."""
    deadline = time.monotonic() + timeout
    removed: list[str] = []
    for item in list(_own(client, outputs)):
        try:
            client.delete(f"{_TRAININGS}/{item['id']}")
        except NotFoundError:
            continue
        removed.append(str(item["name"]))
    while (left := [str(item["name"]) for item in _own(client, outputs)]) and time.monotonic() < deadline:
        time.sleep(1)
    return removed, left


def _own(client: Client, outputs: StackOutputs) -> Iterator[Json]:
    cluster = [("filterBy", f"clusterId=={outputs.controlPlane.clusterId}")]
    for item in client.pages(_WORKLOADS, "workloads", cluster):
        if str(item["name"]).startswith(names.WORKLOAD_PREFIX):
            yield item


def _projects(client: Client, cluster: str) -> dict[str, str]:
    listed = client.pages("/api/v1/org-unit/projects", "projects", [("filterBy", f"clusterId=={cluster}")])
    return {str(item["name"]): str(item["id"]) for item in listed}
