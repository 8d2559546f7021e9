"""Closed networks: the list names everything that ran, and the copy is the same thing under the prefix."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from mirror.listing import Item, listing
from policy.render import read_stack
from tests.acceptance.conftest import ROOT, Kubectl
from tests.contract.doubles import HELM, pack
from tests.contract.registry import Registry, registry
from tests.stack import CATALOG

Json = dict[str, Any]
# What the cluster itself runs: not the stack's to bring.
CLUSTERS_OWN = {"kube-system", "local-path-storage"}
IMAGES = ("nvcr.io/nvidia/gpu-operator:v26.7.1", "ghcr.io/kai-scheduler/kai-scheduler/operator:v0.18.6")


@pytest.mark.req("I13")
def test_every_image_that_runs_is_in_the_list(kubectl: Kubectl) -> None:
    settings = read_stack(ROOT / "stacks" / "Pulumi.local.yaml")
    listed = {
        item.reference
        for item in listing(settings, CATALOG, ROOT / "build" / "charts", HELM, fetch=False)
        if item.kind == "image"
    }
    ran: set[str] = set()
    for pod in kubectl("get", "pods", "-A")["items"]:
        if pod["metadata"]["namespace"] not in CLUSTERS_OWN:
            spec = pod["spec"]
            ran |= {c["image"] for c in [*spec["containers"], *spec.get("initContainers", [])]}
    assert len(ran) > 10
    assert {image for image in ran if full_name(image) not in listed} == set()


def full_name(image: str) -> str:
    """As the list writes it: with a registry, a path, and a tag."""
    head = image.partition("/")[0]
    name = image if "." in head or ":" in head else f"docker.io/{'' if '/' in image else 'library/'}{image}"
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


@pytest.mark.req("I13")
def test_a_copy_from_one_registry_to_another_is_the_same_thing(tmp_path: Path) -> None:
    with registry(tmp_path / "one") as one, registry(tmp_path / "two") as two:
        trusted = tmp_path / "both.pem"
        trusted.write_text(one.ca.read_text() + two.ca.read_text())
        both = Registry(one.address, trusted)
        for image in IMAGES:
            layout = oci_image(tmp_path / "image", image)
            both.run("skopeo", "copy", "--quiet", f"oci:{layout}", f"docker://{one.address}/up/{image}")
        chart = pack("lws", "0.9.0", tmp_path / "charts")
        both.run(str(HELM), "push", str(chart), f"oci://{one.address}/up/registry.k8s.io/lws/charts")
        wanted = [Item("image", image, "", "a test") for image in IMAGES]
        wanted.append(Item("chart", "registry.k8s.io/lws/charts/lws", "0.9.0", "a test"))
        done = copied(wanted, one, two, trusted, tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"3 of 3 are below {two.address}/mirror" in done.stdout
        for image in IMAGES:
            assert digest(both, f"{two.address}/mirror/{image}") == digest(both, f"{one.address}/up/{image}")
        address = f"oci://{two.address}/mirror/registry.k8s.io/lws/charts/lws"
        shown = both.run(str(HELM), "show", "chart", address, "--version", "0.9.0")
        assert "name: lws" in shown
        gone = [*wanted, Item("image", "nvcr.io/nvidia/not-there:v1", "", "a test")]
        done = copied(gone, one, two, trusted, tmp_path)
        assert done.returncode == 1
        assert "mirror: image nvcr.io/nvidia/not-there:v1: " in done.stderr
        assert "3 of 4" in done.stdout


def copied(
    items: list[Item], one: Registry, two: Registry, trusted: Path, folder: Path
) -> subprocess.CompletedProcess[str]:
    """Run the copy as a user does."""
    file = folder / "list.json"
    file.write_text(json.dumps([vars(item) for item in items]))
    words = [sys.executable, "-m", "mirror", "copy", str(file), f"{two.address}/mirror"]
    words += ["--source", f"{one.address}/up", "--helm", str(HELM)]
    environment = Registry(one.address, trusted).environment()
    return subprocess.run(
        words, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def digest(both: Registry, reference: str) -> str:
    return both.run("skopeo", "inspect", "--format", "{{.Digest}}", f"docker://{reference}").strip()


def oci_image(folder: Path, content: str) -> Path:
    """An OCI layout of one image whose only file holds the text."""
    layout = folder / hashlib.sha256(content.encode()).hexdigest()[:12]
    blobs = layout / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        entry = tarfile.TarInfo("content")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content.encode()))
    layer = stream.getvalue()
    kind = "application/vnd.oci.image"
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{kind}.manifest.v1+json",
        "config": _blob(blobs, json.dumps(config).encode(), f"{kind}.config.v1+json"),
        "layers": [_blob(blobs, layer, f"{kind}.layer.v1.tar")],
    }
    index = {
        "schemaVersion": 2,
        "manifests": [_blob(blobs, json.dumps(manifest).encode(), f"{kind}.manifest.v1+json")],
    }
    (layout / "index.json").write_text(json.dumps(index))
    (layout / "oci-layout").write_text(json.dumps({"imageLayoutVersion": "1.0.0"}))
    return layout


def _blob(folder: Path, data: bytes, kind: str) -> Json:
    name = hashlib.sha256(data).hexdigest()
    (folder / name).write_bytes(data)
    return {"mediaType": kind, "digest": f"sha256:{name}", "size": len(data)}
