"""Chart generation 0.18: sharing is a mode, the shard is ours alone, the operator takes a context."""

from __future__ import annotations

from typing import Any

from components.kai.inputs import NAME, QUEUE_LABEL, RESERVATION, RESTRICTED_CONTEXT, KaiInputs

# Who divides a GPU, in KAI's words; NvFractions needs the fractioning operator, a release of its own here.
_SHARING = {"reservation": "NonMemoryEnforced", "fractioning": "NvFractions", "hami": "HamiCore"}
# The chart's job applies Config at every upgrade without deleting it: all values count at all times.
INSTALL_ONLY: tuple[str, ...] = ()
# See components/kai/reservation.py.
OWN_ACCOUNT = True


def values(kai: KaiInputs) -> dict[str, Any]:
    """Helm values of chart 0.18.x."""
    return {
        "global": {
            "registry": kai.registry,
            "tag": kai.tag,
            "imagePullPolicy": "IfNotPresent",
            "imagePullSecrets": [{"name": kai.pull_secret}] if kai.pull_secret else [],
            "gpuSharingMode": _SHARING.get(kai.sharing, "Disabled"),
            "leaderElection": kai.leader_election,
            "nodePoolLabelKey": kai.node_pool_label_key,
            "namespaceLabelSelector": dict(kai.namespace_selector),
            "securityContext": RESTRICTED_CONTEXT,
            "podSecurityContext": {
                "runAsNonRoot": True,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "resourceReservation": {
                "namespace": RESERVATION,
                "serviceAccount": RESERVATION,
                "appLabel": RESERVATION,
                # The namespace is this stack's, with its Pod Security labels; so is the account in it.
                "createNamespace": False,
                "createServiceAccount": False,
            },
        },
        "operator": {"replicaCount": kai.replicas},
        "podgrouper": {"queueLabelKey": QUEUE_LABEL},
        "admission": {"gpuFractionRuntimeClassName": kai.runtime_class},
        "binder": {"runtimeClassName": kai.runtime_class},
        "scheduler": {"placementStrategy": kai.placement.gpu},
        "defaultShard": {"enabled": False},
        "defaultQueue": {"createDefaultQueue": False},
        "topologyMigration": {"enabled": False},
        "prometheus": {"enabled": False},
        # A DaemonSet with host paths, which `restricted` refuses; only NUMA-aware placement needs it.
        "numaPlacementExporter": {"enabled": False},
    }


def config(kai: KaiInputs) -> dict[str, Any]:
    """Fields of Config beside those that the chart's job applies under a field manager of its own."""
    return {
        "global": {
            "schedulerName": NAME,
            "queueLabelKey": QUEUE_LABEL,
        }
    }
