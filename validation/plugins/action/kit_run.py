"""kit_run: begin a run (records folder, plan of tests chosen by tags) and tell the ids the sampler needs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import ClassVar

if (_ROOT := str(Path(__file__).resolve().parents[3])) not in sys.path:
    sys.path.insert(0, _ROOT)

from validation import declared, lease, reuse
from validation.actions import Json, KitAction
from validation.cluster import Cluster, ClusterError
from validation.plan import plan
from validation.report import facts

# Facts for the report's first page are not waited for as long as checks are.
FACTS_SECONDS = 4.0


class ActionModule(KitAction):
    """Result: tests (chosen), parent (process id of ansible-playbook), looked (preflight is taken over).

    And holder: what this run is called in the Lease, which preflight takes for it.
    """

    ARGUMENTS: ClassVar[Json] = {
        "tags": {"type": "list", "elements": "str", "default": ["all"]},
        "skip_tags": {"type": "list", "elements": "str", "default": []},
        "tests": {"type": "list", "elements": "str", "default": []},
        "preflight_of": {"type": "str", "default": ""},
    }

    def act(self, arguments: Json) -> Json:
        """See the class."""
        outputs = self.outputs
        unknown = set(arguments["tests"]) - set(declared.tests())
        if unknown:
            raise ValueError(f"unknown tests {sorted(unknown)}; there are {', '.join(declared.tests())}")
        chosen = arguments["tests"] or declared.chosen(arguments["tags"], arguments["skip_tags"])
        cluster = self._cluster_facts()
        self.records.start(plan(outputs, chosen, cluster))
        (self.records.root / "timeline.jsonl").unlink(missing_ok=True)
        (self.records.root / "sampler.stop").unlink(missing_ok=True)
        holder = lease.holder(self.records.run(), self.records.root)
        self.records.amend(holder=holder)
        earlier = arguments["preflight_of"]
        if earlier:
            self.records.amend(preflightOf=reuse.take(self.records, Path(earlier), cluster))
            # Without a preflight of its own that would take it.
            self._take(holder)
        return {
            "changed": True,
            "tests": chosen,
            "parent": os.getppid(),
            "looked": bool(earlier),
            "holder": holder,
        }

    def _take(self, holder: str) -> None:
        if other := lease.take(self.cluster, holder, self.say):
            raise ValueError(
                f"kit_preflight_of: found a run at work on this cluster: {other}; expected none; "
                "wait for its end, or end it"
            )

    def _cluster_facts(self) -> Json:
        # A kubeconfig that cannot be used is preflight's to tell; the plan is written all the same.
        try:
            return facts.observe(Cluster(self.outputs.kubeconfig, self.outputs.context, FACTS_SECONDS))
        except ClusterError as error:
            return {"error": str(error)}
