"""Runs on disk as a suite leaves them, for tests of the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from validation import declared
from validation.plan import plan
from validation.records import Records
from validation.settings import load

Json = dict[str, Any]
OUTPUTS: Json = json.loads((Path(__file__).parent / "data/outputs.json").read_text())
CLUSTER: Json = {
    "kubernetes": "1.34.11",
    "nodes": 3,
    "gpuNodes": {
        "worker": {"gpus": 4, "product": "NVIDIA-A100"},
        "worker2": {"gpus": 4, "product": "NVIDIA-A100"},
    },
    "gpuMode": "passthrough",
    "system": "Debian",
    "runtime": "containerd://2",
    "apiGroups": ["apps"],
}


def started(root: Path, cluster: Json | None = None, **changed: Any) -> Records:
    """A run of every declared test; `changed` replaces stack outputs."""
    records = Records(root / "report")
    outputs = load({**OUTPUTS, **changed})
    records.start(plan(outputs, list(declared.tests()), CLUSTER if cluster is None else cluster))
    return records


def everything(records: Records, verdict: str = "pass", but: dict[str, str] | None = None) -> None:
    """A record of every declared check; `but`: other verdicts by check id or by test."""
    for check in declared.checks().values():
        said = (but or {}).get(check.id) or (but or {}).get(check.test) or verdict
        ran = said in ("pass", "fail")
        records.record(
            check.id,
            said,
            1.5,
            {"count": 1} if ran else None,
            {"count": 1 if said == "pass" else 2} if ran else None,
            "" if said == "pass" else "because",
        )


def evidence(records: Records, test: str, name: str, content: str | bytes) -> str:
    """A file of a test's evidence; returns its name as records have it."""
    path = records.evidence(test) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path.relative_to(records.root))


def samples(records: Records, *gpus: dict[str, float]) -> None:
    """The sampler's file: one sample a second from the run's beginning."""
    from validation.report.aggregate import moment

    begin = moment(records.run()["started"])
    lines = [{"kind": "sample", "t": begin + n, "gpus": seen} for n, seen in enumerate(gpus)]
    (records.root / "timeline.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
