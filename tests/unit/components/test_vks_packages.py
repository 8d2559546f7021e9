"""VKS packages: adopted where they are, installed where they are not, never with two owners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.cluster import DeploymentFacts
from components.connect import ClusterError
from components.labels import MANAGED_BY
from components.vks.owners import plan
from components.vks.values import DCGM_FIELDS, PROMETHEUS, TELEGRAF, unknown, values
from tests.stack import LOCAL, FakeCluster, changed, run_platform, settings

VERSIONS = {PROMETHEUS: "3.5.3+vmware.1-vks.1", TELEGRAF: "1.38.4+vmware.1-vks.1"}
PROXY = {
    ("kube-system", name): {"x": "y"} for name in ("metrics-proxy-tls-config", "metrics-proxy-http-config")
}
BASE = changed(
    changed(changed(LOCAL, "cluster.kind", "vks"), "fakeGpus.enabled", False), "capacity", {"gpus": 8}
)
BASE = changed(BASE, "capacity.source", "setting")


def stack(packages: str, **more: Any) -> dict[str, Any]:
    return changed(BASE, "vksMonitoring", {"packages": packages, **more})


def install(package: str, namespace: str = "vmware-system-tkg", ours: bool = False) -> dict[str, Any]:
    name = "x-" + package.partition(".")[0]
    return {
        "metadata": {"namespace": namespace, "name": name, "labels": dict(MANAGED_BY) if ours else None},
        "spec": {"packageRef": {"refName": package, "versionSelection": {"constraints": VERSIONS[package]}}},
    }


def offer(package: str, version: str = "", schema: dict[str, Any] | None = None) -> dict[str, Any]:
    told = {"valuesSchema": {"openAPIv3": schema}} if schema else {}
    return {"spec": {"refName": package, "version": version or VERSIONS[package], **told}}


def cluster(*installs: dict[str, Any], offers: list[dict[str, Any]] | None = None) -> FakeCluster:
    packages = [offer(PROMETHEUS), offer(TELEGRAF)] if offers is None else offers
    return FakeCluster(listed={"packageinstalls": list(installs), "packages": packages}, secrets=dict(PROXY))


@pytest.mark.req("I10", "I11")
@pytest.mark.parametrize(
    ("mode", "there", "ours", "adopted"),
    [
        ("off", [install(TELEGRAF)], (), []),
        ("detect", [], (PROMETHEUS, TELEGRAF), []),
        ("detect", [install(PROMETHEUS), install(TELEGRAF)], (), [PROMETHEUS, TELEGRAF]),
        ("detect", [install(PROMETHEUS)], (TELEGRAF,), [PROMETHEUS]),
        ("existing", [install(PROMETHEUS), install(TELEGRAF)], (), [PROMETHEUS, TELEGRAF]),
        ("install", [], (PROMETHEUS, TELEGRAF), []),
        # What this stack made is no second owner on its next run.
        (
            "install",
            [install(p, "package-installs", True) for p in (PROMETHEUS, TELEGRAF)],
            (PROMETHEUS, TELEGRAF),
            [],
        ),
    ],
)
def test_one_owner_each(mode: str, there: list[Any], ours: tuple[str, ...], adopted: list[str]) -> None:
    chosen = plan(cluster(*there), settings(stack(mode)))
    assert chosen.install == ours
    assert [item.package for item in chosen.adopted] == adopted


@pytest.mark.req("I10", "I11")
@pytest.mark.parametrize(
    ("mode", "bed", "words"),
    [
        (
            "install",
            cluster(install(TELEGRAF)),
            (
                "PackageInstall vmware-system-tkg/x-telegraf (the Supervisor's add-on management)",
                "none beside this stack's PackageInstall in namespace package-installs",
            ),
        ),
        (
            "detect",
            cluster(install(TELEGRAF), install(TELEGRAF, "package-installs", True)),
            ("this kit's PackageInstall package-installs/x-telegraf and by PackageInstall vmware-",),
        ),
        ("existing", cluster(install(PROMETHEUS)), (f"no PackageInstall of {TELEGRAF}",)),
        (
            "detect",
            cluster(offers=[offer(PROMETHEUS), offer(TELEGRAF, "1.34.4+vmware.2-vks.1")]),
            (f"no Package {TELEGRAF} {VERSIONS[TELEGRAF]} (offered: 1.34.4+vmware.2-vks.1)",),
        ),
        ("detect", cluster(offers=[]), ("(offered: none)", "PackageRepository")),
        (
            "detect",
            cluster(offers=[offer(PROMETHEUS, schema={"properties": {"namespace": {}}}), offer(TELEGRAF)]),
            ("without the data values deploycomponents, ingress",),
        ),
        (
            "detect",
            FakeCluster(
                listed={"packages": [offer(PROMETHEUS), offer(TELEGRAF)]},
                secrets=dict(PROXY),
                others={"tanzu-system-telegraf": (DeploymentFacts("telegraf"),)},
            ),
            ("Deployment tanzu-system-telegraf/telegraf, of no package",),
        ),
        (
            "detect",
            FakeCluster(listed={"packages": [offer(PROMETHEUS), offer(TELEGRAF)]}),
            ("no Secret metrics-proxy-tls-config, metrics-proxy-http-config", "FailedMount"),
        ),
    ],
    ids=["foreign", "two", "missing", "version", "no repository", "schema", "workload", "proxy"],
)
def test_what_cannot_work_is_refused_before_the_first_resource(
    mode: str, bed: FakeCluster, words: tuple[str, ...], tmp_path: Path
) -> None:
    with pytest.raises(ClusterError) as caught:
        run_platform(tmp_path, stack(mode), bed)
    for word in words:
        assert word in str(caught.value)
    assert "Nothing was changed." in str(caught.value)


@pytest.mark.req("I11")
def test_without_the_proxy_telegraf_needs_no_secrets() -> None:
    bed = FakeCluster(listed={"packages": [offer(PROMETHEUS), offer(TELEGRAF)]})
    assert TELEGRAF in plan(bed, settings(stack("install", metricProxy=False))).install


@pytest.mark.req("I10", "I11")
def test_both_packages_are_installed_in_order_with_their_values(tmp_path: Path) -> None:
    run = run_platform(tmp_path, stack("detect", storageClass="fast"), cluster())
    found = {item.name: item for item in run.of_type("PackageInstall")}
    assert set(found) == {"vks-prometheus", "vks-telegraf"}
    for name, item in found.items():
        spec = item.inputs["spec"]
        package = {"vks-prometheus": PROMETHEUS, "vks-telegraf": TELEGRAF}[name]
        assert spec["packageRef"] == {
            "refName": package,
            "versionSelection": {"constraints": VERSIONS[package]},
        }
        assert item.inputs["metadata"]["namespace"] == "package-installs"
        assert item.inputs["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=ReconcileSucceeded"
        assert "runai-kit-packages" in run.reached(item.depends_on | {name})
        (reference,) = spec["values"]
        assert reference == {"secretRef": {"name": f"{name}-values"}}
        assert f"{name}-values" in item.depends_on
    telegraf = told(run.one("Secret", "vks-telegraf-values").inputs)
    assert telegraf["isMetricProxyConfigured"] is True
    assert telegraf["domainName"] == "cluster.local"
    dcgm = telegraf["inputPluginsForDeployment"]["dcgm_exporter_metrics"]
    assert dcgm["enabled"] is True
    (address,) = dcgm["dcgm_services"]
    service = run.one("Service", "runai-kit-dcgm-exporter").inputs
    assert service["spec"]["clusterIP"] == "None"
    meta = service["metadata"]
    assert address == f"http://{meta['name']}.{meta['namespace']}.svc.cluster.local:9400/metrics"
    prometheus = told(run.one("Secret", "vks-prometheus-values").inputs)
    assert prometheus["deploycomponents"]["prometheus-operator"] is False
    assert prometheus["prometheus"]["pvc"]["storageClassName"] == "fast"
    assert {"name": "package-installs", "psa": "restricted", "existedBefore": False} in run.value[
        "namespaces"
    ]
    assert {item["owner"] for item in run.value["vksMonitoring"]["packages"]} == {"this stack"}


@pytest.mark.req("I11")
def test_adopted_packages_are_left_alone_and_told(tmp_path: Path) -> None:
    run = run_platform(tmp_path, stack("detect"), cluster(install(PROMETHEUS), install(TELEGRAF)))
    assert run.of_type("PackageInstall") == []
    assert [i.name for i in run.of_type("Service") if i.name == "runai-kit-dcgm-exporter"] == []
    owners = [item["owner"] for item in run.value["vksMonitoring"]["packages"]]
    assert len(owners) == 2
    assert all("vmware-system-tkg" in owner for owner in owners)
    assert "package-installs" not in {item["name"] for item in run.value["namespaces"]}


@pytest.mark.req("I6", "I11")
def test_the_kits_own_counters_have_every_field_that_telegraf_passes() -> None:
    own = Path(__file__).parents[3] / "components/addons/dcgm-metrics.csv"
    counted = {line.split(",")[0] for line in own.read_text().splitlines()}
    assert set(DCGM_FIELDS) <= counted


@pytest.mark.req("I11")
def test_unknown_values_are_found_at_every_level() -> None:
    schema = {"properties": {"a": {"properties": {"b": {}}}, "free": {"type": "object"}}}
    assert list(unknown({"a": {"b": 1, "c": 2}, "d": 3, "free": {"x": 1}}, schema)) == ["a.c", "d"]
    assert values(TELEGRAF, settings(stack("install", dcgm=False)))["inputPluginsForDeployment"] == {
        "dcgm_exporter_metrics": {"enabled": False}
    }


def told(inputs: dict[str, Any]) -> dict[str, Any]:
    """The data values in a Secret as the provider got it."""
    texts = inputs["stringData"]
    found: dict[str, Any] = yaml.safe_load(texts.get("value", texts)["values.yml"])
    return found
