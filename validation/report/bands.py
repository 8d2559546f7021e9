"""GPUs that each queue held over time, stacked, as outlines in the picture's units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from validation.report.axis import Axis

HEIGHT = 190
# Told apart by colour-blind people too (Okabe and Ito); names stand in the bands and in the table below them.
COLORS = (
    *("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f"),
    # The same, dark: queues of two chains stand above each other.
    *("#003f63", "#8a5f00", "#005c43", "#7d4a65", "#2f6a8c", "#7f3800", "#8f8628", "#404040"),
)
# Room that a letter needs in width, and a name in height.
LETTER, TALL = 6.5, 13


@dataclass(frozen=True)
class Band:
    """GPUs of a queue: outline, colour, peak, GPU-seconds, and where its name fits (x 0 = nowhere)."""

    name: str
    color: str
    path: str
    peak: float
    gpu_seconds: float
    x: float = 0.0
    y: float = 0.0


def bands(times: Sequence[float], series: dict[str, list[float]], axis: Axis, highest: int) -> list[Band]:
    """One band per queue that held a GPU; `times` in seconds of the axis, `highest` GPUs are at the top."""
    low = [0.0] * len(times)
    found: list[Band] = []
    for name, values in series.items():
        if not any(values):
            continue
        high = [a + b for a, b in zip(low, values, strict=True)]
        held = sum(v * (b - a) for v, a, b in zip(values, times, times[1:], strict=False))
        x, y = _place(name, times, low, high, axis, highest)
        found.append(
            Band(
                name=name,
                color=COLORS[len(found) % len(COLORS)],
                path=_outline(times, low, high, axis, highest),
                peak=max(values),
                gpu_seconds=held,
                x=x,
                y=y,
            )
        )
        low = high
    return found


def _y(gpus: float, highest: int) -> float:
    return round(HEIGHT * (1 - gpus / highest), 1)


def _outline(
    times: Sequence[float], low: Sequence[float], high: Sequence[float], axis: Axis, highest: int
) -> str:
    """Steps, not slopes: an allocation changes at a moment. Only changes become points."""
    changes = [0] + [i for i in range(1, len(times)) if (low[i], high[i]) != (low[i - 1], high[i - 1])]
    ends = [*(axis.x(times[i]) for i in changes[1:]), axis.x(times[-1])]
    upper, lower = [], []
    for i, end in zip(changes, ends, strict=True):
        begin = axis.x(times[i])
        upper += [(begin, _y(high[i], highest)), (end, _y(high[i], highest))]
        lower += [(begin, _y(low[i], highest)), (end, _y(low[i], highest))]
    return "M" + "L".join(f"{x} {y}" for x, y in [*upper, *reversed(lower)]) + "Z"


def _place(
    name: str,
    times: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    axis: Axis,
    highest: int,
) -> tuple[float, float]:
    """Middle of the longest stretch over which the band leaves room for its name; (0, 0) without one."""
    best, place = len(name) * LETTER + 6, (0.0, 0.0)
    begin, bottom, top = 0, low[0], high[0]
    for i in range(1, len(times)):
        left, right = axis.x(times[begin]), axis.x(times[i])
        above, below = _y(top, highest), _y(bottom, highest)
        if below - above >= TALL and right - left >= best:
            best, place = right - left, (round((left + right) / 2, 1), round((above + below) / 2, 1))
        bottom, top = max(bottom, low[i]), min(high[i], top)
        if _y(bottom, highest) - _y(top, highest) < TALL:
            begin, bottom, top = i, low[i], high[i]
    return place
