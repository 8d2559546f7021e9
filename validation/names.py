"""Names shared by the suite: labels, API paths, resource names. One place, no logic."""

from __future__ import annotations

PART_OF_LABEL = "app.kubernetes.io/part-of"
PART_OF = "runai-kit-validation"
MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
MANAGED_BY = "runai-kit"
TEST_LABEL = "runai-kit.io/test"
ROLE_LABEL = "runai-kit.io/role"
# Names of workloads begin so; KAI derives those of PodGroups, BindRequests and config maps from them.
WORKLOAD_PREFIX = "runai-kit-"

GPU_RESOURCE = "nvidia.com/gpu"
GPU_MEMORY_LABEL = "nvidia.com/gpu.memory"
GPU_PRODUCT_LABEL = "nvidia.com/gpu.product"
GPU_COUNT_LABEL = "nvidia.com/gpu.count"
GPU_REPLICAS_LABEL = "nvidia.com/gpu.replicas"
FAKE_GPU_LABEL = "run.ai/fake.gpu"
PSA_ENFORCE_LABEL = "pod-security.kubernetes.io/enforce"

# Set by KAI's admission, binder and podgrouper (KAI 0.12: pkg/common/constants, pkg/binder).
GPU_GROUP_LABEL = "runai-gpu-group"
GPU_FRACTION_ANNOTATION = "gpu-fraction"
GPU_MEMORY_ANNOTATION = "gpu-memory"
GPU_DEVICES_ANNOTATION = "gpu-fraction-num-devices"
SHARED_GPU_ANNOTATION = "runai/shared-gpu-configmap"
RESERVED_GPU_ANNOTATION = "run.ai/reserve_for_gpu_index"
POD_GROUP_ANNOTATION = "pod-group-name"
DEFAULT_STORAGE_CLASS_ANNOTATION = "storageclass.kubernetes.io/is-default-class"
DEFAULT_INGRESS_CLASS_ANNOTATION = "ingressclass.kubernetes.io/is-default-class"

# Set on nodes by the topology test. All labels that the suite puts on nodes have values that begin with
# WORKLOAD_PREFIX and the name of the test, by which they are found again.
# What a node's pool was before a test made another of it, so that the clean-up can put the node back.
POOL_BEFORE_ANNOTATION = "runai-kit.io/pool-before"
BLOCK_LABEL = "runai-kit.io/block"
RACK_LABEL = "runai-kit.io/rack"

# KAI treats priority values from here on as non-preemptible.
NON_PREEMPTIBLE_PRIORITY = 100
# Queues that KAI's own chart makes.
INSTALLER_QUEUES = ("default-parent-queue", "default-queue")

PODS = "/api/v1/pods"
NODES = "/api/v1/nodes"
NAMESPACES = "/api/v1/namespaces"
EVENTS = "/api/v1/events"
CONFIG_MAPS = "/api/v1/configmaps"
CLAIMS = "/api/v1/persistentvolumeclaims"
SERVICES = "/api/v1/services"
BIND_REQUESTS = "/apis/scheduling.run.ai/v1alpha2/bindrequests"
JOBS = "/apis/batch/v1/jobs"
STATEFUL_SETS = "/apis/apps/v1/statefulsets"
SECRETS = "/api/v1/secrets"
INGRESSES = "/apis/networking.k8s.io/v1/ingresses"
QUEUES = "/apis/scheduling.run.ai/v2/queues"
POD_GROUPS = "/apis/scheduling.run.ai/v2alpha2/podgroups"
CONFIGS = "/apis/kai.scheduler/v1/configs"
DEPLOYMENTS = "/apis/apps/v1/deployments"
DAEMON_SETS = "/apis/apps/v1/daemonsets"
KNATIVE_SERVICES = "/apis/serving.knative.dev/v1/services"
KNATIVE_CONFIGURATIONS = "/apis/serving.knative.dev/v1/configurations"
KNATIVE_ROUTES = "/apis/serving.knative.dev/v1/routes"
KNATIVE_REVISIONS = "/apis/serving.knative.dev/v1/revisions"
KNATIVE_INGRESSES = "/apis/networking.internal.knative.dev/v1alpha1/ingresses"
KNATIVE_SERVERLESS_SERVICES = "/apis/networking.internal.knative.dev/v1alpha1/serverlessservices"
KNATIVE_AUTOSCALERS = "/apis/autoscaling.internal.knative.dev/v1alpha1/podautoscalers"
# What Knative makes for a Service.
KNATIVE_MADE = (
    KNATIVE_CONFIGURATIONS,
    KNATIVE_ROUTES,
    KNATIVE_REVISIONS,
    KNATIVE_INGRESSES,
    KNATIVE_SERVERLESS_SERVICES,
    KNATIVE_AUTOSCALERS,
)
SHARDS = "/apis/kai.scheduler/v1/schedulingshards"
PROMETHEUS_RULES = "/apis/monitoring.coreos.com/v1/prometheusrules"
TOPOLOGIES = "/apis/kai.scheduler/v1alpha1/topologies"
DEVICE_CLASSES = "/apis/resource.k8s.io/v1/deviceclasses"
RESOURCE_SLICES = "/apis/resource.k8s.io/v1/resourceslices"
RESOURCE_CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"
RESOURCE_CLAIM_TEMPLATES = "/apis/resource.k8s.io/v1/resourceclaimtemplates"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
INGRESS_CLASSES = "/apis/networking.k8s.io/v1/ingressclasses"
RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
MUTATING_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
VALIDATING_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
LEASES = "/apis/coordination.k8s.io/v1/leases"
ENDPOINT_SLICES = "/apis/discovery.k8s.io/v1/endpointslices"


def in_namespace(path: str, namespace: str) -> str:
    """`/api/v1/pods` -> `/api/v1/namespaces/<namespace>/pods`."""
    prefix, _, plural = path.rpartition("/")
    return f"{prefix}/namespaces/{namespace}/{plural}"
