"""A stack for tests: settings, chart files, and a cluster that answers without a network."""

from __future__ import annotations

import base64
import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pulumi.runtime import rpc

from components.catalog import load_catalog
from components.cluster import ClusterFacts, DeploymentFacts, NamespaceFacts, NodeFacts
from components.knative.inputs import DEPLOYMENTS
from components.labels import MANAGED_BY
from components.platform import Platform
from components.settings import Settings
from components.tls.generate import make
from components.tls.material import Certificates
from policy.pod_security import required_level
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
    "images": {
        "source": "packages",
        "cuda": "registry.example.test/cuda:1",
        "inference": "registry.example.test/vllm:1",
        "notebook": "registry.example.test/lab:1",
        "pytorch": "registry.example.test/torch:1",
        "seed": "registry.example.test/seed:1",
        "s3": "registry.example.test/s3:1",
    },
    "scheduler": {
        "version": "0.12.0",
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
    "sharing": "reservation",
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
    "gpuOperator": {
        "source": "existing",
        "version": "26.7.1",
        "mode": "vgpu",
        "driver": {
            "source": "operator",
            "version": "615.10",
            "os": "ubuntu22.04",
            "repository": "registry.example.test/nvidia",
            "image": "driver",
        },
        "nfd": False,
        "replicas": 2,
        "migStrategy": "mixed",
        "counters": "",
    },
    "resourceManagement": {"enabled": False, "version": "0.18.8"},
    "fractioning": {"version": "0.1.7", "smSharing": False},
    "grove": {"enabled": False, "version": "0.1.0-alpha.13"},
    "workloadMap": {"enabled": True, "version": "0.2.6", "operator": False},
    "leaderWorkerSet": {"enabled": True, "version": "0.9.0"},
    "trainingOperator": {"enabled": True, "version": "1.9.4"},
    "mpiOperator": {"enabled": True, "version": "0.8.0"},
    "knative": {
        "enabled": True,
        "source": "operator",
        "version": "1.21.1",
        "domain": "inference.example.test",
        "scaleToZero": False,
        "replicas": 2,
    },
    "ingress": {
        "enabled": True,
        "source": "existing",
        "className": "haproxy",
        "defaultClass": False,
        "httpsPort": 8443,
        "workspacesDomain": "workspaces.example.test",
        "replicas": 2,
        "namespace": "ingress",
        "service": "front",
    },
    "tls": {
        "source": "files",
        "ca": "certificates/ca.pem",
        "inference": {"certificate": "certificates/inference.pem", "keyFile": "certificates/inference.key"},
        "workspaces": {"certificate": "certificates/workspaces.pem", "key": "key text"},
        "days": 90,
        "renewBeforeDays": 10,
        "rotation": "2026-11",
    },
    "monitoring": {
        "enabled": True,
        "source": "bundle",
        "operator": "own",
        "scrapeInterval": "5s",
        "retention": "48h",
        "kubelet": "direct",
        "dcgmNamespace": "gpu-operator",
        "grafana": False,
    },
    "vksMonitoring": {
        "packages": "off",
        "prometheusVersion": "3.5.3+vmware.1-vks.1",
        "telegrafVersion": "1.38.4+vmware.1-vks.1",
        "metricProxy": False,
        "serviceDomain": "cluster.local",
        "interval": "60s",
        "dcgm": False,
        "storageClass": "fast",
    },
    "vcfOperations": {
        "url": "https://ops.example.test",
        "ca": "",
        "username": "kit",
        "authSource": "LOCAL",
        "clusterName": "vks-gpu",
        "resourceKind": "VksCluster",
        "dataMinutes": 20,
    },
    "security": {
        "admission": True,
        "networkPolicies": True,
        "egressPorts": [443],
        "apiServers": ["10.20.0.0/24"],
        "quotas": True,
        "pods": 100,
    },
    "fakeGpus": {
        "enabled": True,
        "mode": "vgpu",
        "default": {"count": 4, "product": "X", "memoryMiB": 1024},
        "nodes": {"worker2": {"count": 2, "product": "Y", "memoryMiB": 2048}},
        "nodeSelector": {"pretend": "yes"},
    },
    "validation": {
        "sleepSeconds": 60,
        "timeoutSeconds": 60,
        "maxGpus": 4,
        "nodePool": "a100",
        "inference": {
            "server": "vllm",
            "model": "/models/qwen3",
            "pvc": "models",
            "minReplicas": 0,
            "initializationTimeoutSeconds": 600,
            "loadFormat": "runai_streamer",
        },
        "dataset": {"pvc": "mnist"},
    },
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
    "knative": {"enabled": True, "source": "bundle"},
    "ingress": {"enabled": True, "source": "rendered"},
    "tls": {"source": "generated"},
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


def write_bundle(root: Path, directory: str = "charts") -> Path:
    """A bundle like the Prometheus Operator's, with one tiny CRD."""
    path = root / directory / "prometheus-operator-0.85.0" / "bundle.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        (Path(__file__).parent / "fixtures" / "bundle.yaml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    return path


def write_knative(root: Path, directory: str = "charts") -> None:
    """Release files in the shapes of Knative's, under every name that the catalog knows."""
    for key, part in CATALOG.parts.items():
        if key.startswith("knative-serving") or key == "net-kourier":
            assert part.chart is not None
            path = root / directory / part.chart.file
            path.parent.mkdir(parents=True, exist_ok=True)
            fixture = Path(__file__).parent / "fixtures" / f"{part.name}.yaml"
            path.write_text(fixture.read_text(encoding="utf-8"), encoding="utf-8")


def write_certificates(root: Path, domains: dict[str, str], directory: str = "certificates") -> Certificates:
    """Certificate files under the names of EVERYTHING, for these domains."""
    made = make(domains, 90, "")
    folder = root / directory
    folder.mkdir(exist_ok=True)
    (folder / "ca.pem").write_text(made.ca)
    for use, pair in made.pairs.items():
        (folder / f"{use}.pem").write_text(pair.chain)
        (folder / f"{use}.key").write_text(pair.key)
    return made


def kept_secrets(run: Run) -> dict[tuple[str, str], dict[str, str]]:
    """The Secrets that a run made, as the cluster gives them back."""
    return {
        (item.inputs["metadata"]["namespace"], item.inputs["metadata"]["name"]): {
            key: base64.b64decode(text).decode() for key, text in plain(item.inputs["data"]).items()
        }
        for item in run.of_type("Secret")
        if item.inputs.get("type") == "kubernetes.io/tls"
    }


def plain(value: Any) -> Any:
    """What is inside of a value that was handed to the engine as a secret."""
    secret = isinstance(value, dict) and rpc._special_sig_key in value
    return value["value"] if secret else value


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
    write_knative(root)
    facts = ClusterFacts("v1.34.9", cluster.answers[0], existing or {})

    def program() -> Any:
        return Platform("runai-kit", chosen, CATALOG, cluster, facts, root).outputs("test")

    return run_program(program, preview)
