"""What is scraped, with which rights, and what the stack says about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.config.sections import Monitoring
from components.prometheus import kubelet, state_metrics
from components.prometheus.instance import seconds
from components.prometheus.plan import Plan
from components.prometheus.scrape import Monitor, kai_monitor
from policy.pod_security import required_level
from tests.mocks import Run
from tests.stack import CATALOG, LOCAL, changed, run_platform, settings

pytestmark = pytest.mark.req("I10")


def monitor(run: Run, kind: str, name: str) -> dict[str, Any]:
    spec: dict[str, Any] = run.one(kind, f"monitor-{name}").inputs["spec"]
    return spec


def test_kai_and_the_gpu_exporter_are_scraped(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    kai = monitor(run, "ServiceMonitor", "kai-scheduler")
    assert kai["namespaceSelector"] == {"matchNames": ["kai-scheduler"]}
    assert {end["port"] for end in kai["endpoints"]} == {"metrics", "http-metrics"}
    dcgm = monitor(run, "ServiceMonitor", "nvidia-dcgm-exporter")
    assert dcgm["namespaceSelector"] == {"matchNames": ["gpu-operator"]}
    (endpoint,) = dcgm["endpoints"]
    # Otherwise the pod that holds the GPU would be called exported_pod.
    assert endpoint["honorLabels"] is True
    assert endpoint["relabelings"] == [
        {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
    ]
    assert run.one("ServiceMonitor", "monitor-kai-scheduler").depends_on == {"prometheus-operator-crds"}


@pytest.mark.parametrize(("where", "expected"), [("gpus", "gpus"), ("", None)])
def test_a_real_exporter_is_scraped_where_the_settings_say(where: str, expected: str | None) -> None:
    values = changed(changed(LOCAL, "fakeGpus.enabled", False), "monitoring.dcgmNamespace", where)
    found = {m.name: m.spec for m in plan(values).monitors}
    if expected is None:
        assert "nvidia-dcgm-exporter" not in found
    else:
        assert found["nvidia-dcgm-exporter"]["namespaceSelector"] == {"matchNames": [expected]}


def plan(values: dict[str, Any]) -> Plan:
    from components.profiles import parts

    chosen = settings(values)
    return Plan(chosen, CATALOG, parts(chosen, CATALOG))


def test_knative_its_gateway_and_the_pods_of_services_are_scraped(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    serving = monitor(run, "PodMonitor", "knative-serving")
    assert serving["namespaceSelector"] == {"matchNames": ["knative-serving"]}
    (selected,) = serving["selector"]["matchExpressions"]
    assert {"activator", "autoscaler", "controller", "webhook"} <= set(selected["values"])
    gateway = monitor(run, "PodMonitor", "kourier-gateway")["podMetricsEndpoints"][0]
    assert (gateway["port"], gateway["path"]) == ("metrics", "/stats/prometheus")
    proxy = monitor(run, "PodMonitor", "queue-proxy")
    assert proxy["namespaceSelector"] == {"matchNames": ["runai-team-a", "runai-test"]}
    assert proxy["podMetricsEndpoints"][0]["port"] == "http-usermetric"
    assert {r["targetLabel"] for r in proxy["podMetricsEndpoints"][0]["relabelings"]} == {"ksvc", "revision"}
    # Through queue-proxy a scrape would count as a request, and keep the service from scaling to zero.
    server = monitor(run, "PodMonitor", "inference-server")
    assert server["selector"]["matchLabels"] == {"runai-kit.io/metrics": "server"}
    assert server["podMetricsEndpoints"][0]["port"] == "user-port"


@pytest.mark.parametrize(("source", "port"), [("rendered", "metrics"), ("controller", "stat")])
def test_the_ingress_is_scraped_whichever_it_is(source: str, port: str) -> None:
    found = {m.name: m.spec for m in plan(changed(LOCAL, "ingress.source", source)).monitors}
    assert found["haproxy"]["podMetricsEndpoints"][0]["port"] == port


def test_an_ingress_of_others_is_left_to_them() -> None:
    made = plan(changed(LOCAL, "ingress.source", "existing"))
    assert "haproxy" not in {m.name for m in made.monitors}
    assert "ingress" not in made.dashboards
    assert "ingress" not in made.rules


def test_without_knative_nothing_of_it_is_expected() -> None:
    made = plan(changed(LOCAL, "knative.enabled", False))
    assert not {m.name for m in made.monitors} & {"knative-serving", "kourier-gateway", "queue-proxy"}
    assert not {"serving", "vllm"} & set(made.dashboards)
    assert "KitKnativeComponentDown" not in made.outputs()["alerts"]


def test_the_stack_tells_what_to_expect(tmp_path: Path) -> None:
    told = run_platform(tmp_path).value["monitoring"]
    pools = {scrape["name"]: scrape for scrape in told["scrapes"]}
    assert pools["kai-scheduler"]["pool"] == "serviceMonitor/monitoring/kai-scheduler"
    assert pools["knative-serving"]["pool"] == "podMonitor/monitoring/knative-serving"
    assert pools["kubelet"] == {"name": "kubelet", "pool": "kubelet", "always": True}
    assert {name for name, scrape in pools.items() if not scrape["always"]} == {
        "queue-proxy",
        "inference-server",
    }
    assert told["scrapeSeconds"] == 5
    assert {"KitGpuUnhealthy", "KitQueueStarving", "KitTargetDown", "KitIngressDown"} <= set(told["alerts"])
    assert {"cluster", "gpus", "queues", "workloads", "serving"} <= set(told["dashboards"])


def test_the_charts_own_monitors_are_expected_too() -> None:
    """Names as chart 78.5.0 renders them for this release and `fullnameOverride`."""
    chart = changed(changed(LOCAL, "monitoring.source", "chart"), "knative.enabled", False)
    pools = {scrape["name"]: scrape["pool"] for scrape in plan(chart).outputs()["scrapes"]}
    assert pools["prometheus"] == "serviceMonitor/monitoring/kit-prometheus"
    name = "kube-prometheus-stack-kube-state-metrics"
    assert pools["kube-state-metrics"] == f"serviceMonitor/monitoring/{name}"


def test_a_vllm_dashboard_only_where_vllm_runs() -> None:
    base = changed(LOCAL, "validation.inference", {"server": "transformers"})
    assert "vllm" not in plan(base).dashboards
    assert "vllm" in plan(changed(LOCAL, "validation.inference", {"server": "vllm"})).dashboards


@pytest.mark.parametrize(
    ("way", "resource"), [("apiserver", "nodes/proxy"), ("direct", "nodes/metrics"), ("off", None)]
)
def test_kubelets_are_read_with_tls_verified_and_with_as_few_rights_as_the_way_allows(
    way: str, resource: str | None, tmp_path: Path
) -> None:
    run = run_platform(tmp_path, changed(LOCAL, "monitoring.kubelet", way))
    granted = {
        name: set(rule["verbs"])
        for rule in run.one("ClusterRole", "prometheus-kit").inputs["rules"]
        for name in rule["resources"]
    }
    secrets = [item for item in run.of_type("Secret") if item.parent == "monitoring"]
    if resource is None:
        assert not {name for name in granted if name.startswith("nodes")}
        assert secrets == []
        return
    assert granted[resource] == {"get"}
    assert len({name for name in granted if name.startswith("nodes/")}) == 1
    (config,) = yaml.safe_load(secrets[0].inputs["stringData"]["value"]["scrapes.yaml"])
    assert config["tls_config"] == {"ca_file": "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"}
    assert config["scheme"] == "https"
    addresses = [
        r["replacement"] for r in config["relabel_configs"] if r.get("target_label") == "__address__"
    ]
    assert addresses == (["kubernetes.default.svc:443"] if way == "apiserver" else [])


def test_a_kubelet_is_not_asked_more_often_than_it_measures() -> None:
    def interval(every: str) -> str:
        (config,) = kubelet.scrape_config(Monitoring.model_validate({"scrapeInterval": every}))
        return str(config["scrape_interval"])

    assert (interval("5s"), interval("30s"), interval("1m")) == ("15s", "30s", "60s")
    assert [seconds(text) for text in ("5s", "2m", "1h")] == [5, 120, 3600]


def test_no_scrape_turns_verification_off(tmp_path: Path) -> None:
    chart = changed(LOCAL, "monitoring.source", "chart")
    for name, values in (("bundle", LOCAL), ("chart", chart)):
        text = repr([item.inputs for item in run_platform(tmp_path / name, values).resources])
        assert "nsecureSkipVerify" not in text
        assert "insecure_skip_verify" not in text


def test_state_metrics_reads_no_secrets_and_runs_restricted() -> None:
    told = {kind for rule in state_metrics.rules() for kind in rule["resources"]}
    assert not {"secrets", "configmaps"} & told
    assert {verb for rule in state_metrics.rules() for verb in rule["verbs"]} == {"list", "watch"}
    pod = state_metrics.pod("i", "kai.scheduler/queue", "sum", "pull")
    assert required_level(pod["spec"]) == ("restricted", [])
    assert pod["spec"]["imagePullSecrets"] == [{"name": "pull"}]


def test_every_kind_that_state_metrics_tells_about_may_be_read() -> None:
    allowed = {
        (group, kind)
        for rule in state_metrics.rules()
        for group in rule["apiGroups"]
        for kind in rule["resources"]
    }
    for resource in state_metrics.custom_resources()["spec"]["resources"]:
        kind = resource["groupVersionKind"]
        assert (kind["group"], f"{kind['kind'].lower()}s") in allowed
    for group, kinds in state_metrics.KINDS.items():
        assert {(group, kind) for kind in kinds} <= allowed


def test_pools_are_named_as_the_operator_names_them() -> None:
    assert kai_monitor("kai-scheduler", "5s").pool("monitoring") == "serviceMonitor/monitoring/kai-scheduler"
    assert Monitor("x", "PodMonitor", {}).pool("m") == "podMonitor/m/x"
