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
FAKE_GPU_LABEL = "run.ai/fake.gpu"
PSA_ENFORCE_LABEL = "pod-security.kubernetes.io/enforce"

# Set by KAI's admission, binder and podgrouper (KAI 0.12: pkg/common/constants, pkg/binder).
GPU_GROUP_LABEL = "runai-gpu-group"
GPU_FRACTION_ANNOTATION = "gpu-fraction"
GPU_MEMORY_ANNOTATION = "gpu-memory"
SHARED_GPU_ANNOTATION = "runai/shared-gpu-configmap"
RESERVED_GPU_ANNOTATION = "run.ai/reserve_for_gpu_index"
POD_GROUP_ANNOTATION = "pod-group-name"
DEFAULT_STORAGE_CLASS_ANNOTATION = "storageclass.kubernetes.io/is-default-class"
DEFAULT_INGRESS_CLASS_ANNOTATION = "ingressclass.kubernetes.io/is-default-class"

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
QUEUES = "/apis/scheduling.run.ai/v2/queues"
POD_GROUPS = "/apis/scheduling.run.ai/v2alpha2/podgroups"
CONFIGS = "/apis/kai.scheduler/v1/configs"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
INGRESS_CLASSES = "/apis/networking.k8s.io/v1/ingressclasses"
RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
PRIORITY_CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
MUTATING_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
VALIDATING_WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
ENDPOINT_SLICES = "/apis/discovery.k8s.io/v1/endpointslices"


def in_namespace(path: str, namespace: str) -> str:
    """`/api/v1/pods` -> `/api/v1/namespaces/<namespace>/pods`."""
    prefix, _, plural = path.rpartition("/")
    return f"{prefix}/namespaces/{namespace}/{plural}"
