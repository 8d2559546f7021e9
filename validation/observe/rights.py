"""V1: what the user of the context may do."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]

# (verb, group, resource) that the tests use; namespaced ones are asked for all namespaces.
RIGHTS = (
    ("create", "", "namespaces"),
    ("delete", "", "namespaces"),
    ("list", "", "nodes"),
    ("patch", "", "nodes"),
    ("get", "", "nodes/proxy"),
    ("list", "", "pods"),
    ("create", "", "pods"),
    ("create", "", "pods/exec"),
    ("get", "", "pods/log"),
    ("list", "", "events"),
    ("list", "", "configmaps"),
    ("create", "", "services"),
    ("create", "", "secrets"),
    ("create", "", "persistentvolumeclaims"),
    ("create", "apps", "statefulsets"),
    ("create", "serving.knative.dev", "services"),
    ("create", "batch", "jobs"),
    ("delete", "batch", "jobs"),
    ("create", "scheduling.run.ai", "queues"),
    ("delete", "scheduling.run.ai", "queues"),
    ("list", "scheduling.run.ai", "podgroups"),
    ("create", "scheduling.run.ai", "podgroups"),
    ("get", "kai.scheduler", "configs"),
    ("create", "kai.scheduler", "schedulingshards"),
    ("create", "kai.scheduler", "topologies"),
    ("get", "coordination.k8s.io", "leases"),
    ("create", "coordination.k8s.io", "leases"),
    ("patch", "coordination.k8s.io", "leases"),
    ("delete", "coordination.k8s.io", "leases"),
)


def access(at: Snapshot) -> Json:
    """Rights that the user of the context lacks."""
    denied = []
    for verb, group, resource in RIGHTS:
        kind, _, sub = resource.partition("/")
        attributes = {"verb": verb, "group": group, "resource": kind, "subresource": sub}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        if not at.cluster.create(names.ACCESS_REVIEWS, review)["status"]["allowed"]:
            denied.append(f"{verb} {resource}" + (f".{group}" if group else ""))
    return {"denied": denied, "asked": len(RIGHTS)}
