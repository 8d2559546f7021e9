"""Each kind of object against the double: made, read, changed, put back or removed."""

from __future__ import annotations

import pytest

from components.runai.client import Client, Json
from components.runai.errors import ConflictError, NotFoundError, NotReadyError
from components.runai.objects import KINDS
from components.runai.objects import base as base_module
from components.runai.objects import projects as projects_module
from tests.contract.conftest import Double, Start
from tests.contract.control_plane.options import Options

REGISTRATION = {"name": "gpu-1", "domain": "https://gpu-1.example.test", "version": "3.0.24"}


def quota(deserved: float = 2, limit: float = 4, weight: float = 1, pool: str = "default") -> Json:
    return {"nodePool": pool, "deserved": deserved, "limit": limit, "overQuotaWeight": weight}


@pytest.fixture
def client(double: Double) -> Client:
    return double.client()


@pytest.fixture
def cluster(client: Client) -> str:
    return KINDS["Registration"].create(client, REGISTRATION)[0]


def department(cluster: str, name: str = "engineering") -> Json:
    return {"clusterId": cluster, "name": name, "quotas": [quota()]}


def project(cluster: str, department_id: str) -> Json:
    return {
        "clusterId": cluster,
        "name": "team-a",
        "departmentId": department_id,
        "namespace": "runai-team-a",
        "quotas": [quota(1, 2)],
    }


@pytest.mark.req("I5")
def test_a_cluster_is_registered_once(client: Client, double: Double) -> None:
    kind = KINDS["Registration"]
    uuid, state = kind.create(client, REGISTRATION)
    assert state["uuid"] == uuid
    assert state["clientSecret"] == double.running.state.secrets[uuid]
    assert state["taken"] is False
    again, found = kind.create(client, REGISTRATION)
    assert (again, found["taken"]) == (uuid, True)
    # One that was there before stays.
    kind.delete(client, uuid, found)
    assert kind.read(client, uuid, state) == state
    kind.delete(client, uuid, state)
    assert kind.read(client, uuid, state) is None
    kind.delete(client, uuid, state)


@pytest.mark.req("I5")
def test_a_name_that_another_cluster_has_is_refused(client: Client, cluster: str) -> None:
    other = REGISTRATION | {"domain": "https://other.example.test"}
    with pytest.raises(ConflictError, match=r"choose another clusterAgents\.name"):
        KINDS["Registration"].create(client, other)


@pytest.mark.req("I6")
def test_org_units_are_made_read_changed_and_removed(client: Client, cluster: str, double: Double) -> None:
    departments, projects = KINDS["Department"], KINDS["Project"]
    above, state = departments.create(client, department(cluster))
    id_, made = projects.create(client, project(cluster, above))
    assert made["before"] == {}
    assert projects.read(client, id_, made) == made
    seen = client.get(f"/api/v1/org-unit/projects/{id_}")
    assert seen["status"] == {"phase": "Ready", "namespace": "runai-team-a", "phaseMessage": None}
    assert seen["defaultNodePools"] == ["default"]
    wanted = project(cluster, above) | {"quotas": [quota(3, -1, 2)]}
    assert projects.update(client, id_, wanted, made)["quotas"] == [quota(3, -1, 2)]
    assert client.get(f"/api/v1/org-unit/projects/{id_}")["resources"][0]["gpu"] == {
        "deserved": 3,
        "limit": None,
        "overQuotaWeight": 2,
    }
    assert (projects.read(client, id_, made) or {})["quotas"] == [quota(3, -1, 2)]
    # A department that still has projects is not removed.
    with pytest.raises(ConflictError, match="remove what uses it"):
        departments.delete(client, above, state)
    projects.delete(client, id_, made)
    departments.delete(client, above, state)
    assert projects.read(client, id_, made) is None
    assert departments.read(client, above, state) is None
    assert not double.running.state.projects


@pytest.mark.req("I6")
def test_what_was_there_before_gets_its_content_back(client: Client, cluster: str) -> None:
    kind = KINDS["Department"]
    path = "/api/v1/org-unit/departments"
    (default,) = client.pages(path, "departments")
    id_, state = kind.create(client, department(cluster, "default"))
    assert id_ == default["id"]
    assert client.get(f"{path}/{id_}")["resources"][0]["gpu"]["deserved"] == 2
    kind.delete(client, id_, state)
    after = client.get(f"{path}/{id_}")
    changing = ("updatedAt",)
    assert {k: v for k, v in after.items() if k not in changing} == {
        k: v for k, v in default.items() if k not in changing
    }


@pytest.mark.req("I6")
def test_an_object_of_ours_is_known_again_after_its_state_was_lost(client: Client, cluster: str) -> None:
    kind = KINDS["Department"]
    first, _ = kind.create(client, department(cluster))
    second, state = kind.create(client, department(cluster))
    assert (second, state["before"]) == (first, {})
    kind.delete(client, second, state)
    assert kind.read(client, first, state) is None


@pytest.mark.req("I6")
def test_a_change_by_hand_is_seen(client: Client, cluster: str) -> None:
    kind = KINDS["Department"]
    id_, state = kind.create(client, department(cluster))
    pool = client.get(f"/api/v1/org-unit/departments/{id_}")["resources"][0]["nodePool"]
    by_hand = [{"nodePool": pool, "gpu": {"deserved": 7, "limit": 8, "overQuotaWeight": 1}}]
    client.put(f"/api/v1/org-unit/departments/{id_}", {"resources": by_hand})
    assert (kind.read(client, id_, state) or {})["quotas"] == [quota(7, 8)]


@pytest.mark.req("I6")
def test_a_quota_on_an_unknown_pool_names_it(client: Client, cluster: str) -> None:
    wanted = department(cluster) | {"quotas": [quota(pool="h100")]}
    with pytest.raises(NotFoundError, match=r"node pool h100: .* define it in runai-kit:nodePools"):
        KINDS["Department"].create(client, wanted)


@pytest.mark.req("I6")
def test_a_node_pool_with_a_quota_is_not_removed(client: Client, cluster: str) -> None:
    pools, departments = KINDS["NodePool"], KINDS["Department"]
    wanted = {
        "clusterId": cluster,
        "name": "h100",
        "labelKey": "kai.scheduler/node-pool",
        "labelValue": "h100",
        "gpuPlacement": "binpack",
        "cpuPlacement": "spread",
    }
    pool, state = pools.create(client, wanted)
    assert pools.read(client, pool, state) == state
    above, held = departments.create(client, department(cluster) | {"quotas": [quota(pool="h100")]})
    with pytest.raises(ConflictError, match="has a quota of engineering"):
        pools.delete(client, pool, state)
    changed = pools.update(client, pool, wanted | {"gpuPlacement": "spread"}, state)
    assert (pools.read(client, pool, state) or {})["gpuPlacement"] == changed["gpuPlacement"] == "spread"
    departments.delete(client, above, held)
    pools.delete(client, pool, state)
    assert pools.read(client, pool, state) is None


@pytest.mark.req("I6")
def test_a_project_waits_for_its_phase(start: Start) -> None:
    double = start(Options(ready_after=0.5, connect_after=0.2))
    client = double.client()
    cluster = KINDS["Registration"].create(client, REGISTRATION)[0]
    above, _ = KINDS["Department"].create(client, department(cluster))
    id_, _ = KINDS["Project"].create(client, project(cluster, above))
    assert client.get(f"/api/v1/org-unit/projects/{id_}")["status"]["phase"] == "Ready"


@pytest.mark.req("I6")
def test_a_project_that_never_gets_ready_says_where_to_look(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projects_module, "PATIENCE", 0.1)
    monkeypatch.setattr(base_module, "PATIENCE", 0.1)
    client = start(Options(connect_after=-1)).client()
    cluster = KINDS["Registration"].create(client, REGISTRATION)[0]
    above, _ = KINDS["Department"].create(client, department(cluster))
    with pytest.raises(
        NotReadyError, match=r"Creating \(waiting for the cluster\).*project controller's log"
    ):
        KINDS["Project"].create(client, project(cluster, above))


@pytest.mark.req("I6")
def test_a_service_account_works_with_its_rule_and_not_without(client: Client, double: Double) -> None:
    accounts, rules = KINDS["ServiceAccount"], KINDS["AccessRule"]
    id_, account = accounts.create(client, {"name": "kit", "enabled": True})
    rule = {
        "subject": id_,
        "subjectType": "service-account",
        "role": "System administrator",
        "scopeType": "tenant",
        "scopeId": "1001",
        "clusterId": "none",
    }
    rule_id, state = rules.create(client, rule)
    assert rules.read(client, rule_id, state) == state
    robot = double.client(client_id=account["clientId"], client_secret=account["clientSecret"])
    assert robot.get("/api/v1/clusters") == []
    rules.delete(client, rule_id, state)
    assert rules.read(client, rule_id, state) is None
    with pytest.raises(ConflictError, match="choose another name"):
        accounts.create(client, {"name": "kit", "enabled": True})
    off = accounts.update(client, id_, {"name": "kit", "enabled": False}, account)
    assert (accounts.read(client, id_, account) or {})["enabled"] is off["enabled"] is False
    accounts.delete(client, id_, account)
    assert accounts.read(client, id_, account) is None


@pytest.mark.req("I6")
def test_an_unknown_role_names_those_there_are(client: Client) -> None:
    rule = {
        "subject": "x",
        "subjectType": "user",
        "role": "King",
        "scopeType": "tenant",
        "scopeId": "1",
        "clusterId": "",
    }
    with pytest.raises(NotFoundError, match="one of Department administrator, L1 researcher, System admin"):
        KINDS["AccessRule"].create(client, rule)
