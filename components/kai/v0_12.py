"""Chart generation 0.12: sharing is a boolean, and Config is stated in full beside the chart's own."""

from __future__ import annotations

from typing import Any

from components.kai.inputs import NAME, QUEUE_LABEL, RESERVATION, RESTRICTED_CONTEXT, KaiInputs

# Values that only shape Config, which the stack states itself. They count at the first installation; a
# change later must not become a Helm upgrade, whose hook deletes Config and with it all of KAI for a while.
INSTALL_ONLY = (
    "values.global.gpuSharing",
    "values.admission.gpuPodRuntimeClassName",
    "values.binder.runtimeClassName",
    "values.scheduler.placementStrategy",
)
# The chart renders the account at all times.
OWN_ACCOUNT = False


def values(kai: KaiInputs) -> dict[str, Any]:
    """Helm values of chart 0.12.x."""
    pull = {"imagePullSecrets": [{"name": kai.pull_secret}]} if kai.pull_secret else {}
    return {
        "global": {
            "registry": kai.registry,
            "tag": kai.tag,
            "imagePullPolicy": "IfNotPresent",
            "gpuSharing": kai.sharing == "reservation",
            "leaderElection": kai.leader_election,
            # Without it both webhooks (failurePolicy Fail) take every pod of the cluster.
            "namespaceLabelSelector": dict(kai.namespace_selector),
            "securityContext": RESTRICTED_CONTEXT,
            "resourceReservation": {
                "namespace": RESERVATION,
                "serviceAccount": RESERVATION,
                "appLabel": RESERVATION,
            },
            **pull,
        },
        # Config's replicaCount, which all operands follow, is rendered from this one.
        "operator": {"replicaCount": kai.replicas},
        "podgrouper": {"queueLabelKey": QUEUE_LABEL},
        "admission": {"gpuPodRuntimeClassName": kai.runtime_class},
        "binder": {"runtimeClassName": kai.runtime_class},
        "scheduler": {"placementStrategy": kai.placement.gpu},
        "defaultQueue": {"createDefaultQueue": False},
        # A hook for clusters that come from Kueue topologies.
        "topologyMigration": {"enabled": False},
        # A hook whose pod has no security context and whose namespace is fixed; what it would delete is
        # owned by Config, which this stack removes before the release.
        "postCleanup": {"enabled": False},
    }


def config(kai: KaiInputs) -> dict[str, Any]:
    """The whole spec of Config: what the chart renders, and what its values do not reach.

    Only some fields would not do. The Kubernetes provider takes over what Helm wrote when it updates an
    object, and then removes every field that it was not told. `python -m policy` compares with the chart.
    """
    pull = {"additionalImagePullSecrets": [kai.pull_secret]} if kai.pull_secret else {}
    return {
        "namespace": kai.namespace,
        "global": {
            "schedulerName": NAME,
            "queueLabelKey": QUEUE_LABEL,
            "nodePoolLabelKey": kai.node_pool_label_key,
            "namespaceLabelSelector": dict(kai.namespace_selector),
            "securityContext": RESTRICTED_CONTEXT,
            "replicaCount": kai.replicas,
            **pull,
        },
        "binder": {
            "service": _service(kai, "binder"),
            "metricsPort": 8080,
            "resourceReservation": {
                "namespace": RESERVATION,
                "serviceAccountName": RESERVATION,
                "appLabel": RESERVATION,
                "runtimeClassName": kai.runtime_class,
                "image": {"name": "resourcereservation"},
            },
        },
        "podGroupController": {"service": _service(kai, "podgroupcontroller")},
        "queueController": {"service": _service(kai, "queuecontroller")},
        "admission": {
            "service": _service(kai, "admission"),
            "gpuSharing": kai.sharing == "reservation",
            "queueLabelSelector": False,
            "gpuPodRuntimeClassName": kai.runtime_class,
            "webhook": {"port": 443, "targetPort": 9443, "probePort": 8081, "metricsPort": 8080},
        },
        "nodeScaleAdjuster": {
            "service": _service(kai, "nodescaleadjuster", enabled=False),
            "args": {"nodeScaleNamespace": "kai-scale-adjust", "scalingPodImage": _image(kai, "scalingpod")},
        },
        "scheduler": {
            "service": {"image": _image(kai, "scheduler")},
            "schedulerService": {"port": 8080},
        },
        # Prometheus is another component's; the operator must not make one of its own.
        "prometheus": {"enabled": False},
    }


def _service(kai: KaiInputs, name: str, enabled: bool = True) -> dict[str, Any]:
    return {"enabled": enabled, "image": _image(kai, name)}


def _image(kai: KaiInputs, name: str) -> dict[str, str]:
    return {"name": name, "repository": kai.registry, "tag": kai.tag, "pullPolicy": "IfNotPresent"}
