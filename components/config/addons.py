"""Sections of the settings for parts that stand beside the scheduler or below the Run:ai platform."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from components.config.types import Section, Text

# How a GPU is shared, for the whole stack: who divides it follows from this one word.
Sharing = Literal["none", "reservation", "fractioning", "hami", "mps", "timeSlicing", "mig"]
# Those in which the scheduler places parts of a GPU; in the others a part is a device of its own.
SCHEDULED_PARTS = frozenset({"reservation", "fractioning", "hami"})
# Those that the GPU Operator's device plugin makes.
DEVICE_PARTS = frozenset({"mps", "timeSlicing", "mig"})


class Driver(Section):
    """The GPU driver: a container of the operator's, or what the node image brings (`host`).

    `version` empty is the catalog's; vGPU needs the one of the host's bundle. `os` is the nodes' system as
    NVIDIA's image tags write it. `repository` and `image` empty are those of the mode. `username` and
    `password` are a login for the image alone; for NVIDIA's guest driver the password is an NGC API key.
    """

    source: Literal["operator", "host"] = "operator"
    version: str = ""
    os: Text = "ubuntu24.04"
    repository: str = ""
    image: str = ""
    username: Text = "$oauthtoken"
    password: SecretStr = SecretStr("")


class Licence(Section):
    """The vGPU licence: the client configuration token, and lines for gridd.conf."""

    token: SecretStr
    gridd: str = ""


class GpuOperator(Section):
    """NVIDIA's GPU Operator: installed by this stack, or adopted as it is.

    `mode` is what the nodes' virtual machines have; `nfd` is off where another Node Feature Discovery runs;
    `replicas` is into how many devices `sharing` mps and timeSlicing divide a GPU; `counters` is a CSV of
    DCGM counters below the project, empty for the kit's own.
    """

    source: Literal["existing", "install"] = "existing"
    version: Text = "26.7.1"
    mode: Literal["passthrough", "vgpu"] = "passthrough"
    driver: Driver = Driver()
    licence: Licence | None = None
    nfd: bool = True
    replicas: Annotated[int, Field(ge=2, le=48)] = 4
    mig_strategy: Literal["single", "mixed"] = "single"
    counters: str = ""

    def guest_driver(self) -> bool:
        """Whether the operator runs a vGPU guest driver: its image, and a licence, are needed then only."""
        return self.mode == "vgpu" and self.driver.source == "operator"


class ResourceManagement(Section):
    """KAI Resource Management: its controllers keep queues and node pools, and bring KAI themselves."""

    enabled: bool = False
    version: Text = "0.18.8"


class Fractioning(Section):
    """The GPU Fractioning Operator; installed when `sharing` is fractioning and nothing else brings it."""

    version: Text = "0.1.7"
    sm_sharing: bool = True


class Grove(Section):
    """Grove: gangs of pods for inference that spans nodes."""

    enabled: bool = False
    version: Text = "0.1.0-alpha.17"


class WorkloadMap(Section):
    """Workload Map: describes unknown kinds of workload to the scheduler; `operator` off is only its CRD."""

    enabled: bool = False
    version: Text = "0.2.6"
    operator: bool = True


class LeaderWorkerSet(Section):
    """LeaderWorkerSet, for distributed inference."""

    enabled: bool = False
    version: Text = "0.9.0"


class TrainingOperator(Section):
    """Kubeflow's Training Operator (v1), for distributed training."""

    enabled: bool = False
    version: Text = "1.9.4"


class MpiOperator(Section):
    """Kubeflow's MPI Operator; the Training Operator then leaves MPI jobs to it."""

    enabled: bool = False
    version: Text = "0.8.0"
