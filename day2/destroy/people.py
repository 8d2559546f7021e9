"""What people put into the cluster that a destroy would take away, or leave without its controllers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from components.kai.inputs import NAME as HOME
from day2.drift.owned import owned
from day2.inventory import Item
from day2.managers import provider
from day2.state import Stack
from day2.stated import Stated, crds
from validation import names

# Made by KAI's binder while somebody's pod holds a part of a GPU.
_RESERVATION = "gpu-reservation"
# Config and SchedulingShard: there is one installation of KAI in a cluster, and its parts are its own.
_KAI = "kai.scheduler"


@dataclass(frozen=True)
class People:
    """`inside` goes with the kit's namespaces; `outside` is of kinds that the kit brought, elsewhere."""

    inside: tuple[Item, ...]
    outside: tuple[Item, ...]


def people(stack: Stack, everything: Iterable[Stated], found: Iterable[Item]) -> People:
    """Everything that neither the kit, nor its tests, nor a controller made."""
    everything = list(everything)
    stated = {item.key() for item in everything}
    mine = _mine(stack)
    projects = {item.name for item in stack.objects if item.is_project()}
    brought = {item.name for item in crds(everything)}
    inside, outside = [], []
    for item in found:
        if (item.kind, item.namespace, item.name) in stated or item.owned or item.deleting or _known(item):
            continue
        if item.namespace in mine - projects and by_pulumi(item):
            # Of a release that was killed while it was installed: the state does not know it yet.
            continue
        if item.namespace in mine:
            inside.append(item)
        elif item.resource in brought:
            outside.append(item)
    return People(tuple(inside), tuple(outside))


def instances(
    stack: Stack, everything: Iterable[Stated], found: Iterable[Item], going: Iterable[str]
) -> list[Item]:
    """Objects that would go with the CRDs of these names, and are not of this installation.

    What is in the kit's own namespaces is told by `people`: it goes with those.
    """
    found, going = list(found), set(going)
    stated, mine = {item.key() for item in everything}, _mine(stack)
    # Where KAI's home is there without this stack, KAI is another installation's.
    homes = {item.name for item in found if item.kind == "Namespace"} - set(stack.namespaces())
    return [
        item
        for item in found
        if item.resource in going
        and (item.kind, item.namespace, item.name) not in stated
        and item.namespace not in mine
        and not (item.owned or item.deleting)
        and (not _known(item) or (HOME in homes and item.group == _KAI and by_pulumi(item)))
    ]


def _mine(stack: Stack) -> set[str]:
    return {name for name, foreign in stack.namespaces().items() if not foreign}


def _known(item: Item) -> bool:
    """Whether it is of the kit's tests, or what a controller makes."""
    if of_tests(item):
        return True
    if item.group == _KAI and by_pulumi(item):
        return True
    if item.kind == "Queue" and item.name in names.INSTALLER_QUEUES:
        return True
    reservation = item.kind == "Pod" and item.name.startswith(_RESERVATION)
    return reservation or owned().object(item.kind, item.name) is not None


def by_pulumi(item: Item) -> bool:
    """Whether this kit's provider wrote it."""
    return provider(item.managers)


def of_tests(item: Item) -> bool:
    """Whether a test of the kit made it."""
    return item.labels.get(names.PART_OF_LABEL) == names.PART_OF


def listed(items: Iterable[Item], most: int = 12) -> str:
    """Names of objects, one a line."""
    texts = sorted(map(str, items))
    more = [f"… and {len(texts) - most} more"] if len(texts) > most else []
    return "".join(f"\n  {text}" for text in [*texts[:most], *more])
