"""Preflight's questions over REST, against the double over TLS."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from components.runai.objects import KINDS
from tests.contract import teams
from tests.contract.conftest import Double, Start
from tests.contract.control_plane import clusters
from tests.contract.control_plane.options import Options
from tests.unit.validation.full_bed import Bed
from validation.compare import differences
from validation.expect import full as expect
from validation.observe.full import CHECKS
from validation.observe.snapshot import Snapshot
from validation.runai import driver

pytestmark = pytest.mark.req("I5", "V1")
Json = dict[str, Any]
CAPTURE: Json = json.loads(
    (Path(__file__).parent / "control_plane" / "captures" / "cluster-connected.json").read_text()
)


@pytest.fixture
def at(start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Double, Snapshot]:
    """A registered and connected cluster, and its stack's outputs; asked by a service account."""
    double = start(Options(connect_after=0, ready_after=0))
    client = double.client()
    made = client.post("/api/v1/clusters", {"name": "gpu", "version": "3.0.24"})
    client.get(f"/api/v1/clusters/{made['uuid']}/cluster-install-info", [("version", "3.0.24")])
    account = client.post("/api/v1/service-accounts", {"name": "preflight"})
    roles = {role["name"]: role["id"] for role in client.get("/api/v1/authorization/roles")}
    rule = {"subjectId": account["id"], "subjectType": "service-account", "scopeType": "system"}
    tenant = {"scopeId": str(made["tenantId"]), "scopeType": "tenant"}
    role = roles["System administrator"]
    client.post("/api/v1/authorization/access-rules", {**rule, **tenant, "roleId": role})
    monkeypatch.setenv(driver.CLIENT_ID, account["clientId"])
    monkeypatch.setenv(driver.CLIENT_SECRET, account["clientSecret"])
    bed = Bed(tmp_path)
    where = {"url": double.access.url, "ca": double.access.ca, "clusterId": made["uuid"]}
    bed.outputs["controlPlane"] |= where
    moment = bed.at()
    teams.make(client, made["uuid"], moment.outputs)
    return double, moment


def lines(at: Snapshot, name: str) -> list[str]:
    check = f"preflight.runai_{name}"
    seen = CHECKS[check](at)
    assert "error" not in seen, seen
    return differences(expect.expected(at.outputs, 30)[check], seen)


def test_a_connected_cluster_of_the_right_version_passes(at: tuple[Double, Snapshot]) -> None:
    double, moment = at
    (cluster,) = double.running.state.clusters.values()
    clusters.told(double.running.state, cluster["uuid"], copy.deepcopy(CAPTURE["status"]))
    cluster["version"] = "3.0.24"
    assert lines(moment, "cluster") == lines(moment, "version") == lines(moment, "teams") == []


def test_agents_of_another_version_are_found(at: tuple[Double, Snapshot]) -> None:
    double, moment = at
    (cluster,) = double.running.state.clusters.values()
    cluster["version"] = "2.24.82"
    clusters.told(double.running.state, cluster["uuid"], copy.deepcopy(CAPTURE["status"]))
    assert lines(moment, "version") == ["agents: expected 3.0.24, found 2.24.82"]


def test_a_missing_prerequisite_is_told_with_the_products_own_reason(at: tuple[Double, Snapshot]) -> None:
    double, moment = at
    (uuid,) = double.running.state.clusters
    status = copy.deepcopy(CAPTURE["status"])
    # The reason is the real one of the cluster's own optional part, as if it were required.
    lws = status["dependencies"]["optional"].pop("lws")
    status["dependencies"]["required"]["lws"] = lws
    status["state"] = "MissingPrerequisites"
    clusters.told(double.running.state, uuid, status)
    found = "".join(lines(moment, "cluster"))
    assert "expected Connected, found MissingPrerequisites" in found
    assert "required/lws: LeaderWorkerSet CRD is not installed in the cluster" in found


def test_a_cluster_that_was_removed_by_hand_is_named(at: tuple[Double, Snapshot]) -> None:
    double, moment = at
    (uuid,) = double.running.state.clusters
    double.running.state.projects.clear()
    double.client().delete(f"/api/v1/clusters/{uuid}")
    assert f"cluster {uuid} is not registered" in "".join(lines(moment, "cluster"))


def test_a_project_without_node_pools_and_a_department_without_quota(at: tuple[Double, Snapshot]) -> None:
    double, moment = at
    client, state = double.client(), double.running.state
    (uuid,) = state.clusters
    department = {"clusterId": uuid, "name": "science", "quotas": teams.QUOTA}
    id_, _ = KINDS["Department"].create(client, department)
    project = {"clusterId": uuid, "name": "team", "departmentId": id_, "namespace": "runai-team"}
    KINDS["Project"].create(client, {**project, "quotas": teams.QUOTA})
    assert lines(moment, "teams") == []
    made = next(one for one in state.projects.values() if one["name"] == "team")
    made["defaultNodePools"], made["effective"] = [], {}
    state.departments[id_]["resources"][0]["gpu"]["deserved"] = 0
    found = "".join(lines(moment, "teams"))
    assert "withoutPools: expected [], found ['team']" in found
    assert "department science, node pool default: no quota, its projects were promised 2" in found


def test_teams_that_the_control_plane_does_not_know_are_named(at: tuple[Double, Snapshot]) -> None:
    double, moment = at
    state = double.running.state
    state.projects.clear()
    state.departments.clear()
    (told,) = lines(moment, "teams")
    assert told.startswith("missing: expected [], found")
    assert [f"project {one.name}" for one in moment.outputs.projects if one.name not in told] == []
    assert [f"department {one.name}" for one in moment.outputs.departments if one.name not in told] == []


def test_without_an_account_the_check_fails_and_says_what_to_set(
    at: tuple[Double, Snapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(driver.CLIENT_SECRET)
    told = CHECKS["preflight.runai_teams"](at[1])["error"]
    assert driver.CLIENT_SECRET in told
    assert "service account" in told
