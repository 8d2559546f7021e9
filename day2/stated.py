"""Everything that the kit states: the stack's own objects, and what its Helm releases rendered."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from day2.kinds import Kinds
from day2.releases import Rendered, rendered
from day2.state import ReleaseName, Stack
from validation.cluster import Cluster

Json = dict[str, Any]
_CRD = "CustomResourceDefinition"


@dataclass(frozen=True)
class Stated:
    """One object; `source` names the release, and is empty for the stack's own."""

    body: Json
    source: str = ""
    patch: bool = False

    @property
    def name(self) -> str:
        """The object's name."""
        return str(self.body["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """The object's namespace, empty for a cluster-wide one."""
        return str(self.body["metadata"].get("namespace", ""))

    def key(self) -> tuple[str, str, str]:
        """What two statements about the same object have in common."""
        return str(self.body["kind"]), self.namespace, self.name

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.body['kind']} {place}{self.name}" + (f" [{self.source}]" if self.source else "")


def stated(
    cluster: Cluster,
    kinds: Kinds,
    stack: Stack,
    read: Callable[[Cluster, ReleaseName], Rendered] = rendered,
) -> list[Stated]:
    """All objects, each once: the stack's own word is the last, also about what a chart brings.

    `read` tells what a release rendered. Raises ClusterError, and what `read` raises: ReleaseError.
    """
    found: dict[tuple[str, str, str], Stated] = {}
    for release in stack.releases:
        there = read(cluster, release)
        source = f"release {release.name}"
        for body in (*there.crds, *there.objects):
            item = Stated(fit(kinds, body), source)
            found[item.key()] = item
    own = [Stated(fit(kinds, declared.body), patch=declared.patch) for declared in stack.objects]
    return list((found | {item.key(): item for item in own}).values())


def crds(everything: list[Stated]) -> list[Stated]:
    """The kinds that the kit brought."""
    return [item for item in everything if item.body["kind"] == _CRD]


def fit(kinds: Kinds, body: Json) -> Json:
    """As it can be compared: no status, texts of Secrets as data, a namespace only where there is one."""
    body = {key: value for key, value in body.items() if key != "status"}
    kind = kinds.find(body["apiVersion"], body["kind"])
    if kind is not None and not kind.namespaced:
        kept = {key: value for key, value in body["metadata"].items() if key != "namespace"}
        body = body | {"metadata": kept}
    if body["kind"] == "Secret" and "stringData" in body:
        body = _encoded(body)
    return body


def _encoded(body: Json) -> Json:
    texts = {key: base64.b64encode(text.encode()).decode() for key, text in body["stringData"].items()}
    rest = {key: value for key, value in body.items() if key != "stringData"}
    return rest | {"data": (body.get("data") or {}) | texts}
