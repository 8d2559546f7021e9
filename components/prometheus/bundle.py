"""The Prometheus Operator's upstream bundle: its CRDs as a chart, its operator with fewer rights.

The bundle is one YAML file of CRDs (4 MB) and five objects of the operator. The CRDs go through a Helm
chart made beside the bundle: as resources of their own they would swell the state to tens of megabytes,
and Helm, like this kit, never deletes CRDs, which other people's objects may need.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from components.files import write_atomically

OPERATOR = "prometheus-operator"
_CRD = re.compile(r"^kind: CustomResourceDefinition$", re.MULTILINE)
_NAME = re.compile(r"^  name: ([a-z.]+)$", re.MULTILINE)


class BundleError(ValueError):
    """The bundle is not what this module knows."""


@dataclass(frozen=True)
class Bundle:
    """`crds` by name as the bundle's own text; `objects` by kind."""

    crds: dict[str, str]
    objects: dict[str, dict[str, Any]]


def read(path: Path) -> Bundle:
    """Split the file without parsing the CRDs. Raises BundleError without a CRD or an operator."""
    crds: dict[str, str] = {}
    objects: dict[str, dict[str, Any]] = {}
    for text in path.read_text(encoding="utf-8").split("\n---\n"):
        if _CRD.search(text):
            match = _NAME.search(text)
            if match is None:
                raise BundleError(f"{path.name}: a CustomResourceDefinition without a name")
            crds[match.group(1)] = text.removeprefix("---\n")
        elif document := yaml.safe_load(text):
            objects[document["kind"]] = document
    if not crds or "Deployment" not in objects:
        raise BundleError(
            f"{path.name}: found {len(crds)} CRDs and {sorted(objects)}; expected an operator's bundle"
        )
    return Bundle(crds, objects)


def crd_chart(bundle: Bundle, directory: Path, version: str) -> Path:
    """Write a chart that holds nothing but the CRDs; files that are right already stay untouched."""
    chart = directory / "crds-chart"
    head = {"apiVersion": "v2", "name": "prometheus-operator-crds", "version": version, "type": "application"}
    write_atomically(chart / "Chart.yaml", yaml.safe_dump(head, sort_keys=False))
    for name, text in bundle.crds.items():
        write_atomically(chart / "crds" / f"{name}.yaml", text + "\n")
    return chart


def deployment_spec(bundle: Bundle, namespace: str, image: str, reloader: str) -> dict[str, Any]:
    """The operator's Deployment spec: instances in our namespace only, no kubelet objects, our images."""
    spec: dict[str, Any] = bundle.objects["Deployment"]["spec"]
    container = dict(spec["template"]["spec"]["containers"][0])
    container["image"] = image
    container["imagePullPolicy"] = "IfNotPresent"
    container["args"] = [
        f"--prometheus-config-reloader={reloader}",
        f"--prometheus-instance-namespaces={namespace}",
        f"--alertmanager-instance-namespaces={namespace}",
        f"--alertmanager-config-namespaces={namespace}",
        f"--thanos-ruler-instance-namespaces={namespace}",
        # One pod per Prometheus need not hold back a fifth of a core for reloading.
        "--config-reloader-cpu-request=10m",
        "--config-reloader-cpu-limit=0",
    ]
    pod = spec["template"]["spec"] | {"containers": [container]}
    return spec | {"template": spec["template"] | {"spec": pod}}


def cluster_rules(bundle: Bundle) -> list[dict[str, Any]]:
    """What the operator needs everywhere: its own kinds, namespaces, storage classes, events."""
    return [rule for rule in bundle.objects["ClusterRole"]["rules"] if _is_cluster_wide(rule)]


def namespace_rules(bundle: Bundle) -> list[dict[str, Any]]:
    """What it needs where instances run: workloads, configuration, services. Never in other namespaces."""
    dropped = {"nodes", "ingresses", "endpoints"}
    return [
        rule
        for rule in bundle.objects["ClusterRole"]["rules"]
        if not _is_cluster_wide(rule) and not dropped & set(rule["resources"])
    ]


def _is_cluster_wide(rule: dict[str, Any]) -> bool:
    everywhere = {"namespaces", "storageclasses", "events"}
    return rule["apiGroups"] == ["monitoring.coreos.com"] or bool(everywhere & set(rule["resources"]))
