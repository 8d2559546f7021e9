"""The whole program on mocks, and what is in its outputs."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from pulumi.runtime import rpc

from components.cluster import ClusterFacts, NamespaceFacts
from components.platform import Platform
from tests.mocks import Run, run_program
from tests.stack.cluster import FakeCluster
from tests.stack.examples import LOCAL
from tests.stack.files import write_bundle, write_knative
from tests.stack.given import CATALOG, settings


def run_platform(
    root: Path,
    values: dict[str, Any] | None = None,
    cluster: FakeCluster | None = None,
    existing: dict[str, NamespaceFacts] | None = None,
    preview: bool = False,
) -> Run:
    """Declare the platform on mocks; the run's value is the stack's outputs."""
    chosen = settings(values or LOCAL)
    cluster = cluster or FakeCluster()
    if chosen.monitoring.source == "bundle":
        write_bundle(root)
    write_knative(root)
    facts = ClusterFacts("v1.34.9", cluster.answers[0], existing or {})

    def program() -> Any:
        return Platform("runai-kit", chosen, CATALOG, cluster, facts, root).outputs("test")

    return run_program(program, preview)


def kept_secrets(run: Run) -> dict[tuple[str, str], dict[str, str]]:
    """The Secrets that a run made, as the cluster gives them back."""
    return {
        (item.inputs["metadata"]["namespace"], item.inputs["metadata"]["name"]): {
            key: base64.b64decode(text).decode() for key, text in plain(item.inputs["data"]).items()
        }
        for item in run.of_type("Secret")
        if item.inputs.get("type") == "kubernetes.io/tls"
    }


def plain(value: Any) -> Any:
    """What is inside of a value that was handed to the engine as a secret."""
    secret = isinstance(value, dict) and rpc._special_sig_key in value
    return value["value"] if secret else value
