"""A Helm release that an earlier run left between two states stops the next one, before anything changes."""

from __future__ import annotations

from collections.abc import Iterable

import pulumi

from components.catalog import Part
from components.cluster import Cluster


class UnfinishedError(pulumi.RunError):
    """A release of the kit is neither installed nor gone; the text names the command that puts it right."""


def refuse_unfinished(cluster: Cluster, parts: Iterable[Part], stack: str) -> None:
    """Helm begins nothing while a release is pending, whatever became of the run that made it so.

    Raises UnfinishedError for releases of these parts, and nobody else's.
    """
    ours = {(part.namespace(), part.name) for part in parts if part.chart is not None}
    stuck = [
        f"{release} in namespace {namespace} ({status})"
        for namespace, release, status in cluster.pending_releases()
        if any(namespace == home and release.startswith(name) for home, name in ours)
    ]
    if stuck:
        raise UnfinishedError(
            f"Helm release {', '.join(stuck)}: found an operation without an end; expected none; "
            f"wait for the run that is at work, or run `make heal ENV={stack}` after one that was killed. "
            "Nothing was changed."
        )
