"""A cluster in memory: lists by path, label selectors, logs, exec."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from validation import names
from validation.cluster import Cluster, ClusterError
from validation.observe.snapshot import Snapshot
from validation.settings import load

Json = dict[str, Any]
OUTPUTS: Json = json.loads((Path(__file__).parent / "data/outputs.json").read_text())
UUID_0, UUID_1 = "GPU-aaaaaaaa-0000-5000-8000-000000000000", "GPU-aaaaaaaa-0000-5000-8000-000000000001"


class Double:
    """Objects by collection path; `admit` answers dry runs, `said` answers exec and logs by pod name."""

    def __init__(self) -> None:
        self.objects: dict[str, list[Json]] = {}
        self.said: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.single: dict[str, Json] = {}
        self.admit: Callable[[str, Json], Json] = lambda _path, body: body
        self.deleted: list[str] = []
        self.shown = b""
        self.on_delete: Callable[[str], None] = lambda _path: None

    def add(self, path: str, *things: Json) -> Double:
        self.objects.setdefault(path, []).extend(things)
        return self

    def get(self, path: str, **params: Any) -> Json:
        found = self.find(path, **params)
        if found is None:
            raise ClusterError(f"GET {path}: 404 not found", 404)
        return found

    def find(self, path: str, **_params: Any) -> Json | None:
        if path in self.single:
            return self.single[path]
        collection, _, name = path.rpartition("/")
        return next((o for o in self.items(collection) if o["metadata"]["name"] == name), None)

    def items(self, path: str, labelSelector: str = "", fieldSelector: str = "", **_more: Any) -> list[Json]:  # noqa: N803
        wanted = dict(p.split("=", 1) for p in labelSelector.split(",") if p)
        everywhere, namespace = path, ""
        if "/namespaces/" in path:
            prefix, _slash, rest = path.partition("/namespaces/")
            namespace, _slash, plural = rest.partition("/")
            everywhere = f"{prefix}/{plural}"
        found = []
        for thing in self.objects.get(everywhere, []):
            labels = thing["metadata"].get("labels") or {}
            if namespace and thing["metadata"].get("namespace") != namespace:
                continue
            if fieldSelector.startswith("reason=") and thing.get("reason") != fieldSelector[7:]:
                continue
            if all(labels.get(k) == v for k, v in wanted.items()):
                found.append(thing)
        return found

    def metadata(self, path: str, **params: Any) -> list[Json]:
        """As the API server's metadata list does."""
        return [thing["metadata"] for thing in self.items(path, **params)]

    def create(self, path: str, body: Json, dry_run: bool = False) -> Json:
        assert dry_run or path == names.ACCESS_REVIEWS, "observations store nothing"
        return self.admit(path, body)

    def certificate(self) -> bytes:
        """DER of what the API server shows, which a test puts into `shown`."""
        return self.shown

    def patch(self, path: str, change: Json) -> Json:
        """Labels only: that is what the suite patches."""
        found = self.get(path)
        labels = found["metadata"]["labels"]
        for key, value in change["metadata"]["labels"].items():
            labels.pop(key, None) if value is None else labels.update({key: value})
        return found

    def delete(self, path: str, grace_seconds: int | None = None) -> bool:
        self.deleted.append(path)
        name = path.rpartition("/")[2]
        for things in self.objects.values():
            things[:] = [t for t in things if t["metadata"]["name"] != name]
        self.on_delete(path)
        return True

    def execute(self, _namespace: str, pod: str, _command: list[str], *_more: Any, **_given: Any) -> str:
        if pod not in self.said:
            raise ClusterError(f"exec in {pod} failed")
        return self.said[pod]

    def logs(self, _namespace: str, pod: str, tail: int = 0, container: str = "") -> str:
        return self.execute("", pod, [])

    def text(self, path: str, **_params: Any) -> str:
        if path not in self.texts:
            raise ClusterError(f"GET {path}: 503", 503)
        return self.texts[path]

    @property
    def cluster(self) -> Cluster:
        return cast(Cluster, self)

    def at(self, **outputs: Any) -> Snapshot:
        return Snapshot(self.cluster, load({**OUTPUTS, **outputs}))


def thing(name: str, namespace: str = "", labels: Json | None = None, **rest: Any) -> Json:
    annotations = rest.pop("annotations", {})
    meta: Json = {"name": name, "uid": f"uid-{name}", "labels": labels or {}, "annotations": annotations}
    if namespace:
        meta["namespace"] = namespace
    return {"metadata": meta, **rest}


def node(name: str, gpus: int = 4, labels: Json | None = None, **conditions: str) -> Json:
    about = {
        "nvidia.com/gpu.present": "true",
        names.GPU_MEMORY_LABEL: "81920",
        names.GPU_PRODUCT_LABEL: "NVIDIA-A100-SXM4-80GB",
        names.GPU_COUNT_LABEL: str(gpus),
    }
    state = {"Ready": "True", **conditions}
    return thing(
        name,
        labels={**(about if gpus else {}), **(labels or {})},
        spec={},
        status={
            "allocatable": {"nvidia.com/gpu": str(gpus), "pods": "110"},
            "conditions": [{"type": k, "status": v} for k, v in state.items()],
        },
    )


def pod(
    name: str,
    namespace: str = "runai-team-a",
    on: str | None = "w1",
    gpus: int = 0,
    phase: str = "Running",
    test: str = "",
    role: str = "",
    labels: Json | None = None,
    **rest: Any,
) -> Json:
    own = {names.PART_OF_LABEL: names.PART_OF, names.TEST_LABEL: test, names.ROLE_LABEL: role} if test else {}
    container: Json = {"name": "main", "image": "registry/kai:v0.12.0", "resources": {}}
    if gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    return thing(
        name,
        namespace,
        {**own, **(labels or {})},
        annotations={names.POD_GROUP_ANNOTATION: f"pg-{name}", **rest.pop("annotations", {})},
        spec={"nodeName": on, "containers": [container], "schedulerName": "kai-scheduler"},
        status={"phase": phase, **rest},
    )


def queue(name: str, parent: str = "", quota: float = 2, limit: float = 4, allocated: str = "0") -> Json:
    unlimited = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    return thing(
        name,
        spec={
            "parentQueue": parent,
            "resources": {
                "gpu": {"quota": quota, "limit": limit, "overQuotaWeight": 1},
                "cpu": unlimited,
                "memory": unlimited,
            },
        },
        status={"allocated": {"nvidia.com/gpu": allocated}},
    )


def group(
    of: str,
    queue_name: str,
    namespace: str = "runai-team-a",
    status: Json | None = None,
    priority: str = "train",
) -> Json:
    spec = {"queue": queue_name, "priorityClassName": priority}
    return thing(f"pg-{of}", namespace, spec=spec, status=status or {})


def reason(word: str, queue_name: str = "", message: str = "", limit: int = 4) -> Json:
    """A PodGroup's status as KAI 0.12 writes it for a job that it cannot schedule."""
    entry: Json = {"reason": word, "message": message}
    if queue_name:
        limits = {"nvidia.com/gpu": str(limit)}
        entry["details"] = {"queueDetails": {"name": queue_name, "queueResourceLimits": limits}}
    return {"type": "UnschedulableOnNodePool", "status": "True", "reasons": [entry]}
