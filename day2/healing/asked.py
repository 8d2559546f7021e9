"""What a dead run left in the state, although asking for the lock has written to it.

Refreshing nothing but the root writes the state down as it was, but for operations other than creations:
Pulumi takes these for ended.
"""

from __future__ import annotations

from day2.healing.command import Json

_CREATING = "creating"
_ROOT = "pulumi:pulumi:Stack"


def left(before: Json, now: Json) -> Json:
    """The state `now`, after a lock was found free, with the operations that the question took out of it.

    A run that ended between the two has written the state itself: then nothing of `before` holds any more.
    """
    pending = _pending(now)
    if _written(before) != _written(now):
        return now
    there = {_key(item) for item in pending}
    taken = [item for item in _pending(before) if _key(item) not in there]
    return now | {"pending_operations": [*pending, *taken]}


def _written(state: Json) -> tuple[set[tuple[object, ...]], set[tuple[str, str]]]:
    """What every run changes and the question does not: when resources were written, and creations."""
    resources = {
        tuple(item.get(key) for key in ("urn", "id", "modified", "delete"))
        for item in state.get("resources") or []
        if item["type"] != _ROOT
    }
    return resources, {_key(item) for item in _pending(state) if item["type"] == _CREATING}


def _pending(state: Json) -> list[Json]:
    return state.get("pending_operations") or []


def _key(operation: Json) -> tuple[str, str]:
    return operation["type"], operation["resource"]["urn"]
