"""From expected and observed to a record, n/a declarations included. Fail closed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from validation import declared
from validation.compare import differences
from validation.records import Json, Records, not_applicable


def judge(
    records: Records,
    expected: Mapping[str, Any],
    observed: Mapping[str, Any],
    reasons: Mapping[str, str],
    applicable: Mapping[str, bool] | None = None,
    seconds: Mapping[str, float] | None = None,
    evidence: Mapping[str, list[str]] | None = None,
) -> list[Json]:
    """Record every check that has an expectation or an observation.

    An id on one side only fails. A check declared n/a that could run (applicable) fails, as does one that has
    nothing to look at and is not declared.
    """
    return [
        _judge_one(
            records,
            check_id,
            expected.get(check_id),
            observed.get(check_id),
            reasons,
            (applicable or {}).get(check_id, True),
            (seconds or {}).get(check_id),
            (evidence or {}).get(check_id, []),
        )
        for check_id in dict.fromkeys([*expected, *observed])
    ]


def _judge_one(
    records: Records,
    check_id: str,
    expected: Any,
    observed: Any,
    reasons: Mapping[str, str],
    applicable: bool,
    seconds: float | None,
    evidence: list[str],
) -> Json:
    check = declared.find(check_id)
    verdict, reason = _verdict(check, expected, observed, reasons, applicable)
    if seconds is None:
        # Of checks that are judged together the first carries the time, so that the sum is the test's.
        seconds = records.elapsed(check.test)
        records.mark(check.test)
    return records.record(check_id, verdict, seconds, expected, observed, reason, evidence)


def _verdict(
    check: declared.Check, expected: Any, observed: Any, reasons: Mapping[str, str], applicable: bool
) -> tuple[str, str]:
    if isinstance(observed, Mapping) and "error" in observed:
        # Also of what is declared n/a: nobody could look whether it is.
        return "fail", str(observed["error"])
    declaration = not_applicable(check, reasons)
    if declaration is not None and not applicable:
        return "na", declaration
    if declaration is not None:
        return "fail", f"declared n/a ({declaration}), but it could run: found {observed}"
    if not applicable:
        return (
            "fail",
            f"nothing to check: found {observed}; declare {check.id} n/a with a reason in the inventory",
        )
    if expected is None:
        return "fail", "no expectation was computed"
    if observed is None:
        return "fail", "not observed"
    if isinstance(observed, Mapping) and "skipped" in observed:
        return "skip", str(observed["skipped"])
    faults = differences(expected, observed)
    return ("fail", "; ".join(faults) + _causes(expected, observed)) if faults else ("pass", "")


def _causes(expected: Any, observed: Any) -> str:
    """What an observation tells of its reasons under `why` (text or texts), unless that is compared, too."""
    if not isinstance(observed, Mapping) or (isinstance(expected, Mapping) and "why" in expected):
        return ""
    told = observed.get("why") or []
    causes = [told] if isinstance(told, str) else [str(cause) for cause in told if cause]
    return f" ({'; '.join(dict.fromkeys(causes))})" if causes else ""


def close(
    records: Records, test: str, verdict: str, reason: str, beside: Mapping[str, str] | None = None
) -> list[Json]:
    """Record every declared check of a test that has no record yet; the first carries the time.

    `beside`: checks that are about another kind of stack, with the reason; they are n/a whatever happened.
    """
    missing = records.missing(test)
    seconds = [records.elapsed(test), *(0.0 for _ in missing)]
    other = beside or {}
    return [
        records.record(
            check_id,
            "na" if check_id in other else verdict,
            taken,
            None,
            None,
            other.get(check_id, reason),
        )
        for check_id, taken in zip(missing, seconds, strict=False)
    ]
