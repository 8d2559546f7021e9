"""Controls: off and on by setting, for the kit's own namespaces only, and what each policy says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.cluster import NamespaceFacts
from components.config.errors import SettingsError
from components.config.security import Security
from components.security import admission, governed, network
from components.security.governed import Governed
from components.security.network import Neighbours
from components.settings import load
from tests.stack import CATALOG, EVERYTHING, LOCAL, changed, engine_env, run_platform

ON = {"networkPolicies": True, "quotas": True}
CLOSED = {"kai-scheduler", "kai-resource-reservation", "gpu-operator", "runai-team-a", "runai-test"}
KINDS = ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "NetworkPolicy", "ResourceQuota")
NEAR = Neighbours("monitoring", 9090, "knative-serving", "haproxy-controller")
Json = dict[str, Any]


def names(root: Path, security: Json | None = None, **existing: NamespaceFacts) -> dict[str, list[str]]:
    values = LOCAL if security is None else changed(LOCAL, "security", security)
    run = run_platform(root, values, existing={k.replace("_", "-"): v for k, v in existing.items()})
    return {kind: sorted(item.name for item in run.of_type(kind)) for kind in KINDS}


@pytest.mark.req("I1")
def test_admission_alone_is_on_by_default(tmp_path: Path) -> None:
    policies = ["gpu-operator", "kai-resource-reservation", "kai-scheduler", "projects"]
    found = names(tmp_path)
    assert found["ValidatingAdmissionPolicy"] == [f"runai-kit-{name}" for name in policies]
    assert found["ValidatingAdmissionPolicyBinding"] == found["ValidatingAdmissionPolicy"]
    assert found["NetworkPolicy"] == found["ResourceQuota"] == []


@pytest.mark.req("I1")
def test_every_control_can_be_off(tmp_path: Path) -> None:
    assert names(tmp_path, {"admission": False}) == {kind: [] for kind in KINDS}


@pytest.mark.req("I1")
def test_each_relaxed_and_project_namespace_is_closed_opened_and_bounded(tmp_path: Path) -> None:
    found = names(tmp_path, ON)
    expected = {f"{ns}-{name}" for ns in CLOSED for name in (network.DENY, network.NAME)}
    assert set(found["NetworkPolicy"]) == expected
    assert set(found["ResourceQuota"]) == {f"{name}-quota" for name in CLOSED}


@pytest.mark.req("I14")
def test_a_namespace_that_was_there_before_is_left_as_it_is(tmp_path: Path) -> None:
    found = names(tmp_path, ON, kai_scheduler=NamespaceFacts({"team": "ops"}), runai_test=NamespaceFacts({}))
    every = " ".join(item for kind in KINDS for item in found[kind])
    assert "kai-scheduler" not in every
    assert "runai-test" not in every
    assert "runai-kit-kai-resource-reservation" in every


@pytest.mark.req("I1")
def test_the_controls_go_before_what_they_control(tmp_path: Path) -> None:
    run = run_platform(tmp_path, changed(LOCAL, "security", ON))
    for kind in ("ValidatingAdmissionPolicy", "NetworkPolicy", "ResourceQuota"):
        for item in run.of_type(kind):
            assert {"runai-team-a", "kai-config"} <= run.reached(item.depends_on | {item.parent}), item


@pytest.mark.req("I1")
def test_what_is_needed_is_opened_before_the_rest_is_closed(tmp_path: Path) -> None:
    run = run_platform(tmp_path, changed(LOCAL, "security", ON))
    deny = run.one("NetworkPolicy", f"kai-scheduler-{network.DENY}")
    assert f"kai-scheduler-{network.NAME}" in deny.depends_on
    assert deny.inputs["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@pytest.mark.req("I1")
def test_quota_states_pods_and_no_gpus(tmp_path: Path) -> None:
    run = run_platform(tmp_path, changed(LOCAL, "security", ON | {"pods": 7}))
    hard = run.one("ResourceQuota", "runai-team-a-quota").inputs["spec"]["hard"]
    assert hard == {"pods": "7", "services.nodeports": "0", "services.loadbalancers": "0"}


def test_a_privileged_namespace_is_bound_by_accounts_and_a_baseline_one_by_both() -> None:
    agent = Governed("a", "privileged", "why", accounts=("agent",))
    part = Governed("b", "baseline", "why", accounts=("one", "two"))
    open_to_all = Governed("c", "baseline", "why")
    specs = admission.policies([agent, part, open_to_all], projects=False)
    rules = {name: [rule["expression"] for rule in spec["validations"]] for name, spec in specs.items()}
    assert rules["runai-kit-a"] == ["object.spec.?serviceAccountName.orValue('default') in ['agent']"]
    assert "in ['one', 'two']" in rules["runai-kit-b"][0]
    assert rules["runai-kit-b"][1:] == rules["runai-kit-c"]
    open_agent = Governed("d", "privileged", "why")
    assert admission.policies([open_agent], projects=False) == {}, "a policy without a rule is none"
    assert all("serviceAccountName" not in rule for rule in rules["runai-kit-c"])
    for spec in specs.values():
        assert spec["failurePolicy"] == "Fail"
        assert "pods/ephemeralcontainers" in spec["matchConstraints"]["resourceRules"][0]["resources"]


def test_shared_namespaces_take_the_laxest_level_and_all_accounts() -> None:
    entry = CATALOG.parts["fake-gpu"].namespaces["gpu-operator"]
    other = entry.model_copy(
        update={"psa": "baseline", "why": "another", "accounts": ("other",), "metrics": (1,)}
    )
    parts = {
        "one": CATALOG.parts["fake-gpu"],
        "two": CATALOG.parts["fake-gpu"].model_copy(update={"namespaces": {"gpu-operator": other}}),
    }
    catalog = CATALOG.model_copy(update={"parts": parts})
    (found,) = governed.relaxed(catalog, parts)
    assert found.psa == "privileged"
    assert found.accounts == ("fake-gpu", "other")
    assert found.metrics == (9400, 1)
    assert found.why == f"{entry.why}; another"
    nobody = other.model_copy(update={"accounts": ()})
    parts["two"] = parts["two"].model_copy(update={"namespaces": {"gpu-operator": nobody}})
    assert governed.relaxed(catalog, parts)[0].accounts == (), "one part names nobody: anybody may run there"


def test_known_api_servers_narrow_webhooks_and_open_metrics_to_its_proxy() -> None:
    part = Governed("kai-scheduler", "baseline", "why", webhooks=(9443,), metrics=(8080,))
    servers = [{"ipBlock": {"cidr": "10.20.0.0/24"}}]
    wide = network.policies(part, NEAR, Security())[network.NAME]
    narrow = network.policies(part, NEAR, Security.model_validate({"apiServers": ("10.20.0.0/24",)}))[
        network.NAME
    ]
    assert "from" not in wide["ingress"][0]
    assert narrow["ingress"][0]["from"] == servers
    assert narrow["ingress"][1]["from"][1:] == servers
    assert narrow["egress"][1]["to"] == servers


def test_without_prometheus_nobody_reads_metrics() -> None:
    part = Governed("kai-scheduler", "baseline", "why", metrics=(8080,))
    spec = network.policies(part, Neighbours(), Security())[network.NAME]
    assert spec["ingress"] == []
    assert len(spec["egress"]) == 2


def test_a_project_without_egress_ports_stays_inside() -> None:
    item = Governed("runai-a", "baseline", "why", project=True)
    closed = Security.model_validate({"egressPorts": ()})
    spec = network.policies(item, NEAR, closed)[network.NAME]
    assert not any("ipBlock" in peer for rule in spec["egress"] for peer in rule.get("to", []))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("apiServers", ["10.20.0.1/24"], "an address range such as 10.20.0.0/24"),
        ("apiServers", ["nonsense"], "an address range such as 10.20.0.0/24"),
        ("egressPorts", [0], "at least 1"),
        ("egressPorts", [65536], "at most 65535"),
        ("pods", 0, "at least 1"),
    ],
)
def test_wrong_values_are_refused_with_their_place(tmp_path: Path, key: str, value: Any, said: str) -> None:

    wrong = changed(EVERYTHING, f"security.{key}", value)
    with pytest.raises(SettingsError) as caught:
        load(engine_env(wrong, ["registry", "tls"]), CATALOG, tmp_path)
    assert any(f"security.{key}" in str(p) and said in str(p) for p in caught.value.problems)


@pytest.mark.req("I1")
def test_a_part_that_does_not_say_who_it_is_stays_reachable(tmp_path: Path) -> None:
    (item,) = governed.relaxed(CATALOG, ["gpu-fractioning"])
    assert not item.described
    assert admission.policies([item], projects=False) == {}
