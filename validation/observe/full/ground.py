"""What Run:ai stands on in Kubernetes: Pod Security, the reservation namespace, MPI's kind, the clocks."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from typing import Any

from validation import names
from validation.cluster import ClusterError
from validation.observe import pods
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
BACKEND, AGENTS = "runai-backend", "runai"
# On a project's namespace, by whomever it was made.
PROJECT_LABEL = "runai/queue"
MPI = "mpijobs.kubeflow.org"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
# What the Training Operator watches without `--enable-scheme` is every kind, MPI jobs of v1 included.
_SCHEME = "--enable-scheme"


def own_namespaces(at: Snapshot) -> list[str]:
    """Run:ai's namespaces that this stack has, the control plane's first."""
    known = {n.name for n in at.outputs.namespaces}
    return [name for name in (BACKEND, AGENTS) if name in known]


def levels(at: Snapshot) -> Json:
    """Namespaces of Run:ai and of projects that refuse privileged pods, also of projects made by hand."""
    live = {n["metadata"]["name"]: n for n in at.cluster.items(names.NAMESPACES)}
    known = {n.name for n in at.outputs.namespaces}
    reserved = [n for n in (at.outputs.reservationNamespace,) if n in known]
    wanted = [*own_namespaces(at), *reserved, *(p.namespace for p in at.outputs.projects)]
    by_hand = [name for name, n in sorted(live.items()) if pods.label(n, PROJECT_LABEL)]
    refusing = {}
    for name in dict.fromkeys([*wanted, *by_hand]):
        if name not in live:
            refusing[name] = "missing"
        elif (level := pods.label(live[name], names.PSA_ENFORCE_LABEL)) != "privileged":
            refusing[name] = level or "no label"
    why = [f"namespace {name}: {level}" for name, level in refusing.items()]
    return {"refusing": refusing, "why": [*why, *_refusals(at, list(refusing))]}


def _refusals(at: Snapshot, namespaces: list[str]) -> list[str]:
    """What controllers were told when their pods were refused: Deployments and Jobs apply all the same."""
    told = []
    for namespace in namespaces:
        events = at.cluster.items(
            names.in_namespace(names.EVENTS, namespace), fieldSelector="reason=FailedCreate"
        )
        told += [str(e.get("message")) for e in events if "PodSecurity" in str(e.get("message"))][-1:]
    return told


def reservation(at: Snapshot) -> Json:
    """Would a pod that holds a GPU for fractions be let in? By dry run, with the binder's own pod's shape."""
    namespace = at.outputs.reservationNamespace
    container = {
        "name": "resource-reservation",
        "image": at.outputs.images["cuda"],
        "resources": {"limits": {names.GPU_RESOURCE: "1"}},
    }
    body = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "runai-kit-preflight", "namespace": namespace},
        "spec": {"containers": [container], "schedulerName": at.outputs.schedulerName},
    }
    try:
        at.cluster.create(names.in_namespace(names.PODS, namespace), body, dry_run=True)
    except ClusterError as error:
        if not error.status:
            raise
        return {"admitted": False, "why": [f"namespace {namespace}: {error}"]}
    return {"admitted": True, "namespace": namespace}


def mpi_jobs(at: Snapshot) -> Json:
    """Who defines and who watches MPI jobs: versions that are served, and operators that take them."""
    crd = at.cluster.find(f"{names.CRDS}/{MPI}")
    versions = [v["name"] for v in ((crd or {}).get("spec") or {}).get("versions") or [] if v.get("served")]
    deployments = at.cluster.items(names.DEPLOYMENTS)
    mpi = [d for d in deployments if d["metadata"]["name"] == "mpi-operator"]
    training = [d for d in deployments if d["metadata"]["name"] == "training-operator" and _takes_mpi(d)]
    clash = []
    if mpi and training:
        clash.append(f"Deployment {pods.name(training[0])} watches MPI jobs beside {pods.name(mpi[0])}")
    if mpi and crd and "v2beta1" not in versions:
        clash.append(f"CustomResourceDefinition {MPI} serves {', '.join(versions) or 'nothing'}, not v2beta1")
    return {"clash": clash, "versions": versions}


def _takes_mpi(deployment: Json) -> bool:
    containers = deployment["spec"]["template"]["spec"]["containers"]
    words = [word for c in containers for word in [*(c.get("command") or []), *(c.get("args") or [])]]
    chosen = [word.partition("=")[2] for word in words if word.startswith(f"{_SCHEME}=")]
    chosen += [after for word, after in pairwise(words) if word == _SCHEME]
    return not chosen or "mpijob" in {kind.lower() for kind in chosen}


def clocks(at: Snapshot) -> Json:
    """Seconds that each node's clock is ahead of the API server's.

    A kubelet writes its own time into its Lease; the server notes its own beside the field.
    """
    ahead = {}
    for lease in at.cluster.items(LEASES):
        noted = [f["time"] for f in lease["metadata"].get("managedFields") or [] if f.get("time")]
        if noted and (told := (lease.get("spec") or {}).get("renewTime")):
            ahead[lease["metadata"]["name"]] = round(_seconds(told) - _seconds(max(noted)), 1)
    most = max((abs(seconds) for seconds in ahead.values()), default=None)
    why = [f"node {name}: {seconds:+g} s" for name, seconds in ahead.items() if abs(seconds) == most]
    return {"mostSeconds": most, "ahead": ahead, "why": why or ["no node's Lease tells the time"]}


def _seconds(iso: str) -> float:
    return datetime.fromisoformat(iso).timestamp()
