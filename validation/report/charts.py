"""Pictures of a run as SVG text that needs nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import pygal
from pygal.style import Style

COLORS = ("#2563eb", "#d97706", "#059669", "#7c3aed", "#dc2626", "#0891b2", "#65a30d", "#be185d")


def gpus_over_time(times: Sequence[float], series: dict[str, list[float]]) -> str:
    """Allocated GPUs per queue (stacked) against seconds since the first sample; "" without samples or use.

    Steps, not slopes: an allocation changes at a moment. Queues that never held a GPU are left out.
    """
    used = {name: values for name, values in series.items() if any(values)}
    if not times or not used:
        return ""
    top = max(sum(values[i] for values in used.values()) for i in range(len(times)))
    chart = pygal.StackedLine(
        fill=True,
        show_dots=False,
        stroke_style={"width": 1},
        width=960,
        height=320,
        range=(0, max(1, int(top + 0.999))),
        x_title="seconds",
        y_title="GPUs",
        legend_at_bottom=True,
        legend_at_bottom_columns=4,
        js=[],
        truncate_label=-1,
        disable_xml_declaration=True,
        show_minor_x_labels=False,
        x_label_rotation=0,
        style=Style(
            background="transparent",
            plot_background="transparent",
            colors=COLORS,
            font_family="system-ui, sans-serif",
            label_font_size=12,
            major_label_font_size=12,
            legend_font_size=13,
            title_font_size=13,
            opacity=".65",
        ),
    )
    chart.no_prefix = True
    grid = _grid(times)
    chart.x_labels = [f"{t:.1f}" for t in grid]
    chart.x_labels_major = chart.x_labels[:: len(grid) // 10]
    for name, values in used.items():
        chart.add(name, [_at(times, values, t) for t in grid])
    return str(chart.render(is_unicode=True))


def _grid(times: Sequence[float]) -> list[float]:
    """Evenly spaced moments over the run, close enough for a change to look like a step."""
    count = 600
    return [times[-1] * n / count for n in range(count + 1)]


def _at(times: Sequence[float], values: Sequence[float], t: float) -> float:
    """The last sample not later than t (the first one before that)."""
    found = values[0]
    for moment, value in zip(times, values, strict=True):
        if moment > t:
            break
        found = value
    return found
