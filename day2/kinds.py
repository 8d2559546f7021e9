"""Kinds that an API server serves, asked for when they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from validation.cluster import Cluster, ClusterError

Json = dict[str, Any]


@dataclass(frozen=True)
class Kind:
    """A kind of one version: where its objects are."""

    api_version: str
    name: str
    plural: str
    namespaced: bool
    verbs: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def group(self) -> str:
        """API group, empty for the core's."""
        return self.api_version.rpartition("/")[0]

    def path(self, namespace: str = "", name: str = "") -> str:
        """Path of an object, or of the list; of all namespaces without one."""
        root = f"/apis/{self.api_version}" if self.group else f"/api/{self.api_version}"
        where = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{root}{where}/{self.plural}" + (f"/{name}" if name else "")


class Kinds:
    """Looks kinds up; a group that is not needed is not asked, however broken it is."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[str, dict[str, Kind]] = {}

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The kind, or None when it is not served. Raises ClusterError."""
        return self._of(api_version).get(kind)

    def all(self) -> Iterator[Kind]:
        """Every kind that can be listed, once, in its group's preferred version. Raises ClusterError."""
        groups = self._cluster.get("/apis")["groups"]
        seen: set[tuple[str, str]] = set()
        for version in ["v1", *(v["groupVersion"] for group in groups for v in _ordered(group))]:
            for kind in self._of(version).values():
                if "list" in kind.verbs and (kind.group, kind.name) not in seen:
                    seen.add((kind.group, kind.name))
                    yield kind

    def _of(self, api_version: str) -> dict[str, Kind]:
        if api_version not in self._known:
            root = "/apis/" if "/" in api_version else "/api/"
            try:
                listed = self._cluster.get(f"{root}{api_version}")["resources"]
            except ClusterError as error:
                if error.status != 404:
                    raise
                listed = []
            self._known[api_version] = {
                item["kind"]: Kind(
                    api_version, item["kind"], item["name"], item["namespaced"], frozenset(item["verbs"])
                )
                for item in listed
                # The others are subresources.
                if "/" not in item["name"]
            }
        return self._known[api_version]


def _ordered(group: Json) -> list[Json]:
    """Versions of a group, the preferred one first."""
    preferred = group["preferredVersion"]["version"]
    return sorted(group["versions"], key=lambda item: bool(item["version"] != preferred))
