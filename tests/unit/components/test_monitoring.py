"""Prometheus from the bundle and from the chart, and what is scraped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.prometheus.stack import image_value
from policy.pod_security import required_level
from tests.mocks import Run
from tests.stack import CATALOG, EVERYTHING, LOCAL, changed, run_platform

OPERATOR = changed(LOCAL, "knative.source", "operator")
CHART = changed(changed(OPERATOR, "monitoring.source", "chart"), "charts.source", "registry")


def rules(run: Run, kind: str, name: str) -> dict[str, set[str]]:
    """Resource → verbs that a role grants."""
    granted: dict[str, set[str]] = {}
    for rule in run.one(kind, name).inputs["rules"]:
        for resource in rule["resources"]:
            granted.setdefault(resource, set()).update(rule["verbs"])
    return granted


@pytest.mark.req("I10")
def test_the_bundles_crds_come_as_one_release(tmp_path: Path) -> None:
    release = run_platform(tmp_path).one("Release", "prometheus-operator-crds")
    chart = tmp_path / release.inputs["chart"]
    assert release.inputs["namespace"] == "monitoring"
    assert (chart / "Chart.yaml").is_file()
    assert {path.name for path in (chart / "crds").iterdir()} == {
        "prometheuses.monitoring.coreos.com.yaml",
        "servicemonitors.monitoring.coreos.com.yaml",
    }


@pytest.mark.req("I10")
@pytest.mark.req("I1")
def test_the_operator_is_restricted_to_its_namespace(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    deployment = run.one("Deployment", "prometheus-operator").inputs
    assert deployment["metadata"]["namespace"] == "monitoring"
    pod = deployment["spec"]["template"]["spec"]
    assert required_level(pod) == ("restricted", [])
    arguments = pod["containers"][0]["args"]
    assert "--prometheus-instance-namespaces=monitoring" in arguments
    assert (
        "--prometheus-config-reloader=quay.io/prometheus-operator/prometheus-config-reloader:v0.85.0"
        in arguments
    )
    assert not any("kubelet" in argument for argument in arguments)
    everywhere = rules(run, "ClusterRole", "prometheus-operator")
    assert (
        not {"secrets", "configmaps", "statefulsets", "nodes", "endpoints", "ingresses"} & everywhere.keys()
    )
    assert everywhere["namespaces"] == {"get", "list", "watch"}
    at_home = rules(run, "Role", "prometheus-operator")
    assert {"secrets", "configmaps", "statefulsets"} <= at_home.keys()
    assert not {"nodes", "ingresses"} & at_home.keys()
    assert run.one("Role", "prometheus-operator").inputs["metadata"]["namespace"] == "monitoring"


@pytest.mark.req("I10")
def test_the_operator_starts_with_its_rights_and_its_kinds(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    assert {"prometheus-operator", "prometheus-operator-crds"} <= run.one(
        "Deployment", "prometheus-operator"
    ).depends_on
    assert {"prometheus-operator", "prometheus-kit"} <= run.one("Prometheus", "prometheus-kit").depends_on


@pytest.mark.req("I10")
def test_the_instance_selects_every_monitor(tmp_path: Path) -> None:
    prometheus = run_platform(tmp_path).one("Prometheus", "prometheus-kit").inputs
    assert (prometheus["metadata"]["name"], prometheus["metadata"]["namespace"]) == ("kit", "monitoring")
    assert prometheus["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=Available"
    spec = prometheus["spec"]
    catalogued = CATALOG.parts["prometheus"]
    assert spec["image"] == catalogued.images["prometheus"]
    assert spec["version"] == f"v{catalogued.version}"
    assert spec["image"].endswith(f":{spec['version']}")
    assert spec["serviceMonitorSelector"] == spec["serviceMonitorNamespaceSelector"] == {}
    assert spec["scrapeInterval"] == "5s"
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["securityContext"]["runAsNonRoot"] is True


@pytest.mark.req("I10")
def test_prometheus_reads_and_never_writes(tmp_path: Path) -> None:
    granted = rules(run_platform(tmp_path), "ClusterRole", "prometheus-kit")
    assert set().union(*granted.values()) == {"get", "list", "watch"}
    assert "secrets" not in granted


@pytest.mark.req("I10")
def test_elsewhere_the_whole_stack_comes_as_a_chart(tmp_path: Path) -> None:
    run = run_platform(tmp_path, CHART)
    release = run.one("Release", "kube-prometheus-stack")
    assert release.inputs["chart"] == "oci://ghcr.io/prometheus-community/charts/kube-prometheus-stack"
    assert release.inputs["version"] == "78.5.0"
    values = release.inputs["values"]
    off = {"enabled": False}
    for part in (
        "nodeExporter",
        "grafana",
        "alertmanager",
        "kubelet",
        "kubeEtcd",
        "kubeScheduler",
        "kubeProxy",
    ):
        assert values[part] == off, part
    assert values["defaultRules"] == {"create": False}
    assert values["prometheusOperator"]["admissionWebhooks"] == off
    assert values["prometheusOperator"]["tls"] == off
    spec = values["prometheus"]["prometheusSpec"]
    for key in ("serviceMonitor", "podMonitor", "rule"):
        assert spec[f"{key}SelectorNilUsesHelmValues"] is False
        assert spec[f"{key}Selector"] == spec[f"{key}NamespaceSelector"] == {}
    assert spec["image"] == {"registry": "quay.io", "repository": "prometheus/prometheus", "tag": "v3.5.0"}
    assert run.of_type("Prometheus") == []
    assert not {item.parent for item in run.of_type("Deployment")} & {"monitoring", "state-metrics"}
    assert run.one("ServiceMonitor", "monitor-kai-scheduler").depends_on == {"kube-prometheus-stack"}
    assert run.one("PrometheusRule", "runai-kit-gpus").depends_on == {"kube-prometheus-stack"}


@pytest.mark.req("I10")
def test_both_sources_get_the_same_rules_dashboards_and_state_metrics(tmp_path: Path) -> None:
    bundle, chart = run_platform(tmp_path), run_platform(tmp_path, CHART)
    for kind in ("PrometheusRule", "ConfigMap"):
        ours, theirs = (
            {item.name: item.inputs for item in run.of_type(kind) if item.parent == "monitoring"}
            for run in (bundle, chart)
        )
        assert ours
        assert ours == theirs
    values = chart.one("Release", "kube-prometheus-stack").inputs["values"]
    (custom,) = (item for item in bundle.of_type("ConfigMap") if item.parent == "state-metrics")
    told = values["kube-state-metrics"]
    assert told["customResourceState"]["config"] == yaml.safe_load(custom.inputs["data"]["config.yaml"])
    assert set(told["collectors"]) == {
        "nodes",
        "namespaces",
        "pods",
        "daemonsets",
        "deployments",
        "statefulsets",
        "jobs",
    }
    spec = values["prometheus"]["prometheusSpec"]
    (scrapes,) = (item for item in bundle.of_type("Secret") if item.parent == "monitoring")
    assert spec["additionalScrapeConfigs"] == yaml.safe_load(
        scrapes.inputs["stringData"]["value"]["scrapes.yaml"]
    )


@pytest.mark.req("I10")
def test_grafana_shows_the_dashboards_without_a_known_password(tmp_path: Path) -> None:
    run = run_platform(tmp_path, changed(CHART, "monitoring.grafana", True))
    grafana = run.one("Release", "kube-prometheus-stack").inputs["values"]["grafana"]
    assert grafana["enabled"] is True
    assert grafana["adminPassword"] == ""
    assert grafana["initChownData"] == {"enabled": False}
    sidecar = grafana["sidecar"]["dashboards"]
    boards = [item for item in run.of_type("ConfigMap") if item.name.startswith("dashboard-")]
    assert boards
    for board in boards:
        assert board.inputs["metadata"]["labels"][sidecar["label"]] == sidecar["labelValue"]
        assert board.inputs["metadata"]["namespace"] == "monitoring"


@pytest.mark.req("I13")
def test_every_image_comes_from_the_mirror(tmp_path: Path) -> None:
    def images(node: Any) -> set[str]:
        if isinstance(node, dict):
            own = {node["image"]} if isinstance(node.get("image"), str) else set()
            return own.union(*map(images, node.values()))
        return set().union(*map(images, node)) if isinstance(node, list) else set()

    run = run_platform(tmp_path, changed(LOCAL, "registry", EVERYTHING["registry"]))
    found = images([item.inputs for item in run.resources])
    assert len(found) >= 4
    assert all(image.startswith("harbor.example.test/m/") for image in found)
    deployment = run.one("Deployment", "prometheus-operator").inputs["spec"]["template"]["spec"]
    assert deployment["imagePullSecrets"] == [{"name": "runai-kit-registry"}]
    assert "=harbor.example.test/m/quay.io/" in deployment["containers"][0]["args"][0]


@pytest.mark.req("I13")
@pytest.mark.parametrize(
    ("reference", "registry"),
    [("quay.io/a/b:1", "quay.io"), ("harbor.test:5000/m/quay.io/a/b:1", "harbor.test:5000/m/quay.io")],
)
def test_an_image_splits_into_the_charts_fields(reference: str, registry: str) -> None:
    assert image_value(reference) == {"registry": registry, "repository": "a/b", "tag": "1"}


@pytest.mark.req("I10")
def test_monitoring_can_be_left_out(tmp_path: Path) -> None:
    run = run_platform(tmp_path, changed(LOCAL, "monitoring.enabled", False))
    kinds = ("Prometheus", "ServiceMonitor", "PodMonitor", "PrometheusRule")
    assert [item.name for kind in kinds for item in run.of_type(kind)] == []
    assert run.value["monitoring"] == {
        "enabled": False,
        "namespace": "",
        "prometheusService": "",
        "prometheusPort": 0,
        "scrapeSeconds": 0,
        "scrapes": [],
        "alerts": [],
        "dashboards": [],
    }
    assert "monitoring" not in {item["name"] for item in run.value["namespaces"]}
