"""The whole destroy: look, refuse or begin, end workloads, Pulumi, and proof that nothing is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from components.catalog import load_catalog
from day2 import releases
from day2.destroy import engine, holders, lock, marks, people, sweep, unrecorded, webhooks, workloads
from day2.destroy.options import Options
from day2.healing.command import Pulumi
from day2.inventory import Item, inventory
from day2.kinds import Kinds
from day2.releases import ReleaseError, Rendered
from day2.state import ReleaseName, Stack
from day2.stated import Stated, fit, stated
from validation.cluster import Cluster

# Seconds for the cluster's own collection of what has no owner any more.
_COLLECTED = 60.0


class RefusedError(RuntimeError):
    """Nothing was changed; the text says why and what to do."""


class IncompleteError(RuntimeError):
    """Something is left; the text names it and who holds it."""


@dataclass
class Destroy:
    """One destroy. Its steps raise RefusedError, IncompleteError, workloads.StuckError, ClusterError."""

    options: Options
    stack: Stack
    cluster: Cluster
    root: Path
    say: Callable[[str], None]
    _unrecorded: dict[ReleaseName, Rendered] = field(default_factory=dict)
    _stated: list[Stated] = field(default_factory=list)
    _found: list[Item] = field(default_factory=list)
    _crds: list[Item] = field(default_factory=list)

    def look(self) -> None:
        """Read everything and refuse what would hurt other people. Changes nothing."""
        kinds = Kinds(self.cluster)
        self._stated = stated(self.cluster, kinds, self.stack, self._rendered)
        homes = [name for name in self._mine() if name not in self._projects()]
        self._unrecorded = releases.unrecorded(self.cluster, homes, self.stack.releases)
        self._stated += [
            Stated(fit(kinds, body), f"release {name}") for name, body in unrecorded.objects(self._unrecorded)
        ]
        self._found = inventory(self.cluster)
        self._crds = marks.candidates(self.cluster, kinds, self.stack.name, self._stated)
        self._refuse(people.people(self.stack, self._stated, self._found))

    def alone(self) -> None:
        """Refuse where another run holds the stack's lock. To be asked last: from here on it is changed."""
        if why := lock.refusal(Pulumi(self.stack.name, self.root)):
            raise RefusedError(why)

    def begin(self) -> None:
        """What must be out of the way: dead webhooks, workloads, and the mark on what stays."""
        if not self.options.purge:
            marks.mark(self.cluster, self.stack.name, self._crds)
        self._unblock()
        projects = self._projects()
        inside = people.people(self.stack, self._stated, self._found).inside
        tests = [item for item in self._found if item.namespace in projects and people.of_tests(item)]
        workloads.end(
            self.cluster,
            Kinds(self.cluster),
            projects,
            [*inside, *(item for item in tests if not item.owned)],
            self.say,
            self.options.patience,
        )
        unrecorded.remove(self.cluster, Kinds(self.cluster), self._unrecorded, self.say)

    def pulumi(self) -> None:
        """What the stack made, in the reverse of its order."""
        if self.stack.empty():
            return
        code = engine.destroy(self.stack.name, self.root, self.options.patience, self.say)
        if code == 0:
            return
        held = holders.holders(self.cluster, self._mine(), inventory(self.cluster))
        what = (
            "ended with an error" if code else f"stood still for {self.options.patience:g} s and was stopped"
        )
        why = (
            "".join(f"\n  {text}" for text in held)
            or "\n  no finalizer; the lines above say more (a lock of a killed run: make heal)"
        )
        raise IncompleteError(
            f"pulumi destroy {what}; held by:{why}\nexpected nothing to be held; let its controller finish, "
            "or remove the finalizer if that controller is gone for good; the next destroy goes on from here"
        )

    def finish(self) -> None:
        """Leftovers of controllers and agents, the CRDs if asked, and a last look."""
        self._unblock()
        sweep.unlabel(self.cluster, self.say)
        parts = load_catalog().parts.values()
        sweep.orphans(self.cluster, {name for part in parts for name in part.namespaces}, self.say)
        if self.options.purge:
            for crd in self._crds:
                marks.remove(self.cluster, crd)
            self.say(f"purged {len(self._crds)} CRDs")
        elif self._crds:
            self.say(f"left {len(self._crds)} CRDs, which other objects may need; PURGE=1 deletes them, too")
        gone = {crd.name for crd in self._crds} if self.options.purge else set()
        if left := sweep.left(self.cluster, self._mine(), self._stated, gone, _COLLECTED):
            raise IncompleteError("found after the destroy:" + "".join(f"\n  {text}" for text in left))

    def _refuse(self, found: people.People) -> None:
        purged = [crd.name for crd in self._crds] if self.options.purge else []
        if elsewhere := people.instances(self.stack, self._stated, self._found, purged):
            raise RefusedError(
                "PURGE would delete objects that this kit did not make:"
                f"{people.listed(elsewhere)}\nexpected none of these kinds; delete them, or leave PURGE out"
            )
        if found.inside and not self.options.workloads:
            raise RefusedError(
                f"found {len(found.inside)} objects in the kit's namespaces that this kit did not make, "
                f"and that would go with them:{people.listed(found.inside)}\n"
                "move or delete them, or say WORKLOADS=1 to have them deleted"
            )
        if found.outside and not self.options.workloads:
            raise RefusedError(
                f"found {len(found.outside)} objects that would lose the controllers they rely on:"
                f"{people.listed(found.outside)}\n"
                "move or delete them, or say WORKLOADS=1 to leave them without"
            )

    def _rendered(self, cluster: Cluster, release: ReleaseName) -> Rendered:
        """One that was never finished tells by its newest revision, one that was taken away nothing."""
        try:
            return releases.rendered(cluster, release)
        except ReleaseError as error:
            self.say(f"note: {error}")
            return releases.newest(cluster, release) or Rendered((), ())

    def _unblock(self) -> None:
        for path in webhooks.unanswered(self.cluster, self._mine()):
            if self.cluster.delete(path):
                self.say(f"webhook {path.rpartition('/')[2]}: nobody answers it; deleted")

    def _projects(self) -> list[str]:
        return [item.name for item in self.stack.objects if item.is_project() and not item.patch]

    def _mine(self) -> set[str]:
        return {name for name, foreign in self.stack.namespaces().items() if not foreign}
