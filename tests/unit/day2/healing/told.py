"""A Pulumi CLI that answers from a list, and a cluster of Helm records and applied objects."""

from __future__ import annotations

import base64
import gzip
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from day2.healing.command import Pulumi
from validation import names
from validation.cluster import Cluster, ClusterError

Json = dict[str, Any]
RELEASE = "kubernetes:helm.sh/v3:Release"


@dataclass(frozen=True)
class Told(Pulumi):
    """`answers`: output by the command's first words; what is not there succeeds in silence."""

    answers: Mapping[str, str] = field(default_factory=dict)
    failing: Mapping[str, str] = field(default_factory=dict)
    called: list[tuple[str, ...]] = field(default_factory=list)

    def _call(self, *words: str) -> subprocess.CompletedProcess[str]:
        self.called.append(words)
        line = " ".join(words)
        for begin, text in self.failing.items():
            if line.startswith(begin):
                return subprocess.CompletedProcess(words, 255, "", text)
        text = next((text for begin, text in self.answers.items() if line.startswith(begin)), "{}")
        return subprocess.CompletedProcess(words, 0, text, "")

    @property
    def changes(self) -> list[str]:
        """First words of what was not only asked; refreshing the root alone is a question."""
        return [
            words[0]
            for words in self.called
            if words[0] not in ("stack", "config", "whoami")
            and not any("pulumi:pulumi:Stack" in word for word in words)
        ]


def pulumi(folder: Path, state: Json | None = None, locked: str = "") -> Told:
    """A stack `local` with that deployment; `locked` is what Pulumi says about its lock."""
    (folder / "Pulumi.yaml").write_text("name: runai-kit\n")
    exported = json.dumps({"version": 3, "deployment": state})
    failing = {"refresh --yes --skip-preview --target": locked} if locked else {}
    return Told("local", folder, answers={"stack export": exported}, failing=failing)


def operation(kind: str, name: str, type_: str = "creating", namespace: str = "kai-scheduler") -> Json:
    """A pending operation on a release (kind RELEASE) or on an object of a Kubernetes kind."""
    urn = f"urn:pulumi:local::runai-kit::{kind}::{name}"
    if kind == RELEASE:
        inputs: Json = {"name": name, "namespace": namespace, "chart": "build/charts/x.tgz"}
    else:
        api, _, word = kind.removeprefix("kubernetes:").partition(":")
        meta = {"name": name, "namespace": namespace}
        inputs = {
            "apiVersion": api.removeprefix("core/"),
            "kind": word.removesuffix("Patch"),
            "metadata": meta,
        }
    return {"type": type_, "resource": {"urn": urn, "type": kind, "inputs": inputs}}


def record(
    name: str,
    status: str,
    namespace: str = "kai-scheduler",
    version: int = 1,
    first: str = "",
    by: str = "pulumi-kubernetes",
) -> Json:
    """The Secret in which Helm keeps a revision, written by a manager of that name."""
    text = json.dumps({"info": {"first_deployed": first}}).encode()
    packed = base64.b64encode(base64.b64encode(gzip.compress(text))).decode()
    labels = {"owner": "helm", "name": name, "status": status, "version": str(version)}
    meta: Json = {"name": f"sh.helm.release.v1.{name}.v{version}", "namespace": namespace, "labels": labels}
    meta["managedFields"] = [{"manager": by}]
    return {"metadata": meta, "data": {"release": packed}}


def job(name: str, hook: str = "") -> Json:
    """A Job, that of a Helm hook where `hook` says when it runs."""
    return {"metadata": {"name": name, "annotations": {"helm.sh/hook": hook} if hook else {}}}


def namespace(name: str, ours: bool = True, leaving: str = "") -> Json:
    """A namespace; `leaving` is what holds one that is being deleted."""
    meta: Json = {"name": name, "labels": {names.MANAGED_BY_LABEL: names.MANAGED_BY} if ours else {}}
    if not leaving:
        return {"metadata": meta}
    condition = {"type": "NamespaceContentRemaining", "status": "True", "message": leaving}
    return {
        "metadata": meta | {"deletionTimestamp": "2026-01-01T00:00:00Z"},
        "status": {"conditions": [condition]},
    }


@dataclass
class Api:
    """Answers label selectors of Helm's records, kinds of apps/v1, objects by path, Jobs by namespace."""

    records: list[Json] = field(default_factory=list)
    jobs: dict[str, list[Json]] = field(default_factory=dict)
    objects: dict[str, Json] = field(default_factory=dict)
    deleted: list[str] = field(default_factory=list)
    patched: dict[str, Json] = field(default_factory=dict)
    withdrawn: list[tuple[str, Json, str]] = field(default_factory=list)
    down: bool = False
    #: One list per time that namespaces are asked for; the last one stays.
    namespaces: list[list[Json]] = field(default_factory=lambda: [[namespace("kai-scheduler")]])

    def cluster(self) -> Cluster:
        """Itself, as what it stands for."""
        if self.down:
            raise ClusterError("API server of context 'kind-x' does not answer")
        return cast(Cluster, self)

    def items(self, path: str, labelSelector: str = "") -> list[Json]:  # noqa: N803
        if path == names.NAMESPACES:
            return self.namespaces.pop(0) if len(self.namespaces) > 1 else self.namespaces[0]
        if path.endswith("/jobs"):
            return self.jobs.get(path.split("/")[5], [])
        rest = labelSelector.removeprefix("owner=helm,")
        found = []
        for item in self.records:
            labels, namespace = item["metadata"]["labels"], item["metadata"]["namespace"]
            if "/namespaces/" in path and f"/namespaces/{namespace}/" not in path:
                continue
            key, _, value = rest.partition("=")
            named = labels["status"] in rest if rest.startswith("status in") else labels[key] == value
            found += [item] if named else []
        return found

    def get(self, path: str) -> Json:
        assert path == "/apis/apps/v1"
        kind = {"name": "daemonsets", "kind": "DaemonSet", "namespaced": True, "verbs": ["list"]}
        return {"resources": [kind]}

    def find(self, path: str) -> Json | None:
        return self.objects.get(path)

    def delete(self, path: str) -> bool:
        self.deleted.append(path.rpartition("/")[2])
        return True

    def patch(self, path: str, change: Json) -> Json:
        self.patched[path] = change
        return change

    def withdraw(self, path: str, thing: Json, manager: str) -> None:
        self.withdrawn.append((path, thing, manager))
