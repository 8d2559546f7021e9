"""Samples GPUs per queue and watches the suite's pods for the length of a run, into JSON lines.

`python -m validation.sampler --kubeconfig … --context … --out build/report/timeline.jsonl --parent <pid>`

Lines: {"kind":"sample","t":s,"gpus":{queue:n}} from Queue status, {"kind":"pod","t":s,"type":…,"phase":…,…}
from a watch, with the moment of arrival; {"kind":"eviction","t":s,"group":…,"message":…} from KAI's events,
and a last line {"kind":"end","t":s,"evictionsWatched":…,"podsWatched":…}. It ends by itself: when the stop
file appears, when the parent process is gone, or after --seconds. Meanwhile it renews the run's Lease
(validation/lease.py).
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any, TextIO

from validation import lease, names
from validation.cluster import Cluster, ClusterError
from validation.observe import evictions, pods, queues
from validation.processes import alive

Json = dict[str, Any]
SELECTOR = f"{names.PART_OF_LABEL}={names.PART_OF}"
# The server ends each watch after this long.
WATCH_SECONDS = 300
# A watch that ends sooner did not end by itself.
SHORT_SECONDS = 0.5
# How often evictions are asked for.
EVICTION_SECONDS = 5.0
# The report waits for the last line no longer than twice this.
GIVE_BACK_SECONDS = 10.0


def sample(cluster: Cluster, t: float) -> Json:
    """One line of GPUs per leaf queue."""
    found = cluster.items(names.QUEUES)
    parents = {q["spec"].get("parentQueue") for q in found}
    leaves = [q for q in found if q["metadata"]["name"] not in parents]
    return {
        "kind": "sample",
        "t": round(t, 3),
        "gpus": {q["metadata"]["name"]: queues.allocated(q) for q in leaves},
    }


def pod_line(kind: str, pod: Json, t: float, queue_key: str) -> Json:
    """One line of a pod's change."""
    status = pod.get("status", {})
    states = [
        s.get("state", {}).get("running", {}).get("startedAt") for s in status.get("containerStatuses") or []
    ]
    conditions = {
        c["type"]: c.get("lastTransitionTime")
        for c in status.get("conditions") or []
        if c["status"] == "True"
    }
    return {
        "kind": "pod",
        "t": round(t, 3),
        "type": kind,
        "name": pods.name(pod),
        "uid": pod["metadata"]["uid"],
        "test": pods.label(pod, names.TEST_LABEL) or "",
        "role": pods.label(pod, names.ROLE_LABEL) or "",
        "queue": pods.label(pod, queue_key) or "",
        "node": pods.node(pod) or "",
        "gpus": pods.gpus(pod) + pods.fraction(pod),
        "phase": status.get("phase", ""),
        "deleting": "deletionTimestamp" in pod["metadata"],
        "api": {
            "created": pod["metadata"].get("creationTimestamp"),
            "scheduled": conditions.get("PodScheduled"),
            "started": max((s for s in states if s), default=None),
            "disrupted": conditions.get("DisruptionTarget"),
        },
    }


class Writer:
    """Appends lines from two threads; a pod's line only when something in it changed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._last: dict[str, Json] = {}

    def write(self, line: Json) -> None:
        """Append a line, unless it repeats what was last said of a pod."""
        if line["kind"] == "pod":
            # Replayed by a new watch: the same state under another event type is no news.
            state = {k: v for k, v in line.items() if k not in ("t", "type")}
            if line["type"] != "DELETED" and self._last.get(line["uid"]) == state:
                return
            self._last[line["uid"]] = state
        with self._lock:
            self._stream.write(json.dumps(line) + "\n")
            self._stream.flush()


def _watch(cluster: Cluster, writer: Writer, queue_key: str, over: threading.Event) -> None:
    # A new watch goes on where the last one ended, so that no deletion falls into the gap between them.
    since: dict[str, str] = {}
    while not over.is_set():
        begun = time.monotonic()
        try:
            for kind, pod in cluster.watch(names.PODS, WATCH_SECONDS, labelSelector=SELECTOR, **since):
                if over.is_set():
                    return
                if kind not in ("ADDED", "MODIFIED", "DELETED"):
                    # The version is too old to go on from; a watch without one starts with what there is.
                    since = {}
                    break
                since = {"resourceVersion": pod["metadata"].get("resourceVersion", "")}
                writer.write(pod_line(kind, pod, time.time(), queue_key))
        except (ClusterError, OSError, ValueError) as error:
            print(f"watch interrupted: {error}", file=sys.stderr)
        if time.monotonic() - begun < SHORT_SECONDS:
            # Whatever ends watches at once is not asked without a pause.
            over.wait(SHORT_SECONDS)


def run(
    cluster: Cluster,
    out: Path,
    stop: Path,
    parent: int,
    seconds: float,
    interval: float,
    queue_key: str,
    holder: str = "",
) -> int:
    """Sample until told to stop, and keep the Lease of `holder`; returns the number of samples."""
    deadline = time.monotonic() + seconds
    over = threading.Event()
    taken = 0
    with out.open("a") as stream:
        writer = Writer(stream)
        watcher = threading.Thread(target=_watch, args=(cluster, writer, queue_key, over), daemon=True)
        watcher.start()
        keeper = threading.Thread(
            target=lease.keep, args=(cluster, holder, over, lambda: alive(parent)), daemon=True
        )
        if holder:
            keeper.start()
        evicted, asked = evictions.Watch(), 0.0
        while time.monotonic() < deadline and not stop.exists() and alive(parent):
            begun = time.monotonic()
            try:
                writer.write(sample(cluster, time.time()))
                taken += 1
            except ClusterError as error:
                print(f"sample missed: {error}", file=sys.stderr)
            if begun - asked >= EVICTION_SECONDS:
                asked = begun
                _evictions(cluster, writer, evicted)
            time.sleep(max(0.05, interval - (time.monotonic() - begun)))
        watched = watcher.is_alive()
        over.set()
        asked_last = _evictions(cluster, writer, evicted)
        if holder:
            # Before the last line: who waits for it may begin the next run at once, or end this machine.
            keeper.join(GIVE_BACK_SECONDS)
        end = {"kind": "end", "t": round(time.time(), 3), "evictionsWatched": asked_last}
        writer.write({**end, "podsWatched": watched})
    return taken


def _evictions(cluster: Cluster, writer: Writer, evicted: evictions.Watch) -> bool:
    """Write what is new; False without an answer, or when nothing was known before this one."""
    begun = evicted.begun
    try:
        for event in evicted.news(cluster):
            told = {"group": event["group"], "message": event["message"]}
            writer.write({"kind": "eviction", "t": round(time.time(), 3), **told})
    except ClusterError as error:
        print(f"evictions not read: {error}", file=sys.stderr)
        return False
    return begun


def main(arguments: list[str] | None = None) -> int:
    """Command line; 1 when the cluster cannot be addressed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kubeconfig", default="")
    parser.add_argument("--context", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--stop", type=Path, required=True)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=14400)
    parser.add_argument("--interval", type=float, default=1.0)
    parser.add_argument("--queue-label-key", default="kai.scheduler/queue")
    parser.add_argument("--holder", default="", help="what the run is called in the Lease")
    given = parser.parse_args(arguments)
    try:
        cluster = Cluster(given.kubeconfig, given.context)
    except ClusterError as error:
        print(error, file=sys.stderr)
        return 1
    taken = run(
        cluster,
        given.out,
        given.stop,
        given.parent,
        given.seconds,
        given.interval,
        given.queue_label_key,
        given.holder,
    )
    print(f"{taken} samples")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
