"""The cluster behind the double: makes and removes objects of workloads, and tells what became of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kubernetes import client
from kubernetes import dynamic as _dynamic
from kubernetes.config import kube_config as _kube_config

from tests.contract.control_plane.rendered import objects
from tests.contract.control_plane.rendered.pod import WORKLOAD

Json = dict[str, Any]
_SECONDS = (5, 20)
# The client's stubs leave these untyped.
_files: Any = _kube_config
_dynamics: Any = _dynamic


class Behind:
    """One cluster, by kubeconfig and context. Raises kubernetes.client.ApiException."""

    def __init__(self, kubeconfig: Path, context: str) -> None:
        configuration = client.Configuration()
        _files.load_kube_config(str(kubeconfig), context, client_configuration=configuration)
        api = client.ApiClient(configuration)
        self._core = client.CoreV1Api(api)
        self._any: Any = _dynamics.DynamicClient(api)

    def submit(self, workload: Json) -> None:
        """Make the workload's objects."""
        for thing in objects(workload):
            self._of(thing).create(body=thing, namespace=workload["namespace"], _request_timeout=_SECONDS)

    def remove(self, workload: Json) -> None:
        """Ask for the removal of the objects and of what was made for them."""
        for thing in objects(workload):
            try:
                self._of(thing).delete(
                    name=workload["name"],
                    namespace=workload["namespace"],
                    body={"propagationPolicy": "Background"},
                    _request_timeout=_SECONDS,
                )
            except _dynamics.exceptions.NotFoundError:
                continue

    def pods(self, workload: Json) -> list[Any]:
        """The workload's pods as they are."""
        listed = self._core.list_namespaced_pod(
            workload["namespace"], label_selector=f"{WORKLOAD}={workload['id']}", _request_timeout=_SECONDS
        )
        return list(listed.items)

    def served(self, workload: Json) -> Json:
        """Status of the workload's Knative Service; empty without one."""
        (thing,) = objects(workload)
        try:
            found = self._of(thing).get(
                name=workload["name"], namespace=workload["namespace"], _request_timeout=_SECONDS
            )
        except _dynamics.exceptions.NotFoundError:
            return {}
        status: Json = found.to_dict().get("status") or {}
        return status

    def _of(self, thing: Json) -> Any:
        return self._any.resources.get(api_version=thing["apiVersion"], kind=thing["kind"])
