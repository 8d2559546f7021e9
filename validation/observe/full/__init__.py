"""V1 in the full profile: what Run:ai stumbles over, one module per subject; nothing in the modular one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from validation.observe.full import ground, plane, running, serving, trust
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
# The probe that asks DNS from a pod is observed where the other probes are (validation/observe/probes.py).
DNS = "preflight.runai_dns"

_LOOKS: dict[str, Callable[[Snapshot], Json]] = {
    "preflight.runai_psa": ground.levels,
    "preflight.runai_reservation": ground.reservation,
    "preflight.runai_knative": serving.knative,
    "preflight.runai_ca": trust.authorities,
    "preflight.runai_certificates": trust.certificates,
    "preflight.runai_login": plane.login,
    "preflight.runai_releases": running.releases,
    "preflight.runai_images": running.images,
    "preflight.runai_pods": running.workloads,
    "preflight.runai_cluster": plane.connection,
    "preflight.runai_version": plane.version,
    "preflight.runai_teams": plane.teams,
    "preflight.runai_mpi": ground.mpi_jobs,
    "preflight.runai_clock": ground.clocks,
}


def _in_full(look: Callable[[Snapshot], Json]) -> Callable[[Snapshot], Json]:
    return lambda at: look(at) if at.outputs.profile == "full" else {}


CHECKS = {check: _in_full(look) for check, look in _LOOKS.items()}


def applicable(found: Json) -> dict[str, bool]:
    """Each check where something was observed."""
    return {check: bool(found.get(check)) for check in (*CHECKS, DNS)}
