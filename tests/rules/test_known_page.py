"""docs/full-profile.md says of every part of the catalog how it is known, and from whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.catalog import Evidence
from policy.known import known, main
from tests.stack import CATALOG

PAGE = Path(__file__).parents[2] / "docs" / "full-profile.md"
pytestmark = pytest.mark.req("I12")


def test_the_page_is_fresh() -> None:
    assert main([str(PAGE), "--check"]) == 0, "run python -m policy.known docs/full-profile.md"


def test_every_statement_stands_in_its_column() -> None:
    rows = {
        line.split(" | ")[0].removeprefix("| "): line.split(" | ") for line in known(CATALOG).splitlines()[2:]
    }
    assert set(rows) == set(CATALOG.parts)
    for key, part in CATALOG.parts.items():
        for what, item in part.evidence.items():
            column = rows[key][2 + ("verified", "documented", "assumed").index(item.standing)]
            assert f"{'Pod Security' if what == 'psa' else what}: {' '.join(item.source.split())}" in column


def test_a_change_of_the_catalog_makes_the_page_stale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    part = CATALOG.parts["control-plane"]
    seen = Evidence(standing="verified", source="installed on a customer's cluster")
    changed = part.model_copy(update={"evidence": {**part.evidence, "values": seen}})
    catalog = CATALOG.model_copy(update={"parts": {**CATALOG.parts, "control-plane": changed}})
    monkeypatch.setattr("policy.known.load_catalog", lambda: catalog)
    page = tmp_path / "full-profile.md"
    page.write_text(PAGE.read_text())
    assert main([str(page), "--check"]) == 1
    assert "stale" in capsys.readouterr().out
    assert main([str(page)]) == 0
    assert "| values: installed on a customer's cluster |" in page.read_text()


def test_a_page_that_is_not_there_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "nothing.md")]) == 2
    assert "nothing.md" in capsys.readouterr().err
