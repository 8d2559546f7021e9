"""Stack outputs: what the installation promised, in types. Field names are the outputs' own (camelCase)."""

# ruff: noqa: N815

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class OutputsError(ValueError):
    """A stack's outputs do not have the promised shape; the text names the output."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class GpuShare(_Model):
    """GPUs of a queue: whole or fractional devices; -1 = unlimited."""

    deserved: float
    limit: float
    overQuotaWeight: float = 1


class Department(_Model):
    """A department and its queue; nodePool "" = served by nodes of no pool."""

    name: str
    queue: str
    gpu: GpuShare
    nodePool: str = ""


class Project(_Model):
    """A project, its namespace and its queue; nodePool is its department's."""

    name: str
    department: str
    namespace: str
    queue: str
    gpu: GpuShare
    nodePool: str = ""


class Namespace(_Model):
    """A namespace of the kit; psa is the Pod Security level."""

    name: str
    psa: str
    existedBefore: bool = False


class Scrape(_Model):
    """A source of metrics: how names of its scrape pools begin; always = has targets without workloads."""

    name: str
    pool: str
    always: bool = True


class Monitoring(_Model):
    """Where Prometheus answers, how often it scrapes (seconds), and what it should know."""

    enabled: bool = False
    namespace: str = ""
    prometheusService: str = ""
    prometheusPort: int = 9090
    scrapeSeconds: float = 30
    scrapes: list[Scrape] = []
    alerts: list[str] = []
    dashboards: list[str] = []


class Inference(_Model):
    """Knative Serving; the URL of a Service is read from its status and never composed."""

    enabled: bool = False
    domain: str = ""
    namespace: str = ""
    version: str = ""
    scaleToZero: bool = False


class Ingress(_Model):
    """What answers from outside: Service and the number of its HTTPS port."""

    enabled: bool = False
    source: Literal["rendered", "controller", "existing", ""] = ""
    className: str = ""
    namespace: str = ""
    service: str = ""
    httpsPort: int = 0


class Workspaces(_Model):
    """Where workspaces answer: `<name>-<namespace>.<domain>`."""

    enabled: bool = False
    domain: str = ""
    tlsSecret: str = ""


class Tls(_Model):
    """PEM of the CA that signed the certificates of inference and workspaces, "" for one everybody knows."""

    ca: str = ""


class InferenceLoad(_Model):
    """Requests that the load step sends, and how many at a time."""

    requests: int = Field(default=40, ge=1)
    concurrency: int = Field(default=4, ge=1)


class InferenceTest(_Model):
    """What the inference test deploys.

    pvc "" = the server fetches the model by its name, or, where there is a seed image, a claim is made and
    filled from it; with a claim `model` is a path under /models. Seconds; tokens per answer.
    """

    server: Literal["vllm", "transformers"] = "vllm"
    model: str = "Qwen/Qwen3-0.6B"
    pvc: str = ""
    minReplicas: int = Field(default=1, ge=0)
    windowSeconds: int = Field(default=60, ge=6)
    initializationTimeoutSeconds: int = Field(default=600, ge=10)
    loadFormat: Literal["auto", "runai_streamer"] = "auto"
    memory: str = "16Gi"
    maxTokens: int = Field(default=64, ge=2)
    load: InferenceLoad = InferenceLoad()


class Dataset(_Model):
    """Where the training test finds MNIST; pvc "" = its origin, then the mirror."""

    pvc: str = ""


class Placement(_Model):
    """Placement strategies of the scheduler: binpack or spread."""

    gpu: str = "binpack"
    cpu: str = "binpack"


class FakeGpus(_Model):
    """Whether GPUs are pretended, and in which driver mode."""

    enabled: bool = False
    mode: str = "passthrough"


class CertificateDays(_Model):
    """Days that certificates must still be valid; renewed: for those that their owner renews by itself."""

    least: int = Field(default=30, ge=0)
    renewed: int = Field(default=1, ge=0)


class Validation(_Model):
    """Bounds of the test run: seconds; maxGpus 0 = no bound; nodePool "" = nodes of no pool."""

    sleepSeconds: int = Field(default=600, ge=30)
    timeoutSeconds: int = Field(default=180, ge=10)
    maxGpus: int = Field(default=0, ge=0)
    nodePool: str = ""
    certificateDays: CertificateDays = CertificateDays()
    inference: InferenceTest = InferenceTest()
    dataset: Dataset = Dataset()


class ControlPlane(_Model):
    """Run:ai's control plane and this cluster in it; empty without one."""

    url: str = ""
    ca: str = ""
    version: str = ""
    clusterName: str = ""
    clusterId: str = ""
    clusterDomain: str = ""
    hostBasedRouting: bool = True


class VksPackage(_Model):
    """A VKS package that there should be, the namespace that it works in, and whose it is."""

    name: str
    namespace: str
    owner: str


class VksMonitoring(_Model):
    """The VKS packages of Prometheus and Telegraf; none where the stack has nothing to do with them."""

    packages: list[VksPackage] = []
    metricProxy: bool = True
    dcgm: bool = True
    dcgmNamespace: str = ""


class VcfOperations(_Model):
    """VCF Operations; url "" = nobody is asked. Minutes: how old its newest data may be."""

    url: str = ""
    ca: str = ""
    username: str = ""
    authSource: str = "LOCAL"
    clusterName: str = ""
    resourceKind: str = ""
    dataMinutes: int = Field(default=15, ge=1, le=1440)


class Component(_Model):
    """An installed part."""

    name: str
    version: str
    provenance: Literal["upstream", "built-from-packages", "fake", "double"]
    namespace: str | None = None


class Support(_Model):
    """What the vendor states about a part's version or a fact of the cluster; bounds are included."""

    min: str = ""
    max: str = ""
    oneOf: list[str] = []
    words: str = ""
    level: Literal["supported", "recommended"] = "supported"
    source: str = ""
    mark: str = ""


class StackOutputs(_Model):
    """Everything that validation reads from an installation."""

    environment: str
    context: str = Field(min_length=1)
    kubeconfig: str = ""
    profile: Literal["modular", "full"]
    clusterKind: str = ""
    driver: Literal["kai", "runai"]
    domain: str | None = ""
    schedulerName: str = "kai-scheduler"
    queueLabelKey: str = "kai.scheduler/queue"
    reservationNamespace: str = "kai-resource-reservation"
    nodePoolLabelKey: str = "kai.scheduler/node-pool"
    gpuSharing: bool
    sharing: str = "reservation"
    placement: Placement = Placement()
    capacitySource: str = "live"
    capacityGpus: int = 0
    departments: list[Department]
    projects: list[Project]
    namespaces: list[Namespace]
    monitoring: Monitoring = Monitoring()
    inference: Inference = Inference()
    ingress: Ingress = Ingress()
    workspaces: Workspaces = Workspaces()
    tls: Tls = Tls()
    controlPlane: ControlPlane = ControlPlane()
    vksMonitoring: VksMonitoring = VksMonitoring()
    vcfOperations: VcfOperations = VcfOperations()
    networkPolicies: bool = False
    fakeGpus: FakeGpus = FakeGpus()
    expectedGpus: dict[str, int] = {}
    images: dict[str, str]
    validation: Validation = Validation()
    components: list[Component] = []
    support: dict[str, Support] = {}

    @property
    def pooled(self) -> list[Project]:
        """Projects whose work goes to the nodes that tests may use (validation.nodePool)."""
        return [p for p in self.projects if p.nodePool == self.validation.nodePool]

    @property
    def chosen_project(self) -> Project:
        """The first of them; OutputsError without one."""
        if self.pooled:
            return self.pooled[0]
        known = ", ".join(f"{p.name} ({p.nodePool or 'no pool'})" for p in self.projects) or "none"
        raise OutputsError(
            f"validation.nodePool: found {self.validation.nodePool!r}, which no project's department has "
            f"(projects: {known}); set departments[].nodePool in the stack file"
        )

    def department(self, name: str) -> Department:
        """The department of that name; OutputsError names the ones there are."""
        for department in self.departments:
            if department.name == name:
                return department
        known = ", ".join(d.name for d in self.departments) or "none"
        raise OutputsError(f"department {name!r} is not in the stack's outputs (departments: {known})")

    def project(self, name: str) -> Project:
        """The project of that name; OutputsError names the ones there are."""
        for project in self.projects:
            if project.name == name:
                return project
        known = ", ".join(p.name for p in self.projects) or "none"
        raise OutputsError(f"project {name!r} is not in the stack's outputs (projects: {known})")


def load(outputs: Mapping[str, Any]) -> StackOutputs:
    """Typed outputs, or one OutputsError that names each output that is missing or of a wrong type."""
    # Ansible hands over tagged strings; a round trip through JSON leaves plain ones.
    plain = json.loads(json.dumps(outputs, default=str))
    try:
        return StackOutputs.model_validate(plain)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise OutputsError(
            f"stack outputs are not what validation needs ({faults}); "
            "run `pulumi up` with this version of the kit"
        ) from None
