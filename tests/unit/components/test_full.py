"""The full profile on mocks: order, values, secrets, and its three topologies."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from components.full.gates import ApiGate, PlatformError
from components.runai.client import Json
from components.runai.errors import UnreachableError
from tests.full import AGENTS, EVERYTHING_FULL, FULL, PASSWORD, write_files
from tests.mocks import Run
from tests.stack import changed, plain, run_platform


@pytest.fixture(autouse=True)
def answering(monkeypatch: pytest.MonkeyPatch) -> None:
    """A control plane that answers and a cluster that is connected."""

    async def answers(self: ApiGate, at: Json) -> Json:
        return at

    async def connected(self: ApiGate, at: Json, uuid: str) -> str:
        return uuid

    monkeypatch.setattr(ApiGate, "answers", answers)
    monkeypatch.setattr(ApiGate, "connected", connected)


def declared(root: Path, values: dict[str, Any], star: str = "runai.apps.example.test") -> Run:
    write_files(root, star)
    return run_platform(root, values)


@pytest.mark.req("I4", "I5", "I6")
def test_same_cluster_in_the_order_that_works(tmp_path: Path) -> None:
    run = declared(tmp_path, FULL)
    order = [
        ("Namespace", "runai-backend"),
        ("Secret", "runai-backend-runai-backend-tls"),
        ("Release", "runai-backend"),
        ("Registration", "registration"),
        ("Secret", "runai-kit-client"),
        ("Release", "runai-cluster"),
        ("Namespace", "runai-team-a"),
        ("Department", "department-engineering"),
        ("Project", "project-team-a"),
    ]
    names = [(item.type.split(":")[-1].split("/")[-1], item.name) for item in run.resources]
    places = [names.index(item) for item in order]
    assert places == sorted(places)
    # Not only told later: each waits for the one before.
    assert "runai-backend-runai-backend-tls" in run.one("Release", "runai-backend").depends_on
    assert "runai-kit-client" in run.one("Release", "runai-cluster").depends_on
    assert "runai-team-a" in run.reached(run.one("OrgUnits", "org-units").depends_on)


@pytest.mark.req("E3")
def test_no_scheduler_of_ours_beside_the_products(tmp_path: Path) -> None:
    run = declared(tmp_path, FULL)
    assert not run.of_type("Queue")
    assert not [item for item in run.of_type("Release") if "kai" in item.name]
    assert run.value["driver"] == "runai"
    assert run.value["schedulerName"] == "runai-scheduler"


@pytest.mark.req("I4")
def test_values_of_the_control_plane(tmp_path: Path) -> None:
    run = declared(tmp_path, FULL)
    release = run.one("Release", "runai-backend").inputs
    assert release["chart"] == "control-plane"
    assert release["repositoryOpts"] == {"repo": "https://helm.ngc.nvidia.com/nvidia/runai-oss"}
    assert release["version"] == "3.0.24"
    # One secret among the values makes all of them one.
    values = plain(release["values"])
    assert values != release["values"]
    assert values["global"] == {
        "additionalImagePullSecrets": [],
        "customCA": {"enabled": True},
        "domain": "runai.apps.example.test",
        "ingress": {"ingressClass": "haproxy", "tlsSecretName": "runai-backend-tls"},
    }
    admin = values["tenantsManager"]["config"]
    assert admin["adminUsername"] == "admin@example.test"
    assert admin["adminPassword"] == PASSWORD


@pytest.mark.req("I4")
def test_everything_that_can_be_set_reaches_the_charts(tmp_path: Path) -> None:
    run = declared(tmp_path, EVERYTHING_FULL, "gpu-1.example.test")
    release = run.one("Release", "runai-backend").inputs
    values = plain(release["values"])
    assert values["supportEntitled"] is True
    assert values["postgresql"] == {"enabled": False}
    auth = values["global"]["postgresql"]["auth"]
    assert (auth["host"], auth["port"], auth["dbSslMode"]) == ("db.example.test", 5433, "verify-full")
    assert auth["password"] == "database"
    assert values["global"]["storageClass"] == "fast"
    assert values["thanos"]["receive"]["persistence"] == {"storageClass": "fast"}
    assert values["global"]["tolerations"] == [
        {"key": "system", "operator": "Equal", "value": "runai", "effect": "NoSchedule"}
    ]
    # The customer's own values are laid over ours and leave the rest.
    assert values["global"]["replicaCount"] == 2
    assert values["global"]["domain"] == "runai.example.test"
    repository = plain(release["repositoryOpts"])
    assert repository != release["repositoryOpts"]
    assert repository["repo"] == "https://helm.ngc.nvidia.com/nvidia/runai"
    assert repository["username"] == "$oauthtoken"
    assert repository["password"] == "key"
    for namespace in ("runai-backend", "runai"):
        secret = run.one("Secret", f"{namespace}-runai-reg-creds").inputs
        assert "nvcr.io" in json.loads(plain(secret["stringData"])[".dockerconfigjson"])["auths"]
    agents = run.one("Release", "runai-cluster").inputs["values"]
    assert agents["global"]["additionalImagePullSecrets"] == ["runai-reg-creds"]
    assert agents["clusterConfig"]["global"]["core"] == {"dynamicFractions": {"enabled": True}}
    assert agents["clusterConfig"]["project-controller"] == {"createNamespaces": True}


@pytest.mark.req("I5")
def test_values_of_the_agents(tmp_path: Path) -> None:
    run = declared(tmp_path, FULL)
    values = run.one("Release", "runai-cluster").inputs["values"]
    assert values["controlPlane"] == {
        "url": "https://runai.apps.example.test",
        "existingSecret": "runai-kit-client",
        "secretKeys": {"clientSecret": "clientSecret"},
    }
    assert values["cluster"] == {"uid": "cluster-uuid", "url": "https://runai.apps.example.test"}
    assert values["global"]["customCA"] == {"enabled": True}
    assert values["clusterConfig"]["project-controller"] == {"createNamespaces": False}
    assert "client secret" not in json.dumps(values)
    ca = run.one("Secret", "runai-runai-ca-cert").inputs
    assert ca["metadata"]["labels"]["run.ai/cluster-wide"] == "true"
    assert list(plain(ca["stringData"])) == ["runai-ca.pem"]


@pytest.mark.req("I1", "I6")
def test_project_namespaces_are_made_labelled_before_the_projects(tmp_path: Path) -> None:
    run = declared(tmp_path, FULL)
    labels = run.one("Namespace", "runai-team-a").inputs["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "privileged"
    assert labels["runai/queue"] == "team-a"
    project = run.one("Project", "project-team-a").inputs
    assert project["namespace"] == "runai-team-a"
    assert project["quotas"] == [{"nodePool": "default", "deserved": 2, "limit": 4, "overQuotaWeight": 1}]
    assert (
        run.one("Namespace", "runai-reservation").inputs["metadata"]["labels"][
            "pod-security.kubernetes.io/enforce"
        ]
        == "privileged"
    )


@pytest.mark.req("I6")
def test_a_department_without_bound_gets_what_its_projects_were_promised(tmp_path: Path) -> None:
    run = declared(tmp_path, FULL)
    assert run.one("Department", "department-default").inputs["quotas"] == [
        {"nodePool": "default", "deserved": 1, "limit": -1, "overQuotaWeight": 1}
    ]


@pytest.mark.req("I6")
def test_accounts_and_rules_hang_where_they_belong(tmp_path: Path) -> None:
    run = declared(tmp_path, EVERYTHING_FULL, "gpu-1.example.test")
    rule = run.one("AccessRule", "access-rule-kit-L1 researcher-project/team-a").inputs
    assert (rule["subject"], rule["scopeType"]) == ("service-account-kit-id", "project")
    assert rule["scopeId"] == "project-team-a-id"
    alice = run.one(
        "AccessRule", "access-rule-alice@example.test-Department administrator-department/engineering"
    )
    assert alice.inputs["scopeId"] == "department-engineering-id"
    assert run.one("NodePool", "node-pool-h100").inputs["labelValue"] == "h100"


@pytest.mark.req("I5")
def test_agents_for_a_control_plane_that_is_there(tmp_path: Path) -> None:
    run = declared(tmp_path, AGENTS, "gpu-2.example.test")
    assert [item.name for item in run.of_type("Release") if "runai" in item.name] == ["runai-cluster"]
    values = run.one("Release", "runai-cluster").inputs["values"]
    assert values["controlPlane"]["url"] == "https://runai.other.test"
    assert values["cluster"]["url"] == "https://gpu-2.example.test"
    assert not [item for item in run.of_type("Namespace") if item.name == "runai-backend"]


@pytest.mark.req("I5")
@pytest.mark.parametrize("name", ["gpu-2", "gpu-3"])
def test_each_cluster_has_a_stack_that_refers_to_the_control_planes(name: str, tmp_path: Path) -> None:
    values = changed(AGENTS, "controlPlane", AGENTS["controlPlane"] | {"source": "stack", "stack": "plane"})
    values["controlPlane"].pop("domain")
    run = declared(tmp_path, changed(values, "clusterAgents.name", name), "gpu-2.example.test")
    registration = run.one("Registration", "registration").inputs
    assert registration["name"] == name
    assert registration["at"] == {"url": "https://plane.test", "ca": "their CA"}


@pytest.mark.req("I5")
def test_a_control_plane_without_agents_tells_others_where_it_is(tmp_path: Path) -> None:
    values = changed(changed(FULL, "clusterAgents", {"enabled": False}), "departments", [])
    run = declared(tmp_path, values)
    assert [item.name for item in run.of_type("Release") if "runai" in item.name] == ["runai-backend"]
    told = run.value["controlPlane"]
    assert told["url"] == "https://runai.apps.example.test"
    assert told["ca"] == (tmp_path / "certificates" / "ca.pem").read_text()
    assert not run.of_type("Registration")


@pytest.mark.req("I5", "I6")
def test_no_remote_object_carries_a_credential(tmp_path: Path) -> None:
    run = declared(tmp_path, EVERYTHING_FULL, "gpu-1.example.test")
    remote = [item for item in run.resources if item.type.startswith("pulumi-python:dynamic/runai")]
    assert len(remote) == 9
    for item in remote:
        text = json.dumps({key: value for key, value in item.inputs.items() if key != "__provider"})
        assert PASSWORD not in text
        assert "account secret" not in text
        assert set(item.inputs["at"]) == {"url", "ca"}


class _Silent:
    """A client of a control plane that is not there."""

    def get(self, path: str) -> Any:
        raise UnreachableError(f"GET {path}", "no answer", "one", "look")


async def _late(gate: ApiGate) -> None:
    await gate.answers({"url": "https://x.test", "ca": ""})


@pytest.mark.req("I5")
def test_a_control_plane_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    said: list[str] = []
    gate = ApiGate(lambda at: _Silent(), timeout=0.05, pause=0.01, say=said.append)  # type: ignore[arg-type, return-value]
    with pytest.raises(PlatformError, match=r"found GET /api/v1/clusters: found no answer.*runai-backend"):
        asyncio.run(_late(gate))
    assert len(said) == 1


@pytest.mark.req("I5")
def test_a_cluster_that_does_not_connect_tells_the_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    class _Missing:
        def get(self, path: str) -> Any:
            tree = {"required": {"prometheus": {"available": False, "reason": "not found"}}, "optional": {}}
            return {"status": {"state": "MissingPrerequisites", "dependencies": tree}}

    gate = ApiGate(lambda at: _Missing(), timeout=0.05, pause=0.01, say=lambda text: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(PlatformError, match="required/prometheus: not found after"):
        asyncio.run(gate.connected({"url": "https://x.test", "ca": ""}, "u"))
