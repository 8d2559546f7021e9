"""A stack for tests: settings, chart files, and a cluster that answers without a network."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.catalog import load_catalog
from components.cluster import ClusterFacts, NamespaceFacts, NodeFacts
from components.platform import Platform
from components.settings import Settings
from tests.mocks import Run, run_program

GPU_NODE = {"nvidia.com/gpu.deploy.device-plugin": "true"}
CATALOG = load_catalog()

# Every key that a stack file may hold, each with a value that is right.
EVERYTHING: dict[str, Any] = {
    "profile": "modular",
    "domain": "apps.example.test",
    "cluster": {"kind": "kind", "context": "kind-x", "kubeconfig": "some/file"},
    "charts": {"source": "directory", "directory": "charts"},
    "registry": {"prefix": "harbor.example.test/m", "username": "robot", "password": "pass word"},
    "images": {"source": "packages", "cuda": "registry.example.test/cuda:1"},
    "scheduler": {
        "version": "0.12.0",
        "gpuSharing": True,
        "placement": {"gpu": "binpack", "cpu": "spread"},
        "replicas": 2,
        "leaderElection": True,
        "runtimeClass": "nvidia",
        "timeBasedFairShare": {
            "enabled": True,
            "kValue": 2.5,
            "windowSize": "5m",
            "windowType": "tumbling",
            "halfLife": "1m",
            "fetchInterval": "10s",
        },
    },
    "capacity": {"source": "setting", "gpus": 8},
    "nodePools": {
        "labelKey": "kai.scheduler/node-pool",
        "pools": [{"name": "a100", "placement": {"gpu": "spread", "cpu": "spread"}, "gpus": 4}],
    },
    "departments": [
        {
            "name": "engineering",
            "nodePool": "a100",
            "gpu": {"deserved": 2, "limit": 4, "overQuotaWeight": 2},
            "projects": [{"name": "team-a", "gpu": {"deserved": 0.5, "limit": "50%", "overQuotaWeight": 1}}],
        }
    ],
    "monitoring": {"enabled": True, "source": "bundle", "scrapeInterval": "5s", "retention": "48h"},
    "fakeGpus": {
        "enabled": True,
        "mode": "vgpu",
        "default": {"count": 4, "product": "X", "memoryMiB": 1024},
        "nodes": {"worker2": {"count": 2, "product": "Y", "memoryMiB": 2048}},
        "nodeSelector": {"pretend": "yes"},
    },
    "validation": {"sleepSeconds": 60, "timeoutSeconds": 60, "maxGpus": 4, "nodePool": "a100"},
}

# The smallest stack that installs everything a local one has.
LOCAL: dict[str, Any] = {
    "domain": "apps.example.test",
    "cluster": {"kind": "local", "context": "kind-x", "kubeconfig": "build/kubeconfig"},
    "charts": {"source": "directory", "directory": "charts"},
    "scheduler": {"version": "0.12.0"},
    "departments": [
        {
            "name": "engineering",
            "gpu": {"deserved": "25%", "limit": "50%"},
            "projects": [{"name": "team-a", "gpu": {"deserved": "25%", "limit": "50%"}}],
        },
        {"name": "default", "gpu": {"deserved": -1}, "projects": [{"name": "test", "gpu": {"deserved": 1}}]},
    ],
    "monitoring": {"source": "bundle", "scrapeInterval": "5s"},
    "fakeGpus": {"enabled": True},
}


def changed(base: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with the value at a dotted path set (`scheduler.version`, `departments.0.name`), or removed."""
    result = copy.deepcopy(base)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    node: Any = result
    for part in parents:
        node = node.setdefault(part, {}) if isinstance(part, str) else node[part]
    if value is ...:
        del node[last]
    else:
        node[last] = value
    return result


def engine_env(values: dict[str, Any], secret: list[str] | None = None) -> dict[str, str]:
    """What the engine hands to the program for such a stack file."""
    texts = {
        f"runai-kit:{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
    }
    keys = [f"runai-kit:{key}" for key in secret or []]
    return {"PULUMI_CONFIG": json.dumps(texts), "PULUMI_CONFIG_SECRET_KEYS": json.dumps(keys)}


def settings(values: dict[str, Any]) -> Settings:
    """Typed settings, without the rules that look at files."""
    return Settings.model_validate_json(json.dumps(values))


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

    def nodes(self) -> tuple[NodeFacts, ...]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def custom_object(self, group: str, version: str, plural: str, name: str) -> dict[str, Any] | None:
        assert (group, version) == ("kai.scheduler", "v1")
        if plural == "schedulingshards":
            return self.shards.get(name, kai_config(1, 1))
        assert (plural, name) == ("configs", "kai-config")
        return self.configs.pop(0) if len(self.configs) > 1 else self.configs[0]


def kai_config(generation: int, observed: int, status: str = "True") -> dict[str, Any]:
    """A kai-config whose conditions speak of generation `observed`."""
    conditions = [
        {"type": name, "status": status, "observedGeneration": observed, "message": "because"}
        for name in ("Deployed", "Available")
    ]
    return {"metadata": {"generation": generation}, "status": {"conditions": conditions}}


def write_bundle(root: Path, directory: str = "charts") -> Path:
    """A bundle like the Prometheus Operator's, with one tiny CRD."""
    path = root / directory / "prometheus-operator-0.85.0" / "bundle.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        (Path(__file__).parent / "fixtures" / "bundle.yaml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    return path


def run_platform(
    root: Path,
    values: dict[str, Any] | None = None,
    cluster: FakeCluster | None = None,
    existing: dict[str, NamespaceFacts] | None = None,
    preview: bool = False,
) -> Run:
    """Declare the platform on mocks; the run's value is the stack's outputs."""
    chosen = settings(values or LOCAL)
    cluster = cluster or FakeCluster()
    if chosen.monitoring.source == "bundle":
        write_bundle(root)
    facts = ClusterFacts("v1.34.9", cluster.answers[0], existing or {})

    def program() -> Any:
        return Platform("runai-kit", chosen, CATALOG, cluster, facts, root).outputs("test")

    return run_program(program, preview)
