"""Shared by the suite's unit tests."""

from __future__ import annotations

import pytest

from validation.observe import kubelet


@pytest.fixture(autouse=True)
def nobody_waits_for_an_exporter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Doubles of exporters know at once what they know."""
    monkeypatch.setattr(kubelet, "PATIENCE", 0.0)
