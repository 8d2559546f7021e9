"""V7 as the API, the container and its log show it."""

from __future__ import annotations

import re
import time
from itertools import pairwise
from typing import Any

from validation import names
from validation.cluster import Cluster, ClusterError
from validation.observe import pods, queues
from validation.observe.holding import holding, uuids_in
from validation.observe.snapshot import Snapshot
from validation.quantity import tidy

Json = dict[str, Any]
TEST = "mnist_training"
ROLE = "train"
SHM = "/dev/shm"  # noqa: S108 (a path in the pod)
EPOCH = re.compile(r"^Epoch (\d+)/\d+ loss=([0-9.]+|nan|inf) time=([0-9.]+)s$", re.MULTILINE)
ACCURACY = re.compile(r"^Test accuracy: (\d+)/(\d+) ", re.MULTILINE)
DATA_SET = re.compile(r"^Data set: (\d+) \+ (\d+) images, served by (\S+)$", re.MULTILINE)
REFUSED = re.compile(r"^Data set: (\S+) does not serve it", re.MULTILINE)


def _mine(at: Snapshot) -> list[Json]:
    return [p for p in at.mine(TEST) if pods.label(p, names.ROLE_LABEL) == ROLE]


def running(at: Snapshot, then: Json, queue: str) -> Json:
    """While it trains: what it holds, and its /dev/shm."""
    mine = _mine(at)
    held = holding(at, mine, then, queue)
    pod = next((p for p in mine if pods.running(p)), None)
    if pod is None:
        nothing = {"error": f"no running pod of role {ROLE}: {held['pods'] or 'no pod at all'}"}
        return {"mnist_training.running": nothing, "mnist_training.shm": nothing}
    inside = uuids_in(_said(at.cluster, pod, ["nvidia-smi", "-L"]))
    return {
        "mnist_training.running": {
            **held,
            "uuidsInPod": len(inside),
            "sameAsKubelet": inside == held["uuids"],
            "inPod": inside,
        },
        "mnist_training.shm": shm(pod, _said(at.cluster, pod, ["df", "-B1", "--output=size,fstype", SHM])),
    }


def shm(pod: Json, df: str) -> Json:
    """The volume at /dev/shm as the pod states it, and its size as `df` in the container prints it."""
    mounts = [
        m["name"]
        for c in pod["spec"]["containers"]
        for m in c.get("volumeMounts", [])
        if m["mountPath"] == SHM
    ]
    volumes = [v for v in pod["spec"].get("volumes", []) if v["name"] in mounts]
    *_, size, kind = ["", "", *df.split()]
    return {
        "medium": volumes[0].get("emptyDir", {}).get("medium", "")
        if len(volumes) == 1
        else "no volume of its own",
        "filesystem": kind,
        "mebibytes": int(size) // 2**20 if size.isdigit() else None,
        "df": df.strip(),
    }


def finished(at: Snapshot, then: Json, queue: str, patience: float = 15) -> Json:
    """After its pod has ended: how, and what it printed; the Job follows its pod within `patience` s."""
    mine = _mine(at)
    text = _log(at.cluster, mine[0]) if len(mine) == 1 else ""
    deadline = time.monotonic() + (patience if at.outputs.driver == "kai" else 0)
    while not (states := _job_states(at.cluster)) and time.monotonic() < deadline:
        time.sleep(0.5)
    return {**printed(text), "mnist_training.completed": _ended(at, mine, states, text, then, queue)}


def _job_states(cluster: Cluster) -> list[str]:
    selector = f"{names.TEST_LABEL}={TEST},{names.ROLE_LABEL}={ROLE}"
    return [
        str(condition["type"])
        for job in cluster.items(names.JOBS, labelSelector=selector)
        for condition in job.get("status", {}).get("conditions") or []
        if condition["status"] == "True" and condition["type"] in ("Complete", "Failed")
    ]


def _ended(at: Snapshot, mine: list[Json], states: list[str], text: str, then: Json, queue: str) -> Json:
    phases = sorted({str(p["status"].get("phase")) for p in mine})
    lines = text.strip().splitlines()
    succeeded = phases == ["Succeeded"]
    return {
        "phase": phases[0] if len(phases) == 1 else ", ".join(phases) or "no pod",
        "job": ", ".join(states) or "neither complete nor failed",
        # The program's last word tells why.
        "problem": "" if succeeded else (lines[-1] if lines else "the pod printed nothing"),
        "queueAllocated": tidy(queues.allocated(at.queues.get(queue)) - then["allocated"].get(queue, 0)),
    }


def printed(text: str) -> Json:
    """Device, data set, loss per epoch, accuracy and last line of a training's log."""
    losses = [float(loss) for _, loss, _ in EPOCH.findall(text)]
    accuracy = ACCURACY.search(text)
    data = DATA_SET.search(text)
    gpu, cpu = (
        re.search(r"^GPU: (.+)$", text, re.MULTILINE),
        re.search(r"^Device: cpu.*$", text, re.MULTILINE),
    )
    return {
        "mnist_training.device": {
            "device": "cuda" if gpu else "cpu" if cpu else "not printed",
            "said": (gpu or cpu or [""])[0],
        },
        "mnist_training.dataset": {
            "train": int(data.group(1)) if data else None,
            "test": int(data.group(2)) if data else None,
            "origin": data.group(3) if data else "",
            "refused": REFUSED.findall(text),
        },
        "mnist_training.loss": {
            "epochs": len(losses),
            "falls": len(losses) > 1 and all(b < a for a, b in pairwise(losses)),
            "lastToFirst": round(losses[-1] / losses[0], 4) if losses and losses[0] else None,
            "losses": losses,
            "seconds": [float(took) for _, _, took in EPOCH.findall(text)],
        },
        "mnist_training.accuracy": {
            "correct": int(accuracy.group(1)) if accuracy else None,
            "images": int(accuracy.group(2)) if accuracy else None,
        },
        "mnist_training.last_line": {"line": (text.strip().splitlines() or [""])[-1]},
    }


def _log(cluster: Cluster, pod: Json) -> str:
    try:
        return cluster.logs(pod["metadata"]["namespace"], pod["metadata"]["name"])
    except ClusterError:
        return ""


def _said(cluster: Cluster, pod: Json, command: list[str]) -> str:
    try:
        return cluster.execute(pod["metadata"]["namespace"], pod["metadata"]["name"], command)
    except ClusterError as error:
        return str(error)
