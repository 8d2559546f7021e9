"""V2's observations against its expectations: right in, pass; any single thing wrong, fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.validation.beds import workers
from tests.unit.validation.double import UUID_0, UUID_1, Double, group, node, pod, queue, thing
from validation import names
from validation.compare import differences
from validation.expect import fractional_gpu as expect
from validation.observe import fractional_gpu, kubelet

pytestmark = pytest.mark.req("V2")
Json = dict[str, Any]
NAMESPACE, RESERVATION = "runai-team-a", "kai-resource-reservation"
SMI = f"GPU 0: NVIDIA A100-SXM4-80GB (UUID: {UUID_0})\nGPU_PORTION=0.50"
METRICS = (
    f'DCGM_FI_DEV_GPU_UTIL{{gpu="0",UUID="{UUID_0}",'
    f'namespace="{RESERVATION}",pod="gpu-reservation-w1-x"}} 0\n'
    f'DCGM_FI_DEV_GPU_UTIL{{gpu="1",UUID="{UUID_1}",namespace="",pod=""}} 0\n'
)
EXPORTER = "/api/v1/namespaces/gpu-operator/pods/fake-gpu-1:9400/proxy/metrics"


def bed() -> Double:
    cluster = Double()
    halves = [
        pod(
            f"runai-kit-half-{n}",
            test="fractional_gpu",
            role="half",
            labels={names.GPU_GROUP_LABEL: "g1"},
            annotations={
                names.GPU_FRACTION_ANNOTATION: "0.5",
                names.SHARED_GPU_ANNOTATION: f"half-{n}-shared-gpu",
            },
        )
        for n in (1, 2)
    ]
    reservation = pod(
        "gpu-reservation-w1-x",
        RESERVATION,
        gpus=1,
        labels={names.GPU_GROUP_LABEL: "g1"},
        annotations={names.RESERVED_GPU_ANNOTATION: UUID_0},
    )
    cluster.add(names.PODS, *halves, reservation).add(names.NODES, node("w1"), node("w2"))
    held = {"resourcesStatus": {"allocated": {"nvidia.com/gpu": "500m"}}}
    cluster.add(names.POD_GROUPS, *(group(f"runai-kit-half-{n}", "team-a", status=held) for n in (1, 2)))
    cluster.add(names.QUEUES, queue("team-a", "engineering", allocated="1"))
    cluster.add(
        names.CONFIG_MAPS,
        *(
            thing(f"half-{n}-shared-gpu-0", NAMESPACE, data={"NVIDIA_VISIBLE_DEVICES": UUID_0})
            for n in (1, 2)
        ),
    )
    target = {"kind": "Pod", "name": "fake-gpu-1", "namespace": "gpu-operator"}
    cluster.add(
        names.SERVICES, thing("nvidia-dcgm-exporter", "gpu-operator", {"app": "nvidia-dcgm-exporter"})
    )
    cluster.add(
        names.ENDPOINT_SLICES,
        thing(
            "nvidia-dcgm-exporter-abc",
            "gpu-operator",
            {"kubernetes.io/service-name": "nvidia-dcgm-exporter"},
            endpoints=[{"nodeName": "w1", "targetRef": target}],
            ports=[{"port": 9400}],
        ),
    )
    cluster.said = {f"runai-kit-half-{n}": SMI for n in (1, 2)}
    cluster.texts = {EXPORTER: METRICS}
    return cluster


BEFORE: Json = {"holders": {}, "allocated": {"team-a": 0}}


def failed(cluster: Double) -> set[str]:
    found = fractional_gpu.observe(cluster.at(), BEFORE, "team-a")
    return {check for check, wanted in expect.expected().items() if differences(wanted, found[check])}


def test_a_shared_gpu_passes() -> None:
    assert failed(bed()) == set()


def _of(cluster: Double, name: str) -> Json:
    return next(p for p in cluster.objects[names.PODS] if p["metadata"]["name"] == name)


def swap_smi(c: Double) -> None:
    c.said["runai-kit-half-2"] = SMI.replace(UUID_0, UUID_1)


def swap_annotation(c: Double) -> None:
    _of(c, "gpu-reservation-w1-x")["metadata"]["annotations"][names.RESERVED_GPU_ANNOTATION] = UUID_1


def swap_config_map(c: Double) -> None:
    c.objects[names.CONFIG_MAPS][1]["data"]["NVIDIA_VISIBLE_DEVICES"] = UUID_1


def swap_kubelet(c: Double) -> None:
    # Everything that KAI wrote agrees, and the kubelet gave the reservation another GPU.
    c.texts[EXPORTER] = METRICS.replace(UUID_0, "GPU-other")


def silent_kubelet(c: Double) -> None:
    c.texts = {}


def two_gpus_visible(c: Double) -> None:
    c.said["runai-kit-half-1"] = SMI + f"\nGPU 1: NVIDIA A100 (UUID: {UUID_1})"


def second_group(c: Double) -> None:
    _of(c, "runai-kit-half-2")["metadata"]["labels"][names.GPU_GROUP_LABEL] = "g2"


def second_reservation(c: Double) -> None:
    c.add(names.PODS, pod("gpu-reservation-w1-y", RESERVATION, gpus=1, labels={names.GPU_GROUP_LABEL: "g1"}))


def other_node(c: Double) -> None:
    _of(c, "runai-kit-half-2")["spec"]["nodeName"] = "w2"


def pending(c: Double) -> None:
    _of(c, "runai-kit-half-2")["status"]["phase"] = "Pending"


def wrong_portion(c: Double) -> None:
    c.said["runai-kit-half-2"] = SMI.replace("0.50", "0.70")


def queue_counts_two(c: Double) -> None:
    c.objects[names.QUEUES][0]["status"]["allocated"]["nvidia.com/gpu"] = "2"


def over_committed(c: Double) -> None:
    extra = {names.GPU_FRACTION_ANNOTATION: "0.2"}
    c.add(names.PODS, pod("other", "elsewhere", labels={names.GPU_GROUP_LABEL: "g1"}, annotations=extra))


def over_committed_in_mib(c: Double) -> None:
    asked = {names.GPU_MEMORY_ANNOTATION: "4000"}
    c.add(names.PODS, pod("other", "elsewhere", labels={names.GPU_GROUP_LABEL: "g1"}, annotations=asked))


def over_committed_by_one_of_two_devices(c: Double) -> None:
    asked = {names.GPU_FRACTION_ANNOTATION: "0.2", names.GPU_DEVICES_ANNOTATION: "2"}
    labels = {f"{names.GPU_GROUP_LABEL}/{group}": group for group in ("g1", "g7")}
    c.add(names.PODS, pod("other", "elsewhere", labels=labels, annotations=asked))


def exporter_without_the_pod(c: Double) -> None:
    for path, text in c.texts.items():
        c.texts[path] = text.replace("gpu-reservation-w1-x", "another")
    c.said["gpu-reservation-w1-x"] = f"GPU 0: A100 (UUID: {UUID_0})"


def other_gpu_taken(c: Double) -> None:
    c.add(names.PODS, pod("thief", "elsewhere", gpus=1))


@pytest.mark.parametrize(
    ("spoil", "check"),
    [
        (swap_smi, "uuid"),
        (swap_annotation, "uuid"),
        (swap_config_map, "uuid"),
        (swap_kubelet, "uuid"),
        (silent_kubelet, "uuid"),
        (two_gpus_visible, "uuid"),
        (second_group, "group"),
        (second_reservation, "group"),
        (other_node, "running"),
        (pending, "running"),
        (wrong_portion, "portion"),
        (queue_counts_two, "portion"),
        (over_committed, "shares"),
        (over_committed_in_mib, "shares"),
        (over_committed_by_one_of_two_devices, "shares"),
        (exporter_without_the_pod, "uuid"),
        (other_gpu_taken, "others_free"),
    ],
)
def test_one_thing_wrong_is_seen(spoil: Callable[[Double], None], check: str) -> None:
    cluster = bed()
    spoil(cluster)
    assert f"fractional_gpu.{check}" in failed(cluster)


def test_the_kubelet_is_asked_in_the_pod_where_no_exporter_answers() -> None:
    cluster = bed()
    cluster.texts = {}
    cluster.said["gpu-reservation-w1-x"] = f"GPU 0: A100 (UUID: {UUID_0})"
    told = kubelet.uuids_of_pod(cluster.cluster, _of(cluster, "gpu-reservation-w1-x"))
    assert told.uuids == [UUID_0]
    assert told.where == "nvidia-smi -L in gpu-reservation-w1-x"


def test_metrics_of_other_pods_do_not_count() -> None:
    assert kubelet.uuids_in_metrics(METRICS, RESERVATION, "gpu-reservation-w1-x") == [UUID_0]
    assert kubelet.uuids_in_metrics(METRICS, "elsewhere", "gpu-reservation-w1-x") == []


@pytest.mark.parametrize(("asked", "told"), [("0.5", True), ("0.6", False)])
def test_a_gpu_of_others_with_room_for_a_half_is_named_before_the_test(asked: str, told: bool) -> None:
    cluster = workers(4)
    group = {names.GPU_GROUP_LABEL: "g7"}
    cluster.add(names.PODS, pod("gpu-reservation-w1-z", RESERVATION, gpus=1, labels=group))
    annotations = {names.GPU_FRACTION_ANNOTATION: asked}
    cluster.add(names.PODS, pod("notebook", "runai-team-a", labels=group, annotations=annotations))
    roomy = fractional_gpu.before(cluster.at())["roomy"]
    assert roomy == (["runai-team-a/notebook on w1 with 0.5 of group g7"] if told else [])
