"""V1: what was installed, and whether it is as the stack says."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.observe import pods
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]

# Namespaces of installations that bring a KAI of their own.
OTHER_PROFILES = ("runai", "runai-backend", "kai-resource-management")


def versions(at: Snapshot) -> Json:
    """Kubernetes' version; per component the promised one if its images have it, else the tags they have."""
    server = at.cluster.get("/version")["gitVersion"].removeprefix("v")
    found: Json = {"kubernetes": server}
    for component in at.outputs.components:
        if component.name.lower() == "kubernetes":
            found[component.name] = server
        elif component.namespace:
            tags, sure = _tags(at, component.namespace, component.name)
            wanted = component.version.removeprefix("v")
            right = tags == {wanted} if sure else wanted in tags
            found[component.name] = wanted if right else sorted(tags)
    return found


def _tags(at: Snapshot, namespace: str, component: str) -> tuple[set[str], bool]:
    """(tags, whether all images they are from are the component's).

    Told by the image's name (`prometheus/prometheus`), else by a folder's (`kai-scheduler/binder`);
    where neither is there, the images of the whole namespace are looked at.
    """
    images = {
        container["image"].partition("@")[0]
        for pod in at.pods
        if pod["metadata"]["namespace"] == namespace
        for container in pod["spec"]["containers"]
    }
    # A registry's port has a colon, too: the tag is in the last part.
    paths = {image: [*image.split("/")[:-1], image.rpartition("/")[2].partition(":")[0]] for image in images}
    named = {image for image, path in paths.items() if path[-1] == component}
    inside = named or {image for image, path in paths.items() if component in path}
    tags = {image.rpartition("/")[2].partition(":")[2].removeprefix("v") for image in inside or images}
    return tags - {""}, bool(inside)


def exclusive_profile(at: Snapshot) -> Json:
    """Signs of an installation that brings its own scheduler."""
    own = {n.name for n in at.outputs.namespaces}
    inhabited = {p["metadata"]["namespace"] for p in at.pods}
    others = [f"pods in namespace {n}" for n in OTHER_PROFILES if n in inhabited and n not in own]
    if at.outputs.profile == "modular" and at.cluster.find(f"{names.CRDS}/runaiconfigs.run.ai"):
        others.append("CustomResourceDefinition runaiconfigs.run.ai")
    return {"others": others}


def scheduler(at: Snapshot) -> Json:
    """Config's conditions and the Deployments that are not as they should be."""
    if at.config is None:
        return {"conditions": "Config kai-config does not exist", "notReady": []}
    namespace = at.config.get("spec", {}).get("namespace") or "kai-scheduler"
    conditions = {c["type"]: c["status"] for c in at.config.get("status", {}).get("conditions") or []}
    not_ready = []
    for deployment in at.cluster.items(names.in_namespace("/apis/apps/v1/deployments", namespace)):
        wanted = deployment["spec"].get("replicas", 1)
        ready = deployment.get("status", {}).get("readyReplicas", 0)
        name = deployment["metadata"]["name"]
        if wanted == 0:
            not_ready.append(f"{name}: scaled to 0 replicas")
        elif ready < wanted:
            not_ready.append(f"{name}: {ready} of {wanted} ready")
    return {"conditions": conditions, "notReady": not_ready, "namespace": namespace}


def gpu_sharing(at: Snapshot) -> Json:
    """What the live scheduler was configured with; 0.12 says it by its admission, 0.18 by a mode for all."""
    spec = (at.config or {}).get("spec", {})
    mode = (spec.get("global") or {}).get("gpuSharingMode", "")
    if mode:
        return {"gpuSharing": mode != "Disabled"}
    return {"gpuSharing": bool((spec.get("admission") or {}).get("gpuSharing", False))}


def runtime_class(at: Snapshot) -> Json:
    """RuntimeClass that KAI's admission gives to GPU pods."""
    admission = ((at.config or {}).get("spec", {}).get("admission")) or {}
    wanted = admission.get("gpuPodRuntimeClassName") or "nvidia"
    found = at.cluster.find(f"{names.RUNTIME_CLASSES}/{wanted}")
    why = [] if found else [f"RuntimeClass {wanted}, which Config kai-config names, does not exist"]
    return {"name": wanted, "handler": found["handler"] if found else None, "why": why}


def priority_classes(at: Snapshot) -> Json:
    """Values of the classes that tell preemptible from not."""
    return {name: at.priorities.get(name) for name in ("train", "build")}


def namespaces(at: Snapshot) -> Json:
    """Pod Security level that each namespace of the kit enforces."""
    live = {n["metadata"]["name"]: n for n in at.cluster.items(names.NAMESPACES)}
    return {
        n.name: (pods.label(live[n.name], names.PSA_ENFORCE_LABEL) or "no label")
        if n.name in live
        else "missing"
        for n in at.outputs.namespaces
    }


def pull_secrets(at: Snapshot) -> Json:
    """Pull secrets that the kit's pods name and that do not exist."""
    own = {n.name for n in at.outputs.namespaces}
    wanted = {
        (p["metadata"]["namespace"], ref["name"])
        for p in at.pods
        if p["metadata"]["namespace"] in own
        for ref in p["spec"].get("imagePullSecrets") or []
    }
    missing = [
        f"{namespace}/{name}"
        for namespace, name in sorted(wanted)
        if at.cluster.find(f"/api/v1/namespaces/{namespace}/secrets/{name}") is None
    ]
    return {"missing": missing, "named": len(wanted)}
