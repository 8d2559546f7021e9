"""May a test run? Preflight's verdicts, n/a declarations and what the cluster can do decide. Fail closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from validation import declared
from validation.records import Json

# Tests that need one GPU and nothing else.
ONE_GPU = {"vllm_inference", "mnist_training", "jupyter_workspace", "fallbacks", "coexistence"}
# Tests about the pool without a name, which they cannot see where the suite is bound to one with a name.
NO_POOL = {"node_pools"}


@dataclass(frozen=True)
class Decision:
    """run, or the verdict and reason that all checks of the test get."""

    run: bool
    verdict: str = ""
    reason: str = ""


def decide(
    test: declared.Test,
    recorded: Mapping[str, Json],
    reasons: Mapping[str, str],
    live: Mapping[str, Any],
    unprovable: str = "",
) -> Decision:
    """Decide from the records so far, the inventory's n/a reasons and preflight's live facts.

    `unprovable`: why the settings' bounds leave too little for this test (see validation/scope.py).
    """
    declaration = next((str(reasons[n]) for n in (test.name, test.requirement) if n in reasons), None)
    if declaration is not None:
        if could_run(test.name, live):
            return Decision(False, "fail", f"declared n/a ({declaration}), but this cluster could run it")
        return Decision(False, "na", declaration)
    if test.name == declared.GUARD:
        return Decision(True)
    missing = [c.id for c in declared.tests()[declared.GUARD].checks if c.blocking and c.id not in recorded]
    if missing:
        return Decision(False, "skip", f"refused: preflight did not record {', '.join(missing)}")
    blockers: dict[str, list[str]] = {}
    for check in declared.checks().values():
        if check.blocking and (entry := recorded[check.id])["verdict"] != "pass":
            blockers.setdefault(entry["reason"], []).append(check.id)
    if blockers:
        why = "; ".join(f"{', '.join(ids)} ({reason})" for reason, ids in blockers.items())
        return Decision(False, "skip", f"refused because of {why}")
    return Decision(False, "skip", unprovable) if unprovable else Decision(True)


def could_run(test: str, live: Mapping[str, Any]) -> bool:
    """Has this cluster what the test needs? Unknown facts count as yes: a n/a has to be shown."""
    free = live.get("freeGpus")
    if test == "fractional_gpu":
        return live.get("gpuSharing") is not False and (free is None or free >= 1)
    if test in ("fair_share_over_time", "monitoring") and not live.get("monitoring", True):
        return False
    if test in NO_POOL and live.get("nodePool"):
        return False
    if test == "vllm_inference" and not live.get("inference", True):
        return False
    if test == "jupyter_workspace" and not live.get("workspaces", True):
        return False
    if test == "vcf_operations":
        return bool(live.get("vcfOperations", True))
    if test == "model_streamer":
        return bool(live.get("modelStreamer", True))
    if test in ONE_GPU:
        return free is None or free >= 1
    return free is None or free >= 2
