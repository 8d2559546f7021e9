"""Pictures of single tests as SVG text, in the style of the report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pygal
from pygal.style import Style

# The first colour of the report's palette.
COLORS = ("#0072b2",)


def loss_per_epoch(losses: Sequence[float]) -> str:
    """Mean loss against the epoch; "" without an epoch."""
    if not losses:
        return ""
    chart = pygal.Bar(
        width=640,
        height=300,
        x_title="epoch",
        y_title="mean loss",
        show_legend=False,
        show_y_guides=False,
        range=(0, max(losses) * 1.1 or 1),
        print_values=True,
        print_values_position="top",
        formatter=lambda value: f"{value:.4f}",
        js=[],
        disable_xml_declaration=True,
        style=Style(
            background="transparent",
            plot_background="transparent",
            colors=COLORS,
            font_family="system-ui, sans-serif",
            label_font_size=12,
            value_font_size=13,
            title_font_size=13,
        ),
    )
    chart.no_prefix = True
    chart.x_labels = [str(number) for number in range(1, len(losses) + 1)]
    chart.add("loss", list(losses))
    # The script would only serve tool tips.
    return re.sub(r"<script.*?</script>", "", str(chart.render(is_unicode=True)), flags=re.DOTALL)


def latencies(times: Sequence[tuple[float, float]], p50: float, p95: float) -> str:
    """Seconds to an answer against the second it was asked at, with both percentiles; "" without times."""
    if not times:
        return ""
    end = max(sent for sent, _ in times)
    chart = pygal.XY(
        width=960,
        height=320,
        x_title="seconds since the first request",
        y_title="seconds to the answer",
        range=(0, max(taken for _, taken in times) * 1.1),
        legend_at_bottom=True,
        js=[],
        disable_xml_declaration=True,
        style=Style(
            background="transparent",
            plot_background="transparent",
            colors=("#0072b2", "#009e73", "#d55e00"),
            font_family="system-ui, sans-serif",
            label_font_size=12,
            legend_font_size=13,
            title_font_size=13,
        ),
    )
    chart.no_prefix = True
    chart.add("one request", list(times), stroke=False, dots_size=3)
    for name, value in (("p50", p50), ("p95", p95)):
        chart.add(f"{name} {value:.3f} s", [(0, value), (end, value)], show_dots=False)
    # The script would only serve tool tips.
    return re.sub(r"<script.*?</script>", "", str(chart.render(is_unicode=True)), flags=re.DOTALL)


def steps(lines: Mapping[str, Sequence[tuple[float, float]]], y_title: str) -> str:
    """Values that hold until the next one, against seconds since the first; "" without a value."""
    begin = min((points[0][0] for points in lines.values() if points), default=None)
    if begin is None:
        return ""
    chart = pygal.XY(
        width=960,
        height=300,
        x_title="seconds",
        y_title=y_title,
        show_dots=False,
        show_y_guides=False,
        truncate_legend=-1,
        stroke_style={"width": 2},
        legend_at_bottom=True,
        legend_at_bottom_columns=3,
        range=(0, max(value for points in lines.values() for _, value in points) * 1.1 or 1),
        js=[],
        disable_xml_declaration=True,
        style=Style(
            background="transparent",
            plot_background="transparent",
            colors=("#0072b2", "#009e73", "#d55e00", "#cc79a7"),
            font_family="system-ui, sans-serif",
            label_font_size=12,
            legend_font_size=13,
            title_font_size=13,
        ),
    )
    chart.no_prefix = True
    for name, points in lines.items():
        stairs: list[tuple[float, float]] = []
        for moment, value in points:
            if stairs:
                stairs.append((moment - begin, stairs[-1][1]))
            stairs.append((moment - begin, value))
        chart.add(name, stairs)
    # The script would only serve tool tips.
    return re.sub(r"<script.*?</script>", "", str(chart.render(is_unicode=True)), flags=re.DOTALL)
