"""Makes a bundle: what needs no cluster always, what the cluster still answers, and a list of the rest."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from components.config.errors import NAMESPACE
from day2.bundle import archive, installed, logs, metrics, objects
from day2.bundle.piece import Gathered, Piece, gather
from day2.bundle.scrub import Scrubber, values
from validation import names
from validation.cluster import Cluster, ClusterError
from validation.outputs import resolved
from validation.settings import OutputsError, StackOutputs, load

Json = dict[str, Any]
# Of one request; a cluster that hangs must not hold the bundle up.
REQUEST_SECONDS = 8.0


@dataclass(frozen=True)
class Options:
    """`root`: the project; `seconds`: for everything together; `outputs_file`: instead of asking Pulumi."""

    environment: str
    root: Path
    target: Path
    report: Path
    seconds: float = 120.0
    workload_logs: bool = False
    outputs_file: str = ""


def make(options: Options) -> Json:
    """Write the bundle, whatever state the cluster is in; returns its index. OSError: no place for it."""
    begun = time.monotonic()
    until = begun + options.seconds
    gathered = Gathered()
    gather(installed.pieces(options.environment, options.root, options.report), until, gathered)
    known: set[str] = set()
    outputs = _outputs(options, gathered)
    if outputs is not None:
        known = _cluster(outputs, options, until, gathered)
    about = {
        "environment": options.environment,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "redacted": "values of the cluster's Secrets, what looks like one, and variables of users' pods",
    }
    index = archive.write(options.target, gathered, Scrubber(known), about)
    return {**index, "seconds": round(time.monotonic() - begun, 1)}


def _outputs(options: Options, gathered: Gathered) -> StackOutputs | None:
    """The stack's outputs, added to the bundle; None when there are none."""
    path, what = "kit/outputs.json", "the stack's outputs; secrets are masked"
    try:
        raw = installed.outputs(options.environment, options.root, options.outputs_file)
        outputs = load(resolved(raw, options.root))
    except OutputsError as error:
        gathered.leave_out(path, what, str(error))
        gathered.leave_out(
            "cluster/", "everything of the cluster", f"without {NAMESPACE}'s outputs it is not known"
        )
        return None
    gathered.what[path], gathered.texts[path] = what, outputs.model_dump_json(indent=1) + "\n"
    return outputs


def _cluster(outputs: StackOutputs, options: Options, until: float, gathered: Gathered) -> set[str]:
    """Add what the cluster answers; returns values that must not be in the bundle."""
    try:
        cluster = Cluster(outputs.kubeconfig, outputs.context, REQUEST_SECONDS)
        cluster.get("/version")
    except ClusterError as error:
        gathered.leave_out("cluster/", "everything of the cluster", str(error))
        return set()
    projects = [project.namespace for project in outputs.projects]
    spaces = sorted({item.name for item in outputs.namespaces} | set(projects))
    try:
        known = _secrets(cluster, spaces)
    except ClusterError as error:
        # Without them a value could stand anywhere, and nobody would know it.
        why = f"Secrets cannot be read, so their values cannot be taken out: {error}"
        gathered.leave_out("cluster/", "everything of the cluster", why)
        return set()
    pieces = [*objects.pieces(cluster, spaces, projects), *metrics.pieces(cluster, outputs)]
    pieces += _logs(cluster, [s for s in spaces if options.workload_logs or s not in projects], gathered)
    gather(pieces, until, gathered)
    return known


def _secrets(cluster: Cluster, spaces: list[str]) -> set[str]:
    return values(s for space in spaces for s in cluster.items(names.in_namespace(names.SECRETS, space)))


def _logs(cluster: Cluster, spaces: list[str], gathered: Gathered) -> list[Piece]:
    found: list[Piece] = []
    for space in spaces:
        try:
            found += logs.pieces(cluster, cluster.items(names.in_namespace(names.PODS, space)))
        except ClusterError as error:
            gathered.leave_out(f"namespaces/{space}/logs/", "logs", str(error))
    return found
