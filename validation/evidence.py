"""Evidence of a test as files: objects, conditions, events and logs, small enough to attach to a ticket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from validation import names, redact
from validation.cluster import Cluster, ClusterError
from validation.files import write_atomically
from validation.observe import pods, queues

Json = dict[str, Any]
SCHEDULER_LINES = 400


def gather(
    cluster: Cluster, folder: Path, test: str, reservation_namespace: str, scheduler_logs: bool
) -> list[Path]:
    """Write what is known about a test's pods; returns the files. A log that cannot be read is noted."""
    mine = cluster.items(names.PODS, labelSelector=f"{names.TEST_LABEL}={test}")
    everything = cluster.items(names.PODS)
    reservations = [p for p in everything if p["metadata"]["namespace"] == reservation_namespace]
    groups = [g for g in cluster.items(names.POD_GROUPS) if names.WORKLOAD_PREFIX in g["metadata"]["name"]]
    namespaces = {p["metadata"]["namespace"] for p in mine} | {reservation_namespace}
    parts: dict[str, str] = {
        "pods.json": _dump([_slim(p) for p in mine + reservations]),
        "podgroups.json": _dump([_slim(g) for g in groups]),
        "queues.json": _dump([_slim(q) for q in cluster.items(names.QUEUES)]),
        "summary.txt": summary(mine, groups, cluster.items(names.QUEUES)),
        "events.txt": "\n".join(_events(cluster, namespaces)),
    }
    selector = f"{names.TEST_LABEL}={test}"
    serving = [
        t
        for path in (names.KNATIVE_SERVICES, *names.KNATIVE_MADE)
        for t in cluster.items(path, labelSelector=selector)
    ]
    if serving:
        parts["knative.json"] = _dump([{"kind": t.get("kind"), **_slim(t)} for t in serving])
    for pod in mine:
        meta = pod["metadata"]
        # Beside a container of Knative's the log has to be asked for by name.
        container = pod.get("spec", {}).get("containers", [{}])[0].get("name", "")
        parts[f"logs-{meta['name']}.txt"] = _log(cluster, meta["namespace"], meta["name"], 200, container)
    if scheduler_logs:
        for pod in everything:
            if (pods.label(pod, "app") or "").startswith(("kai-scheduler", "binder", "scheduler")):
                meta = pod["metadata"]
                parts[f"logs-{meta['name']}.txt"] = _log(
                    cluster, meta["namespace"], meta["name"], SCHEDULER_LINES
                )
    for name, text in parts.items():
        write_atomically(folder / name, redact.document(text).rstrip() + "\n")
    return [folder / name for name in parts]


def summary(mine: list[Json], groups: list[Json], all_queues: list[Json]) -> str:
    """A page for people: pods with phase, node and reason, queues with their numbers."""
    lines = ["Pods"]
    for pod in mine:
        group = queues.group_of(pod, groups)
        why = "; ".join(f"{r['reason']}: {r['message']}" for r in queues.reasons(group)) if group else ""
        lines.append(
            f"  {pods.name(pod)}  {pod['status'].get('phase')}  {pods.node(pod) or 'no node'}  {why}".rstrip()
        )
        lines += [
            f"    {c['type']}={c['status']} {c.get('reason', '')} {c.get('message', '')}".rstrip()
            for c in pod["status"].get("conditions") or []
            if c["status"] != "True"
        ]
    lines.append("Queues (GPUs)")
    for queue in all_queues:
        seen = queues.describe(queue)
        lines.append(
            f"  {pods.name(queue)}  parent={seen['parent'] or '-'}  "
            f"deserved={seen['deserved']}  limit={seen['limit']}  "
            f"allocated={queues.allocated(queue)}"
        )
    return "\n".join(lines)


def _slim(thing: Json) -> Json:
    meta = {k: v for k, v in thing["metadata"].items() if k != "managedFields"}
    return {"metadata": meta, "spec": thing.get("spec", {}), "status": thing.get("status", {})}


def _dump(things: list[Json]) -> str:
    return json.dumps(things, indent=1)


def _events(cluster: Cluster, namespaces: set[str]) -> list[str]:
    found = []
    for namespace in sorted(namespaces):
        for event in cluster.items(names.in_namespace(names.EVENTS, namespace)):
            target = event["involvedObject"]
            seen = event.get("eventTime") or event.get("lastTimestamp") or ""
            found.append(
                f"{seen} {namespace} {target.get('kind')}/{target.get('name')} "
                f"{event.get('reason')}: {event.get('message')}"
            )
    return sorted(found)


def _log(cluster: Cluster, namespace: str, pod: str, tail: int, container: str = "") -> str:
    try:
        return cluster.logs(namespace, pod, tail, container)
    except ClusterError as error:
        return f"no log: {error}"
