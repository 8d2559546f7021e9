"""What of a run was not what a customer runs, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from validation.report.conditions import concerning

# Images of this registry exist only where the kit made them.
OWN_REGISTRY = "kind.local/"
WORDS = {"fake": "Stand-ins made by the kit", "double": "Doubles of remote systems"}


def unreal(run: Mapping[str, Any]) -> list[str]:
    """Sentences, the weightiest first: stand-ins of the table, fake parts, own images, what was built."""
    parts = [(c["provenance"], f"{c['name']} {c['version']}") for c in run["components"]]
    found = [entry["what"] for entry in concerning("stand_ins", run)]
    if earlier := run.get("preflightOf"):
        found.insert(0, f"Preflight: its results are those of the run that began at {earlier}.")
    for kind, words in WORDS.items():
        if these := [part for provenance, part in parts if provenance == kind]:
            found.append(f"{words}: {', '.join(these)}.")
    own = {image for image in (run.get("images") or {}).values() if image.startswith(OWN_REGISTRY)}
    if own:
        names = sorted(image.removeprefix(OWN_REGISTRY).partition(":")[0] for image in own)
        found.append(f"Workload images that the kit made: {', '.join(names)}.")
    if built := sum(provenance == "built-from-packages" for provenance, _ in parts):
        found.append(
            f"{built} of {len(parts)} installed parts were built from published source (from packages), "
            "not pulled as the vendor's images."
        )
    return found
