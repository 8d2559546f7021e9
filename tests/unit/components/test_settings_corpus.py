"""Every key of the settings with a wrong type, missing, or beside an unknown one: one clear line each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.config.errors import SettingsError
from components.settings import load
from tests.stack import CATALOG, EVERYTHING, changed, engine_env

FREE_NAMES = {"fakeGpus.nodes", "fakeGpus.nodeSelector"}
REQUIRED = [
    "domain",
    "cluster",
    "cluster.kind",
    "cluster.context",
    "scheduler.version",
    "departments.0.name",
    "departments.0.projects.0.name",
    "nodePools.pools.0.name",
]


def places(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted path and value of everything below a mapping or list."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        here = f"{path}.{key}" if path else str(key)
        yield here, value
        if isinstance(value, dict | list):
            yield from places(value, here)


def shown(path: str) -> str:
    """`departments.0.name` as an error shows it: `departments[0].name`."""
    result = ""
    for part in path.split("."):
        result += f"[{part}]" if part.isdigit() else f".{part}" if result else part
    return f"runai-kit:{result}: "


def wrong(value: Any) -> Any:
    """A value of a type that the key cannot have."""
    if isinstance(value, bool):
        return "yes"
    if isinstance(value, int | float):
        return "many"
    if isinstance(value, str):
        return {"a": 1}
    return 5 if isinstance(value, dict) else "none"


def problems(values: dict[str, Any], root: Path) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load(engine_env(values, ["registry", "tls"]), CATALOG, root)
    return [str(problem) for problem in caught.value.problems]


ALL_PLACES = list(places(EVERYTHING))
SECTIONS = [path for path, value in ALL_PLACES if isinstance(value, dict) and path not in FREE_NAMES]


@pytest.mark.req("I13")
def test_the_full_example_is_right_but_for_its_files(tmp_path: Path) -> None:
    lines = problems(EVERYTHING, tmp_path)
    assert lines == [
        'runai-kit:tls.ca: found "certificates/ca.pem"; expected a PEM file with the CA\'s certificate; '
        "correct the path or the file",
        'runai-kit:charts.directory: found "charts"; expected a directory with the charts; '
        "create it and put the charts in, or set charts.source to registry",
    ]


@pytest.mark.req("I13")
@pytest.mark.parametrize(("path", "value"), ALL_PLACES, ids=[path for path, _ in ALL_PLACES])
def test_a_wrong_type_is_one_line_with_the_key(path: str, value: Any, tmp_path: Path) -> None:
    lines = problems(changed(EVERYTHING, path, wrong(value)), tmp_path)
    assert len(lines) == 1, lines
    assert lines[0].startswith(shown(path)), lines[0]
    assert "; expected " in lines[0]


@pytest.mark.req("I13")
@pytest.mark.parametrize("section", ["", *SECTIONS])
def test_an_unknown_key_is_refused_at_every_level(section: str, tmp_path: Path) -> None:
    path = f"{section}.colour" if section else "colour"
    lines = problems(changed(EVERYTHING, path, "red"), tmp_path)
    assert len(lines) == 1, lines
    assert lines[0].startswith(shown(path))
    assert "found an unknown key; expected one of " in lines[0]


@pytest.mark.req("I13")
@pytest.mark.parametrize("path", REQUIRED)
def test_a_missing_key_is_named(path: str, tmp_path: Path) -> None:
    lines = problems(changed(EVERYTHING, path, ...), tmp_path)
    assert lines == [f"{shown(path)}found nothing; expected a value; set it"]


@pytest.mark.req("I13")
def test_a_misspelt_key_gets_a_suggestion(tmp_path: Path) -> None:
    lines = problems(changed(EVERYTHING, "cluster.kubecofig", "x"), tmp_path)
    assert lines[0].endswith("did you mean kubeconfig?")


@pytest.mark.req("I13")
def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    values = changed(changed(EVERYTHING, "domain", "Not A Domain"), "scheduler.replicas", 9)
    lines = problems(values, tmp_path)
    assert [line.split(": ")[0] for line in lines] == ["runai-kit:domain", "runai-kit:scheduler.replicas"]


@pytest.mark.req("I13")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("departments.0.name", "Engineering"),
        ("departments.0.projects.0.name", "team_a"),
        ("departments.0.projects.0.name", "a" * 58),
        ("nodePools.pools.0.name", "-a"),
        ("nodePools.labelKey", "not a label"),
        ("domain", "https://apps.example.test"),
        ("registry.prefix", "https://harbor.example.test"),
        ("monitoring.scrapeInterval", "5"),
        ("scheduler.timeBasedFairShare.windowSize", "a week"),
        ("departments.0.gpu.deserved", "101%"),
        ("departments.0.gpu.deserved", -2),
        ("departments.0.gpu.limit", True),
        ("departments.0.gpu.overQuotaWeight", -1),
        ("scheduler.replicas", 0),
        ("capacity.gpus", 1.5),
        ("cluster.context", ""),
    ],
)
def test_a_value_out_of_bounds_is_refused(path: str, value: Any, tmp_path: Path) -> None:
    lines = problems(changed(EVERYTHING, path, value), tmp_path)
    assert len(lines) == 1, lines
    assert lines[0].startswith(shown(path))


@pytest.mark.req("I13")
def test_a_secret_is_never_shown(tmp_path: Path) -> None:
    canary = "canary-7f3a"
    for path, value in (
        ("registry", canary),
        ("registry.password", {"clear": canary}),
        ("registry.prefix", f"{canary}/ /"),
    ):
        assert canary not in "\n".join(problems(changed(EVERYTHING, path, value), tmp_path))


def test_numbers_are_not_guessed_from_texts(tmp_path: Path) -> None:
    lines = problems(changed(EVERYTHING, "fakeGpus.default.count", "4"), tmp_path)
    assert lines == ['runai-kit:fakeGpus.default.count: found "4"; expected a whole number; correct it']
