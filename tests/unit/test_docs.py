"""Pages say commands that exist: targets of the Makefile, modules, settings files, links."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from validation import declared

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
pytestmark = pytest.mark.req("E3")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
# Words after "make" in a sentence are none of its targets.
_COMMAND = re.compile(r"(?:^|`|&& |; )make ([a-z][a-z-]*)", re.MULTILINE)


def found(pattern: re.Pattern[str] | str) -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for match in re.finditer(pattern, page.read_text()):
            yield page.name, match.group(1)


def test_targets_exist() -> None:
    said = list(found(_COMMAND))
    assert len({target for _, target in said}) > 10
    assert [(page, target) for page, target in said if target not in TARGETS] == []


def test_variables_of_targets_exist() -> None:
    known = set(re.findall(r"\$\(([A-Z]+)\)", (ROOT / "Makefile").read_text()))
    said = [
        (page, variable)
        for page, line in found(r"(?:^|`|&& )(make [^`\n]*)")
        for variable in re.findall(r"\b([A-Z]{3,})=", line)
    ]
    assert said
    assert [(page, variable) for page, variable in said if variable not in known] == []


def test_modules_exist() -> None:
    said = list(found(r"python -m ([a-z_0-9.]+[a-z0-9_])"))
    assert said
    assert [(page, name) for page, name in said if importlib.util.find_spec(name) is None] == []


def test_playbooks_exist() -> None:
    for page, path in found(r"(validation/[a-z_]+\.yml)"):
        assert (ROOT / path).is_file(), (page, path)


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / link).exists(), (page.name, link)


def test_checks_that_pages_name_are_declared() -> None:
    known = declared.checks()
    for page, name in found(r"`(preflight\.[a-z_]+)`"):
        assert name in known, (page, name)
    vks = (ROOT / "docs/vks.md").read_text()
    for row in re.findall(r"^\| .* \| .* \| (.*) \|$", vks, re.MULTILINE):
        for name in re.findall(r"`([a-z_]+)`", row):
            assert f"preflight.{name}" in known, name


def test_a_command_that_does_not_exist_would_be_seen() -> None:
    assert _COMMAND.findall("`make nothing ENV=x`\nmake up\nthey make sense") == ["nothing", "up"]
