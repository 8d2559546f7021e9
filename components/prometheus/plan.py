"""What a stack's Prometheus scrapes, its alerts and dashboards, from the settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from components.catalog import Catalog
from components.config.model import Settings
from components.prometheus import dashboards, kubelet, rules, scrape, stack
from components.prometheus.instance import PORT, SERVICE, seconds

Json = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """`parts` is role → catalog key of what the stack installs."""

    settings: Settings
    catalog: Catalog
    parts: dict[str, str]

    @property
    def namespace(self) -> str:
        """Prometheus' own namespace; empty without one."""
        key = self.parts.get("monitoring")
        return self.catalog.parts[key].namespace() if key else ""

    @cached_property
    def monitors(self) -> list[scrape.Monitor]:
        """Every monitor object; kube-prometheus-stack brings those of its own parts."""
        monitoring = self.settings.monitoring
        interval, ours = monitoring.scrape_interval, self.namespace
        found: list[scrape.Monitor] = []
        kai = self.parts.get("scheduler") or self.parts.get("resourceManagement")
        if kai:
            found.append(scrape.kai_monitor(self.catalog.parts[kai].namespace(), interval))
        if self.dcgm_namespace:
            found.append(scrape.dcgm_monitor(self.dcgm_namespace, interval))
        if monitoring.source == "bundle":
            found.append(scrape.prometheus_monitor(ours, interval))
        if "stateMetrics" in self.parts:
            found.append(scrape.state_metrics_monitor(ours, interval))
        if "knative" in self.parts:
            serving = self.catalog.parts[self.parts["knative"]].namespace()
            found += scrape.serving_monitors(serving, self._projects(), interval)
        if "ingress" in self.parts:
            where = self.catalog.parts[self.parts["ingress"]].namespace()
            found.append(scrape.ingress_monitor(where, self.settings.ingress.source, interval))
        return found

    @property
    def dcgm_namespace(self) -> str:
        """Where the GPU exporter runs; pretended GPUs bring their own."""
        if self.settings.fake_gpus.enabled:
            return self.catalog.parts["fake-gpu"].namespace()
        return self.settings.monitoring.dcgm_namespace

    @property
    def kubelet(self) -> list[Json]:
        """The scrape that no monitor object can state."""
        return kubelet.scrape_config(self.settings.monitoring)

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the alert files."""
        return rules.chosen("knative" in self.parts, "ingress" in self.parts)

    @property
    def dashboards(self) -> tuple[str, ...]:
        """Names of the dashboards."""
        vllm = self.settings.validation.inference.server == "vllm"
        return dashboards.chosen("knative" in self.parts, "ingress" in self.parts, vllm)

    def outputs(self) -> Json:
        """What validation compares with the live Prometheus."""
        if not self.namespace:
            return _NOTHING
        pools = [{"name": m.name, "pool": m.pool(self.namespace), "always": m.always} for m in self.monitors]
        own = {kubelet.JOB: kubelet.JOB} if self.kubelet else {}
        if self.settings.monitoring.source == "chart":
            own |= stack.own_pools(self.namespace, self.catalog.parts[self.parts["monitoring"]].name)
        pools += [{"name": name, "pool": pool, "always": True} for name, pool in own.items()]
        return {
            "enabled": True,
            "namespace": self.namespace,
            "prometheusService": SERVICE,
            "prometheusPort": PORT,
            "scrapeSeconds": seconds(self.settings.monitoring.scrape_interval),
            "scrapes": pools,
            "alerts": rules.alerts(self.rules),
            "dashboards": list(self.dashboards),
        }

    def _projects(self) -> list[str]:
        prefix = self.catalog.project_namespace.prefix
        return [f"{prefix}{project.name}" for _, project in self.settings.projects()]


_NOTHING: Json = {
    "enabled": False,
    "namespace": "",
    "prometheusService": "",
    "prometheusPort": 0,
    "scrapeSeconds": 0,
    "scrapes": [],
    "alerts": [],
    "dashboards": [],
}
