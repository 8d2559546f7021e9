"""Dashboards as they lie in the cluster, with every query asked of the live Prometheus."""

from __future__ import annotations

import json
import math
import time
from typing import Any

from validation import dashboards, names, prometheus
from validation.cluster import ClusterError
from validation.observe.snapshot import Snapshot
from validation.patience import until

Json = dict[str, Any]
# How far back a query may have its last value.
WINDOW_SECONDS = 300.0
LABEL = "grafana_dashboard=1"


def boards(at: Snapshot, timeout: float) -> tuple[Json, list[Json]]:
    """Dashboards and queries of theirs that return nothing or fail; and every query with what it returned.

    Queries without data are asked again until `timeout` seconds are over, for all of them together.
    """
    path = names.in_namespace(names.CONFIG_MAPS, at.outputs.monitoring.namespace)
    deadline = time.monotonic() + timeout
    asked: list[Json] = []
    found: Json = {}
    for config in at.cluster.items(path, labelSelector=LABEL):
        for text in (config.get("data") or {}).values():
            name = config["metadata"]["name"].removeprefix("dashboard-")
            found[name], done = _board(at, json.loads(text), deadline)
            asked += [{"dashboard": name, **entry} for entry in done]
    return {"boards": found}, asked


def _board(at: Snapshot, board: Json, deadline: float) -> tuple[Json, list[Json]]:
    interval = at.outputs.monitoring.scrapeSeconds
    chosen, counts = dashboards.fill_in(
        board, lambda expression: prometheus.query(at.cluster, at.outputs, expression), interval
    )
    wanted = dashboards.queries(board, chosen, interval)

    def look() -> list[Json]:
        # What has returned data is not asked again.
        for index, entry in enumerate(done):
            if not entry["series"]:
                done[index] = _ask(at, wanted[index])
        return done

    done = [_ask(at, query) for query in wanted]
    until(look, lambda seen: all(entry["series"] for entry in seen), deadline - time.monotonic(), 5.0)
    return {
        "queries": len(done),
        "variables": counts,
        "empty": [_title(e) for e in done if not e["series"] and not e["error"]]
        + [f"variable {name}" for name, count in counts.items() if not count],
        "failed": [f"{_title(e)}: {e['error']}" for e in done if e["error"]],
    }, done


def _title(entry: Json) -> str:
    return f"{entry['panel']}: {entry['expression']}"


def _ask(at: Snapshot, query: dashboards.Query) -> Json:
    """Number of series with a value in it that a panel could draw, and one of the values."""
    values: list[float] = []
    error = ""
    try:
        if query.instant:
            found = prometheus.query(at.cluster, at.outputs, query.expression)
            values = [float(s["value"][1]) for s in found]
        else:
            now = time.time()
            series = prometheus.query_range(
                at.cluster, at.outputs, query.expression, now - WINDOW_SECONDS, now, query.step
            )
            drawn = [[v for _, text in s["values"] if math.isfinite(v := float(text))] for s in series]
            values = [points[-1] for points in drawn if points]
    except ClusterError as problem:
        error = str(problem)
    values = [value for value in values if math.isfinite(value)]
    return {
        "panel": query.panel,
        "expression": query.expression,
        "series": len(values),
        "sample": values[0] if values else None,
        "error": error,
    }
