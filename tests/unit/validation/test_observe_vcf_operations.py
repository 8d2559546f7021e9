"""I11: the VKS packages in a cluster, right and wrong."""

from __future__ import annotations

import base64
from typing import Any

import pytest
import yaml

from tests.unit.validation.double import OUTPUTS, Double, pod, thing
from validation import gate, names
from validation.compare import differences
from validation.expect import vcf_operations as expect
from validation.observe import vks_packages
from validation.observe.looks import LOOKS
from validation.observe.snapshot import Snapshot
from validation.observe.watched import Watched
from validation.settings import StackOutputs, load

Json = dict[str, Any]
pytestmark = pytest.mark.req("I11")
TELEGRAF, PROMETHEUS = "telegraf.kubernetes.vmware.com", "prometheus.kubernetes.vmware.com"
PACKAGES = [
    {"name": PROMETHEUS, "namespace": "tanzu-system-monitoring", "owner": "x"},
    {"name": TELEGRAF, "namespace": "tanzu-system-telegraf", "owner": "x"},
]
INSTALLS = "/apis/packaging.carvel.dev/v1alpha1/packageinstalls"
SLICES = "/apis/discovery.k8s.io/v1/endpointslices"
METRICS = "/api/v1/namespaces/gpu-operator/pods/dcgm-1:9400/proxy/metrics"
VALUES = {
    "isMetricProxyConfigured": True,
    "inputPluginsForDeployment": {"dcgm_exporter_metrics": {"enabled": True}},
}


def counted(*fields: str) -> str:
    return "".join(f'# HELP {field} x\n{field}{{gpu="0"}} 0\n' for field in fields)


class Bed(Double):
    """A double that also tells metadata alone."""

    def metadata(self, path: str, **params: Any) -> list[Json]:
        return [item["metadata"] for item in self.items(path, **params)]


def install(
    package: str, ready: str = "True", values: str = "", namespace: str = "vmware-system-tkg"
) -> Json:
    made = thing(
        f"c-{package.partition('.')[0]}",
        namespace,
        spec={"packageRef": {"refName": package}},
        status={"conditions": [{"type": "ReconcileSucceeded", "status": ready}], "version": "1"},
    )
    if values:
        made["spec"]["values"] = [{"secretRef": {"name": values}}]
    return made


def right() -> Bed:
    """A cluster as it should be."""
    bed = Bed()
    bed.add(INSTALLS, install(PROMETHEUS), install(TELEGRAF, values="c-telegraf-values"))
    data = {"values.yml": base64.b64encode(yaml.safe_dump(VALUES).encode()).decode()}
    bed.add(
        names.SECRETS,
        thing("metrics-proxy-tls-config", "kube-system"),
        thing("metrics-proxy-http-config", "kube-system"),
        {**thing("c-telegraf-values", "vmware-system-tkg"), "data": data},
    )
    proxy = thing("p-x", "default", endpoints=[{"addresses": ["192.0.2.1"]}])
    proxy["metadata"]["labels"] = {"kubernetes.io/service-name": "supervisor-management-proxy"}
    bed.add(SLICES, proxy)
    running = pod("telegraf-1", namespace="tanzu-system-telegraf")
    running["status"] = {"phase": "Running", "containerStatuses": [{"ready": True}]}
    bed.add(names.PODS, running)
    exporter = pod("dcgm-1", namespace="gpu-operator", on="worker")
    exporter["metadata"]["labels"] = {"app": "nvidia-dcgm-exporter"}
    exporter["status"] = {"phase": "Running"}
    bed.add(names.PODS, exporter)
    bed.add(names.NODES, thing("worker", spec={}, status={}))
    bed.texts[METRICS] = counted("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL")
    bed.said["telegraf-1"] = "I! [agent] fine\n"
    return bed


def faults(bed: Bed, **changed: Any) -> set[str]:
    outputs = made(**changed)
    wanted = expect.expected(outputs)
    found = vks_packages.observe(at(bed, outputs))
    return {check for check in found if "error" in found[check] or differences(wanted[check], found[check])}


def made(**changed: Any) -> StackOutputs:
    return load(
        {**OUTPUTS, "vksMonitoring": {"packages": PACKAGES, "dcgmNamespace": "gpu-operator", **changed}}
    )


def at(bed: Bed, outputs: StackOutputs) -> Snapshot:
    return Snapshot(bed, outputs)  # type: ignore[arg-type]


def test_a_cluster_as_it_should_be_passes() -> None:
    assert faults(right()) == set()


def test_two_owners_and_one_that_is_not_reconciled_fail() -> None:
    bed = right()
    bed.add(INSTALLS, install(TELEGRAF, namespace="package-installs"))
    assert faults(bed) == {"vcf_operations.packages"}
    bed = right()
    bed.objects[INSTALLS][0] = install(PROMETHEUS, "False")
    assert faults(bed) == {"vcf_operations.packages"}


def test_without_the_proxy_telegraf_hangs_and_both_are_told() -> None:
    bed = right()
    bed.objects[names.SECRETS] = bed.objects[names.SECRETS][1:]
    bed.objects[SLICES][0]["endpoints"] = []
    waiting = {"ready": False, "state": {"waiting": {"reason": "ContainerCreating"}}}
    bed.objects[names.PODS][0]["status"] = {"phase": "Pending", "containerStatuses": [waiting]}
    text = 'MountVolume.SetUp failed for volume "metrics-proxy-tls-config": secret not found'
    bed.add(names.EVENTS, {**thing("e", "tanzu-system-telegraf"), "reason": "FailedMount", "message": text})
    assert faults(bed) == {"vcf_operations.proxy", "vcf_operations.telegraf"}
    found = vks_packages.observe(at(bed, made()))
    assert found["vcf_operations.proxy"]["missing"] == [
        "Secret kube-system/metrics-proxy-tls-config",
        "endpoints of Service default/supervisor-management-proxy",
    ]
    assert found["vcf_operations.telegraf"]["waiting"] == {"telegraf-1": "ContainerCreating"}
    assert found["vcf_operations.telegraf"]["why"] == [text]


def test_what_telegraf_cannot_deliver_is_told_by_its_log() -> None:
    bed = right()
    line = 'E! [agent] Error writing to outputs.http: Post "https://proxy.default.svc.:10093"'
    exporter = pod("dcgm-1", namespace="gpu-operator", on="worker")
    exporter["metadata"]["labels"] = {"app": "nvidia-dcgm-exporter"}
    exporter["status"] = {"phase": "Running"}
    bed.add(names.PODS, exporter)
    bed.add(names.NODES, thing("worker", spec={}, status={}))
    bed.texts[METRICS] = counted("DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_MEM_COPY_UTIL")
    bed.said["telegraf-1"] = f"I! fine\n{line}: no such host\n"
    assert faults(bed) == {"vcf_operations.telegraf"}


def test_a_telegraf_without_gpus_fails_unless_the_stack_wants_none() -> None:
    bed = right()
    bed.objects[names.SECRETS][2]["data"] = {}
    assert faults(bed) == {"vcf_operations.input"}
    assert faults(bed, dcgm=False, metricProxy=False) == set()


def test_what_does_not_apply_is_said_by_the_outputs(tmp_path: Any) -> None:
    def look(outputs: StackOutputs) -> Json:
        return LOOKS["vcf_operations"](at(right(), outputs), Watched(tmp_path / "t"), {})

    assert not any(look(load(OUTPUTS))["applicable"].values())
    inside = look(made(metricProxy=False))["applicable"]
    assert [check for check, on in inside.items() if on] == [
        "vcf_operations.packages",
        "vcf_operations.telegraf",
        "vcf_operations.input",
        "vcf_operations.counters",
    ]
    assert not look(made(dcgm=False))["applicable"]["vcf_operations.counters"]


def test_a_field_that_an_exporter_does_not_count_is_named_with_its_node() -> None:
    bed = right()
    bed.objects[names.NODES][0]["metadata"]["labels"] = {names.GPU_PRODUCT_LABEL: "NVIDIA-H100XM-80C"}
    assert faults(bed) == {"vcf_operations.counters"}
    found = vks_packages.observe(at(bed, made()))["vcf_operations.counters"]
    # On a vGPU; a passthrough GPU has no such field. Words about a field are no field.
    assert found == {"exporters": 1, "missing": {"worker": ["DCGM_FI_DEV_VGPU_MEMORY_USAGE"]}}
    bed.texts[METRICS] += "# HELP DCGM_FI_DEV_VGPU_MEMORY_USAGE x\n"
    assert faults(bed) == {"vcf_operations.counters"}
    bed.texts[METRICS] += counted("DCGM_FI_DEV_VGPU_MEMORY_USAGE")
    assert faults(bed) == set()
    bed.objects[names.PODS] = bed.objects[names.PODS][:1]
    assert faults(bed) == {"vcf_operations.counters"}


@pytest.mark.parametrize(("live", "could"), [({}, True), ({"vcfOperations": False}, False)])
def test_a_declaration_that_it_does_not_apply_has_to_be_true(live: Json, could: bool) -> None:
    assert gate.could_run("vcf_operations", live) is could
