"""One playbook of the suite with other role variables than its defaults: wrong input, same checks."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.acceptance import looked, seen
from tests.acceptance.conftest import ROOT
from validation.settings import StackOutputs

Json = dict[str, Any]


def play(
    test: str, outputs: StackOutputs, folder: Path, variables: Json, **bounds: Any
) -> tuple[set[str], dict[str, Json]]:
    """(failed checks of the test, its checks), both without the test's name; bounds: validation settings."""
    raw = outputs.model_dump()
    file = folder / "outputs.json"
    file.write_text(json.dumps({**raw, "validation": {**raw["validation"], **bounds}}))
    report = folder / "report"
    command = [
        "ansible-playbook",
        "-i",
        f"inventory/{outputs.environment}",
        f"validation/{test}.yml",
        "-e",
        json.dumps({"kit_report_dir": str(report), **looked.before(raw), **variables}),
    ]
    environment = {**os.environ, "KIT_OUTPUTS_FILE": str(file)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
    result = report / "report.json"
    assert result.exists(), done.stdout[-3000:] + done.stderr[-1000:]
    everything = {c["id"]: c for c in json.loads(result.read_text())["checks"]}
    seen.note(everything)
    checks = {name.partition(".")[2]: c for name, c in everything.items() if name.startswith(f"{test}.")}
    failed = {name for name, check in checks.items() if check["verdict"] == "fail"}
    assert (done.returncode != 0) is any(c["verdict"] == "fail" for c in everything.values())
    return failed, checks
