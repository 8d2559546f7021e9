"""What the server fills in by itself: asked of the server, which then stores nothing."""

from __future__ import annotations

from typing import Any

from day2.drift.compare import differences
from day2.drift.fields import Path, written_fields
from day2.kinds import Kind
from validation.cluster import Cluster, ClusterError

Json = dict[str, Any]


def defaulted(cluster: Cluster, kind: Kind, stated: Json, live: Json) -> set[Path]:
    """Fields of the live object that are as the server makes them where nobody states them.

    A trial of another name, dry: none where the server would not take it.
    """
    metadata = stated["metadata"]
    trial = {key: value for key, value in metadata.items() if key in ("namespace", "labels", "annotations")}
    trial["generateName"] = f"{metadata['name']}-"
    try:
        made = cluster.create(
            kind.path(metadata.get("namespace", "")), stated | {"metadata": trial}, dry_run=True
        )
    except ClusterError:
        return set()
    different = [item.path for item in differences(made, live)]
    return {
        field.path
        for field in written_fields(made, live)
        if field.stated and not any(_within(field.path, path) for path in different)
    }


def _within(path: Path, other: Path) -> bool:
    shorter = min(len(path), len(other))
    return path[:shorter] == other[:shorter]
