"""V1: what the user of the context may do."""

from __future__ import annotations

from typing import Any

from validation import names
from validation.observe.snapshot import Snapshot
from validation.settings import StackOutputs

Json = dict[str, Any]

# What the tests make, and what they take away again.
MADE = (
    ("", "namespaces"),
    ("", "pods"),
    ("", "configmaps"),
    ("", "services"),
    ("", "secrets"),
    ("", "persistentvolumeclaims"),
    ("apps", "deployments"),
    ("apps", "statefulsets"),
    ("batch", "jobs"),
    ("networking.k8s.io", "networkpolicies"),
    ("resource.k8s.io", "resourceclaimtemplates"),
    ("scheduling.run.ai", "queues"),
    ("scheduling.run.ai", "podgroups"),
    ("kai.scheduler", "schedulingshards"),
    ("kai.scheduler", "topologies"),
)
# (verb, group, resource) of all else that they do.
ASKED = (
    ("list", "", "nodes"),
    ("patch", "", "nodes"),
    ("get", "", "nodes/proxy"),
    ("list", "", "pods"),
    ("watch", "", "pods"),
    ("create", "", "pods/exec"),
    ("get", "", "pods/log"),
    # DCGM exporters and schedulers are asked by way of the API server, and so is Prometheus.
    ("get", "", "pods/proxy"),
    ("get", "", "services/proxy"),
    ("list", "", "events"),
    ("list", "", "configmaps"),
    ("list", "", "secrets"),
    ("get", "kai.scheduler", "configs"),
    ("list", "scheduling.run.ai", "bindrequests"),
    # One run at a time, see validation/lease.py.
    ("get", "coordination.k8s.io", "leases"),
    ("create", "coordination.k8s.io", "leases"),
    ("patch", "coordination.k8s.io", "leases"),
    ("delete", "coordination.k8s.io", "leases"),
)


def rights(outputs: StackOutputs) -> list[tuple[str, str, str]]:
    """(verb, group, resource) that the tests of this stack need, in all namespaces."""
    made = list(MADE)
    if outputs.inference.enabled:
        made.append(("serving.knative.dev", "services"))
    if outputs.workspaces.enabled:
        made.append(("networking.k8s.io", "ingresses"))
    if outputs.monitoring.enabled:
        made.append(("monitoring.coreos.com", "prometheusrules"))
    return [*ASKED, *((verb, *what) for what in made for verb in ("create", "delete"))]


def access(at: Snapshot) -> Json:
    """Rights that the user of the context lacks."""
    denied, wanted = [], rights(at.outputs)
    for verb, group, resource in wanted:
        kind, _, sub = resource.partition("/")
        attributes = {"verb": verb, "group": group, "resource": kind, "subresource": sub}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        if not at.cluster.create(names.ACCESS_REVIEWS, review)["status"]["allowed"]:
            denied.append(f"{verb} {resource}" + (f".{group}" if group else ""))
    return {"denied": denied, "asked": len(wanted)}
