"""V8 in both directions: sources of metrics are taken away, and the right checks fail and say which one.

Several faults at a time, each of which must show in its own check and in no other's. All are taken back.
"""

from __future__ import annotations

import copy
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.changing import call, exists, run, when
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_wrong_on_purpose import failed, in_background, patch
from validation import https, ingress, prometheus
from validation.cluster import Cluster
from validation.expect.monitoring import SERVICE
from validation.observe.knative import url
from validation.settings import StackOutputs

pytestmark = pytest.mark.usefixtures("looked_at")

Json = dict[str, Any]
# The operator writes, the kubelet delivers, Prometheus reads: a minute is usual.
DELIVERY_SECONDS = 180.0
MONITOR = "servicemonitors.monitoring.coreos.com"
KSVC = "services.serving.knative.dev"


@pytest.fixture
def live(outputs: StackOutputs) -> Cluster:
    return Cluster(outputs.kubeconfig, outputs.context)


def until(condition: Callable[[], bool], what: str, seconds: float = DELIVERY_SECONDS) -> float:
    begun = time.monotonic()
    while not condition():
        assert time.monotonic() - begun < seconds, f"not within {seconds:g} s: {what}"
        time.sleep(1)
    return time.monotonic() - begun


def pools(live: Cluster, outputs: StackOutputs) -> set[str]:
    """Sources with at least one target that answers."""
    active = prometheus.targets(live, outputs)
    return {t["scrapePool"].split("/")[2] for t in active if t["health"] == "up" and "/" in t["scrapePool"]}


def deliver(kubectl: Kubectl, outputs: StackOutputs) -> None:
    """Let the kubelet look at Prometheus' pods now: a pod that is changed is synced at once."""
    here = ("-n", outputs.monitoring.namespace)
    for pod in kubectl("get", "pods", *here, "-l", "app.kubernetes.io/name=prometheus")["items"]:
        key = "runai-kit.io/looked-at"
        # Once more a little later: the operator needs a moment for its part.
        for word in ("now", None):
            time.sleep(5)
            patch(kubectl, "pod", pod["metadata"]["name"], {"metadata": {"annotations": {key: word}}}, *here)


def has(live: Cluster, outputs: StackOutputs, expression: str) -> bool:
    return bool(prometheus.query(live, outputs, expression))


@contextmanager
def without(kubectl: Kubectl, outputs: StackOutputs, kind: str, name: str, *where: str) -> Iterator[None]:
    """An object deleted, and made again as it was."""
    thing = kubectl("get", kind, name, *where)
    for key in ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"):
        thing["metadata"].pop(key, None)
    call(outputs, "delete", kind, name, *where)
    try:
        yield
    finally:
        call(outputs, "create", "-f", "-", body=thing)


@contextmanager
def changed(kubectl: Kubectl, kind: str, name: str, field: str, value: Any, *where: str) -> Iterator[None]:
    """A top-level field of an object replaced, and put back."""
    before = kubectl("get", kind, name, *where)[field]
    patch(kubectl, kind, name, {field: value(copy.deepcopy(before))}, *where)
    try:
        yield
    finally:
        # A merge keeps keys that were added: those go by name.
        now = kubectl("get", kind, name, *where)[field]
        back = {**dict.fromkeys(set(now) - set(before)), **before}
        patch(kubectl, kind, name, {field: back}, *where)


def reason(checks: dict[str, Json], name: str) -> str:
    return str(checks[f"monitoring.{name}"]["reason"])


@pytest.mark.req("V8", "I10")
@pytest.mark.negative(
    "monitoring.targets",
    "monitoring.queues",
    "monitoring.gpu_fields",
    "monitoring.requests",
    "monitoring.dashboards",
)
def test_a_lost_scrape_a_lost_metric_and_uncounted_requests_each_fail_their_own_check(
    kubectl: Kubectl, outputs: StackOutputs, live: Cluster, tmp_path: Path
) -> None:
    here = ("-n", outputs.monitoring.namespace)
    serving = ("-n", outputs.inference.namespace)

    def drop_clock(spec: Json) -> Json:
        drop = {"action": "drop", "sourceLabels": ["__name__"], "regex": "DCGM_FI_DEV_SM_CLOCK"}
        spec["endpoints"][0]["metricRelabelings"] = [drop]
        return spec

    def count_nothing(data: Json) -> Json:
        return {**data, "request-metrics-protocol": "none"}

    with (
        without(kubectl, outputs, MONITOR, "kai-scheduler", *here),
        changed(kubectl, MONITOR, "nvidia-dcgm-exporter", "spec", drop_clock, *here),
        changed(kubectl, "configmap", "config-observability", "data", count_nothing, *serving),
    ):
        deliver(kubectl, outputs)
        until(lambda: "kai-scheduler" not in pools(live, outputs), "the scrape of KAI ends")
        until(lambda: not has(live, outputs, "DCGM_FI_DEV_SM_CLOCK"), "the clock of the GPUs is gone")
        checks = run("monitoring", outputs, tmp_path, timeout=60)
    deliver(kubectl, outputs)
    until(lambda: "kai-scheduler" in pools(live, outputs), "KAI is scraped again")
    until(lambda: has(live, outputs, "DCGM_FI_DEV_SM_CLOCK"), "the clock of the GPUs is back")

    assert "pools.kai-scheduler.up" in reason(checks, "targets")
    assert "nvidia-dcgm-exporter" not in reason(checks, "targets")
    assert "kit-monitoring-whole" in reason(checks, "queues")
    assert "DCGM_FI_DEV_SM_CLOCK" in reason(checks, "gpu_fields")
    assert "DCGM_FI_DEV_GPU_UTIL" not in reason(checks, "gpu_fields")
    assert "counted" in reason(checks, "requests")
    assert "kai_queue_allocated_gpus" in reason(checks, "dashboards")
    wrong = {"targets", "queues", "gpu_fields", "requests", "dashboards"}
    assert failed(checks) == {f"monitoring.{name}" for name in wrong}
    for name in ("rules", "gpu_pods", "alert", "cleanup"):
        assert checks[f"monitoring.{name}"]["verdict"] == "pass", name


@pytest.mark.req("V8", "I10")
@pytest.mark.negative(
    "monitoring.targets",
    "monitoring.gpu_fields",
    "monitoring.gpu_pods",
    "monitoring.requests",
    "monitoring.alert",
    "monitoring.dashboards",
    "preflight.versions",
)
def test_a_stopped_exporter_an_alert_without_its_metric_and_requests_of_others_are_told(
    kubectl: Kubectl, outputs: StackOutputs, live: Cluster, tmp_path: Path
) -> None:
    here = ("-n", outputs.monitoring.namespace)
    exporter = kubectl("get", "services", "-A", "-l", "app=nvidia-dcgm-exporter")["items"][0]["metadata"]
    there = ("-n", exporter["namespace"])

    def nobody(spec: Json) -> Json:
        return {"selector": {"app": "nobody"}}

    def stopped(spec: Json) -> Json:
        return {"replicas": 0}

    def others(stop: threading.Event) -> None:
        """Somebody else asks the same service, while the requests are counted."""
        where = ("-n", outputs.projects[0].namespace)
        when(stop, exists(kubectl, KSVC, SERVICE, *where), lambda _: None)
        while not stop.wait(1):
            found = [s for s in kubectl("get", KSVC, *where)["items"] if s["metadata"]["name"] == SERVICE]
            if found and (address := url(found[0])):
                try:
                    https.request(ingress.find(live, outputs), address, timeout=5)
                except https.HttpsError:
                    continue

    with (
        changed(kubectl, "service", exporter["name"], "spec", nobody, *there),
        changed(kubectl, "deployment", "kube-state-metrics", "spec", stopped, *here),
        in_background(others),
    ):
        until(lambda: "nvidia-dcgm-exporter" not in pools(live, outputs), "the exporter is not scraped")
        until(lambda: not has(live, outputs, "kube_node_info"), "kube-state-metrics tells nothing")
        checks = run("monitoring", outputs, tmp_path, timeout=60, own=True)
    until(lambda: {"nvidia-dcgm-exporter", "kube-state-metrics"} <= pools(live, outputs), "all are scraped")

    assert "pools.nvidia-dcgm-exporter.up" in reason(checks, "targets")
    assert "pools.kube-state-metrics.up" in reason(checks, "targets")
    assert "DCGM_FI_DEV_GPU_UTIL" in reason(checks, "gpu_fields")
    assert "runai-kit-monitoring-whole" in reason(checks, "gpu_pods")
    assert "expected firing, found inactive" in reason(checks, "alert")
    assert "counted.200: expected 7, found" in reason(checks, "requests")
    assert checks["monitoring.requests"]["observed"]["counted"]["200"] > 7
    assert "kube_node" in reason(checks, "dashboards")
    wrong = {"targets", "gpu_fields", "gpu_pods", "requests", "alert", "dashboards"}
    # Preflight misses the part that was stopped, too.
    assert failed(checks) == {f"monitoring.{name}" for name in wrong} | {"preflight.versions"}
    assert "kube-state-metrics" in checks["preflight.versions"]["reason"]
    for name in ("rules", "queues", "cleanup"):
        assert checks[f"monitoring.{name}"]["verdict"] == "pass", name


@pytest.mark.req("V8", "I10")
def test_an_unhealthy_gpu_raises_the_kits_own_alert_and_a_healthy_one_ends_it(
    kubectl: Kubectl, outputs: StackOutputs, live: Cluster
) -> None:
    node = next(name for name, count in outputs.expectedGpus.items() if count > 0)
    key = "runai-kit.io/unhealthy-gpus"

    def states() -> dict[str, str]:
        found = [r for r in prometheus.rules(live, outputs) if r["name"] == "KitGpuUnhealthy"]
        assert len(found) == 1
        return {a["labels"]["node"]: a["state"] for a in found[0]["alerts"]}

    assert states() == {}
    patch(kubectl, "node", node, {"metadata": {"annotations": {key: "0"}}})
    try:
        took = until(lambda: states().get(node) == "firing", "the alert fires", 120)
        alerts = next(r["alerts"] for r in prometheus.rules(live, outputs) if r["name"] == "KitGpuUnhealthy")
        told = json.dumps(alerts)
    finally:
        patch(kubectl, "node", node, {"metadata": {"annotations": {key: None}}})
    assert f"1 GPU(s) of node {node} are unhealthy" in told
    # Not at once: a GPU that is away for a moment is nobody's alarm.
    assert took >= 30
    until(lambda: states() == {}, "the alert is resolved", 60)


@pytest.mark.req("V8", "I10")
def test_on_vgpus_every_check_and_every_panel_holds_without_a_temperature(
    kubectl: Kubectl, outputs: StackOutputs, live: Cluster, tmp_path: Path
) -> None:
    if not outputs.fakeGpus.enabled:
        pytest.skip("real GPUs have the mode that they have")
    there = ("-n", next(n.name for n in outputs.namespaces if n.name == "gpu-operator"))

    def pretend(data: Json) -> Json:
        config = json.loads(data["config.json"])
        return {"config.json": json.dumps({**config, "mode": "vgpu"})}

    with changed(kubectl, "configmap", "fake-gpu", "data", pretend, *there):
        until(lambda: has(live, outputs, "DCGM_FI_DEV_VGPU_LICENSE_STATUS == 1"), "the licence is told")
        until(lambda: not has(live, outputs, "DCGM_FI_DEV_GPU_TEMP"), "no temperature is told")
        fake = {**outputs.fakeGpus.model_dump(), "mode": "vgpu"}
        checks = run("monitoring", outputs, tmp_path, timeout=60, fakeGpus=fake)
    until(lambda: has(live, outputs, "DCGM_FI_DEV_GPU_TEMP"), "the temperature is told again")
    assert failed(checks) == set()
    fields = checks["monitoring.gpu_fields"]
    assert "DCGM_FI_DEV_VGPU_LICENSE_STATUS" in fields["expected"]
    assert "DCGM_FI_DEV_GPU_TEMP" not in fields["observed"]
    assert checks["monitoring.dashboards"]["observed"]["boards"]["gpus"]["queries"] > 10


@pytest.mark.req("I10")
def test_every_alert_is_loaded_and_none_is_silent_by_an_error(outputs: StackOutputs, live: Cluster) -> None:
    loaded = {rule["name"]: rule for rule in prometheus.rules(live, outputs)}
    assert set(outputs.monitoring.alerts) <= set(loaded)
    assert {name: rule["lastError"] for name, rule in loaded.items() if rule["health"] != "ok"} == {}


@pytest.mark.req("I10")
def test_the_kubelets_are_asked_over_verified_tls(
    kubectl: Kubectl, outputs: StackOutputs, live: Cluster
) -> None:
    status = live.get(f"{prometheus.base(outputs)}/status/config")["data"]["yaml"]
    assert "insecure_skip_verify: true" not in status
    mine = [t for t in prometheus.targets(live, outputs) if t["scrapePool"] == "kubelet"]
    assert {t["labels"]["node"] for t in mine} == {
        n["metadata"]["name"] for n in kubectl("get", "nodes")["items"]
    }
    assert {t["health"] for t in mine} == {"up"}
    assert all(t["scrapeUrl"].startswith("https://") for t in mine)
