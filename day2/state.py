"""What a stack says that it made: objects and Helm releases, from `pulumi stack export`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.config.local import renamed
from components.labels import PROJECT_KEY

Json = dict[str, Any]
# How Pulumi marks a secret in JSON.
_MARK = "4dabf18193072939515e22adb298388d"
_PREFIX = "kubernetes:"
_RELEASE = "kubernetes:helm.sh/v3:Release"
_PROVIDER = "pulumi:providers:kubernetes"


class StateError(RuntimeError):
    """The stack's state cannot be read; the text says what to run."""


@dataclass(frozen=True)
class Declared:
    """An object as the stack stated it; a patch only states some fields of somebody else's object."""

    body: Json
    patch: bool
    retained: bool

    @property
    def name(self) -> str:
        """The object's own name."""
        return str(self.body["metadata"]["name"])

    def is_project(self) -> bool:
        """Whether it is the namespace of a project, where people's workloads are."""
        return self.body["kind"] == "Namespace" and PROJECT_KEY in self.body["metadata"].get("labels", {})


@dataclass(frozen=True)
class ReleaseName:
    """A Helm release of the stack."""

    name: str
    namespace: str


@dataclass(frozen=True)
class Stack:
    """The state of one stack; `kubeconfig` is absolute, or empty for the user's default."""

    name: str
    context: str
    kubeconfig: str
    objects: tuple[Declared, ...]
    releases: tuple[ReleaseName, ...]
    pending: int = 0

    def empty(self) -> bool:
        """Whether nothing is installed."""
        return not self.objects and not self.releases

    def namespaces(self) -> dict[str, bool]:
        """Namespaces of the stack; True for those that were somebody else's before."""
        return {item.name: item.patch for item in self.objects if item.body["kind"] == "Namespace"}


def ask(words: list[str], stack: str, root: Path, timeout: float = 60) -> Json:
    """What a command of Pulumi about the stack prints as JSON. Raises StateError."""
    command = ["pulumi", *words, "--stack", stack, "--non-interactive"]
    try:
        done = subprocess.run(
            command, cwd=root, capture_output=True, text=True, timeout=timeout, env=os.environ
        )
    except FileNotFoundError:
        raise StateError("pulumi is not on PATH: `source local/env.sh`, or install it") from None
    except subprocess.TimeoutExpired:
        raise StateError(f"the state of stack {stack}: no answer within {timeout:g} s") from None
    if done.returncode:
        raise StateError(f"the state of stack {stack} cannot be read: {' '.join(done.stderr.split())}")
    data: Json = json.loads(done.stdout)
    return data


def cluster_setting(stack: str, root: Path) -> tuple[str, str]:
    """Context and kubeconfig of the stack's settings, for a stack that has nothing in its state."""
    found = ask(["config", "--json"], stack, root).get("runai-kit:cluster", {}).get("objectValue") or {}
    cluster = renamed({"cluster": found}, os.environ)["cluster"]
    assert isinstance(cluster, dict)
    return str(cluster.get("context", "")), str(cluster.get("kubeconfig", ""))


def parse(name: str, exported: Json, root: Path, fallback: tuple[str, str] = ("", "")) -> Stack:
    """The stack of an exported state; `fallback` is context and kubeconfig when it has no cluster.

    Raises StateError for one with several clusters.
    """
    deployment = exported.get("deployment") or {}
    resources = [item for item in deployment.get("resources") or [] if not item.get("delete")]
    clusters = {
        (str(inputs.get("context", "")), str(inputs.get("kubeconfig", "")))
        for inputs in (opened(item["inputs"]) for item in resources if item["type"] == _PROVIDER)
    }
    if len(clusters) > 1:
        raise StateError(f"stack {name}: found {len(clusters)} clusters in its state; expected one")
    context, kubeconfig = next(iter(clusters), fallback)
    objects, releases = [], []
    for item in resources:
        if item["type"] == _RELEASE:
            inputs = opened(item["inputs"])
            releases.append(ReleaseName(inputs["name"], inputs["namespace"]))
        elif item["type"].startswith(_PREFIX):
            patch = item["type"].endswith("Patch")
            objects.append(Declared(opened(item["inputs"]), patch, bool(item.get("retainOnDelete"))))
    return Stack(
        name,
        context,
        str(root / Path(kubeconfig).expanduser()) if kubeconfig else "",
        tuple(objects),
        tuple(releases),
        len(deployment.get("pending_operations") or []),
    )


def read(stack: str, root: Path) -> Stack:
    """Export and parse; secrets stay in this process. Raises StateError."""
    exported = ask(["stack", "export", "--show-secrets"], stack, root)
    return parse(stack, exported, root, cluster_setting(stack, root))


def opened(value: Any) -> Any:
    """A value with its secrets opened, and without what Pulumi keeps for itself (`__…`)."""
    if isinstance(value, list):
        return [opened(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _MARK in value:
        return opened(json.loads(value["plaintext"]))
    return dict(_plain(value))


def _plain(value: Json) -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        if not key.startswith("__"):
            yield key, opened(item)
