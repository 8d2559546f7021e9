"""Preflight of an earlier run for this one, so that a test which is tried again need not wait for it."""

from __future__ import annotations

import shutil
import time
from datetime import datetime
from pathlib import Path

from validation import declared
from validation.records import Json, Records

# A look at the cluster is worth something for so long (s).
LONGEST = 3600


def take(records: Records, folder: Path, cluster: Json) -> str:
    """Take over what preflight recorded in the report's folder of another run; when it began there, UTC.

    `cluster`: facts of the cluster of this run. What is judged at a run's end is left to this run.
    ValueError where there is no such run, or it was on another cluster, over an hour ago, or not to its end.
    """
    earlier = Records(folder)
    try:
        run = earlier.run()
    except (OSError, ValueError):
        raise ValueError(
            f"kit_preflight_of: found no run in {folder}; expected the report's folder of one"
        ) from None
    found = earlier.recorded()
    own = [check for check in declared.tests()[declared.GUARD].checks if not check.late]
    if problem := _problem(run, found, cluster, [check.id for check in own if check.blocking]):
        raise ValueError(
            f"kit_preflight_of: found {problem} in {folder}; expected a preflight of this cluster, complete "
            f"and of the last {LONGEST // 60} minutes; run the test without this variable"
        )
    for check in own:
        if check.id in found:
            shutil.copy2(earlier.checks / f"{check.id}.json", records.checks)
    if earlier.evidence(declared.GUARD).exists():
        shutil.copytree(earlier.evidence(declared.GUARD), records.evidence(declared.GUARD))
    records.keep_live(earlier.live())
    return str(run.get("preflightOf") or run["started"])


def _problem(run: Json, found: dict[str, Json], cluster: Json, blocking: list[str]) -> str:
    uids = (run.get("cluster") or {}).get("uid"), cluster.get("uid")
    if None in uids or len(set(uids)) > 1:
        return f"a run on another cluster ({uids[0]}, this is {uids[1]})"
    if missing := [name for name in blocking if name not in found]:
        return f"no record of {', '.join(missing)}"
    age = time.time() - min(datetime.fromisoformat(found[name]["at"]).timestamp() for name in blocking)
    return f"a preflight of {age / 60:.0f} minutes ago" if age > LONGEST else ""
