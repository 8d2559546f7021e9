"""kit_observe: read the cluster for one purpose; see validation/observe. Changes nothing but dry runs."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import pictures, timeline
from validation.actions import Json, KitAction
from validation.cluster import ClusterError
from validation.observe import (
    evictions,
    fractional_gpu,
    mnist_training,
    model_streamer,
    preflight,
    reclaim,
    rights,
    teams,
)
from validation.observe.looks import LOOKS
from validation.observe.probes import (
    NAMES_CHECK,
    POLICIES_CHECK,
    Told,
    enforced,
    not_started,
    probes,
    resolved,
)
from validation.observe.snapshot import Snapshot
from validation.observe.watched import Watched
from validation.records import write_atomically


class ActionModule(KitAction):
    """Result: found (by check id, or facts), and for preflight live, seconds, applicable."""

    ARGUMENTS: ClassVar[Json] = {
        "what": {
            "type": "str",
            "required": True,
            "choices": [
                "moment",
                "access",
                "preflight",
                "fractional_gpu",
                "team_start",
                "team_allocations",
                "team_pending",
                "reclaim_fill",
                "reclaim_after",
                "mnist_running",
                "mnist_finished",
                "model_streamer",
                *LOOKS,
            ],
        },
        "arguments": {"type": "dict", "default": {}},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        given = arguments["arguments"]
        at = Snapshot(self.cluster, self.outputs)
        if arguments["what"] in LOOKS:
            watched = Watched(self.records.root / timeline.FILE)
            return {"changed": False, "found": LOOKS[arguments["what"]](at, watched, given)}
        look = getattr(self, f"_{arguments['what']}")
        result: Json = {"changed": False, **look(at, given)}
        return result

    def _moment(self, at: Snapshot, given: Json) -> Json:
        """Facts before a test: capacity, holders of GPUs, allocations, and the time."""
        return {
            "found": {
                **fractional_gpu.before(at),
                "freeGpus": at.capacity.free,
                "scarce": at.capacity.free == at.capacity.unbounded,
                "totalGpus": at.capacity.total,
                "evictions": evictions.seen(at.cluster),
                "epoch": time.time(),
            }
        }

    def _access(self, at: Snapshot, given: Json) -> Json:
        """The first question of a run: does the API server answer, and to whom?"""
        try:
            seen = rights.access(at)
        except ClusterError as error:
            seen = {"error": str(error)}
        return {"found": {"preflight.access": seen}}

    def _preflight(self, at: Snapshot, given: Json) -> Json:
        found, seconds = preflight.observe(at)
        live = preflight.live_facts(at)
        self.records.keep_live(live)
        stopped = given.get("stopped")
        probed, took = (
            not_started(stopped) if stopped else probes(at.cluster, float(given["timeout"]), self.say)
        )
        named, asking = self._names(at, given)
        kept, knocking = self._policies(at, given)
        found = {**found, **probed, **named, **kept}
        return {
            "found": found,
            "seconds": {**seconds, **took, **asking, **knocking},
            "live": live,
            "applicable": preflight.applicable(found),
        }

    def _names(self, at: Snapshot, given: Json) -> Told:
        """The probe of Run:ai's names, where the stack has a control plane."""
        if at.outputs.profile != "full":
            return {NAMES_CHECK: {}}, {NAMES_CHECK: 0.0}
        if stopped := given.get("stopped"):
            return not_started(stopped, (NAMES_CHECK,))
        return resolved(at.cluster, float(given["timeout"]))

    def _policies(self, at: Snapshot, given: Json) -> Told:
        """The probe of what NetworkPolicies keep back, where the stack asks for them."""
        if not at.outputs.networkPolicies:
            return {POLICIES_CHECK: {}}, {POLICIES_CHECK: 0.0}
        if stopped := given.get("stopped"):
            return not_started(stopped, (POLICIES_CHECK,))
        return enforced(at.cluster, float(given["timeout"]))

    def _fractional_gpu(self, at: Snapshot, given: Json) -> Json:
        return {"found": fractional_gpu.observe(at, given["before"], given["queue"])}

    def _team_start(self, at: Snapshot, given: Json) -> Json:
        return {"found": {"over_quota.start": teams.start(at, given["queues"])}}

    def _team_allocations(self, at: Snapshot, given: Json) -> Json:
        return {
            "found": {
                t["project"]: teams.allocation(at, t["queue"], t["departmentQueue"]) for t in given["teams"]
            }
        }

    def _team_pending(self, at: Snapshot, given: Json) -> Json:
        return {
            "found": {
                "over_quota.limit": teams.pending(at, "over_quota", given["role"]),
                "over_quota.foreign": self._foreign(at, given["since"]),
            }
        }

    def _reclaim_fill(self, at: Snapshot, given: Json) -> Json:
        return {"found": {"reclaim.fill": reclaim.fill(at)}}

    def _reclaim_after(self, at: Snapshot, given: Json) -> Json:
        lives = timeline.lives(timeline.read(self.records.root / timeline.FILE), reclaim.TEST)
        found = reclaim.after(at, lives, given["protected"], float(given["claimed"]))
        return {"found": {**found, "reclaim.foreign": self._foreign(at, given["since"])}}

    def _mnist_running(self, at: Snapshot, given: Json) -> Json:
        return {"found": mnist_training.running(at, given["before"], given["queue"])}

    def _mnist_finished(self, at: Snapshot, given: Json) -> Json:
        found = mnist_training.finished(at, given["before"], given["queue"])
        picture = pictures.loss_per_epoch(found["mnist_training.loss"]["losses"])
        if not picture:
            return {"found": found, "pictures": []}
        file = self.records.evidence(mnist_training.TEST) / "loss.svg"
        write_atomically(file, picture)
        return {"found": found, "pictures": [str(file.relative_to(self.records.root))]}

    def _model_streamer(self, at: Snapshot, given: Json) -> Json:
        return {"found": model_streamer.observe(at)}

    def _foreign(self, at: Snapshot, before: Json) -> Json:
        seen = evictions.since(at.cluster, before)
        return {
            "evicted": evictions.foreign(seen),
            "evictionsOfTheTest": len(seen) - len(evictions.foreign(seen)),
        }
