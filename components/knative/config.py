"""Settings of Knative: the same config maps whoever installs it."""

from __future__ import annotations

from components.knative.inputs import KnativeInputs

INGRESS_CLASS = "kourier.ingress.networking.knative.dev"
# One label below the domain, which a wildcard certificate covers.
DOMAIN_TEMPLATE = "{{.Name}}-{{.Namespace}}.{{.Domain}}"

# What Run:ai puts into its inference workloads; each flag lets a Service carry that field.
FEATURES = (
    "kubernetes.podspec-affinity",
    "kubernetes.podspec-tolerations",
    "kubernetes.podspec-nodeselector",
    "kubernetes.podspec-schedulername",
    "kubernetes.podspec-priorityclassname",
    "kubernetes.podspec-runtimeclassname",
    "kubernetes.podspec-securitycontext",
    "kubernetes.podspec-fieldref",
    "kubernetes.podspec-init-containers",
    "kubernetes.podspec-volumes-emptydir",
    "kubernetes.podspec-persistent-volume-claim",
    "kubernetes.podspec-persistent-volume-write",
    "kubernetes.podspec-hostipc",
    "kubernetes.podspec-hostnetwork",
    "kubernetes.containerspec-addcapabilities",
    "multi-container",
    "multi-container-probing",
)


def config(knative: KnativeInputs) -> dict[str, dict[str, str]]:
    """Data of the config maps, by name without `config-`."""
    return {
        "features": dict.fromkeys(FEATURES, "enabled"),
        "autoscaler": {"enable-scale-to-zero": str(knative.scale_to_zero).lower()},
        "domain": {knative.domain: ""},
        "network": {
            "ingress-class": INGRESS_CLASS,
            "domain-template": DOMAIN_TEMPLATE,
            # TLS ends in front of Kourier; without it Services would report http URLs.
            "default-external-scheme": "https",
        },
        "deployment": {
            "queue-sidecar-image": knative.image(knative.serving.images["queue"]),
            "registries-skipping-tag-resolving": ",".join(knative.unresolved_registries),
            # A pod that waits for its queue's GPUs has not failed.
            "pod-is-always-schedulable": "true",
        },
        # Off by default since 1.19, which also renamed every metric.
        "observability": {"metrics-protocol": "prometheus", "request-metrics-protocol": "prometheus"},
    }
