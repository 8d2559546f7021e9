"""What Prometheus sees: targets and alerts."""

from __future__ import annotations

import json
from collections.abc import Iterator

from day2.bundle.piece import Piece
from validation.cluster import Cluster
from validation.prometheus import rules, targets
from validation.settings import StackOutputs


def pieces(cluster: Cluster, outputs: StackOutputs) -> Iterator[Piece]:
    """Nothing where monitoring is off."""
    if outputs.monitoring.enabled:
        yield Piece("prometheus/targets.json", "active targets", lambda: _dump(targets(cluster, outputs)))
        yield Piece(
            "prometheus/alerts.json", "alerting rules and their state", lambda: _dump(rules(cluster, outputs))
        )


def _dump(data: object) -> str:
    return json.dumps(data, indent=1) + "\n"
