"""The sampler's file of JSON lines: read, and the facts that only a watch can give (order, milliseconds)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]
FILE = "timeline.jsonl"


def read(path: Path) -> list[Json]:
    """All complete lines; FileNotFoundError when the sampler never wrote. A half last line is left out."""
    lines = path.read_text().splitlines()
    found = []
    for number, line in enumerate(lines):
        try:
            found.append(json.loads(line))
        except ValueError:
            if number != len(lines) - 1:
                raise
    return found


@dataclass
class Life:
    """What a watch saw of one pod; times are Unix seconds at which events arrived, None = not seen."""

    uid: str
    name: str
    queue: str
    role: str
    created: float
    scheduled: float | None = None
    running: float | None = None
    deleting: float | None = None
    gone: float | None = None
    api: Json = field(default_factory=dict)

    @property
    def latency(self) -> float | None:
        """Seconds from creation to Running."""
        return None if self.running is None else self.running - self.created


def lives(lines: Iterable[Json], test: str) -> list[Life]:
    """Pods of a test in order of creation."""
    found: dict[str, Life] = {}
    for line in lines:
        if line["kind"] != "pod" or line["test"] != test:
            continue
        life = found.setdefault(
            line["uid"], Life(line["uid"], line["name"], line["queue"], line["role"], line["t"])
        )
        life.api = line["api"]
        if life.scheduled is None and (line["api"].get("scheduled") or line["phase"] == "Running"):
            life.scheduled = line["t"]
        if line["phase"] == "Running" and life.running is None and not line["deleting"]:
            life.running = line["t"]
        if line["deleting"] and life.deleting is None:
            life.deleting = line["t"]
        if line["type"] == "DELETED":
            life.gone = line["t"]
            life.deleting = life.deleting or line["t"]
    return list(found.values())


def held(lines: Iterable[Json], test: str = "") -> tuple[float, set[str]]:
    """Most GPUs that the pods of a test, or of all, had been given a node for at a time, and those nodes.

    Fractions count as such; a pod that is on its way out counts until it is gone.
    """
    now: dict[str, float] = {}
    most, nodes = 0.0, set[str]()
    for line in lines:
        if line["kind"] != "pod" or not line.get("gpus") or (test and line["test"] != test):
            continue
        over = line["type"] == "DELETED" or line["phase"] in ("Succeeded", "Failed")
        now.pop(line["uid"], None)
        if line["node"] and not over:
            now[line["uid"]] = line["gpus"]
            nodes.add(line["node"])
            most = max(most, sum(now.values()))
    return most, nodes


def series(lines: Iterable[Json]) -> tuple[list[float], dict[str, list[float]]]:
    """(seconds since the first sample, GPUs per queue) of all samples; a queue that is not there holds 0."""
    samples = [line for line in lines if line["kind"] == "sample"]
    names = sorted({name for sample in samples for name in sample["gpus"]})
    begin = samples[0]["t"] if samples else 0.0
    times = [sample["t"] - begin for sample in samples]
    return times, {name: [sample["gpus"].get(name, 0) for sample in samples] for name in names}
