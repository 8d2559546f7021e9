"""The time axis that both halves of the run's picture share."""

from __future__ import annotations

from dataclasses import dataclass

# In the picture's units: whole width, where the axis begins (room for names), what is free at its end.
WIDTH, LEFT, RIGHT = 1000, 250, 20
STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200)
MOST_TICKS = 12


@dataclass(frozen=True)
class Axis:
    """Seconds from 0 to `span`."""

    span: float

    def x(self, seconds: float) -> float:
        """Position of a moment; what was before zero stands at zero."""
        return round(LEFT + (WIDTH - LEFT - RIGHT) * max(0.0, seconds) / self.span, 1)

    def ticks(self) -> list[tuple[float, str]]:
        """(position, label) of round moments, a dozen at most."""
        step = next((s for s in STEPS if self.span / s <= MOST_TICKS), STEPS[-1])
        return [(self.x(n * step), clock(n * step)) for n in range(int(self.span // step) + 1)]


def clock(seconds: float) -> str:
    """95 → 1:35."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
