"""Prometheus about itself: targets, rules, and one alert waited for."""

from __future__ import annotations

from typing import Any

from validation import prometheus
from validation.observe.snapshot import Snapshot
from validation.patience import until

Json = dict[str, Any]


def targets(at: Snapshot, serving: bool, timeout: float) -> Json:
    """Targets by source and those that do not answer, with the error; waits until all answer.

    `serving`: is there a service of Knative, whose pods are a source, too.
    """

    def look() -> Json:
        active = prometheus.targets(at.cluster, at.outputs)
        return {"down": _down(active), "pools": _pools(at, active)}

    def good(seen: Json) -> bool:
        scrapes = at.outputs.monitoring.scrapes
        wanted = [s.name for s in scrapes if s.always or (serving and s.name == "queue-proxy")]
        return not seen["down"] and all(seen["pools"][name]["up"] for name in wanted)

    found, _ = until(look, good, timeout)
    return found


def _down(active: list[Json]) -> dict[str, str]:
    return {
        f"{t['scrapePool']} {t['labels'].get('instance', '')}": f"{t['health']}: {t.get('lastError', '')}"
        for t in active
        if t["health"] != "up"
    }


def _pools(at: Snapshot, active: list[Json]) -> Json:
    found = {}
    for scrape in at.outputs.monitoring.scrapes:
        mine = [t for t in active if _belongs(t["scrapePool"], scrape.pool)]
        found[scrape.name] = {"targets": len(mine), "up": sum(t["health"] == "up" for t in mine)}
    return found


def _belongs(pool: str, begin: str) -> bool:
    return pool == begin or pool.rpartition("/")[0] == begin


def rules(at: Snapshot, timeout: float) -> Json:
    """Alerts that are not loaded, and loaded ones that cannot be evaluated."""

    def look() -> Json:
        loaded = {rule["name"]: rule for rule in prometheus.rules(at.cluster, at.outputs)}
        sick = {
            name: rule.get("lastError") or rule["health"]
            for name, rule in loaded.items()
            if rule["health"] != "ok"
        }
        missing = [name for name in at.outputs.monitoring.alerts if name not in loaded]
        return {"missing": missing, "unhealthy": sick, "loaded": sorted(loaded)}

    found, _ = until(look, lambda seen: not seen["missing"] and not seen["unhealthy"], timeout)
    return found


def alert(at: Snapshot, name: str, queue: str, firing: bool, timeout: float) -> Json:
    """The alert about a queue, waited for until it fires, or until it does so no more; `seconds` it took."""

    def look() -> Json:
        mine = [rule for rule in prometheus.rules(at.cluster, at.outputs) if rule["name"] == name]
        for found in (alert for rule in mine for alert in rule["alerts"]):
            if found["labels"].get("queue_name") == queue:
                return {"state": found["state"], **found["labels"], "annotations": found["annotations"]}
        return {"state": "inactive", "rule": "loaded" if mine else "not loaded"}

    found, took = until(look, lambda seen: (seen["state"] == "firing") is firing, timeout)
    return {**found, "seconds": took}
