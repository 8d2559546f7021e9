"""index.html: one file, no request to anywhere, every value escaped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from validation import declared, timeline
from validation.report.charts import gpus_over_time
from validation.report.model import Report

# Evidence is shown in the page up to this size, and linked beyond.
INLINE_BYTES = 20_000


def render(report: Report, root: Path, project: Path) -> str:
    """The page. `root` is the report's folder; `project` is taken out of any text shown."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["pretty"] = pretty
    path = root / timeline.FILE
    times, series = timeline.series(timeline.read(path)) if path.exists() else ([], {})
    chart = gpus_over_time(times, series)
    page = environment.get_template("index.html.j2").render(
        report=report,
        summary=report.summary.as_dict(),
        tests=declared.tests(),
        # pygal escapes the names it draws.
        chart=Markup(chart),  # noqa: S704
        unreal=unreal(report),
        evidence=_evidence(report, root),
    )
    return page.replace(f"{project}/", "")


def pretty(value: Any) -> str:
    """JSON for reading: one `key: value` per line, nested values compact."""
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_compact(item)}" for key, item in value.items()) or "nothing"
    return "-" if value is None else _compact(value)


def _compact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def unreal(report: Report) -> list[str]:
    """What of this run was not the real product, in words."""
    words = {
        "fake": "is a stand-in made by the kit",
        "double": "is a double of the remote system",
        "built-from-packages": "was built from its published source, not pulled as the vendor's image",
    }
    found = [
        f"{c.name} {c.version} {words[c.provenance]}" for c in report.components if c.provenance in words
    ]
    if report.fake_gpus:
        found.insert(
            0,
            "The GPUs are fake (device plugin, nvidia-smi and DCGM metrics): nothing was computed on one",
        )
    return found


def _evidence(report: Report, root: Path) -> dict[str, list[dict[str, str]]]:
    """Evidence files by check, each read once; small text is shown in place."""
    found: dict[str, list[dict[str, str]]] = {}
    for check in report.checks:
        for name in check.evidence:
            path = root / name
            if not path.is_file():
                text = "(missing)"
            elif path.stat().st_size > INLINE_BYTES:
                text = ""
            else:
                text = path.read_text(errors="replace")
            found.setdefault(check.id, []).append({"name": name, "text": text})
    return found
