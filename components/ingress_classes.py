"""At most one IngressClass may be the default: with two the API server refuses Ingresses that name none."""

from __future__ import annotations

from components.cluster import Cluster
from components.config.serving import Ingress
from components.connect import ClusterError


def refuse_second_default(cluster: Cluster, ingress: Ingress) -> None:
    """Looks at the classes that are there, and at what this stack would add. Raises ClusterError."""
    if not ingress.enabled:
        return
    others = sorted(set(cluster.default_ingress_classes()) - {ingress.class_name})
    ours = [ingress.class_name] if ingress.source == "controller" and ingress.default_class else []
    found = others + ours
    if len(found) < 2:
        return
    advice = "set ingress.defaultClass: false" if len(others) == 1 else "leave one of them the default"
    raise ClusterError(
        "context",
        f"the default IngressClasses {', '.join(others)} there"
        + (f" and ingress.defaultClass true for {ingress.class_name}" if ours else ""),
        "one default at most",
        f"{advice}: the annotation is ingressclass.kubernetes.io/is-default-class",
    )
