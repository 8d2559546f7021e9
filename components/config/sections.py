"""Sections of the settings that are not about departments and projects."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from components.config.serving import Dataset, Inference
from components.config.types import (
    DnsLabel,
    Duration,
    ImageOrNone,
    LabelKey,
    LabelOrNone,
    RegistryPrefix,
    Section,
    Text,
)

Placement = Literal["binpack", "spread"]


class Cluster(Section):
    """Which cluster: always a named context, never whatever kubectl points at.

    `kubeconfig` is a file, relative to the project; empty means the user's default file.
    """

    kind: Literal["local", "kind", "vks", "other"]
    context: Text
    kubeconfig: str = ""


class Charts(Section):
    """Where charts come from: their registries, files in a directory, or a mirror.

    A mirror is an OCI registry that keeps each chart below `prefix` under its own registry and path;
    `make mirror` fills it.
    """

    source: Literal["registry", "directory", "mirror"] = "registry"
    directory: Text = "build/charts"
    prefix: RegistryPrefix = ""


class Registry(Section):
    """A mirror for all images, and credentials for it; empty means the images' own registries."""

    prefix: RegistryPrefix = ""
    username: str = ""
    password: SecretStr = SecretStr("")


class Images(Section):
    """`source` says where this cluster's images were made; the report repeats it.

    The others are images of test workloads; empty means the catalog's.
    """

    source: Literal["upstream", "packages"] = "upstream"
    cuda: ImageOrNone = ""
    inference: ImageOrNone = ""
    notebook: ImageOrNone = ""
    pytorch: ImageOrNone = ""
    seed: ImageOrNone = ""
    s3: ImageOrNone = ""


class PlacementStrategy(Section):
    """Pack pods on few nodes or spread them, per resource."""

    gpu: Placement = "binpack"
    cpu: Placement = "binpack"


class TimeBasedFairShare(Section):
    """Past use shifts the split of what is over quota; `kValue` is how strongly, 0 not at all."""

    enabled: bool = False
    k_value: Annotated[float, Field(ge=0)] = 1.0
    window_size: Duration = "168h"
    window_type: Literal["sliding", "tumbling"] = "sliding"
    half_life: Duration | None = None
    fetch_interval: Duration = "1m"


class Scheduler(Section):
    """KAI Scheduler; `version` must be one of the catalog's."""

    version: Text
    placement: PlacementStrategy = PlacementStrategy()
    replicas: Annotated[int, Field(ge=1, le=5)] = 1
    leader_election: bool = False
    runtime_class: DnsLabel = "nvidia"
    time_based_fair_share: TimeBasedFairShare = TimeBasedFairShare()


class Capacity(Section):
    """GPUs that shares such as "25%" refer to: counted on the nodes, or given."""

    source: Literal["live", "setting"] = "live"
    gpus: Annotated[int, Field(ge=0)] | None = None


class NodePool(Section):
    """Nodes labelled `<labelKey>: <name>`, served by a scheduler of their own; `gpus` as in Capacity."""

    name: DnsLabel
    placement: PlacementStrategy = PlacementStrategy()
    gpus: Annotated[int, Field(ge=0)] | None = None


class NodePools(Section):
    """Named groups of nodes; nodes without the label form the pool without a name."""

    label_key: LabelKey = "kai.scheduler/node-pool"
    pools: tuple[NodePool, ...] = ()


class Monitoring(Section):
    """Prometheus: the operator's upstream bundle from the chart directory, or kube-prometheus-stack.

    `operator` existing: source chart uses the Prometheus Operator and CRDs that somebody else installed.
    `kubelet`: how CPU and memory of containers are read, see components/prometheus/kubelet.py;
    `dcgmNamespace`: where NVIDIA's DCGM exporter runs; `grafana`: shows the dashboards, with source chart.
    """

    enabled: bool = True
    source: Literal["bundle", "chart"] = "chart"
    operator: Literal["own", "existing"] = "own"
    scrape_interval: Duration = "30s"
    retention: Duration = "48h"
    kubelet: Literal["apiserver", "direct", "off"] = "apiserver"
    dcgm_namespace: LabelOrNone = "gpu-operator"
    grafana: bool = False


class FakeNode(Section):
    """GPUs of one node; a field left out keeps the default's value."""

    count: Annotated[int, Field(ge=0, le=16)] | None = None
    product: Text | None = None
    memory_mib: Annotated[int, Field(ge=1)] | None = Field(default=None, alias="memoryMiB")


class FakeDefault(Section):
    """GPUs of every selected node that has no entry of its own."""

    count: Annotated[int, Field(ge=0, le=16)] = 4
    product: Text = "NVIDIA-A100-SXM4-80GB"
    memory_mib: Annotated[int, Field(ge=1)] = Field(default=81920, alias="memoryMiB")


class FakeGpus(Section):
    """Pretended GPUs for clusters that exist for trying things out; refused on any other."""

    enabled: bool = False
    mode: Literal["passthrough", "vgpu"] = "passthrough"
    default: FakeDefault = FakeDefault()
    nodes: dict[str, FakeNode] = Field(default_factory=dict)
    node_selector: dict[str, str] = Field(
        default_factory=lambda: {"nvidia.com/gpu.deploy.device-plugin": "true"}
    )


class CertificateDays(Section):
    """Days that certificates must still be valid; `renewed`: those that their owner renews by itself."""

    least: Annotated[int, Field(ge=0)] = 30
    renewed: Annotated[int, Field(ge=0)] = 1


class Validation(Section):
    """Bounds for the acceptance tests; `maxGpus` 0 is no bound, `nodePool` empty is no pool."""

    sleep_seconds: Annotated[int, Field(ge=30, le=86400)] = 600
    timeout_seconds: Annotated[int, Field(ge=10, le=86400)] = 600
    max_gpus: Annotated[int, Field(ge=0)] = 0
    node_pool: str = ""
    certificate_days: CertificateDays = CertificateDays()
    inference: Inference = Inference()
    dataset: Dataset = Dataset()
