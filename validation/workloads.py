"""Descriptions of workloads: many of one kind, and completed by their project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from validation.settings import StackOutputs

Json = dict[str, Any]


def jobs(count: int, name: str, **item: Any) -> list[Json]:
    """`count` workloads `<name>-1` … `<name>-<count>` of one gpu each, unless item says otherwise."""
    return [{"name": f"{name}-{number}", "gpus": 1, **item} for number in range(1, count + 1)]


def named(entries: Sequence[Json], name: str, **item: Any) -> list[Json]:
    """A plan's entries as workloads `<name>-1` … `<name>-<count>`."""
    return [{"name": f"{name}-{number}", **entry, **item} for number, entry in enumerate(entries, 1)]


def halves(numbers: Sequence[int], name: str, **item: Any) -> list[Json]:
    """Workloads `<name>-<number>` of half a GPU."""
    return [{"name": f"{name}-{number}", "gpuFraction": 0.5, **item} for number in numbers]


def complete(items: Sequence[Json], outputs: StackOutputs, image: str, command: Sequence[str]) -> list[Json]:
    """Workloads with namespace and queue of their project and the defaults; what an item says itself wins."""
    done = []
    for item in items:
        project = outputs.project(item["project"])
        base: Json = {
            "namespace": project.namespace,
            "queue": project.queue,
            "kind": "training",
            "image": image,
            "command": list(command),
        }
        done.append({**base, **item})
    return done
