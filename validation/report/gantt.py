"""When each test ran: one bar per test, grouped by chain."""

from __future__ import annotations

from dataclasses import dataclass

from validation.report.axis import RIGHT, WIDTH, Axis
from validation.report.model import Report, TestRun, worst

ROW, HEAD = 24, 22
# The heading of tests that are in no chain, where others are.
ALONE = "alone"
# Room that the words beside a bar need.
WORDS = 120


@dataclass(frozen=True)
class Bar:
    """A test: place in the picture, seconds since the run began, verdict."""

    name: str
    title: str
    verdict: str
    y: int
    x: float
    width: float
    begun: float
    seconds: float

    @property
    def words_left(self) -> bool:
        """Whether its words stand left of it, for want of room at its right."""
        return self.x + self.width > WIDTH - RIGHT - WORDS


@dataclass(frozen=True)
class Gantt:
    """Bars, the chains' headings with their places, and the height of all."""

    bars: list[Bar]
    chains: list[tuple[str, int]]
    height: int


def gantt(report: Report, began: float, axis: Axis) -> Gantt:
    """Tests that ran, each chain in the order of its beginning; headings only when there are chains."""
    bars: list[Bar] = []
    headings: list[tuple[str, int]] = []
    y = 0
    for chain, tests in _chains(report):
        if chain:
            headings.append((chain if chain == ALONE else f"chain {chain}", y))
            y += HEAD
        for test in tests:
            left, right = axis.x(test.begun - began), axis.x(test.ended - began)
            bars.append(
                Bar(
                    name=test.name,
                    title=test.title,
                    verdict=worst(report.of(test.name)),
                    y=y,
                    x=left,
                    width=max(2.0, round(right - left, 1)),
                    begun=test.begun - began,
                    seconds=test.ended - test.begun,
                )
            )
            y += ROW
    return Gantt(bars, headings, y)


def _chains(report: Report) -> list[tuple[str, list[TestRun]]]:
    chains: dict[str, list[TestRun]] = {}
    for test in sorted((t for t in report.tests if t.ended), key=lambda t: t.begun):
        chains.setdefault(test.chain, []).append(test)
    return list(chains.items())
