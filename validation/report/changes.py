"""What changed since an earlier report: verdicts, checks, parts, images, settings, values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation.report import noise
from validation.report.model import CheckResult, Report, ReportError, load

Json = dict[str, Any]
# Order and headings of the kinds of change.
KINDS = {
    "verdict": "Verdicts",
    "check": "Checks that are new or gone",
    "part": "Parts",
    "image": "Images",
    "setting": "Settings",
    "cluster": "Cluster",
    "deviation": "Deviations from the vendor's matrix",
    "expected": "Expected values",
    "observed": "Observed values, beyond noise",
}
_LONGEST = 160
_NAMED = 4


@dataclass(frozen=True)
class Change:
    """`what` of a kind was `before` and is `now`, "" for nothing."""

    kind: str
    what: str
    before: str
    now: str


def read(path: Path) -> tuple[Report, str]:
    """An earlier report and its SHA-256. ReportError says in one line what is wrong with the file."""
    try:
        raw = path.read_bytes()
        return load(json.loads(raw)), hashlib.sha256(raw).hexdigest()
    except OSError as error:
        raise ReportError(
            f"{path}: {error.strerror or error}; expected a report.json of an earlier run"
        ) from None
    except ReportError as error:
        raise ReportError(f"{path}: {error}") from None
    except (ValueError, AttributeError) as error:
        raise ReportError(
            f"{path}: found no report ({error}); expected a report.json of an earlier run"
        ) from None


def against(earlier: Report, digest: str, now: Report) -> Json:
    """As report.json has it: which report it was, warnings about its identity, and the list of changes."""
    return {
        "environment": earlier.environment,
        "started": earlier.started,
        "verdict": earlier.word,
        "sha256": digest,
        "warnings": list(warnings(earlier, now)),
        "changes": [vars(change) for change in changes(earlier, now)],
    }


def warnings(earlier: Report, now: Report) -> Iterator[str]:
    """Why the two may not be about the same thing."""
    old, new = (report.installation.get("cluster") or {} for report in (earlier, now))
    if old.get("uid") and new.get("uid") and old["uid"] != new["uid"]:
        yield f"another cluster: the earlier report is about {old['uid']}, this one about {new['uid']}"
    elif not (old.get("uid") and new.get("uid")):
        yield "whether it is the same cluster is not known: one of the reports does not name its identity"
    if earlier.environment != now.environment:
        yield f"another environment: {earlier.environment} then, {now.environment} now"
    if earlier.fake_gpus != now.fake_gpus:
        then, today = ("fake" if report.fake_gpus else "real" for report in (earlier, now))
        yield f"GPUs were {then} then and are {today} now"
    if earlier.started > now.started:
        yield f"the report to compare with is younger ({earlier.started}) than this run ({now.started})"


def changes(earlier: Report, now: Report) -> list[Change]:
    """In the order of KINDS."""
    old, new = ({c.id: c for c in report.checks} for report in (earlier, now))
    found = [
        *_verdicts(old, new),
        *_differences("check", _titles(old), _titles(new)),
        *_differences("part", _parts(earlier), _parts(now)),
        *_section("image", "images", earlier, now),
        *_section("setting", "settings", earlier, now),
        *_facts(earlier, now),
        *_differences("deviation", _deviations(earlier), _deviations(now)),
        *_values("expected", old, new),
        *_values("observed", old, new),
    ]
    return sorted(found, key=lambda change: list(KINDS).index(change.kind))


def lines(told: Json, most: int = 40) -> list[str]:
    """For the console."""
    count = len(told["changes"])
    head = f"Against the report of {told['started']} ({told['verdict']}, SHA-256 {told['sha256'][:12]}…): "
    found = [head + (f"{count} change{'s' if count != 1 else ''}" if count else "nothing changed")]
    found += [f"  WARNING  {text}" for text in told["warnings"]]
    shown = told["changes"][:most]
    found += [
        f"  {c['kind']:9} {c['what']}: {c['before'] or 'nothing'} -> {c['now'] or 'nothing'}" for c in shown
    ]
    return [*found, f"  … {count - most} more in report.json"] if count > most else found


def _verdicts(old: dict[str, CheckResult], new: dict[str, CheckResult]) -> Iterator[Change]:
    """Failures first; checks that changed in the same way for the same reason are told once."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name in (n for n in new if n in old and old[n].verdict != new[n].verdict):
        key = (old[name].verdict, new[name].verdict, new[name].reason)
        groups.setdefault(key, []).append(name)
    for (before, now, reason), ids in sorted(groups.items(), key=lambda group: group[0][1] != "fail"):
        more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
        told = f"{now} ({_short(reason)})" if reason else now
        yield Change("verdict", f"{', '.join(ids[:_NAMED])}{more}", before, told)


def _values(side: str, old: dict[str, CheckResult], new: dict[str, CheckResult]) -> Iterator[Change]:
    """Of checks that came to a verdict in both runs."""
    for name in (n for n in new if n in old and old[n].ran and new[n].ran):
        before, now = (dict(noise.leaves(getattr(check[name], side))) for check in (old, new))
        for path in sorted(before.keys() | now.keys()):
            if _moved(side, path, (old[name], before), (new[name], now)):
                yield Change(side, f"{name} {path}".strip(), _text(before, path), _text(now, path))


def _moved(side: str, path: str, old: tuple[CheckResult, Json], new: tuple[CheckResult, Json]) -> bool:
    if path not in old[1] or path not in new[1]:
        return True
    before, now = old[1][path], new[1][path]
    followed = all(
        dict(noise.leaves(check.expected)).get(path) == dict(noise.leaves(check.observed)).get(path)
        for check, _ in (old, new)
    )
    if followed and (side == "observed" or (noise.drawn(before) and noise.drawn(now))):
        # Expected and seen in both runs: what was expected is told by itself, unless a run drew it.
        return False
    if side == "expected" and not isinstance(before, str | list):
        return bool(before != now)
    return noise.moved(path, before, now)


def _section(kind: str, key: str, earlier: Report, now: Report) -> Iterator[Change]:
    """Nothing where the earlier report did not record it yet."""
    if key in earlier.installation and key in now.installation:
        yield from _differences(kind, _flat(earlier.installation[key]), _flat(now.installation[key]))


def _facts(earlier: Report, now: Report) -> Iterator[Change]:
    def known(report: Report) -> dict[str, str]:
        cluster = report.installation.get("cluster") or {}
        return _flat({k: v for k, v in cluster.items() if k != "uid"})

    if earlier.installation.get("cluster"):
        yield from _differences("cluster", known(earlier), known(now))


def _differences(kind: str, before: dict[str, str], now: dict[str, str]) -> Iterator[Change]:
    for key in sorted(before.keys() | now.keys()):
        if before.get(key) != now.get(key):
            yield Change(kind, key, before.get(key, ""), now.get(key, ""))


def _titles(checks: dict[str, CheckResult]) -> dict[str, str]:
    return dict.fromkeys(checks, "declared")


def _parts(report: Report) -> dict[str, str]:
    return {part.name: f"{part.version} ({part.provenance})" for part in report.components}


def _deviations(report: Report) -> dict[str, str]:
    return {
        str(item["part"]): f"{item['found']}, {item['level']}: {item['expected']}"
        for item in report.deviations
    }


def _flat(node: Any, path: str = "") -> dict[str, str]:
    """Every value by its path; entries of a list that have a name are told by it."""
    if isinstance(node, dict):
        items = [(str(key), value) for key, value in node.items()]
    elif isinstance(node, list) and any(isinstance(item, dict) for item in node):
        items = [
            (str(item.get("name", i)) if isinstance(item, dict) else str(i), item)
            for i, item in enumerate(node)
        ]
    else:
        return {path: _short(json.dumps(node, ensure_ascii=False).strip('"'))}
    found: dict[str, str] = {}
    for key, value in items:
        found |= _flat(value, f"{path}.{key}" if path else key)
    return found


def _text(values: Json, path: str) -> str:
    if path not in values:
        return ""
    value = values[path]
    return _short(value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
