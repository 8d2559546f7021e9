"""The settings of a stack as they are typed; components/settings.py reads and checks them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from components.config.addons import (
    SCHEDULED_PARTS,
    Fractioning,
    GpuOperator,
    Grove,
    LeaderWorkerSet,
    MpiOperator,
    ResourceManagement,
    Sharing,
    TrainingOperator,
    WorkloadMap,
)
from components.config.full import ClusterAgents, ControlPlane, Ngc
from components.config.org import Department, Project
from components.config.people import AccessRule, ServiceAccount
from components.config.sections import (
    Capacity,
    Charts,
    Cluster,
    FakeGpus,
    Images,
    Monitoring,
    NodePools,
    Registry,
    Scheduler,
    Validation,
)
from components.config.security import Security
from components.config.serving import Ingress, Knative, Tls
from components.config.types import Domain, Section
from components.config.vks import VcfOperations, VksMonitoring


class Settings(Section):
    """Everything a stack file may say, below the namespace `runai-kit`."""

    profile: Literal["modular", "full"] = "modular"
    cluster: Cluster
    domain: Domain
    charts: Charts = Charts()
    registry: Registry = Registry()
    images: Images = Images()
    # Only the modular profile has one: see the property `scheduler`.
    given_scheduler: Scheduler | None = Field(default=None, alias="scheduler")
    sharing: Sharing = "reservation"
    capacity: Capacity = Capacity()
    node_pools: NodePools = NodePools()
    departments: tuple[Department, ...] = ()
    ngc: Ngc = Ngc()
    control_plane: ControlPlane = ControlPlane()
    cluster_agents: ClusterAgents = ClusterAgents()
    service_accounts: tuple[ServiceAccount, ...] = ()
    access_rules: tuple[AccessRule, ...] = ()
    knative: Knative = Knative()
    ingress: Ingress = Ingress()
    tls: Tls = Tls()
    monitoring: Monitoring = Monitoring()
    vks_monitoring: VksMonitoring = VksMonitoring()
    vcf_operations: VcfOperations = VcfOperations()
    gpu_operator: GpuOperator = GpuOperator()
    resource_management: ResourceManagement = ResourceManagement()
    fractioning: Fractioning = Fractioning()
    grove: Grove = Grove()
    workload_map: WorkloadMap = WorkloadMap()
    leader_worker_set: LeaderWorkerSet = LeaderWorkerSet()
    training_operator: TrainingOperator = TrainingOperator()
    mpi_operator: MpiOperator = MpiOperator()
    security: Security = Security()
    fake_gpus: FakeGpus = FakeGpus()
    expected_gpus: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)
    validation: Validation = Validation()

    @property
    def scheduler(self) -> Scheduler:
        """KAI Scheduler's settings. Raises ValueError in the full profile, which brings its own."""
        if self.given_scheduler is None:
            raise ValueError("this stack has no scheduler of its own")
        return self.given_scheduler

    def projects(self) -> list[tuple[Department, Project]]:
        """Every project with its department, in the stack file's order."""
        return [(department, project) for department in self.departments for project in department.projects]

    def fractions(self) -> bool:
        """Whether the scheduler places parts of a GPU."""
        return self.sharing in SCHEDULED_PARTS

    def runtime_class(self) -> str:
        """The RuntimeClass of pods that use a GPU."""
        return self.scheduler.runtime_class if self.profile == "modular" else "nvidia"

    def control_plane_domain(self) -> str:
        """Where the control plane answers, unless another stack knows."""
        return self.control_plane.domain or f"runai.{self.domain}"

    def control_plane_ca_file(self) -> str:
        """The private CA of the control plane, which is the cluster's unless another is named."""
        return self.control_plane.ca or self.tls.ca

    def cluster_domain(self) -> str:
        """Where this cluster's own part of Run:ai answers."""
        return self.cluster_agents.domain or self.control_plane_domain()

    def inference_domain(self) -> str:
        """Below which Knative's Services answer."""
        return self.knative.domain or f"inference.{self.domain}"

    def workspaces_domain(self) -> str:
        """Below which workspaces answer."""
        own = self.cluster_domain() if self.profile == "full" else f"workspaces.{self.domain}"
        return self.ingress.workspaces_domain or own
