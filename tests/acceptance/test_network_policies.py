"""NetworkPolicies enforced: closed is closed, what the installation needs goes on, and off is off."""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from local.cluster.enforce import MANIFEST
from tests.acceptance.broken import Broken, until
from tests.acceptance.changing import call
from tests.acceptance.commands import run
from tests.acceptance.conftest import ROOT, Kubectl
from tests.acceptance.knocking import become, outside, pods_of, reaches
from tests.acceptance.proving import Wrong, prove
from tests.acceptance.upgrading import up
from validation import names
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.req("I1"), pytest.mark.usefixtures("enforcing")]
STRANGER = "runai-kit-stranger"
ENFORCER = f"{names.in_namespace(names.DAEMON_SETS, 'kube-system')}/kube-router"


@pytest.fixture(scope="module")
def enforcing(outputs: StackOutputs) -> Iterator[None]:
    """The cluster with what enforces policies, which is no part of it otherwise."""
    run(sys.executable, "-m", "local.demo", "--until", "enforce", timeout=900).well()
    yield
    call(outputs, "delete", "--ignore-not-found", "--cascade=foreground", "-f", str(MANIFEST))


@pytest.fixture
def declared() -> dict[str, object]:
    """What the inventory declares n/a, but for the check that can be judged here."""
    file = ROOT / "inventory" / "local" / "group_vars" / "clusters.yml"
    said: dict[str, str] = yaml.safe_load(file.read_text())["kit_not_applicable"]
    return {"kit_not_applicable": {k: v for k, v in said.items() if k != "preflight.network_policies"}}


@pytest.mark.usefixtures("unchanged")
def test_strangers_are_kept_out_while_policies_are_on(outputs: StackOutputs, tmp_path: Path) -> None:
    """The same connections with and without the setting; one outside port is opened by `egressPorts`."""
    first, second = outputs.projects[0].namespace, outputs.projects[1].namespace
    with (
        pods_of(outputs, mine=first, same=first, other=second, stranger=STRANGER) as at,
        outside(outputs, 2) as (allowed, forbidden),
    ):
        always = [(at["same"], at["mine"]), (at["mine"], allowed), (at["stranger"], forbidden)]
        closed = [
            (at["stranger"], at["mine"]),
            (at["other"], at["mine"]),
            (at["mine"], at["stranger"]),
            (at["mine"], forbidden),
        ]
        try:
            up(tmp_path, security={"networkPolicies": False})
            become(outputs, dict.fromkeys([*always, *closed], True))
            up(tmp_path, security={"egressPorts": [allowed.port]})
            become(outputs, dict.fromkeys(always, True) | dict.fromkeys(closed, False))
        finally:
            up(tmp_path)
        # The stack file's own ports: neither of these is among them.
        become(outputs, {(at["same"], at["mine"]): True, (at["mine"], allowed): False})


@pytest.mark.req("V1", "V2", "V5", "V8")
def test_what_the_installation_needs_goes_on(
    kubectl: Kubectl, outputs: StackOutputs, declared: dict[str, object], tmp_path: Path
) -> None:
    """Fractions, a model over HTTPS, also from zero replicas, webhooks, scrapes: in closed namespaces."""
    with pods_of(outputs, mine=outputs.projects[0].namespace, stranger=STRANGER) as at:
        become(outputs, {(at["stranger"], at["mine"]): False})
        proof = prove(outputs, tmp_path, "site", "preflight,fractional_gpu,vllm_inference", declared)
        assert not reaches(outputs, at["stranger"], at["mine"])
    ran = {"preflight.webhooks", "preflight.network_policies", "fractional_gpu.shares"}
    ran |= {"vllm_inference.chat", "vllm_inference.load", "vllm_inference.cold_start"}
    assert {name: proof.checks[name]["verdict"] for name in ran} == dict.fromkeys(ran, "pass")
    assert proof.failed() == set()
    until(lambda: unseen(kubectl, outputs) == [], "Prometheus sees every target")


def unseen(kubectl: Kubectl, outputs: StackOutputs) -> list[str]:
    """Targets that Prometheus' last try did not reach."""
    at = outputs.monitoring
    service = f"/api/v1/namespaces/{at.namespace}/services/{at.prometheusService}:{at.prometheusPort}"
    targets = kubectl("get", "--raw", f"{service}/proxy/api/v1/targets?state=active")["data"]["activeTargets"]
    assert targets
    return [f"{target['scrapeUrl']}: {target['lastError']}" for target in targets if target["health"] != "up"]


@pytest.mark.usefixtures("unchanged")
@pytest.mark.negative("preflight.network_policies")
def test_a_network_that_enforces_nothing_is_told(
    outputs: StackOutputs, declared: dict[str, object], tmp_path: Path
) -> None:
    with Broken(outputs) as wrong:
        if (enforcer := wrong.api.find(ENFORCER)) is None:
            pytest.skip("this cluster's network plugin enforces policies itself; it cannot be taken away")
        wrong.restless(lambda: everywhere(wrong))
        spec = copy.deepcopy(enforcer["spec"])
        spec["template"]["spec"]["nodeSelector"] = {"runai-kit.io/nowhere": "true"}
        wrong.replaced(ENFORCER, spec=spec)
        mine = {"labelSelector": "app=kube-router"}
        until(lambda: not wrong.api.items(names.PODS, **mine), "the enforcer took its rules back")
        proof = prove(outputs, tmp_path, "preflight", variables=declared)
    found = ("nothing to check", "'withPolicy': 'reached'", "declare preflight.network_policies n/a")
    proof.shows(Wrong("preflight.network_policies", found, seconds=40))
    assert proof.failed() == {"preflight.network_policies"}


def everywhere(cluster: Broken) -> bool:
    """Does the enforcer run on every worker?"""
    status = cluster.api.get(ENFORCER).get("status") or {}
    wanted = status.get("desiredNumberScheduled", 0)
    return bool(wanted) and status.get("numberReady", 0) == wanted
