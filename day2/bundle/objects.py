"""What the API server knows: the kit's namespaces, its kinds, nodes, events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from day2.bundle import trim
from day2.bundle.piece import Piece
from validation import names
from validation.cluster import Cluster

Json = dict[str, Any]
# API path of a group → its namespaced kinds.
NAMESPACED = {
    "/api/v1": (
        *("pods", "services", "configmaps", "serviceaccounts", "persistentvolumeclaims", "resourcequotas"),
        *("limitranges", "replicationcontrollers"),
    ),
    "/apis/apps/v1": ("deployments", "daemonsets", "statefulsets", "replicasets"),
    "/apis/batch/v1": ("jobs", "cronjobs"),
    "/apis/networking.k8s.io/v1": ("ingresses", "networkpolicies"),
    "/apis/discovery.k8s.io/v1": ("endpointslices",),
    "/apis/policy/v1": ("poddisruptionbudgets",),
    "/apis/rbac.authorization.k8s.io/v1": ("roles", "rolebindings"),
    "/apis/autoscaling/v2": ("horizontalpodautoscalers",),
    "/apis/serving.knative.dev/v1": ("services", "configurations", "revisions", "routes"),
    "/apis/autoscaling.internal.knative.dev/v1alpha1": ("podautoscalers",),
    "/apis/networking.internal.knative.dev/v1alpha1": ("ingresses", "serverlessservices"),
    "/apis/operator.knative.dev/v1beta1": ("knativeservings",),
    "/apis/monitoring.coreos.com/v1": ("prometheuses", "servicemonitors", "podmonitors", "prometheusrules"),
    "/apis/scheduling.run.ai/v2alpha2": ("podgroups",),
    "/apis/scheduling.run.ai/v1alpha2": ("bindrequests",),
}
CLUSTER_WIDE = {
    "/api/v1": ("nodes", "namespaces", "persistentvolumes"),
    "/apis/storage.k8s.io/v1": ("storageclasses",),
    "/apis/node.k8s.io/v1": ("runtimeclasses",),
    "/apis/scheduling.k8s.io/v1": ("priorityclasses",),
    "/apis/networking.k8s.io/v1": ("ingressclasses",),
    "/apis/admissionregistration.k8s.io/v1": (
        *("mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
        *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
    ),
    "/apis/apiregistration.k8s.io/v1": ("apiservices",),
    "/apis/kai.scheduler/v1": ("configs", "schedulingshards"),
    "/apis/kai.scheduler/v1alpha1": ("topologies",),
    "/apis/scheduling.run.ai/v2": ("queues",),
}
_SHAPES: dict[str, Callable[[Json], Json]] = {"secrets": trim.secret, "customresourcedefinitions": trim.crd}


def pieces(cluster: Cluster, namespaces: list[str], projects: list[str]) -> Iterator[Piece]:
    """One piece per kind and namespace, and one per kind that has none; `projects` are the users'."""
    for group, kinds in CLUSTER_WIDE.items():
        for kind in kinds:
            yield _of(cluster, f"cluster/{kind}.json", f"{group}/{kind}", kind, False)
    yield _of(cluster, "cluster/crds.json", names.CRDS, "customresourcedefinitions", False)
    yield Piece("cluster/version.json", "version of the API server", lambda: _dump(cluster.get("/version")))
    yield Piece("cluster/readyz.txt", "what the API server thinks of itself", lambda: _ready(cluster))
    for namespace in namespaces:
        for group, kinds in (NAMESPACED | {"/api/v1 ": ("secrets",)}).items():
            for kind in kinds:
                group_path = group.strip()
                path = f"{group_path}/namespaces/{namespace}/{kind}"
                name = (
                    kind
                    if group_path in {"/api/v1", "/apis/apps/v1"}
                    else f"{kind}.{group_path.split('/')[2]}"
                )
                yield _of(cluster, f"namespaces/{namespace}/{name}.json", path, kind, namespace in projects)
        yield Piece(
            f"namespaces/{namespace}/events.txt", "events, the newest last", _events(cluster, namespace)
        )


def _of(cluster: Cluster, file: str, path: str, kind: str, users: bool) -> Piece:
    shape = _SHAPES.get(kind)

    def get() -> str:
        found = cluster.find(path)
        if found is None:
            return _dump({"notServed": path})
        return _dump([shape(item) if shape else trim.object_(item, users) for item in found.get("items", [])])

    return Piece(file, kind, get)


def _events(cluster: Cluster, namespace: str) -> Callable[[], str]:
    def get() -> str:
        found = cluster.items(f"/api/v1/namespaces/{namespace}/events")
        lines = sorted(
            f"{e.get('lastTimestamp') or e.get('eventTime') or '':<27} {e.get('type', ''):<8} "
            f"{e['involvedObject'].get('kind')}/{e['involvedObject'].get('name')} {e.get('reason')}: "
            f"{e.get('message', '')} (x{e.get('count') or 1})"
            for e in found
        )
        return "\n".join(lines) + "\n"

    return get


def _ready(cluster: Cluster) -> str:
    return cluster.text("/readyz", verbose="true")


def _dump(data: Any) -> str:
    return json.dumps(data, indent=1) + "\n"
