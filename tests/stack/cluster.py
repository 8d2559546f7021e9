"""A cluster that answers without a network."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from components.cluster import DeploymentFacts, NodeFacts
from components.knative.inputs import DEPLOYMENTS
from components.labels import MANAGED_BY
from policy.pod_security import required_level

GPU_NODE = {"nvidia.com/gpu.deploy.device-plugin": "true"}


def nodes(*gpus: int) -> tuple[NodeFacts, ...]:
    """A control plane and a worker per number of GPUs, named worker1, worker2, …"""
    workers = [
        NodeFacts(f"worker{i}", GPU_NODE, count, count, 4.0, 8 << 30) for i, count in enumerate(gpus, start=1)
    ]
    return (NodeFacts("control-plane", {}, 0, 0, 4.0, 8 << 30), *workers)


@dataclass
class FakeCluster:
    """Answers as a cluster would; each call takes the next of `answers`, the last one for ever."""

    answers: list[tuple[NodeFacts, ...]] = field(default_factory=lambda: [nodes(4, 4)])
    configs: list[dict[str, Any] | None] = field(default_factory=lambda: [kai_config(2, 2)])
    shards: dict[str, dict[str, Any] | None] = field(default_factory=dict)
    serving: list[tuple[DeploymentFacts, ...]] = field(default_factory=lambda: [knative_deployments()])
    knative: dict[str, Any] | None = None
    secrets: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=lambda: [""])
    default_classes: tuple[str, ...] = ()
    pending: tuple[tuple[str, str, str], ...] = ()
    # Versions of deployed charts by namespace and release.
    charts: dict[tuple[str, str], str] = field(default_factory=dict)
    others: dict[str, tuple[DeploymentFacts, ...]] = field(default_factory=dict)
    # Objects by plural, and whole custom kinds by name.
    listed: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    kinds: dict[str, dict[str, Any]] = field(default_factory=dict)

    def nodes(self) -> tuple[NodeFacts, ...]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def custom_object(self, group: str, version: str, plural: str, name: str) -> dict[str, Any] | None:
        if plural == "customresourcedefinitions":
            return self.kinds.get(name)
        assert (group, version) == ("kai.scheduler", "v1")
        if plural == "schedulingshards":
            return self.shards.get(name, kai_config(1, 1))
        assert (plural, name) == ("configs", "kai-config")
        return self.configs.pop(0) if len(self.configs) > 1 else self.configs[0]

    def namespaced_object(
        self, group: str, version: str, namespace: str, plural: str, name: str
    ) -> dict[str, Any] | None:
        assert (group, version, plural) == ("operator.knative.dev", "v1beta1", "knativeservings")
        assert namespace == name == "knative-serving"
        return self.knative

    def custom_objects(
        self, group: str, version: str, plural: str, selector: str = ""
    ) -> tuple[dict[str, Any], ...]:
        return tuple(self.listed.get(plural, ()))

    def deployments(self, namespace: str) -> tuple[DeploymentFacts, ...]:
        if namespace != "knative-serving":
            return self.others.get(namespace, ())
        return self.serving.pop(0) if len(self.serving) > 1 else self.serving[0]

    def default_ingress_classes(self) -> tuple[str, ...]:
        return self.default_classes

    def secret(self, namespace: str, name: str) -> dict[str, str]:
        return self.secrets.get((namespace, name), {})

    def refusal(self, group: str, version: str, namespace: str, plural: str, body: dict[str, Any]) -> str:
        assert (group, plural, body["kind"]) == ("serving.knative.dev", "services", "Service")
        assert required_level(body["spec"]["template"]["spec"]) == ("restricted", [])
        return self.refusals.pop(0) if len(self.refusals) > 1 else self.refusals[0]

    def pending_releases(self) -> tuple[tuple[str, str, str], ...]:
        return self.pending

    def chart_version(self, namespace: str, release: str) -> str:
        return self.charts.get((namespace, release), "")


def knative_deployments(**changes: int) -> tuple[DeploymentFacts, ...]:
    """Knative's Deployments, rolled out and the kit's own, but for what is given."""
    state = {"generation": 2, "observed": 2, "wanted": 1, "updated": 1, "available": 1, **changes}
    return tuple(DeploymentFacts(name, MANAGED_BY, **state) for name in DEPLOYMENTS)


def kai_config(generation: int, observed: int, status: str = "True") -> dict[str, Any]:
    """A kai-config whose conditions speak of generation `observed`."""
    conditions = [
        {"type": name, "status": status, "observedGeneration": observed, "message": "because"}
        for name in ("Deployed", "Available")
    ]
    return {"metadata": {"generation": generation}, "status": {"conditions": conditions}}
