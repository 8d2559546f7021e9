"""V1: what answers from outside: the IngressClass, and the certificates that clients are shown."""

from __future__ import annotations

import ssl
import time
from typing import Any

from validation import https, names
from validation.ingress import Ingress, IngressError, find
from validation.observe import pods
from validation.observe.certificates import days_left
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
# Any name below a wildcard will do; nothing has to answer at it.
PROBE = "runai-kit-preflight"


def ingress_class(at: Snapshot) -> Json:
    """IngressClasses, and how many are marked as default."""
    classes = at.cluster.items(names.INGRESS_CLASSES)
    found = [
        c["metadata"]["name"]
        for c in classes
        if pods.annotation(c, names.DEFAULT_INGRESS_CLASS_ANNOTATION) == "true"
    ]
    return {"defaults": len(found), "names": [c["metadata"]["name"] for c in classes]}


def tls(at: Snapshot) -> Json:
    """By use: names and days left of the certificate that the ingress shows for the domain.

    Chain and name are verified as a client does it, against the stack's CA; a fault there is the error.
    """
    domains = {
        use: section.domain
        for use, section in (("inference", at.outputs.inference), ("workspaces", at.outputs.workspaces))
        if section.enabled and at.outputs.ingress.enabled
    }
    if not domains:
        return {}
    try:
        ingress = find(at.cluster, at.outputs)
    except IngressError as error:
        return {**{use: {"error": str(error)} for use in domains}, "why": [str(error)]}
    shown = {use: _shown(ingress, domain) for use, domain in domains.items()}
    why = [f"{use}: {seen['error']}" for use, seen in shown.items() if "error" in seen]
    ca = {"ca": {"days": days_left(at.outputs.tls.ca.encode())}} if at.outputs.tls.ca else {}
    return {**shown, **ca, **({"why": why} if why else {})}


def _shown(ingress: Ingress, domain: str) -> Json:
    try:
        peer = https.peer(ingress, f"{PROBE}.{domain}")
    except (https.HttpsError, IngressError) as error:
        return {"error": str(error)}
    left = ssl.cert_time_to_seconds(peer.not_after) - time.time()
    return {
        "names": peer.names,
        "days": int(left // 86400),
        "issuer": peer.issuer,
        "protocol": peer.protocol,
    }
