"""From the records of a run to a report, held against the table of declared checks. Fail closed."""

from __future__ import annotations

from collections.abc import Mapping

from validation import declared
from validation.records import Json, Records, not_applicable
from validation.report.model import CheckResult, Component, Report


def aggregate(records: Records, reasons: Mapping[str, str]) -> Report:
    """Every declared check once: as recorded, skipped (test not chosen) or failed (did not run).

    FileNotFoundError without a started run. An undeclared check has no record: recording refuses it.
    """
    run = records.run()
    found = records.recorded()
    results = [
        _result(check, found.get(check.id), run["tests"], reasons)
        for test in declared.tests().values()
        for check in test.checks
    ]
    finished = max((r.at for r in results if r.at), default=run["started"])
    return Report(
        environment=run["environment"],
        started=run["started"],
        finished=finished,
        components=[Component(c["name"], c["version"], c["provenance"]) for c in run["components"]],
        checks=results,
        fake_gpus=run.get("fakeGpus", False),
    )


def _result(
    check: declared.Check, entry: Json | None, chosen: list[str], reasons: Mapping[str, str]
) -> CheckResult:
    if entry is None:
        # Only a check of a chosen test can be missing by accident.
        if check.test in chosen:
            verdict, reason = "fail", "did not run: no record of this check exists"
        elif (told := not_applicable(check, reasons)) is not None:
            verdict, reason = (
                "skip",
                f"test {check.test} was not chosen, so its n/a declaration ({told}) was not tried",
            )
        else:
            verdict, reason = "skip", f"test {check.test} was not chosen in this run"
        entry = {"verdict": verdict, "reason": reason, "todo": check.todo}
    return CheckResult(
        id=check.id,
        requirement=check.requirement,
        title=check.title,
        proof=check.proof,
        verdict=entry["verdict"],
        seconds=entry.get("seconds", 0.0),
        expected=entry.get("expected"),
        observed=entry.get("observed"),
        evidence=list(entry.get("evidence", [])),
        test=check.test,
        reason=entry.get("reason", ""),
        todo=entry.get("todo", ""),
        at=entry.get("at", ""),
    )
