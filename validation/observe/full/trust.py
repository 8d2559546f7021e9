"""Certificates that Run:ai is given: its private CA on both sides, and the names that its Secrets hold."""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from validation import names
from validation.observe.certificates import days_left
from validation.observe.full.ground import AGENTS, BACKEND, own_namespaces
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
CA, CA_KEY = "runai-ca-cert", "runai-ca.pem"
# The agents copy the Secret with this label into projects.
CLUSTER_WIDE = "run.ai/cluster-wide"


def authorities(at: Snapshot) -> Json:
    """Which CA each side was given: `none`, or the start of its fingerprint; and the stack's own."""
    stated = _print(at.outputs.controlPlane.ca.encode()) if at.outputs.controlPlane.ca else "none"
    found = {namespace: _of(at, namespace) for namespace in own_namespaces(at)}
    secret = at.cluster.find(f"{names.in_namespace(names.SECRETS, AGENTS)}/{CA}")
    label = ((secret or {}).get("metadata", {}).get("labels") or {}).get(CLUSTER_WIDE)
    unlabelled = AGENTS in found and stated != "none" and label != "true"
    why = [f"Secret {namespace}/{CA}: {seen}" for namespace, seen in found.items() if seen != stated]
    return {
        "different": sorted(namespace for namespace, seen in found.items() if seen != stated),
        "copied": not unlabelled,
        "stated": stated,
        "why": [*why, *([f"Secret {AGENTS}/{CA} has no label {CLUSTER_WIDE}=true"] if unlabelled else [])],
    }


def _of(at: Snapshot, namespace: str) -> str:
    secret = at.cluster.find(f"{names.in_namespace(names.SECRETS, namespace)}/{CA}")
    if secret is None:
        return "none"
    text = (secret.get("data") or {}).get(CA_KEY)
    return _print(base64.b64decode(text)) if text else f"no key {CA_KEY}"


def _print(pem: bytes) -> str:
    try:
        loaded = x509.load_pem_x509_certificates(pem)
    except ValueError:
        return "no certificate"
    together = b"".join(sorted(one.public_bytes(Encoding.DER) for one in loaded))
    return hashlib.sha256(together).hexdigest()[:16]


def wanted_names(at: Snapshot) -> dict[str, str]:
    """`namespace/secret` -> the name that its certificate has to hold."""
    outputs, here = at.outputs, own_namespaces(at)
    plane = urlsplit(outputs.controlPlane.url).hostname or ""
    wanted = {f"{BACKEND}/runai-backend-tls": plane} if BACKEND in here else {}
    if AGENTS in here:
        wanted[f"{AGENTS}/runai-cluster-domain-tls-secret"] = outputs.controlPlane.clusterDomain or plane
        if outputs.workspaces.enabled and outputs.controlPlane.hostBasedRouting:
            wanted[f"{AGENTS}/{outputs.workspaces.tlsSecret}"] = f"*.{outputs.workspaces.domain}"
    return wanted


def certificates(at: Snapshot) -> Json:
    """Secrets whose certificate lacks its name or is not there, and the fewest days that one has left."""
    faults, days = [], {}
    for place, name in wanted_names(at).items():
        namespace, _, secret = place.partition("/")
        found = at.cluster.find(f"{names.in_namespace(names.SECRETS, namespace)}/{secret}")
        text = ((found or {}).get("data") or {}).get("tls.crt")
        if not text:
            faults.append(f"Secret {place}: no certificate; expected one for {name}")
            continue
        pem = base64.b64decode(text)
        left = days_left(pem)
        if left is None:
            faults.append(f"Secret {place}: tls.crt is no certificate; expected one for {name}")
            continue
        days[place] = left
        held = _held(x509.load_pem_x509_certificates(pem)[0])
        if not any(_covers(one, name) for one in held):
            faults.append(f"Secret {place}: is for {', '.join(held) or 'no name'}; expected {name}")
    fewest = min(days.values(), default=0)
    why = [f"Secret {place}: {left} days" for place, left in days.items() if left == fewest]
    return {"faults": faults, "fewestDays": fewest, "days": days, "why": why}


def _held(certificate: x509.Certificate) -> list[str]:
    try:
        told = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    return list(told.value.get_values_for_type(x509.DNSName))


def _covers(held: str, name: str) -> bool:
    """A wildcard stands for one label (RFC 6125), and never for a wildcard above or below it."""
    if held.lower() == name.lower():
        return True
    one_label = held.startswith("*.") and not name.startswith("*.")
    return one_label and held[2:].lower() == name.partition(".")[2].lower()
