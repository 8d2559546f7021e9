"""Backup and restore of org units against the double: saved, wiped, brought back, and refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.full.saved import NAME, age, folder_of
from components.runai.access import Access
from components.runai.client import Client
from components.runai.errors import ApiError, UnreachableError
from day2.backup import document
from day2.backup.document import BackupError, Document, Key, Plane
from day2.backup.live import look
from day2.backup.run import restore, save
from day2.backup.source import Source
from tests.contract.conftest import Double
from tests.contract.control_plane.failures import Fault

Json = dict[str, Any]
PROJECTS = "/api/v1/org-unit/projects"
CLUSTER = {"name": "gpu-1", "domain": "https://gpu-1.example.test", "version": "3.0.24"}
OWNER = "external PostgreSQL at db.example.test: its owner saves it"


def filled(client: Client, cluster: Json) -> str:
    """A cluster as people leave it: pools, quotas with CPU and rank aside, accounts, rules; its uuid."""
    made = client.post("/api/v1/clusters", cluster)
    uuid = made["uuid"]
    client.get(f"/api/v1/clusters/{uuid}/cluster-install-info", [("version", "3.0.24")])
    label = {"labelKey": "pool", "labelValue": "h100"}
    pool = client.post("/api/v1/node-pools", {"name": "h100", "clusterId": uuid, **label})
    gpu = {"deserved": 2, "limit": 4, "overQuotaWeight": 3}
    quota = [{"nodePool": {"id": pool["id"]}, "gpu": gpu, "rank": "2"}]
    unit = {"clusterId": uuid, "resources": quota}
    department = client.post(
        "/api/v1/org-unit/departments", {**unit, "name": "engineering", "description": "by hand"}
    )
    child = {**unit, "parentId": department["id"], "defaultNodePools": ["h100"]}
    project = client.post(PROJECTS, {**child, "name": "team-a", "requestedNamespace": "runai-team-a"})
    robot = client.post("/api/v1/service-accounts", {"name": "robot"})
    client.patch(f"/api/v1/service-accounts/{robot['id']}", {"enabled": False})
    roles = {role["name"]: role["id"] for role in client.get("/api/v1/authorization/roles")}
    for subject, kind, role, scope, id_ in (
        (robot["id"], "service-account", "L1 researcher", "project", project["id"]),
        ("alice@example.test", "user", "Department administrator", "department", department["id"]),
        ("bob@example.test", "user", "System administrator", "tenant", str(made["tenantId"])),
        ("carol@example.test", "user", "L1 researcher", "cluster", uuid),
    ):
        rule = {"subjectId": subject, "subjectType": kind, "scopeType": scope, "scopeId": id_}
        client.post("/api/v1/authorization/access-rules", {**rule, "roleId": roles[role]})
    return str(uuid)


@pytest.fixture
def uuid(double: Double) -> str:
    return filled(double.client(), CLUSTER)


@pytest.fixture
def source(double: Double, uuid: str) -> Source:
    plane = Plane(url=double.access.url, version="3.0.24")
    return Source("site", plane, double.access, "", OWNER, "", "")


@pytest.fixture
def saved(source: Source, tmp_path: Path) -> Document:
    folder, _ = save(source, tmp_path)
    return document.read(folder)


def wipe(double: Double) -> str:
    """The control plane as after its database was lost and the cluster registered again; its new uuid."""
    state = double.running.state
    for items in (state.clusters, state.node_pools, state.departments, state.projects, state.accounts):
        items.clear()
    state.rules.clear()
    client = double.client()
    made = client.post("/api/v1/clusters", CLUSTER)
    client.get(f"/api/v1/clusters/{made['uuid']}/cluster-install-info", [("version", "3.0.24")])
    return str(made["uuid"])


@pytest.mark.req("I6")
def test_what_was_saved_comes_back_after_a_wipe(
    double: Double, uuid: str, source: Source, saved: Document
) -> None:
    before = look(double.client())
    assert before.tree == saved.tree()
    assert wipe(double) != uuid
    done = restore(source, saved)
    after = look(double.client())
    assert after.tree == before.tree
    assert not set(after.ids.values()) & set(before.ids.values())
    assert done.left == ()
    assert {line.partition(":")[0] for line in done.made} == {
        "node pool gpu-1/h100",
        "department gpu-1/engineering",
        "project gpu-1/team-a",
        "service account robot",
        "access rule gpu-1/service-account robot is L1 researcher of project team-a",
        "access rule gpu-1/user alice@example.test is Department administrator of department engineering",
        "access rule user bob@example.test is System administrator of tenant",
        "access rule gpu-1/user carol@example.test is L1 researcher of cluster",
    }
    again = restore(source, saved)
    assert (again.made, again.left, again.more) == ((), (), ())


@pytest.mark.req("I6")
def test_a_quota_keeps_all_that_the_api_told(saved: Document) -> None:
    team = saved.tree()[Key(kind="project", cluster="gpu-1", name="team-a")]
    gpu = {"deserved": 2, "limit": 4, "overQuotaWeight": 3}
    assert team["quotas"] == {"h100": {"gpu": gpu, "rank": "2"}}
    assert (team["department"], team["requestedNamespace"]) == ("engineering", "runai-team-a")


@pytest.mark.req("I6")
def test_what_differs_is_told_and_what_is_more_is_left(
    double: Double, source: Source, saved: Document
) -> None:
    state = double.running.state
    (project,) = state.projects.values()
    project["resources"][0]["gpu"]["deserved"] = 7
    double.client().post("/api/v1/service-accounts", {"name": "later"})
    done = restore(source, saved)
    assert done.made == ()
    assert done.left == (
        "project gpu-1/team-a: quotas.h100.gpu.deserved: found 7; the backup has 2; left as it is",
    )
    assert done.more == ("service account later: is not in the backup; left alone",)
    assert project["resources"][0]["gpu"]["deserved"] == 7
    assert {item["name"] for item in state.accounts.values()} == {"robot", "later"}


@pytest.mark.req("I6")
def test_restore_asks_for_nothing_but_new_objects(double: Double, source: Source, saved: Document) -> None:
    wipe(double)
    begin = len(double.running.state.journal.told)
    restore(source, saved)
    told = double.running.state.journal.told[begin:]
    assert {item.method for item in told} == {"GET", "POST", "PATCH"}
    # An account that was disabled is made, and disabled: the only change of anything.
    assert [item.request for item in told if item.method == "PATCH"] == [{"enabled": False}]


@pytest.mark.req("I13")
def test_no_secret_is_in_the_file(double: Double, source: Source, tmp_path: Path) -> None:
    folder, _ = save(source, tmp_path)
    state = double.running.state
    text = (folder / NAME).read_text()
    known = [double.access.password, *state.secrets.values(), *state.tokens]
    assert len(known) > 3
    assert [secret for secret in known if secret in text] == []
    assert folder.stat().st_mode & 0o077 == 0


@pytest.mark.req("I6")
def test_one_refusal_stops_what_hangs_on_it_and_nothing_else(
    double: Double, source: Source, saved: Document
) -> None:
    wipe(double)
    double.running.state.journal.faults.append(Fault("POST", PROJECTS, 1, 403))
    done = restore(source, saved)
    assert len(done.left) == 2
    assert done.left[0].startswith("project gpu-1/team-a: ")
    assert "found 403" in done.left[0]
    assert "found none; expected one; see why it was not made" in done.left[1]
    assert len(done.made) == 6
    # And is made good by another run.
    assert restore(source, saved).left == ()


@pytest.mark.req("I6")
def test_an_account_of_the_stack_is_left_to_it(double: Double, source: Source, saved: Document) -> None:
    wipe(double)
    done = restore(replace(source, accounts=frozenset({"robot"})), saved)
    assert double.running.state.accounts == {}
    assert any("service account robot: the stack's own" in line for line in done.left)


@pytest.mark.req("I6")
def test_a_stack_with_agents_only_saves_its_own_cluster(
    double: Double, uuid: str, source: Source, tmp_path: Path
) -> None:
    double.client().post("/api/v1/clusters", {**CLUSTER, "name": "others"})
    double.client().post("/api/v1/service-accounts", {"name": "idle"})
    _, own = save(replace(source, cluster=uuid), tmp_path)
    assert own.clusters == ["gpu-1"]
    names = {(item.kind, item.name) for item in own.objects}
    assert ("service account", "robot") in names
    assert ("service account", "idle") not in names
    assert not any("tenant" in name for _, name in names)


@pytest.mark.req("I6", "I15")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"controlPlane": {"url": "https://other.test", "version": "3.0.24"}},
            "found one of https://other.test",
        ),
        ({"controlPlane": {"version": "3.0.23"}}, "found version 3.0.23; expected 3.0.24"),
        ({"format": 2}, "found format 2; expected 1"),
        ({"objects": [{"kind": "cluster"}]}, "found objects.0.kind"),
        ({"surprise": 1}, "found surprise: Extra inputs are not permitted"),
    ],
)
def test_a_backup_of_something_else_is_refused(
    change: Json, words: str, double: Double, source: Source, tmp_path: Path
) -> None:
    folder, _ = save(source, tmp_path)
    data = yaml.safe_load((folder / NAME).read_text())
    plane = {**data["controlPlane"], **change.get("controlPlane", {})}
    (folder / NAME).write_text(yaml.safe_dump({**data, **change, "controlPlane": plane}))
    before = len(double.running.state.journal.told)
    with pytest.raises(BackupError, match=words):
        restore(source, document.read(folder))
    assert len(double.running.state.journal.told) == before


@pytest.mark.req("I6")
def test_another_version_can_be_asked_for(source: Source, saved: Document) -> None:
    older = saved.model_copy(update={"controlPlane": Plane(url=source.plane.url, version="3.0.23")})
    assert restore(source, older, any_version=True).made == ()


@pytest.mark.req("I6", "I15")
def test_a_cluster_that_is_not_registered_is_named(double: Double, source: Source, saved: Document) -> None:
    wipe(double)
    double.running.state.clusters.clear()
    with pytest.raises(BackupError, match=r"objects of cluster gpu-1; expected only clusters.*registers it"):
        restore(source, saved)


@pytest.mark.req("I6", "I15")
@pytest.mark.parametrize("text", [None, "", "[]", "a: [", "\x00"])
def test_a_file_that_is_no_backup_is_refused(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / NAME
    if text is not None:
        path.write_text(text)
    with pytest.raises(BackupError, match=r"found .*; expected .*; "):
        document.read(tmp_path)


@pytest.mark.req("I6", "I15")
def test_no_control_plane_and_no_credentials_leave_no_folder(source: Source, tmp_path: Path) -> None:
    nowhere = replace(source.access, url="https://localhost:1")
    with pytest.raises(UnreachableError):
        save(replace(source, access=nowhere), tmp_path)
    assert list(folder_of(tmp_path, "site").iterdir()) == []
    with pytest.raises(ApiError, match="found no credentials; expected a service account"):
        Access(source.plane.url, source.access.ca)


@pytest.mark.req("I6")
def test_the_newest_backup_of_this_control_plane_counts(source: Source, tmp_path: Path) -> None:
    url = source.plane.url
    assert age(tmp_path, "site", url) is None
    folder, _ = save(source, tmp_path)
    newest = age(tmp_path, "site", url)
    assert newest is not None
    assert newest.total_seconds() < 60
    assert age(tmp_path, "site", "https://other.test") is None
    (folder / NAME).write_text(json.dumps({"format": 1}))
    assert age(tmp_path, "site", url) is None
