"""A whole run in parts: what runs alone, then chains beside each other, then the report."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation import cleanup, declared
from validation.chains import pool
from validation.chains.claims import GPU
from validation.chains.processes import Part, play
from validation.chains.schedule import Schedule, bounds, plan
from validation.cluster import Cluster, ClusterError
from validation.expect.nodes import bed
from validation.files import write_atomically
from validation.gate import decide
from validation.observe import nodes
from validation.observe.snapshot import Snapshot
from validation.records import Records
from validation.report.gantt import ALONE
from validation.settings import StackOutputs

Json = dict[str, Any]


@dataclass
class Run:
    """`root`: the project; `inventory`: relative to it; `report`: the run's folder."""

    root: Path
    inventory: Path
    report: Path
    outputs: StackOutputs
    say: Callable[[str], None] = print

    def __post_init__(self) -> None:
        self.records = Records(self.report)
        self.cluster = Cluster(self.outputs.kubeconfig, self.outputs.context)

    def schedule(self, tests: list[str]) -> Schedule:
        """From what is free now; ClusterError when the cluster cannot be asked."""
        found = nodes.facts(Snapshot(self.cluster, self.outputs))
        return plan(self.outputs, bed(found), tests)

    def play(self, schedule: Schedule) -> int:
        """Carry it out; the worst status of a playbook, that of the report if nothing went wrong before."""
        begin = {"kit_tests": [*schedule.alone, *schedule.beside], "kit_part": "begin"}
        self.records.forget()
        try:
            statuses = [self._alone("alone", schedule.alone, begin)]
            if not self.records.begun:
                return statuses[0] or 1
            statuses += self._later(schedule)
            statuses.append(self._alone("report", (), {"kit_part": "end"}))
        finally:
            shutil.rmtree(self.report / "chains", ignore_errors=True)
        return next((status for status in statuses if status), 0)

    def _later(self, schedule: Schedule) -> list[int]:
        """The chains; one test after the other where nothing can be lent now."""
        tests = schedule.beside
        if not tests:
            self._tell(schedule, schedule.why)
            return []
        if why := self._refused(tests[0]):
            # Nothing is cleared either: preflight may have refused because of another run's objects.
            self._tell(schedule, why)
            return [self._alone("rest", tests, {"kit_part": "middle"})]
        try:
            why = self._lend(schedule)
            self._tell(schedule, why)
            if not why:
                parts = [self._chain(schedule, name) for name in schedule.chains]
                return list(play(parts, self.inventory, self.root).values())
        finally:
            self._clear(tests)
        return [self._alone("rest", tests, {"kit_part": "middle"})]

    def _refused(self, test: str) -> str:
        """Preflight's refusal: then nothing is lent, and the tests tell it themselves."""
        decision = decide(declared.tests()[test], self.records.recorded(), {}, self.records.live())
        return "" if decision.run else f"preflight refused the tests ({decision.reason})"

    def _lend(self, schedule: Schedule) -> str:
        try:
            pool.lend(self.cluster, self.outputs, schedule.nodes)
        except ClusterError as error:
            return str(error)
        return ""

    def _clear(self, tests: tuple[str, ...]) -> None:
        """What a chain that was ended left of a test, and the pool; a chain that went well left nothing."""
        try:
            for test in tests:
                if self.records.opened(test) and self.records.missing(test):
                    self.say(f"{test} was ended before its last check; removing what it left")
                    cleanup.remove(self.cluster, self.outputs.reservationNamespace, test)
            left = pool.give_back(self.cluster, self.outputs)
        except ClusterError as error:
            left = [str(error)]
        if left:
            self.say(f"Left of the chains: {', '.join(left)}; the next run's preflight removes it")

    def _chain(self, schedule: Schedule, name: str) -> Part:
        seen = bounds(self.outputs, name, schedule.most.get(name, 0))
        return self._part(name, schedule.chains[name], {"kit_part": "middle"}, seen)

    def _alone(self, name: str, tests: tuple[str, ...], variables: Json) -> int:
        part = self._part(name, tests, variables, self.outputs)
        return play([part], self.inventory, self.root)[name]

    def _part(self, name: str, tests: tuple[str, ...], variables: Json, seen: StackOutputs) -> Part:
        file = self.report / "chains" / f"{name}.json"
        write_atomically(file, json.dumps(seen.model_dump()))
        environment = {**os.environ, "KIT_OUTPUTS_FILE": str(file), "KIT_REPORT_DIR": str(self.report)}
        return Part(name, tests, {**variables, "kit_owner": os.getpid()}, environment)

    def _tell(self, schedule: Schedule, why: str) -> None:
        """Into the plan of the run, for the report; `why` there are no chains."""
        chains = {} if why else {test: schedule.chain_of(test) or ALONE for test in declared.tests()}
        lent = ", ".join(schedule.nodes)
        beside = f"Chain {GPU} had {lent} to itself, in a node pool that was made for it."
        note = f"No chains: {why}." if why else beside
        self.records.amend(chains=chains, chainsNote=note)
        self.say(note)
