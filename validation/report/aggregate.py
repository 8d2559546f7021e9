"""From the records of a run to a report, held against the table of declared checks. Fail closed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from validation import declared
from validation.records import Json, Records, not_applicable
from validation.report.conditions import concerning
from validation.report.deviations import deviations, found_in
from validation.report.model import CheckResult, Component, Report, TestRun
from validation.report.unreal import unreal

# Of a run's plan, what describes the installation.
INSTALLATION = ("context", "clusterKind", "profile", "driver", "domain", "cluster", "images", "settings")


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
        installation={key: run[key] for key in INSTALLATION if key in run},
        tests=[
            _test(
                test,
                # What was taken over from an earlier run is none of this run's time.
                [] if test.name == declared.GUARD and run.get("preflightOf") else results,
                (run.get("chains") or {}).get(test.name, ""),
                records.opened(test.name),
            )
            for test in declared.tests().values()
        ],
        chains=run.get("chainsNote", ""),
        deviations=deviations(found_in(run), run.get("support") or {}),
        manual_steps=concerning("manual_steps", run),
        not_real=unreal(run),
    )


def _test(test: declared.Test, results: list[CheckResult], chain: str, opened: float) -> TestRun:
    """A test's time, from when it was opened, or its first check began, to its last record; and its chain."""
    late = {check.id for check in test.checks if check.late}
    mine = [r for r in results if r.test == test.name and r.at and r.id not in late]
    times = [(moment(r.at), r.seconds) for r in mine if r.verdict != "na"]
    begun = min([at - seconds for at, seconds in times] + ([opened] if opened else []), default=0.0)
    # A test that stopped before its first check has a time, too.
    ran = any(r.verdict in ("pass", "fail") for r in mine)
    return TestRun(
        name=test.name,
        requirement=test.requirement,
        title=test.title,
        chain=chain,
        begun=round(begun, 3) if ran else 0.0,
        ended=max(at for at, _ in times) if ran else 0.0,
    )


def moment(iso: str) -> float:
    """Unix seconds of a record's time."""
    return datetime.fromisoformat(iso).timestamp()


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
