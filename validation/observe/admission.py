"""What the API server's admission says, asked by dry runs that store nothing."""

from __future__ import annotations

import re
from typing import Any

from validation import names
from validation.cluster import ClusterError
from validation.observe import pods
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
PROBE_NAMESPACE = "runai-kit-preflight"


def _pod(at: Snapshot, name: str, spec: Json, **meta: Any) -> Json:
    container = {
        "name": "main",
        "image": at.outputs.images["cuda"],
        "command": ["true"],
        **spec.pop("container", {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **meta},
        "spec": {"containers": [container], "restartPolicy": "Never", **spec},
    }


def psa_default(at: Snapshot) -> Json:
    """Level that a namespace without labels gets: which of two pods is refused, by dry run.

    The namespace is preflight's own; it carries no Pod Security label.
    """
    levels = {
        "privileged": {"hostNetwork": True},
        "baseline": {},
    }
    refused = [level for level, spec in levels.items() if _refused_by_psa(at, level, dict(spec))]
    level = "privileged"
    if refused:
        level = "restricted" if "baseline" in refused else "baseline"
    own = at.cluster.find(f"{names.NAMESPACES}/{PROBE_NAMESPACE}") or {"metadata": {}}
    labelled = pods.label(own, names.PSA_ENFORCE_LABEL)
    why = (
        [f"something labelled namespace {PROBE_NAMESPACE} {names.PSA_ENFORCE_LABEL}={labelled}"]
        if labelled
        else [f"namespace {PROBE_NAMESPACE} has no Pod Security label: the API server's own default"]
    )
    return {"level": level, "why": why}


def _refused_by_psa(at: Snapshot, name: str, spec: Json) -> bool:
    body = _pod(at, f"psa-{name}", spec, namespace=PROBE_NAMESPACE)
    try:
        at.cluster.create(names.in_namespace(names.PODS, PROBE_NAMESPACE), body, dry_run=True)
    except ClusterError as error:
        if error.status == 403 and "PodSecurity" in str(error):
            return True
        raise
    return False


def webhooks(at: Snapshot) -> Json:
    """Each webhook is asked something that only it can answer."""
    return {"queue": _queue_webhook(at), "podGroup": _pod_group_webhook(at), "pod": _pod_webhook(at)}


def _queue_webhook(at: Snapshot) -> str:
    # The schema allows a Queue without resources, the webhook does not.
    body = {
        "apiVersion": "scheduling.run.ai/v2",
        "kind": "Queue",
        "metadata": {"name": "runai-kit-preflight"},
        "spec": {},
    }
    try:
        at.cluster.create(names.QUEUES, body, dry_run=True)
    except ClusterError as error:
        return "answers" if re.search("resources must be specified", str(error)) else str(error)
    return "a Queue without resources was accepted: the webhook was not asked"


def _pod_group_webhook(at: Snapshot) -> str:
    # Two subgroups of one name: allowed by the schema, refused by the webhook.
    twin = {"name": "twin", "minMember": 1}
    namespace = at.outputs.projects[0].namespace
    body = {
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "runai-kit-preflight", "namespace": namespace},
        "spec": {"minMember": 1, "queue": at.outputs.projects[0].queue, "subGroups": [twin, twin]},
    }
    try:
        at.cluster.create(names.in_namespace(names.POD_GROUPS, namespace), body, dry_run=True)
    except ClusterError as error:
        return "answers" if re.search("duplicate", str(error), re.IGNORECASE) else str(error)
    return "a PodGroup with two subgroups of one name was accepted: the webhook was not asked"


def _pod_webhook(at: Snapshot) -> str:
    """A GPU pod in a project's namespace comes back changed; half a GPU gets its config map."""
    project = at.outputs.projects[0]
    meta: Json = {"namespace": project.namespace, "labels": {at.outputs.queueLabelKey: project.queue}}
    spec: Json = {"schedulerName": at.outputs.schedulerName}
    if at.outputs.gpuSharing:
        meta["annotations"] = {names.GPU_FRACTION_ANNOTATION: "0.5"}
    else:
        spec["container"] = {"resources": {"limits": {names.GPU_RESOURCE: "1"}}}
    try:
        made = at.cluster.create(
            names.in_namespace(names.PODS, project.namespace),
            _pod(at, "runai-kit-preflight", spec, **meta),
            dry_run=True,
        )
    except ClusterError as error:
        # A refusal is an answer, too: sharing that is off has a check of its own.
        return "answers" if "denied the request" in str(error) else str(error)
    changed = (
        pods.annotation(made, names.SHARED_GPU_ANNOTATION)
        if at.outputs.gpuSharing
        else made["spec"].get("runtimeClassName")
    )
    return "answers" if changed else "a GPU pod came back unchanged: the webhook was not asked"
