"""The suite's own tests through driver `runai`: a double of the API, and KAI and kubelets behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.runai.client import Client
from components.runai.objects import KINDS
from tests.acceptance.varied import play
from tests.contract.conftest import Start, authority, start  # noqa: F401 (fixtures)
from tests.contract.control_plane.options import Options
from validation.runai.driver import CLIENT_ID, CLIENT_SECRET
from validation.settings import ControlPlane, StackOutputs

ROOT = Path(__file__).parents[2]


@pytest.fixture
def runai(
    start: Start,  # noqa: F811 (the fixture)
    outputs: StackOutputs,
    monkeypatch: pytest.MonkeyPatch,
) -> StackOutputs:
    """The stack's outputs as those of a full profile whose control plane is the double."""
    double = start(Options(kubeconfig=ROOT / outputs.kubeconfig, context=outputs.context))
    client = double.client()
    wanted = {"name": "live", "domain": "https://live.example.test", "version": "3.0.24"}
    cluster, _ = KINDS["Registration"].create(client, wanted)
    _org_units(client, cluster, outputs)
    id_, account = KINDS["ServiceAccount"].create(client, {"name": "suite", "enabled": True})
    rule = {"subject": id_, "subjectType": "service-account", "role": "L1 researcher"}
    KINDS["AccessRule"].create(
        client, {**rule, "scopeType": "cluster", "scopeId": cluster, "clusterId": cluster}
    )
    monkeypatch.setenv(CLIENT_ID, account["clientId"])
    monkeypatch.setenv(CLIENT_SECRET, account["clientSecret"])
    place = ControlPlane(
        url=double.access.url, ca=double.access.ca, version="3.0.24", clusterName="live", clusterId=cluster
    )
    return outputs.model_copy(update={"driver": "runai", "controlPlane": place})


def _org_units(client: Client, cluster: str, outputs: StackOutputs) -> None:
    quota = [{"nodePool": "default", "deserved": 2, "limit": -1, "overQuotaWeight": 1}]
    above = {
        item.name: KINDS["Department"].create(
            client, {"clusterId": cluster, "name": item.name, "quotas": quota}
        )[0]
        for item in outputs.departments
    }
    for project in outputs.projects:
        wanted = {
            "clusterId": cluster,
            "name": project.name,
            "departmentId": above[project.department],
            "namespace": project.namespace,
            "quotas": quota,
        }
        KINDS["Project"].create(client, wanted)


@pytest.mark.req("V13", "V2")
@pytest.mark.parametrize("test", ["fractional_gpu", "over_quota"])
def test_a_test_of_the_suite_passes_through_the_api(test: str, runai: StackOutputs, tmp_path: Path) -> None:
    failed, checks = play(test, runai, tmp_path, {})
    assert failed == set(), {name: checks[name]["reason"] for name in failed}
    assert {check["verdict"] for check in checks.values()} == {"pass"}


@pytest.mark.req("V13")
def test_without_a_service_account_the_test_fails_and_names_the_variables(
    runai: StackOutputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CLIENT_SECRET)
    failed, _ = play("fractional_gpu", runai, tmp_path, {})
    assert failed
