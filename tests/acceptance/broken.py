"""Changes of a cluster, taken back in reverse order whatever happens."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Self

from validation import names
from validation.cluster import Cluster, ClusterError
from validation.settings import StackOutputs

Json = dict[str, Any]
STAMPS = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")


class Broken(ExitStack):
    """`with Broken(outputs) as wrong: wrong.patched(…)`; paths are those of the API."""

    def __init__(self, outputs: StackOutputs) -> None:
        super().__init__()
        self.api = Cluster(outputs.kubeconfig, outputs.context)
        self.outputs = outputs
        self._settling: list[Callable[[], bool]] = []

    def __enter__(self) -> Self:
        super().__enter__()
        # Called last: what was brought back is waited for together.
        self.callback(self._settle)
        return self

    def patched(self, path: str, change: Json) -> Json:
        """An object with other fields; those that the change names are put back. Returns it as it was."""
        before = self.api.get(path)
        self.callback(self.api.patch, path, _inverse(change, before))
        self.api.patch(path, change)
        return before

    def made(self, collection: str, body: Json) -> str:
        """An object more; its path. Goes with its finalizers, at once."""
        path = f"{collection}/{body['metadata']['name']}"
        self.callback(self._remove, path)
        self.api.create(collection, body)
        return path

    def replaced(self, path: str, **fields: Any) -> None:
        """An object with fields that cannot be changed: deleted and made again, and so back."""
        before = self.api.get(path)
        for key in STAMPS:
            before["metadata"].pop(key, None)
        self.callback(self._instead, path, before)
        self._instead(path, {**before, **fields})

    def scaled(self, namespace: str, deployment: str, replicas: int = 0) -> None:
        """A Deployment with so many replicas, once it has them; back as it was when the block ends."""
        path = f"{names.in_namespace(names.DEPLOYMENTS, namespace)}/{deployment}"
        self._settling.append(lambda: self._replicas(path))
        self.patched(path, {"spec": {"replicas": replicas}})
        until(lambda: self._replicas(path), f"{deployment} has {replicas} replicas")

    def restless(self, ready: Callable[[], bool]) -> None:
        """Something else that must be so again when everything is put back."""
        self._settling.append(ready)

    def _replicas(self, path: str) -> bool:
        """Are there as many pods as are wanted, and all ready?"""
        thing = self.api.get(path)
        wanted, status = thing["spec"].get("replicas", 1), thing.get("status", {})
        current = bool(status.get("observedGeneration") == thing["metadata"]["generation"])
        have = (status.get("replicas", 0), status.get("readyReplicas", 0))
        return current and have == (wanted, wanted)

    def _settle(self) -> None:
        for ready in self._settling:
            until(ready, "the cluster is as it was")

    def _remove(self, path: str) -> None:
        self.api.delete(path, grace_seconds=0)
        if found := self.api.find(path):
            if found["metadata"].get("finalizers"):
                self._released(path)
            until(lambda: self.api.find(path) is None, f"{path} is gone")

    def _released(self, path: str) -> None:
        try:
            self.api.patch(path, {"metadata": {"finalizers": None}})
        except ClusterError as error:
            # Its controller was quicker.
            if error.status != 404:
                raise

    def _instead(self, path: str, body: Json) -> None:
        self.api.delete(path)
        until(lambda: self.api.find(path) is None, f"{path} is gone")
        self.api.create(path.rpartition("/")[0], body)


def until(condition: Callable[[], bool], what: str, seconds: float = 90) -> float:
    """Look until it is so; the seconds it took. AssertionError with the words after `seconds`."""
    begun = time.monotonic()
    while True:
        try:
            if condition():
                return time.monotonic() - begun
        except ClusterError as error:
            what = f"{what} ({error})" if str(error) not in what else what
        assert time.monotonic() - begun < seconds, f"expected within {seconds:g} s: {what}"
        time.sleep(0.3)


def _inverse(change: Json, before: Json) -> Json:
    """The merge patch that takes a merge patch back: old values, None for keys that were not there."""
    back: Json = {}
    for key, value in change.items():
        old = before.get(key)
        deeper = isinstance(value, dict) and isinstance(old, dict)
        back[key] = _inverse(value, dict(old or {})) if deeper else copy.deepcopy(old)
    return back
