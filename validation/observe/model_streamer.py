"""I12 as the Jobs' logs tell it."""

from __future__ import annotations

import json
import re
from typing import Any

from validation import names
from validation.cluster import ClusterError
from validation.observe import pods
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
TEST = "model_streamer"


def observe(at: Snapshot) -> Json:
    """Observations by check id."""
    volume, s3 = read(at, "volume"), read(at, "client")
    refused = {"error": s3["error"]} if "error" in s3 else {"status": s3.get("openStatus")}
    return {
        "model_streamer.volume": volume,
        "model_streamer.s3": s3,
        "model_streamer.refused": refused,
    }


def read(at: Snapshot, role: str) -> Json:
    """What the Job of a role measured; {error} with the end of its log when it measured nothing."""
    mine = [p for p in at.mine(TEST) if pods.label(p, names.ROLE_LABEL) == role]
    if not mine:
        return {"error": f"no pod of role {role}: the Job made none"}
    pod = mine[-1]
    try:
        log = at.cluster.logs(pod["metadata"]["namespace"], pod["metadata"]["name"])
    except ClusterError as error:
        return {"error": str(error)}
    phase = str(pod["status"].get("phase"))
    match = re.search(r"^RESULT=(\{.*\})$", log, re.MULTILINE)
    if not match:
        return {"error": f"{pods.name(pod)} is {phase} and told no result: {' '.join(log.split())[-400:]}"}
    told: Json = json.loads(match.group(1))
    plain = float(told["plainMBps"])
    return {
        **told,
        "ended": phase,
        "missing": abs(int(told["tensors"]) - int(told["streamedTensors"])),
        "ratio": round(float(told["streamedMBps"]) / plain, 2) if plain else None,
        "node": pods.node(pod),
    }
