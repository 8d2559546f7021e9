"""An alert of the kit, provoked without waiting as long as the original: its own rule with a short `for`."""

from __future__ import annotations

from typing import Any

from validation import names, prometheus
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
FOR_SECONDS = 5
# The operator writes the rule into a ConfigMap, the kubelet brings that to the pod when it next looks.
DELIVERY_SECONDS = 120.0


def rule(at: Snapshot, alert: str, test: str) -> str:
    """Make a PrometheusRule from the rule that Prometheus has loaded; returns the alert's name.

    Raises ValueError when it has no such rule.
    """
    loaded = {entry["name"]: entry for entry in prometheus.rules(at.cluster, at.outputs)}
    if alert not in loaded:
        raise ValueError(
            f"alert {alert}: found {', '.join(sorted(loaded)) or 'no alerts'} in Prometheus; run `pulumi up`"
        )
    name = f"{alert}Provoked"
    original = loaded[alert]
    copy = {
        "alert": name,
        "expr": original["query"],
        "for": f"{FOR_SECONDS}s",
        "labels": original["labels"],
        "annotations": original["annotations"],
    }
    path = names.in_namespace(names.PROMETHEUS_RULES, at.outputs.monitoring.namespace)
    at.cluster.create(
        path,
        {
            "apiVersion": "monitoring.coreos.com/v1",
            "kind": "PrometheusRule",
            "metadata": {
                "name": f"{names.WORKLOAD_PREFIX}{test}-alert",
                "labels": {
                    names.MANAGED_BY_LABEL: names.MANAGED_BY,
                    names.PART_OF_LABEL: names.PART_OF,
                    names.TEST_LABEL: test,
                },
            },
            "spec": {"groups": [{"name": f"runai-kit-{test}", "rules": [copy]}]},
        },
    )
    return name


def timeout(at: Snapshot) -> float:
    """Seconds until it must have fired."""
    return DELIVERY_SECONDS + FOR_SECONDS + 4 * at.outputs.monitoring.scrapeSeconds
