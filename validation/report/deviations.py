"""What is installed against what the vendor states (the catalog's `support`, in the stack's outputs)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
MARKS = {
    "D": "page read in full",
    "P": "opening of the page read",
    "S": "told by a third party",
    "R": "read in the source",
    "E": "seen in the field",
    "U": "uncertain",
}


def deviations(found: Mapping[str, str], support: Mapping[str, Json]) -> list[Json]:
    """Every name whose version or value lies outside of what is stated, in the order of the statements.

    A version that is not known deviates: nobody can say that it fits.
    """
    return [
        {
            "part": name,
            "found": found[name] or "not known",
            "expected": wording(said),
            "level": said.get("level", "supported"),
            "source": said.get("source", ""),
            "mark": MARKS.get(said.get("mark", ""), ""),
        }
        for name, said in support.items()
        if name in found and not fits(found[name], said)
    ]


def found_in(run: Mapping[str, Any]) -> dict[str, str]:
    """Versions of the installed parts and facts of the cluster, from a run's plan."""
    cluster = run.get("cluster") or {}
    facts = {
        "kubernetes": cluster.get("kubernetes"),
        "platform": run.get("clusterKind"),
        "gpu-mode": cluster.get("gpuMode"),
    }
    parts = {c["name"]: c["version"] for c in run["components"]}
    # A fact that nobody could read is told by the facts themselves; it is no version outside a range.
    return {**{name: str(value) for name, value in facts.items() if value}, **parts}


def fits(found: str, said: Json) -> bool:
    """Within the bounds (to the digits that a bound has), or one of the values."""
    if said.get("oneOf"):
        return found in said["oneOf"]
    number = _digits(found)
    low, high = _digits(said.get("min") or ""), _digits(said.get("max") or "")
    return bool(number) and number >= low and (not high or number[: len(high)] <= high)


def _digits(version: str) -> tuple[int, ...]:
    """`v1.34.2-rc.1` → (1, 34, 2)."""
    match = re.match(r"v?(\d+(?:\.\d+)*)", version)
    return tuple(map(int, match[1].split("."))) if match else ()


def wording(said: Json) -> str:
    """The statement in words: `1.33 to 1.35`, `3.13.1 or newer`."""
    if said.get("words"):
        return str(said["words"])
    if said.get("oneOf"):
        return " or ".join(said["oneOf"])
    low, high = said.get("min") or "", said.get("max") or ""
    if low == high:
        return f"{low}.x"
    if low and high:
        return f"{low} to {high}"
    return f"{low} or newer" if low else f"up to {high}"
