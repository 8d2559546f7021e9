"""From the stack's settings to what KAI takes."""

from __future__ import annotations

from components.catalog import Catalog
from components.cluster import ClusterFacts
from components.config.model import Settings
from components.kai.inputs import KaiInputs
from components.labels import SCHEDULED
from components.prometheus.instance import url


def kai_inputs(
    settings: Settings, catalog: Catalog, facts: ClusterFacts, key: str, pull_secret: str
) -> KaiInputs:
    """`key` is the scheduler's catalog entry."""
    part, scheduler = catalog.parts[key], settings.scheduler
    registry, tag = part.image("operator", settings.registry.prefix).rsplit("/operator:", 1)
    bundled = settings.monitoring.source == "bundle"
    operator = catalog.parts["prometheus-operator" if bundled else "kube-prometheus-stack"]
    return KaiInputs(
        registry=registry,
        tag=tag,
        namespace=part.namespace(),
        namespace_selector=SCHEDULED,
        sharing=settings.sharing,
        placement=scheduler.placement,
        replicas=scheduler.replicas,
        leader_election=scheduler.leader_election,
        runtime_class=scheduler.runtime_class,
        node_pool_label_key=settings.node_pools.label_key,
        pull_secret=pull_secret,
        fair_share=scheduler.time_based_fair_share,
        prometheus_url=url(operator.namespace()) if settings.monitoring.enabled else "",
        capacity_queries=capacity_queries(facts) if bundled else None,
    )


def capacity_queries(facts: ClusterFacts) -> dict[str, str]:
    """What the cluster has, for Prometheus without kube-state-metrics, which KAI asks by default.

    GPUs are counted from the exporter; processors and memory are the nodes' sums when the program ran.
    """
    return {
        "gpuCapacityMetric": "count(DCGM_FI_DEV_FB_FREE)",
        "cpuCapacityMetric": f"vector({sum(node.cpu_cores for node in facts.nodes):g})",
        "memoryCapacityMetric": f"vector({sum(node.memory_bytes for node in facts.nodes)})",
    }
