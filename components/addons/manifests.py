"""Manifests of Kubeflow's operators, read from a file and made fit for this kit."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from components.addons.inputs import RESTRICTED_CONTAINER, RESTRICTED_POD, AddonInputs
from components.knative.inputs import repository
from components.labels import MANAGED_BY
from components.objects import Object

MPI_CRD = "mpijobs.kubeflow.org"
# The Training Operator's kinds without MPI's, as its flag names them.
SCHEMES = ("tfjob", "pytorchjob", "xgboostjob", "paddlejob", "jaxjob")


class ManifestError(ValueError):
    """A file is not what this module knows."""


@dataclass(frozen=True)
class Manifests:
    """Objects in the order in which they are needed."""

    crds: list[Object]
    ground: list[Object]
    deployments: list[Object]
    last: list[Object]


def read(path: Path) -> list[Object]:
    """All objects of a file. Raises ManifestError for a file without a Deployment or without CRDs."""
    objects = [obj for obj in yaml.load_all(path.read_text(encoding="utf-8"), yaml.CSafeLoader) if obj]
    kinds = {str(obj.get("kind")) for obj in objects if isinstance(obj, dict)}
    if not {"CustomResourceDefinition", "Deployment"} <= kinds:
        found = ", ".join(sorted(kinds)) or "no objects"
        raise ManifestError(f"{path.name}: found {found}; expected an operator's CRDs and Deployment")
    return objects


def fit(objects: Iterable[Object], inputs: AddonInputs, without_mpi: bool = False) -> Manifests:
    """The objects in the part's namespace, with its images; `without_mpi` leaves MPI jobs to others.

    Raises ManifestError for an image that is not the catalog's.
    """
    fitted = [_fit(obj, inputs, without_mpi) for obj in objects if not _left_out(obj, without_mpi)]
    webhooks = [obj for obj in fitted if obj["kind"].endswith("WebhookConfiguration")]
    core = {"CustomResourceDefinition", "Deployment"}
    return Manifests(
        crds=[obj for obj in fitted if obj["kind"] == "CustomResourceDefinition"],
        ground=[obj for obj in fitted if obj["kind"] not in core and obj not in webhooks],
        deployments=[obj for obj in fitted if obj["kind"] == "Deployment"],
        last=webhooks,
    )


def _left_out(obj: Object, without_mpi: bool) -> bool:
    """Namespaces are the catalog's; two operators' definitions of one kind would undo each other."""
    return obj["kind"] == "Namespace" or (without_mpi and obj["metadata"]["name"] == MPI_CRD)


def _fit(original: Object, inputs: AddonInputs, without_mpi: bool) -> Object:
    obj = copy.deepcopy(original)
    home = inputs.part.namespace()
    meta = obj["metadata"]
    if meta.get("namespace"):
        meta["namespace"] = home
    meta["labels"] = {**(meta.get("labels") or {}), **MANAGED_BY}
    for subject in obj.get("subjects") or []:
        if subject.get("namespace"):
            subject["namespace"] = home
    for hook in obj.get("webhooks") or []:
        hook["clientConfig"]["service"]["namespace"] = home
    if obj["kind"] == "Deployment":
        _pod(obj["spec"]["template"]["spec"], inputs, without_mpi)
    return obj


def _pod(spec: dict[str, Any], inputs: AddonInputs, without_mpi: bool) -> None:
    known = {repository(image): name for name, image in inputs.part.images.items()}
    spec["imagePullSecrets"] = inputs.pull_secrets()
    spec["securityContext"] = {**(spec.get("securityContext") or {}), **RESTRICTED_POD, "runAsUser": 65532}
    for container in spec["containers"]:
        found = container["image"]
        name = known.get(repository(found if "." in found.partition("/")[0] else f"docker.io/{found}"))
        expected = inputs.part.images.get(name or "", ", ".join(inputs.part.images.values()))
        if name is None or found.rpartition(":")[2] != expected.rpartition(":")[2]:
            raise ManifestError(
                f"{inputs.part.name} {inputs.part.version}: found image {found}; expected {expected}; "
                "take the manifests of this version, or correct components/catalog.yaml"
            )
        container["image"] = inputs.image(name)
        container["imagePullPolicy"] = "IfNotPresent"
        container["securityContext"] = {**(container.get("securityContext") or {}), **RESTRICTED_CONTAINER}
        if without_mpi:
            kept = [word for word in container.get("args") or [] if not word.startswith("--enable-scheme")]
            container["args"] = [*kept, *(f"--enable-scheme={kind}" for kind in SCHEMES)]
