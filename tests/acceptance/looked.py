"""One preflight for many runs of single tests on a healthy cluster, as it is half of such a run."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]
ROOT = Path(__file__).parents[2]
# Taken again after so long (s), well within what the suite accepts.
FRESH = 1500
_kept = tempfile.TemporaryDirectory(prefix="runai-kit-preflight-")
_taken: dict[str, float] = {}


def before(outputs: Json) -> Json:
    """Variables that let a run take over a preflight of this cluster; none where preflight does not pass.

    `outputs`: those of the run that is to come, whose settings of the tests matter to no preflight.
    """
    key = f"{outputs['environment']}-{outputs['driver']}"
    folder = Path(_kept.name) / key
    if time.monotonic() - _taken.get(key, -FRESH) >= FRESH:
        _taken.pop(key, None)
        if not _look(outputs, folder):
            return {}
        _taken[key] = time.monotonic()
    return {"kit_preflight_of": str(folder)}


def _look(outputs: Json, folder: Path) -> bool:
    file = folder.with_suffix(".json")
    file.write_text(json.dumps(outputs))
    command = ["ansible-playbook", "-i", f"inventory/{outputs['environment']}", "validation/preflight.yml"]
    command += ["-e", f"kit_report_dir={folder}"]
    environment = {**os.environ, "KIT_OUTPUTS_FILE": str(file)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    return done.returncode == 0
