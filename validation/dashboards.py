"""Grafana dashboards as Grafana would ask them: variables filled in, and every query of every panel."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

# Grafana's default for a Prometheus data source, and the shortest step that it asks for.
STEP_SECONDS = 15.0
_LABEL_VALUES = re.compile(r"label_values\((?P<metric>.*),\s*(?P<label>\w+)\)", re.DOTALL)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Query:
    """One query of one panel; `step` in seconds; `instant`: only the last value is asked for."""

    panel: str
    expression: str
    instant: bool
    step: float


def panels(board: Json) -> Iterator[Json]:
    """All panels, those inside of collapsed rows, too; rows themselves are none."""
    for panel in board.get("panels", []):
        if panel["type"] == "row":
            yield from panel.get("panels", [])
        else:
            yield panel


def variables(board: Json) -> list[Json]:
    """Variables that are asked of Prometheus, in their order: a later one may use an earlier one."""
    return [entry for entry in board["templating"]["list"] if entry["type"] == "query"]


def fill_in(
    board: Json, ask: Callable[[str], list[Json]], scrape_seconds: float
) -> tuple[dict[str, str], dict[str, int]]:
    """(value, number of values) by variable, as with "All" chosen; `ask` is an instant query."""
    chosen: dict[str, str] = {}
    counts: dict[str, int] = {}
    for entry in variables(board):
        match = _LABEL_VALUES.fullmatch(entry["query"]["query"].strip())
        if match is None:
            raise ValueError(f"{board['title']}: variable {entry['name']} is not label_values(metric, label)")
        label = match["label"]
        selector = interpolate(match["metric"], chosen, STEP_SECONDS, scrape_seconds, 0)
        found = sorted({s["metric"].get(label, "") for s in ask(f"group by ({label}) ({selector})")} - {""})
        counts[entry["name"]] = len(found)
        chosen[entry["name"]] = "(" + "|".join(map(_escaped, found)) + ")"
    return chosen, counts


def _escaped(value: str) -> str:
    # Once for the regular expression, once for the quoted text that it stands in.
    return re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\\\1", value)


def interpolate(
    expression: str, chosen: Mapping[str, str], step: float, scrape_seconds: float, range_seconds: float
) -> str:
    """The expression that Grafana sends: its own variables, then the dashboard's."""
    rate = max(4 * scrape_seconds, step + scrape_seconds)
    own = {"__rate_interval": f"{rate:g}s", "__interval": f"{step:g}s", "__range": f"{range_seconds:g}s"}
    for name, value in sorted({**own, **chosen}.items(), key=lambda pair: -len(pair[0])):
        expression = expression.replace(f"${{{name}}}", value).replace(f"${name}", value)
    return expression


def queries(board: Json, chosen: Mapping[str, str], scrape_seconds: float) -> list[Query]:
    """Every query of every panel."""
    whole = seconds(board["time"]["from"].removeprefix("now-"))
    found = []
    for panel in panels(board):
        step = max(STEP_SECONDS, scrape_seconds, seconds(panel.get("interval") or "0s"))
        for target in panel.get("targets", []):
            expression = interpolate(target["expr"], chosen, step, scrape_seconds, whole)
            title = interpolate(panel["title"], chosen, step, scrape_seconds, whole)
            found.append(Query(f"{title} ({target['refId']})", expression, bool(target["instant"]), step))
    return found


def seconds(duration: str) -> float:
    """`15s`, `5m`, `1h` as Grafana writes them."""
    return float(duration[:-1]) * _UNITS[duration[-1]]
