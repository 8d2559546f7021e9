"""A release's own objects of Knative Serving and net-kourier, read from files and made fit for this kit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from components.catalog import Part
from components.knative.config import config
from components.knative.inputs import KOURIER, NAMESPACE, KnativeInputs
from components.labels import MANAGED_BY
from components.objects import Object

_GATEWAY_NAMESPACE = "kourier-system"
_VERSION = "app.kubernetes.io/version"
# Namespaces come from the catalog. Autoscalers need metrics-server and would fight over `replicas`, which
# is a setting here.
_LEFT_OUT = {"Namespace", "HorizontalPodAutoscaler"}
_WEBHOOKS = {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}


class BundleError(ValueError):
    """A file is not what this module knows."""


@dataclass(frozen=True)
class Bundle:
    """Objects in the order in which they are needed."""

    crds: list[Object]
    ground: list[Object]
    deployments: list[Object]
    #: Webhooks, and custom resources, which webhooks are asked about.
    last: list[Object]


def read(path: Path) -> list[Object]:
    """All objects of a file. Raises BundleError for a file without any."""
    # CSafeLoader: a quarter of a second instead of three.
    objects = [obj for obj in yaml.load_all(path.read_text(encoding="utf-8"), yaml.CSafeLoader) if obj]
    if not objects or not all({"apiVersion", "kind", "metadata"} <= obj.keys() for obj in objects):
        raise BundleError(f"{path.name}: found {len(objects)} objects; expected a release's manifests")
    return objects


def fit(serving: Iterable[Object], kourier: Iterable[Object], knative: KnativeInputs) -> Bundle:
    """The objects as this kit installs them.

    Raises BundleError for an image that the catalog does not list.
    """
    objects = [
        fitted
        for part, found in ((knative.serving, serving), (knative.kourier, kourier))
        for obj in found
        for fitted in _fit(obj, part, knative)
    ]
    core = {"CustomResourceDefinition", "Deployment"}
    late = [obj for obj in objects if obj["kind"] in _WEBHOOKS or ".knative.dev/" in obj["apiVersion"]]
    return Bundle(
        crds=[obj for obj in objects if obj["kind"] == "CustomResourceDefinition"],
        ground=[obj for obj in objects if obj["kind"] not in core and obj not in late],
        deployments=[obj for obj in objects if obj["kind"] == "Deployment"],
        last=late,
    )


def _fit(obj: Object, part: Part, knative: KnativeInputs) -> Iterator[Object]:
    kind = obj["kind"]
    # With one replica such a budget would only hold up the draining of its node.
    if kind in _LEFT_OUT or (kind == "PodDisruptionBudget" and knative.replicas == 1):
        return
    fitted = _in_namespace(_with_images(obj, knative))
    fitted["metadata"] = _metadata(fitted["metadata"], part)
    change = _CHANGES.get(kind)
    yield change(fitted, knative) if change else fitted


def _metadata(metadata: Object, part: Part) -> Object:
    """Labels with the version that it is and the kit's own; without the examples' checksum."""
    labels = {**metadata.get("labels", {}), _VERSION: part.version, **MANAGED_BY}
    annotations = {
        key: value for key, value in metadata.get("annotations", {}).items() if "example-checksum" not in key
    }
    kept = {key: value for key, value in metadata.items() if key not in {"labels", "annotations"}}
    return kept | {"labels": labels} | ({"annotations": annotations} if annotations else {})


def _in_namespace(obj: Any) -> Any:
    """Kourier's gateway beside everything else, as the Knative Operator puts it."""
    if isinstance(obj, dict):
        return {key: _in_namespace(value) for key, value in obj.items()}
    if isinstance(obj, list):
        return [_in_namespace(item) for item in obj]
    return NAMESPACE if obj == _GATEWAY_NAMESPACE else obj


def _with_images(obj: Any, knative: KnativeInputs) -> Any:
    if isinstance(obj, list):
        return [_with_images(item, knative) for item in obj]
    if not isinstance(obj, dict):
        return obj
    return {
        key: _image(value, knative)
        if key == "image" and isinstance(value, str)
        else _with_images(value, knative)
        for key, value in obj.items()
    }


def _image(reference: str, knative: KnativeInputs) -> str:
    try:
        return knative.image(reference)
    except KeyError:
        known = ", ".join(sorted(knative.images))
        raise BundleError(f"image {reference}: found no such image in the catalog ({known})") from None


def _config_map(obj: Object, knative: KnativeInputs) -> Object:
    """Without the commented example, which is most of it; with the settings."""
    given = config(knative).get(obj["metadata"]["name"].removeprefix("config-"), {})
    data = {key: value for key, value in obj.get("data", {}).items() if key != "_example"} | given
    return {key: value for key, value in obj.items() if key != "data"} | ({"data": data} if data else {})


def _deployment(obj: Object, knative: KnativeInputs) -> Object:
    template = obj["spec"]["template"]
    labels = template["metadata"]["labels"]
    if _VERSION in labels:
        labels = labels | {_VERSION: obj["metadata"]["labels"][_VERSION]}
    pull = {"imagePullSecrets": [{"name": knative.pull_secret}]} if knative.pull_secret else {}
    containers = [item | {"imagePullPolicy": "IfNotPresent"} for item in template["spec"]["containers"]]
    pod = template["spec"] | {"containers": containers} | pull
    spec = obj["spec"] | {
        "replicas": knative.replicas,
        "template": template | {"metadata": template["metadata"] | {"labels": labels}, "spec": pod},
    }
    annotations = obj["metadata"].get("annotations", {}) | {"pulumi.com/timeoutSeconds": "300"}
    return obj | {"metadata": obj["metadata"] | {"annotations": annotations}, "spec": spec}


def _service(obj: Object, _: KnativeInputs) -> Object:
    """A load balancer of its own would lead past the ingress and its certificate."""
    # Whether pods are behind it is the gate's business, and those come after it.
    annotations = obj["metadata"].get("annotations", {}) | {"pulumi.com/skipAwait": "true"}
    kind = {"type": "ClusterIP"} if obj["metadata"]["name"] == KOURIER else {}
    return obj | {"metadata": obj["metadata"] | {"annotations": annotations}, "spec": obj["spec"] | kind}


def _webhooks(obj: Object, _: KnativeInputs) -> Object:
    """Without rules: the webhook writes them itself, with its certificate, when it is there to answer."""
    hooks = [{key: value for key, value in hook.items() if key != "rules"} for hook in obj["webhooks"]]
    return obj | {"webhooks": hooks}


def _cluster_role(obj: Object, _: KnativeInputs) -> Object:
    """An aggregated role's rules are the cluster's to fill in."""
    return {key: value for key, value in obj.items() if key != "rules" or "aggregationRule" not in obj}


_CHANGES: dict[str, Callable[[Object, KnativeInputs], Object]] = {
    "ConfigMap": _config_map,
    "Deployment": _deployment,
    "Service": _service,
    "ClusterRole": _cluster_role,
    **dict.fromkeys(_WEBHOOKS, _webhooks),
}
