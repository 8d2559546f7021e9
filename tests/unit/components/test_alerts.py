"""Alerts: promtool reads the files; each alert fires when it should and is silent otherwise."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.prometheus import rules
from tests.stack import CATALOG

pytestmark = pytest.mark.req("I10")

FILES = sorted(rules.FOLDER.glob("*.yaml"))
CASES = sorted((Path(__file__).parent / "alerts").glob("*.test.yaml"))
BUILT = Path(__file__).parents[3] / "build" / "bin" / "promtool"


@pytest.fixture(scope="module")
def promtool() -> str:
    """From PATH, or as `make demo` builds it."""
    found = shutil.which("promtool") or (str(BUILT) if BUILT.exists() else "")
    if not found:
        pytest.skip("promtool is not on PATH: `make demo` builds it")
    return found


def each() -> list[dict[str, Any]]:
    return [
        rule
        for file in FILES
        for group in yaml.safe_load(file.read_text())["groups"]
        for rule in group["rules"]
    ]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_promtool_accepts_every_file(promtool: str) -> None:
    done = run(promtool, "check", "rules", "--lint=all", "--lint-fatal", *map(str, FILES))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.name.partition(".")[0])
def test_alerts_fire_and_are_silent_when_they_should(promtool: str, case: Path) -> None:
    done = run(promtool, "test", "rules", str(case))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_rule_that_is_wrong_fails_its_case(promtool: str, tmp_path: Path) -> None:
    """What the cases are worth: the same case, with a rule that compares the other way round."""
    wrong = (rules.FOLDER / "gpus.yaml").read_text().replace("> 0\n        for: 30s", "< 0\n        for: 30s")
    (tmp_path / "gpus.yaml").write_text(wrong)
    case = next(path for path in CASES if path.name.startswith("gpus")).read_text()
    (tmp_path / "case.yaml").write_text(re.sub(r"rule_files: .*", "rule_files: [gpus.yaml]", case))
    done = run(promtool, "test", "rules", str(tmp_path / "case.yaml"))
    assert done.returncode != 0
    assert "KitGpuUnhealthy" in done.stdout + done.stderr


def test_every_alert_has_a_case_that_expects_it() -> None:
    expected = {
        entry["alertname"]
        for case in CASES
        for test in yaml.safe_load(case.read_text())["tests"]
        for entry in test["alert_rule_test"]
        if entry["exp_alerts"]
    }
    assert expected == {rule["alert"] for rule in each()}


def test_alerts_say_how_bad_it_is_and_what_to_do() -> None:
    names = [rule["alert"] for rule in each()]
    assert len(names) == len(set(names))
    for rule in each():
        assert re.fullmatch(r"Kit[A-Za-z]+", rule["alert"])
        assert rule["labels"]["severity"] in ("critical", "warning", "info"), rule["alert"]
        assert set(rule["annotations"]) == {"summary", "description"}, rule["alert"]
        assert rule["for"], rule["alert"]


def test_namespaces_in_alerts_are_those_of_the_catalog() -> None:
    named = {name for rule in each() for name in re.findall(r'namespace="([^"]+)"', rule["expr"])}
    assert named == {"kai-scheduler", "knative-serving", "haproxy-controller"}
    assert named <= {name for part in CATALOG.parts.values() for name in part.namespaces}


def test_every_file_belongs_to_some_stack() -> None:
    assert {file.stem for file in FILES} == set(rules.chosen(serving=True, ingress=True))
    assert set(rules.chosen(serving=False, ingress=False)) == set(rules.ALWAYS)
