"""The picture of a run: when each test ran, and below it on the same axis the GPUs that each queue held."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from validation.report.axis import LEFT, RIGHT, WIDTH, Axis
from validation.report.bands import HEIGHT, Band, bands
from validation.report.gantt import Gantt, gantt
from validation.report.model import Report


@dataclass(frozen=True)
class Picture:
    """What the template draws. levels: (y within the bands' part, GPUs)."""

    gantt: Gantt
    bands: list[Band]
    ticks: list[tuple[float, str]]
    levels: list[tuple[float, int]]
    width: int = WIDTH
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bands_height: int = HEIGHT


def draw(
    report: Report, began: float, times: Sequence[float], series: dict[str, list[float]]
) -> Picture | None:
    """None when nothing ran. `began` and `times`: Unix seconds; `series`: GPUs per queue and sample."""
    moments = [t - began for t in times]
    ends = [t.ended - began for t in report.tests if t.ended]
    if not ends:
        return None
    axis = Axis(max(1.0, *ends, *moments[-1:]))
    used = {name: values for name, values in series.items() if any(values)}
    highest = math.ceil(max(map(sum, zip(*used.values(), strict=True)), default=0))
    return Picture(
        gantt=gantt(report, began, axis),
        bands=bands(moments, used, axis, highest) if highest else [],
        ticks=axis.ticks(),
        levels=[
            (round(HEIGHT * (1 - n / highest), 1), n)
            for n in range(0, highest + 1, max(1, math.ceil(highest / 8)))
        ]
        if highest
        else [],
    )
