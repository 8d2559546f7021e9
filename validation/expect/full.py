"""V1 in the full profile: what Run:ai needs of a cluster, and what its control plane has to say."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from validation.settings import StackOutputs

Json = dict[str, Any]
# Seconds by which a node's clock may differ: tokens are valid from the second that they are made.
CLOCK_SECONDS = 5


def resolvable(outputs: StackOutputs) -> list[str]:
    """The control plane's name, and one below each wildcard, as the probe asks for them."""
    plane = urlsplit(outputs.controlPlane.url).hostname or ""
    workspaces = outputs.workspaces if outputs.controlPlane.hostBasedRouting else None
    below = [section.domain for section in (workspaces, outputs.inference) if section and section.enabled]
    return [plane, *(f"runai-kit-preflight.{domain}" for domain in below)]


def expected(outputs: StackOutputs, min_certificate_days: int) -> Json:
    """Expectations by check id."""
    url = outputs.controlPlane.url
    return {
        "preflight.runai_psa": {"refusing": {}},
        "preflight.runai_reservation": {"admitted": True},
        "preflight.runai_knative": {"off": [], "scheme": "https", "service": "admitted"},
        "preflight.runai_ca": {"different": [], "copied": True},
        "preflight.runai_certificates": {"faults": [], "fewestDays": {"atLeast": min_certificate_days}},
        "preflight.runai_dns": {
            "pod": "Succeeded",
            "addresses": {name: {"matches": "."} for name in resolvable(outputs)},
        },
        "preflight.runai_login": {"issuer": f"{url}/auth/realms/runai"},
        "preflight.runai_releases": {"notDeployed": [], "failedHooks": []},
        "preflight.runai_images": {"refused": []},
        "preflight.runai_pods": {"faults": [], "waiting": []},
        "preflight.runai_cluster": {"state": "Connected", "reasons": []},
        "preflight.runai_version": {"agents": outputs.controlPlane.version},
        "preflight.runai_teams": {"missing": [], "withoutPools": [], "withoutQuota": []},
        "preflight.runai_mpi": {"clash": []},
        "preflight.runai_clock": {"mostSeconds": {"atMost": CLOCK_SECONDS}},
    }
