"""Evidence for the CNCF Kubernetes AI Conformance checklist: one Markdown file per requirement id."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from validation import declared
from validation.report.model import CheckResult, Report

TABLE = Path(__file__).parent / "tables/conformance.yml"
FOLDER = "evidence/conformance"
Json = dict[str, Any]


@dataclass(frozen=True)
class Requirement:
    """A requirement with the checks that speak for it; undeclared: names of the table that no check has."""

    id: str
    level: str
    requirement: str
    checks: list[CheckResult]
    undeclared: list[str]
    gaps: list[str]
    sample: bool

    @property
    def verdict(self) -> str:
        """failed, not shown (nothing passed), partly shown (something is missing), shown."""
        verdicts = [c.verdict for c in self.checks]
        if "fail" in verdicts:
            return "failed"
        if "pass" not in verdicts:
            return "not shown"
        whole = set(verdicts) == {"pass"} and not self.gaps and not self.undeclared
        return "shown" if whole else "partly shown"

    @property
    def file(self) -> str:
        """Its evidence, relative to the report."""
        return f"{FOLDER}/{self.id}.md"


@cache
def table() -> dict[str, Json]:
    """The mapping, by requirement id."""
    found: dict[str, Json] = yaml.safe_load(TABLE.read_text())
    return found


def requirements(report: Report) -> list[Requirement]:
    """All requirements of the table that concern this cluster."""
    served = (report.installation.get("cluster") or {}).get("apiGroups") or []
    return [
        _requirement(name, entry, report)
        for name, entry in table().items()
        if "api" not in entry or entry["api"] in served
    ]


def _requirement(name: str, entry: Mapping[str, Any], report: Report) -> Requirement:
    by_id = {check.id: check for check in report.checks}
    wanted = {named: _ids(named) for named in entry["checks"]}
    return Requirement(
        id=name,
        level=entry["level"],
        requirement=entry["requirement"],
        checks=[by_id[i] for i in dict.fromkeys(i for ids in wanted.values() for i in ids) if i in by_id],
        undeclared=[named for named, ids in wanted.items() if not ids],
        gaps=entry["gaps"],
        sample=report.fake_gpus,
    )


def _ids(named: str) -> list[str]:
    """Ids of the checks that a name of the table means; none when checks.yml has no such name."""
    if test := declared.tests().get(named):
        return [check.id for check in test.checks if check.requirement == test.requirement]
    return [named] if named in declared.checks() else []


def markdown(item: Requirement, report: Report) -> str:
    """The evidence file; values stand in code blocks, so that nothing in them is read as Markdown."""
    passed = sum(c.verdict == "pass" for c in item.checks)
    lines = [f"# {item.id} ({item.level})", ""]
    if item.sample:
        lines += [
            "**Sample, not evidence: the GPUs of this run were fake.** It shows what this file looks like.",
            "",
        ]
    lines += [f"Requirement, in our words: {item.requirement}", "", f"Verdict: **{item.verdict}**. "]
    lines[-1] += (
        f"{passed} of {len(item.checks)} checks passed." if item.checks else "No check speaks for it."
    )
    lines += ["", *_setting(report)]
    lines += _list("Not shown by this kit", item.gaps)
    lines += _list("Named in the mapping, but not declared as a check", item.undeclared)
    for check in item.checks:
        lines += _check(check)
    return "\n".join(lines).rstrip() + "\n"


def _setting(report: Report) -> list[str]:
    kubernetes = (report.installation.get("cluster") or {}).get("kubernetes") or "not known"
    parts = ", ".join(f"{c.name} {c.version} ({c.provenance})" for c in report.components)
    return [
        f"- environment: {report.environment}, Kubernetes {kubernetes}",
        f"- run: {report.started} to {report.finished}",
        f"- installed: {parts or 'nothing'}",
        "- GPUs: " + ("fake" if report.fake_gpus else "real"),
        "- all checks of the run: [report](../../index.html), [report.json](../../report.json)",
        "",
    ]


def _list(title: str, items: list[str]) -> list[str]:
    return [f"{title}:", "", *(f"- {item}" for item in items), ""] if items else []


def _check(check: CheckResult) -> list[str]:
    lines = [
        f"## {check.title}",
        "",
        f"`{check.id}` {check.requirement}, {check.proof}: **{check.verdict}**, "
        f"{check.seconds:.1f} s, {check.at or 'not run'}",
        "",
    ]
    if check.reason:
        lines += _block("reason", check.reason)
    lines += _block("expected", check.expected) + _block("observed", check.observed)
    if check.evidence:
        # Two folders up is the report's; names are the suite's own.
        lines += ["Files:", "", *(f"- [{name}](<../../{name}>)" for name in check.evidence), ""]
    return lines


def _block(title: str, value: Any) -> list[str]:
    if value is None:
        return []
    body = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
    fence = "```"
    while fence in body:
        fence += "`"
    return [f"{title}:", "", fence, *body.splitlines(), fence, ""]
