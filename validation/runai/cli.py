"""The same in the words of the CLI (`runai` version 2), for people who follow along.

Flags: NVIDIA Run:ai CLI reference, self-hosted: `runai training standard submit`, `runai workspace submit`,
`runai inference standard submit`. Nothing here is run.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from validation.runai.kinds import KINDS, Kind
from validation.runai.requests import (
    NOTEBOOK_PORT,
    SERVER_PORT,
    TOKEN_FILE,
    TOKEN_FOLDER,
    WORK,
)
from validation.runai.spec import FILES, preemptibility

Json = dict[str, Any]


def login(cluster: str) -> list[str]:
    """Before anything else; the password is asked for."""
    return ["runai login user -u <user>", f"runai cluster set {shlex.quote(cluster)}"]


def submit(item: Json) -> list[str]:
    """Commands that submit a workload, those first that make what it mounts."""
    kind = _kind(item)
    words = ["runai", *kind.word.split(), "submit", item["name"], "-p", item["project"], "-i", item["image"]]
    words += [*_gpus(item), *_machine(item), *_volumes(item), *_variables(item), *_own(kind, item)]
    words += ["--preemptibility", preemptibility(item), "--command", "--", *item["command"]]
    return [*_before(item), shlex.join(words), *_unsaid(item)]


def look(items: Sequence[Json]) -> list[str]:
    """Commands that show what became of workloads: state, details, log."""
    found = [
        f"runai {KINDS[kind].word} list -p {shlex.quote(project)}"
        for kind, project in dict.fromkeys((_kind(item).name, item["project"]) for item in items)
    ]
    for item in items:
        place = f"{item['name']} -p {shlex.quote(item['project'])}"
        found += [f"runai {_kind(item).word} {verb} {place}" for verb in ("describe", "logs")]
    return found


def shares() -> list[str]:
    """Commands that show who holds how many GPUs."""
    return ["runai project list", "runai department list", "runai nodepool list"]


def delete(items: Sequence[Json]) -> list[str]:
    """Commands that remove workloads."""
    return [
        f"runai {_kind(item).word} delete {item['name']} -p {shlex.quote(item['project'])}" for item in items
    ]


def _kind(item: Json) -> Kind:
    return KINDS[item.get("kind", "training")]


def _gpus(item: Json) -> list[str]:
    if item.get("gpuFraction"):
        part = ["--gpu-request-type", "portion", "--gpu-portion-request", str(item["gpuFraction"])]
        return ["-g", "1", *part]
    if item.get("gpuMemory"):
        return ["-g", "1", "--gpu-request-type", "memory", "--gpu-memory-request", f"{item['gpuMemory']}Mi"]
    return ["-g", str(item["gpus"])] if item.get("gpus") else []


def _machine(item: Json) -> Iterator[str]:
    if item.get("cpu"):
        # The CLI counts cores and knows no thousandths.
        text = str(item["cpu"])
        yield from ("--cpu-core-request", f"{int(text[:-1]) / 1000:g}" if text.endswith("m") else text)
    if item.get("memory"):
        yield from ("--cpu-memory-request", item["memory"], "--cpu-memory-limit", item["memory"])
    if item.get("largeShm"):
        yield "--large-shm"


def _volumes(item: Json) -> Iterator[str]:
    for claim in item.get("pvcs") or []:
        yield from ("--existing-pvc", f"claimname={claim['name']},path={claim['path']}")
    if item.get("files"):
        yield from ("--configmap-map-volume", f"name={item['name']},path={FILES}")


def _variables(item: Json) -> Iterator[str]:
    for name, value in (item.get("environment") or {}).items():
        yield from ("-e", f"{name}={value}")


def _own(kind: Kind, item: Json) -> list[str]:
    """Flags that only this kind has."""
    if kind.name == "workspace":
        return [
            *("--external-url", f"container={item.get('port') or NOTEBOOK_PORT}"),
            *("--secret-volume", f"path={TOKEN_FOLDER},name={item['name']}-token"),
            *("--empty-dir-volume", f"name=work,path={WORK}"),
            *("-e", "HOME=/tmp", "-e", f"JUPYTER_TOKEN_FILE={TOKEN_FILE}"),
        ]
    if kind.name == "inference":
        return [
            *("--serving-port", str(item.get("port") or SERVER_PORT)),
            *(
                "--min-replicas",
                str(item.get("minReplicas", 1)),
                "--max-replicas",
                str(item.get("maxReplicas") or 1),
            ),
            *("--initialization-timeout-seconds", str(item.get("initializationTimeoutSeconds") or 600)),
        ]
    retries = item.get("retries")
    return [] if retries is None else ["--backoff-limit", str(retries)]


def _before(item: Json) -> list[str]:
    """What lies in the namespace before the workload, which the CLI does not make."""
    where = f"-n {item['namespace']}"
    found = []
    if item.get("files"):
        files = " ".join(f"--from-file={name}" for name in item["files"])
        found.append(f"kubectl create configmap {item['name']} {where} {files}")
    if _kind(item).name == "workspace":
        found.append(
            f"openssl rand -hex 32 | kubectl create secret generic {item['name']}-token {where} "
            "--from-file=token=/dev/stdin"
        )
    return found


def _unsaid(item: Json) -> list[str]:
    """What the CLI has no flag for, as a remark."""
    kept = [key for key in ("nodeSelector", "windowSeconds") if item.get(key)]
    return (
        [f"# {item['name']}: the CLI has no flag for {', '.join(kept)}; driver runai states it"]
        if kept
        else []
    )
