"""Tables of sentences that hold for some installations only (tables/*.yml, key `where`)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

TABLES = Path(__file__).with_name("tables")
Json = dict[str, Any]


def facts(run: Mapping[str, Any]) -> Json:
    """What conditions can ask for, from a run's plan."""
    return {
        "profile": run.get("profile", ""),
        "clusterKind": run.get("clusterKind", ""),
        "gpuMode": (run.get("cluster") or {}).get("gpuMode", ""),
        "fakeGpus": bool(run.get("fakeGpus", False)),
        "ingress": bool(run.get("ingressSource")),
        "ingressSource": run.get("ingressSource", ""),
        "inference": bool(run.get("inferenceServer")),
        "inferenceServer": run.get("inferenceServer", ""),
        "vksPackages": bool(run.get("vksPackages", False)),
        "privateCa": bool(run.get("privateCa", False)),
    }


@cache
def table(name: str) -> tuple[Json, ...]:
    """The entries of a table; ValueError names a condition that nothing can meet."""
    entries: list[Json] = yaml.safe_load((TABLES / f"{name}.yml").read_text())
    known = set(facts({}))
    for entry in entries:
        if unknown := set(entry["where"]) - known:
            raise ValueError(
                f"{name}.yml: found the condition {', '.join(sorted(unknown))}; "
                f"expected some of {', '.join(sorted(known))}"
            )
    return tuple(entries)


def concerning(name: str, run: Mapping[str, Any]) -> list[Json]:
    """Entries of a table whose conditions all hold for a run, without the conditions."""
    known = facts(run)
    return [
        {key: value for key, value in entry.items() if key != "where"}
        for entry in table(name)
        if all(_holds(known[fact], wanted) for fact, wanted in entry["where"].items())
    ]


def _holds(fact: Any, wanted: Any) -> bool:
    return fact in wanted if isinstance(wanted, list) else bool(fact == wanted)
