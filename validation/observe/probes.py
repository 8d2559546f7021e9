"""Preflight's probe pods: a fresh volume, names, and whether a NetworkPolicy keeps anything back."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from validation import names
from validation.cluster import Cluster, ClusterError
from validation.observe import dns, stuck
from validation.observe.admission import PROBE_NAMESPACE

Json = dict[str, Any]
Told = tuple[Json, dict[str, float]]
VOLUME_POD, DNS_POD, CLAIM = "runai-kit-volume", "runai-kit-dns", "runai-kit-volume"
# Only where there is a control plane: it asks for the names of Run:ai.
NAMES_POD, NAMES_CHECK = "runai-kit-names", "preflight.runai_dns"
# Only where policies are asked for: both try the API server, and a policy lets the second out nowhere.
OPEN_POD, CLOSED_POD, POLICIES_CHECK = "runai-kit-open", "runai-kit-closed", "preflight.network_policies"
OVER = ("Succeeded", "Failed")


def probes(cluster: Cluster, timeout: float, say: Callable[[str], None]) -> tuple[Json, dict[str, float]]:
    """(observations, seconds) of both probes, waiting until both ended or `timeout` seconds passed."""
    begun = time.monotonic()
    ended: dict[str, float] = {}
    while True:
        phases = {name: _phase(cluster, name) for name in (VOLUME_POD, DNS_POD)}
        for name, phase in phases.items():
            if phase in OVER:
                ended.setdefault(name, time.monotonic() - begun)
        passed = time.monotonic() - begun
        if len(ended) == len(phases) or passed >= timeout:
            break
        time.sleep(0.5)
    if len(ended) < len(phases):
        say(f"preflight probes after {passed:.0f} s: {phases}")
    claim = cluster.find(f"{names.in_namespace(names.CLAIMS, PROBE_NAMESPACE)}/{CLAIM}") or {}
    found: Json = {
        "preflight.volume": {
            "claim": claim.get("status", {}).get("phase", "missing"),
            "pod": phases[VOLUME_POD],
            "read": _said(cluster, VOLUME_POD, r"READ=(\S+)"),
            "storageClass": claim.get("spec", {}).get("storageClassName"),
            "why": _why(cluster, VOLUME_POD, phases) + _unbound(cluster, claim),
        },
        "preflight.dns": {
            "pod": phases[DNS_POD],
            "address": _said(cluster, DNS_POD, r"^(\S+)\s"),
            "milliseconds": _said(cluster, DNS_POD, r"MS=(\d+)"),
            "why": _why(cluster, DNS_POD, phases) + dns.servers(cluster, phases[DNS_POD]),
        },
    }
    took = {
        "preflight.volume": ended.get(VOLUME_POD, passed),
        "preflight.dns": ended.get(DNS_POD, passed),
    }
    return found, took


def resolved(cluster: Cluster, timeout: float) -> tuple[Json, dict[str, float]]:
    """(observation, seconds) of the probe that resolves Run:ai's names, as `not_started` without one."""
    begun = time.monotonic()
    while (phase := _phase(cluster, NAMES_POD)) not in OVER and time.monotonic() - begun < timeout:
        time.sleep(0.5)
    took = time.monotonic() - begun
    seen = answers(_log(cluster, NAMES_POD))
    why = _why(cluster, NAMES_POD, {NAMES_POD: phase}) + (
        dns.servers(cluster, "" if not all(seen.values()) else phase)
    )
    found = {"pod": phase, "addresses": seen, "why": why}
    return {NAMES_CHECK: found}, {NAMES_CHECK: took}


def enforced(cluster: Cluster, timeout: float) -> Told:
    """(observation, seconds) of the same try with and without a policy: `reached` or `refused`."""
    begun = time.monotonic()
    while True:
        phases = {name: _phase(cluster, name) for name in (OPEN_POD, CLOSED_POD)}
        took = time.monotonic() - begun
        if all(phase in OVER for phase in phases.values()) or took >= timeout:
            break
        time.sleep(0.5)
    found = {
        "withoutPolicy": _said(cluster, OPEN_POD, r"API=(\S+)"),
        "withPolicy": _said(cluster, CLOSED_POD, r"API=(\S+)"),
        "why": [line for name in phases for line in _why(cluster, name, phases)],
    }
    return {POLICIES_CHECK: found}, {POLICIES_CHECK: took}


def answers(log: str) -> dict[str, str]:
    """Name -> address as the probe said it, "" for none."""
    return dict(re.findall(r"^NAME=(\S+) ADDRESS=(\S*)$", log, re.MULTILINE))


def not_started(reason: str, checks: tuple[str, ...] = ("preflight.volume", "preflight.dns")) -> Told:
    """Observations where the probes could not be made, with the reason."""
    return {check: {"error": f"the probe could not be started: {reason}"} for check in checks}, {}


def _pod(cluster: Cluster, name: str) -> Json:
    return cluster.find(f"{names.in_namespace(names.PODS, PROBE_NAMESPACE)}/{name}") or {}


def _phase(cluster: Cluster, name: str) -> str:
    return str(_pod(cluster, name).get("status", {}).get("phase", "missing"))


def _said(cluster: Cluster, name: str, pattern: str) -> str | None:
    """First match in the pod's log; None when it said nothing of the kind."""
    found = re.search(pattern, _log(cluster, name), re.MULTILINE)
    return found.group(1) if found else None


def _log(cluster: Cluster, name: str) -> str:
    """The pod's log, "" where there is none."""
    try:
        return cluster.logs(PROBE_NAMESPACE, name)
    except ClusterError:
        return ""


def _why(cluster: Cluster, name: str, phases: dict[str, str]) -> list[str]:
    """Of a pod that did not succeed: its conditions, containers, events, and the end of its log."""
    if phases[name] == "Succeeded":
        return []
    pod = _pod(cluster, name)
    status = pod.get("status", {})
    told = [c["message"] for c in status.get("conditions") or [] if c.get("message")]
    told += [f"{w['reason']} {w['message']}".strip() for w in stuck.of_pod(pod) if w["message"] not in told]
    ended = [c["state"].get("terminated") for c in status.get("containerStatuses") or [] if c.get("state")]
    told += [f"container ended with exit code {e['exitCode']}" for e in ended if e and e.get("exitCode")]
    told += _messages(cluster, "Pod", name, type="Warning")
    return [*told, *(_tail(cluster, name) if phases[name] == "Failed" else [])]


def _unbound(cluster: Cluster, claim: Json) -> list[str]:
    """What the provisioner, or its absence, says of a claim."""
    if claim.get("status", {}).get("phase") == "Bound":
        return []
    return [
        f"PersistentVolumeClaim {CLAIM}: {said}"
        for said in _messages(cluster, "PersistentVolumeClaim", CLAIM)
    ]


def _messages(cluster: Cluster, kind: str, name: str, **fields: str) -> list[str]:
    chosen = {"involvedObject.kind": kind, "involvedObject.name": name, **fields}
    events = cluster.items(
        names.in_namespace(names.EVENTS, PROBE_NAMESPACE),
        fieldSelector=",".join(f"{key}={value}" for key, value in chosen.items()),
    )
    return [e.get("message", "") for e in events][-3:]


def _tail(cluster: Cluster, name: str) -> list[str]:
    try:
        lines = cluster.logs(PROBE_NAMESPACE, name, tail=3).strip().splitlines()
    except ClusterError:
        return []
    return [f"log: {line}" for line in lines]
