"""How the double behaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Options:
    """Times are in seconds; `connect_after` below 0 leaves clusters waiting until they are told.

    Trainings are made on the cluster of `kubeconfig` and `context`; without one they are refused.
    """

    username: str = "admin@example.test"
    password: str = field(default="", repr=False)
    token_seconds: float = 3600
    page: int = 2
    ready_after: float = 0
    connect_after: float = 0
    kubeconfig: Path | None = None
    context: str = ""
