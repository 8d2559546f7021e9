"""A Prometheus behind the API server's proxy, in memory: answers by expression, targets, rules."""

from __future__ import annotations

import re
from typing import Any

from tests.unit.validation.double import Double
from validation.cluster import ClusterError

Json = dict[str, Any]
PROXY = "/proxy/api/v1/"


class Prometheus(Double):
    """`vectors` is labels and value by a part of the expression; the first part that fits answers."""

    def __init__(self) -> None:
        super().__init__()
        self.vectors: dict[str, list[tuple[Json, float]]] = {}
        self.targets: list[Json] = []
        self.rules: list[Json] = []
        self.asked: list[str] = []
        self.refused: dict[str, str] = {}

    def get(self, path: str, **params: Any) -> Json:
        if PROXY not in path:
            return super().get(path, **params)
        match path.partition(PROXY)[2]:
            case "query":
                return self._answer("vector", self._series(params["query"], "value"))
            case "query_range":
                return self._answer("matrix", self._series(params["query"], "values"))
            case "targets":
                return {"data": {"activeTargets": self.targets}}
            case "rules":
                return {"data": {"groups": [{"name": "g", "rules": self.rules}]}}
        raise AssertionError(path)

    def _answer(self, kind: str, result: list[Json]) -> Json:
        return {"status": "success", "data": {"resultType": kind, "result": result}}

    def _series(self, expression: str, field: str) -> list[Json]:
        self.asked.append(expression)
        for part, why in self.refused.items():
            if part in expression:
                raise ClusterError(f"GET query: 400 {why}", 400)
        found: list[tuple[Json, float]] = next(
            (series for part, series in self.vectors.items() if part in expression), []
        )
        return [
            {"metric": labels, field: [0, str(value)] if field == "value" else [[0, "NaN"], [15, str(value)]]}
            for labels, value in found
        ]

    def create(self, path: str, body: Json, dry_run: bool = False) -> Json:
        if path.endswith("/prometheusrules"):
            self.add(re.sub(r"/namespaces/[^/]+", "", path), body)
            return body
        return super().create(path, body, dry_run)


def target(pool: str, instance: str, error: str = "") -> Json:
    """An active target; up unless there is an error."""
    return {
        "scrapePool": pool,
        "labels": {"instance": instance},
        "health": "down" if error else "up",
        "lastError": error,
    }


def rule(name: str, *alerts: Json, health: str = "ok", error: str = "") -> Json:
    """A loaded alert with what it is pending or firing for."""
    return {
        "name": name,
        "query": f"expression_of_{name} > 0",
        "health": health,
        "lastError": error,
        "labels": {"severity": "info"},
        "annotations": {"summary": "{{ $value }}"},
        "alerts": list(alerts),
    }
