"""V8's observations against its expectations: right in, pass; any single thing wrong, fail and name it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.validation.double import OUTPUTS, UUID_0, UUID_1, group, node, pod, queue
from tests.unit.validation.prometheus_double import Prometheus, rule, target
from validation import https, names, provoke
from validation.compare import differences
from validation.expect import monitoring as expect
from validation.expect.over_quota import ImpossibleError
from validation.ingress import Ingress
from validation.observe import gpu_metrics, monitoring, panels, scraping
from validation.observe.snapshot import Snapshot
from validation.patience import until
from validation.settings import load

pytestmark = pytest.mark.req("V8")
Json = dict[str, Any]
NAMESPACE = "runai-team-a"
WHOLE_POD, SHARED_POD, RESERVATION = (
    "runai-kit-monitoring-whole",
    "runai-kit-monitoring-shared",
    "reservation",
)
SCRAPES = [
    {"name": "kai-scheduler", "pool": "serviceMonitor/monitoring/kai-scheduler", "always": True},
    {
        "name": "nvidia-dcgm-exporter",
        "pool": "serviceMonitor/monitoring/nvidia-dcgm-exporter",
        "always": True,
    },
    {"name": "kubelet", "pool": "kubelet", "always": True},
    {"name": "queue-proxy", "pool": "podMonitor/monitoring/queue-proxy", "always": False},
]
SETTINGS: Json = {
    **OUTPUTS,
    "monitoring": {
        **OUTPUTS["monitoring"],
        "scrapeSeconds": 0.0,
        "scrapes": SCRAPES,
        "alerts": ["KitGpuUnhealthy", "KitPodGroupPending"],
        "dashboards": ["cluster"],
    },
    "inference": {"enabled": True, "namespace": "knative-serving"},
    "ingress": {"enabled": True, "source": "rendered"},
}
NODES = {"w1": 4, "w2": 4, "control-plane": 0}
PLAN = expect.Plan(whole=2, fraction=0.5, serving=True)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitoring, "seconds", lambda *_: 0.0)


def bed() -> Prometheus:
    """Two nodes of four GPUs; a pod with two GPUs, one with half of one, and what Prometheus says of them."""
    cluster = Prometheus()
    whole = pod(WHOLE_POD, on="w1", gpus=2, test="monitoring", role="whole")
    shared = pod(
        SHARED_POD,
        on="w2",
        test="monitoring",
        role="shared",
        annotations={names.GPU_FRACTION_ANNOTATION: "0.5"},
    )
    reserved = pod(RESERVATION, "kai-resource-reservation", on="w2", gpus=1)
    cluster.add(names.PODS, whole, shared, reserved)
    cluster.add(names.NODES, *(node(name, gpus) for name, gpus in NODES.items()))
    for item in cluster.objects[names.NODES]:
        item["status"]["capacity"] = item["status"]["allocatable"]
    cluster.add(names.POD_GROUPS, group(WHOLE_POD, expect.WHOLE), group(SHARED_POD, expect.SHARED))
    cluster.add(
        names.QUEUES,
        queue(expect.DEPARTMENT),
        *(queue(name, expect.DEPARTMENT) for name in (expect.WHOLE, expect.SHARED, expect.WAITING)),
    )
    held = {expect.DEPARTMENT: 2.5, expect.WHOLE: 2, expect.SHARED: 0.5, expect.WAITING: 0}
    fields = [f"DCGM_FI_DEV_{name}" for name in (*expect.FIELDS, "GPU_TEMP")]
    cluster.vectors = {
        "kai_queue_allocated_gpus": [({"queue_name": name}, gpus) for name, gpus in held.items()],
        'DCGM_FI_DEV_GPU_UTIL{pod!=""}': [
            ({"namespace": NAMESPACE, "pod": WHOLE_POD, "UUID": UUID_0}, 1),
            ({"namespace": NAMESPACE, "pod": WHOLE_POD, "UUID": UUID_1}, 1),
            ({"namespace": "kai-resource-reservation", "pod": RESERVATION, "UUID": "GPU-2"}, 1),
        ],
        "count by (__name__)": [({"__name__": name}, 8) for name in fields],
    }
    cluster.said = {WHOLE_POD: f"GPU 0: A100 (UUID: {UUID_0})\nGPU 1: A100 (UUID: {UUID_1})\n"}
    cluster.targets = [
        target("serviceMonitor/monitoring/kai-scheduler/0", "10.0.0.1:8080"),
        target("serviceMonitor/monitoring/nvidia-dcgm-exporter/0", "10.0.0.2:9400"),
        target("serviceMonitor/monitoring/nvidia-dcgm-exporter/0", "10.0.0.3:9400"),
        *(target("kubelet", name) for name in NODES),
        target("podMonitor/monitoring/queue-proxy/0", "10.0.0.9:9091"),
    ]
    cluster.rules = [rule("KitGpuUnhealthy"), rule("KitPodGroupPending")]
    return cluster


def observed(cluster: Prometheus) -> Json:
    at = cluster.at(**SETTINGS)
    mine = [expect.DEPARTMENT, expect.WHOLE, expect.SHARED, expect.WAITING]
    return {
        "monitoring.targets": scraping.targets(at, True, 0),
        "monitoring.rules": scraping.rules(at, 0),
        "monitoring.queues": monitoring.allocation(at, mine, 0),
        "monitoring.gpu_fields": gpu_metrics.gpu_fields(at, 0),
        "monitoring.gpu_pods": gpu_metrics.gpu_pods(at, "whole", 0),
    }


def faults(cluster: Prometheus) -> dict[str, str]:
    wanted = expect.expected(PLAN, load(SETTINGS), NODES, "passthrough")
    found = observed(cluster)
    return {check: "; ".join(lines) for check in found if (lines := differences(wanted[check], found[check]))}


def test_a_cluster_that_tells_the_truth_passes() -> None:
    assert faults(bed()) == {}


def queue_counts_less(c: Prometheus) -> None:
    c.vectors["kai_queue_allocated_gpus"][2] = ({"queue_name": expect.SHARED}, 0)


def foreign_queue_is_not_scraped(c: Prometheus) -> None:
    c.add(names.QUEUES, queue("somebody"))


def no_queue_metrics(c: Prometheus) -> None:
    c.vectors["kai_queue_allocated_gpus"] = []


def exporter_names_another_pod(c: Prometheus) -> None:
    labels, value = c.vectors['DCGM_FI_DEV_GPU_UTIL{pod!=""}'][0]
    c.vectors['DCGM_FI_DEV_GPU_UTIL{pod!=""}'][0] = ({**labels, "pod": "nvidia-dcgm-exporter-x"}, value)


def exporter_names_another_gpu(c: Prometheus) -> None:
    labels, value = c.vectors['DCGM_FI_DEV_GPU_UTIL{pod!=""}'][0]
    c.vectors['DCGM_FI_DEV_GPU_UTIL{pod!=""}'][0] = ({**labels, "UUID": "GPU-9"}, value)


def pod_cannot_be_asked(c: Prometheus) -> None:
    c.said = {}


def field_is_missing(c: Prometheus) -> None:
    c.vectors["count by (__name__)"] = c.vectors["count by (__name__)"][1:]


def field_of_one_node_only(c: Prometheus) -> None:
    c.vectors["count by (__name__)"][0] = ({"__name__": "DCGM_FI_DEV_GPU_UTIL"}, 4)


def scrape_is_gone(c: Prometheus) -> None:
    c.targets = [t for t in c.targets if "kai-scheduler" not in t["scrapePool"]]


def target_is_down(c: Prometheus) -> None:
    c.targets[1] = target(
        "serviceMonitor/monitoring/nvidia-dcgm-exporter/0", "10.0.0.2:9400", "connection refused"
    )


def exporter_on_one_node_only(c: Prometheus) -> None:
    del c.targets[1]


def alert_is_not_loaded(c: Prometheus) -> None:
    del c.rules[0]


def alert_fails(c: Prometheus) -> None:
    c.rules[1] = rule("KitPodGroupPending", health="err", error="many-to-many matching not allowed")


@pytest.mark.parametrize(
    ("spoil", "check", "word"),
    [
        (queue_counts_less, "queues", expect.SHARED),
        (foreign_queue_is_not_scraped, "queues", "somebody"),
        (no_queue_metrics, "queues", expect.WHOLE),
        (exporter_names_another_pod, "gpu_pods", WHOLE_POD),
        (exporter_names_another_gpu, "gpu_pods", "whole.same"),
        (pod_cannot_be_asked, "gpu_pods", "whole.inPod"),
        (field_is_missing, "gpu_fields", "DCGM_FI_DEV_GPU_UTIL: expected 8, not observed"),
        (field_of_one_node_only, "gpu_fields", "DCGM_FI_DEV_GPU_UTIL: expected 8, found 4"),
        (scrape_is_gone, "targets", "pools.kai-scheduler.up"),
        (target_is_down, "targets", "connection refused"),
        (exporter_on_one_node_only, "targets", "pools.nvidia-dcgm-exporter.up"),
        (alert_is_not_loaded, "rules", "KitGpuUnhealthy"),
        (alert_fails, "rules", "many-to-many"),
    ],
)
def test_one_thing_wrong_is_seen_and_named(
    spoil: Callable[[Prometheus], None], check: str, word: str
) -> None:
    cluster = bed()
    spoil(cluster)
    found = faults(cluster)
    assert set(found) == {f"monitoring.{check}"}
    assert word in found[f"monitoring.{check}"]


@pytest.mark.parametrize(
    ("mode", "has", "lacks"),
    [("passthrough", "GPU_TEMP", "VGPU_LICENSE_STATUS"), ("vgpu", "VGPU_LICENSE_STATUS", "GPU_TEMP")],
)
def test_fields_follow_the_driver_mode(mode: str, has: str, lacks: str) -> None:
    fields = expect.expected(PLAN, load(SETTINGS), NODES, mode)["monitoring.gpu_fields"]
    assert fields[f"DCGM_FI_DEV_{has}"] == 8
    assert f"DCGM_FI_DEV_{lacks}" not in fields
    assert {f"DCGM_FI_DEV_{name}" for name in expect.FIELDS} <= set(fields)


def test_the_plan_fits_the_bed() -> None:
    def whole(free: dict[str, int]) -> int:
        return expect.plan(free, sum(free.values()), load(SETTINGS)).whole

    assert whole({"w1": 4, "w2": 4}) == whole({"w1": 4}) == whole({"w1": 2, "w2": 1}) == 2
    assert whole({"w1": 1, "w2": 1}) == whole({"w1": 2}) == 1
    with pytest.raises(ImpossibleError, match="found 1 free GPUs, needs 2"):
        whole({"w1": 1})


def test_without_inference_its_pods_are_not_expected() -> None:
    outputs = load({**SETTINGS, "inference": {"enabled": False}})
    made = expect.plan({"w1": 4}, 4, outputs)
    assert made.serving is False
    assert "queue-proxy" not in expect.expected(made, outputs, NODES, "vgpu")["monitoring.targets"]["pools"]


def test_start_counts_all_gpus_and_the_free_ones() -> None:
    cluster = bed()
    cluster.add(names.PODS, pod("other", "elsewhere", on="w1", gpus=3))
    cluster.objects[names.NODES][0]["status"]["capacity"]["nvidia.com/gpu"] = "5"
    found = monitoring.start(cluster.at(**SETTINGS))
    assert found["nodes"] == {"w1": 5, "w2": 4, "control-plane": 0}
    assert found["mode"] == "passthrough"
    assert found["free"]["w1"] == 1 + 1


def counts(numbers: dict[str, float]) -> list[tuple[Json, float]]:
    return [({"http_response_status_code": status}, count) for status, count in numbers.items()]


@pytest.mark.parametrize(
    ("after", "passes"),
    [
        ({"200": 12.0, "404": 3.0}, True),
        ({"200": 11.0, "404": 3.0}, False),
        ({"200": 13.0, "404": 3.0}, False),
        ({"200": 12.0, "404": 3.0, "502": 1.0}, False),
        ({"200": 5.0}, False),
    ],
)
def test_requests_are_counted_to_the_last_one(
    after: dict[str, float], passes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, asked = bed(), []
    cluster.vectors[monitoring.REQUESTS] = counts({"200": 5.0, "404": 0.0})

    def answer(_where: Ingress, url: str, **_more: Any) -> https.Answer:
        asked.append(url)
        if len(asked) == 12:
            cluster.vectors[monitoring.REQUESTS] = counts(after)
        return https.Answer(404 if "no-such" in url else 200, {}, b"", 0.0)

    monkeypatch.setattr(https, "request", answer)
    found = monitoring.requests(
        cluster.at(**SETTINGS), Ingress("1.2.3.4", 443), "https://x.test", NAMESPACE, "svc", expect.REQUESTS
    )
    wanted = expect.expected(PLAN, load(SETTINGS), NODES, "vgpu")["monitoring.requests"]
    exact = {key: {"exactly": value} for key, value in wanted.items()}
    assert (differences(exact, found) == []) is passes
    assert len(asked) == 2 + sum(count for _, count in expect.REQUESTS.values())


def firing(queue_name: str, state: str = "firing") -> Json:
    labels = {"alertname": "X", "severity": "info", "queue_name": queue_name}
    return {"state": state, "labels": labels, "annotations": {"summary": "waits"}}


def test_an_alert_fires_for_its_own_queue_only() -> None:
    cluster = bed()
    at = cluster.at(**SETTINGS)
    assert scraping.alert(at, "X", expect.WAITING, True, 0)["rule"] == "not loaded"
    cluster.rules.append(rule("X", firing("another")))
    assert scraping.alert(at, "X", expect.WAITING, True, 0)["state"] == "inactive"
    cluster.rules[-1] = rule("X", firing(expect.WAITING, "pending"))
    assert scraping.alert(at, "X", expect.WAITING, True, 0)["state"] == "pending"
    cluster.rules[-1] = rule("X", firing(expect.WAITING))
    seen = scraping.alert(at, "X", expect.WAITING, True, 0)
    wanted = expect.expected(PLAN, load(SETTINGS), NODES, "vgpu")["monitoring.alert"]
    assert differences(wanted, {"fired": seen, "resolved": True}) == []
    assert differences(wanted, {"fired": seen, "resolved": False}) != []


def test_the_provoked_rule_is_the_kits_own_and_sooner() -> None:
    cluster = bed()
    name = provoke.rule(cluster.at(**SETTINGS), "KitPodGroupPending", "monitoring")
    (made,) = cluster.objects[names.PROMETHEUS_RULES]
    (copy,) = made["spec"]["groups"][0]["rules"]
    assert (copy["alert"], copy["expr"], copy["for"]) == (name, "expression_of_KitPodGroupPending > 0", "5s")
    assert made["metadata"]["labels"][names.TEST_LABEL] == "monitoring"
    cluster.rules = []
    with pytest.raises(ValueError, match="found no alerts in Prometheus"):
        provoke.rule(cluster.at(**SETTINGS), "KitPodGroupPending", "monitoring")


BOARD: Json = {
    "title": "Cluster",
    "time": {"from": "now-1h", "to": "now"},
    "templating": {
        "list": [
            {"name": "datasource", "type": "datasource", "query": "prometheus"},
            {"name": "node", "type": "query", "query": {"query": "label_values(kube_node_info, node)"}},
            {"name": "gpu", "type": "query", "query": {"query": 'label_values(gpus{node=~"$node"}, gpu)'}},
        ]
    },
    "panels": [
        {"type": "row", "title": "R", "panels": []},
        {
            "type": "stat",
            "title": "GPUs",
            "targets": [{"refId": "A", "expr": 'sum(up{node=~"$node"})', "instant": False}],
        },
        {
            "type": "table",
            "title": "T",
            "targets": [{"refId": "A", "expr": "rate(x[$__rate_interval])", "instant": True}],
        },
    ],
}


def with_board(board: Json = BOARD) -> Prometheus:
    cluster = bed()
    cluster.vectors |= {
        "(kube_node_info)": [({"node": "w.1"}, 1), ({"node": "w2"}, 1)],
        "(gpus{": [({"gpu": "0"}, 1)],
        "sum(up": [({}, 7)],
        "rate(x": [({}, 0)],
    }
    cluster.add(
        names.CONFIG_MAPS,
        {
            "metadata": {
                "name": "dashboard-cluster",
                "namespace": "monitoring",
                "labels": {"grafana_dashboard": "1"},
            },
            "data": {"runai-kit-cluster.json": json.dumps(board)},
        },
    )
    return cluster


def judge_boards(cluster: Prometheus) -> list[str]:
    found, _ = panels.boards(cluster.at(**SETTINGS), 0)
    wanted = expect.expected(PLAN, load(SETTINGS), NODES, "vgpu")["monitoring.dashboards"]
    return differences(wanted, found)


def test_dashboards_are_asked_with_every_value_of_their_variables() -> None:
    cluster = with_board()
    assert judge_boards(cluster) == []
    assert 'group by (gpu) (gpus{node=~"(w\\\\.1|w2)"})' in cluster.asked
    assert 'sum(up{node=~"(w\\\\.1|w2)"})' in cluster.asked
    assert any(asked.startswith("rate(x[15s]") for asked in cluster.asked)


def no_config_map(c: Prometheus) -> None:
    c.objects[names.CONFIG_MAPS] = []


def without_the_label(c: Prometheus) -> None:
    c.objects[names.CONFIG_MAPS][-1]["metadata"]["labels"] = {}


def empty_panel(c: Prometheus) -> None:
    c.vectors["sum(up"] = []


def not_a_number(c: Prometheus) -> None:
    c.vectors["sum(up"] = [({}, float("nan"))]


def empty_variable(c: Prometheus) -> None:
    c.vectors["(gpus{"] = []


def wrong_expression(c: Prometheus) -> None:
    c.refused["rate(x"] = "parse error: unexpected end of input"


@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (no_config_map, "boards.cluster"),
        (without_the_label, "boards.cluster"),
        (empty_panel, "GPUs (A): sum(up"),
        (not_a_number, "GPUs (A): sum(up"),
        (empty_variable, "variable gpu"),
        (wrong_expression, "parse error"),
    ],
)
def test_a_dashboard_that_shows_nothing_is_named(spoil: Callable[[Prometheus], None], word: str) -> None:
    cluster = with_board()
    spoil(cluster)
    assert word in "; ".join(judge_boards(cluster))


def test_waiting_ends_as_soon_as_it_is_good_or_the_time_is_over() -> None:
    seen = iter(range(100))
    assert until(lambda: next(seen), lambda n: n == 3, 5, interval=0)[0] == 3
    last, took = until(lambda: "never", lambda _: False, 0.05, interval=0.01)
    assert last == "never"
    assert 0.05 <= took < 1


def test_fractions_and_parents_add_up() -> None:
    held = monitoring.in_pods(Snapshot(bed().cluster, load(SETTINGS)))
    assert held == {expect.DEPARTMENT: 2.5, expect.WHOLE: 2, expect.SHARED: 0.5, expect.WAITING: 0}
