"""Wait for a test's workloads and queues to reach a state: deadline, progress, reasons for waiting."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from validation import names
from validation.cluster import Cluster
from validation.observe import pods, queues, stuck
from validation.patience import while_hopeful

Json = dict[str, Any]
# Reasons that time does not cure: the queue's numbers forbid the pod, or admission refuses to let it be made.
HOPELESS = {"OverLimit", "NonPreemptibleOverQuota", stuck.REFUSED}


@dataclass(frozen=True)
class Goal:
    """Pods per role that must run, wait with a reason or have ended, and GPUs that a Queue must show."""

    running: Mapping[str, int] = field(default_factory=dict)
    pending: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, float] = field(default_factory=dict)
    finished: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """What was seen in one look."""

    running: dict[str, int]
    waiting: dict[str, int]
    explained: dict[str, int]
    reasons: dict[str, list[Json]]
    queues: dict[str, float]
    finished: dict[str, int] = field(default_factory=dict)

    def reached(self, goal: Goal) -> bool:
        """Is all of the goal met?"""
        return (
            all(self.running.get(role, 0) == n for role, n in goal.running.items())
            and all(self.explained.get(role, 0) == n for role, n in goal.pending.items())
            and all(self.finished.get(role, 0) >= n for role, n in goal.finished.items())
            and all(abs(self.queues.get(q, 0.0) - n) < 1e-6 for q, n in goal.queues.items())
        )

    def impossible(self, goal: Goal) -> bool:
        """A pod that must wait runs; one that must run is refused by its queue's numbers, or has ended."""
        runs_but_must_wait = any(self.running.get(role, 0) for role in goal.pending)
        refused = {
            role
            for role, why in self.reasons.items()
            if role in goal.running and any(r["reason"] in HOPELESS for r in why)
        }
        alive = {**self.running, **self.waiting}
        ended = {role for role in goal.running if self.finished.get(role) and role not in alive}
        return runs_but_must_wait or bool(refused) or bool(ended)

    def line(self) -> str:
        """One line of progress."""
        parts = [f"{role} {n} running" for role, n in sorted(self.running.items())]
        parts += [f"{role} {n} waiting" for role, n in sorted(self.waiting.items()) if n]
        parts += [f"{role} {n} ended" for role, n in sorted(self.finished.items())]
        parts += [f"queue {name} {gpus:g} GPU" for name, gpus in sorted(self.queues.items())]
        return ", ".join(parts) or "no pods yet"


def look(cluster: Cluster, test: str, goal: Goal) -> State:
    """One look at the pods of a test and the queues of the goal."""
    selector = f"{names.TEST_LABEL}={test}"
    everything = cluster.items(names.PODS, labelSelector=selector)
    mine = [p for p in everything if pods.active(p)]
    groups = cluster.items(names.POD_GROUPS) if any(not pods.running(p) for p in mine) else []
    unbound = stuck.of_bindings(cluster, [p for p in mine if not pods.node(p)])
    running: dict[str, int] = {}
    waiting: dict[str, int] = {}
    explained: dict[str, int] = {}
    reasons: dict[str, list[Json]] = {}
    for pod in mine:
        role = pods.label(pod, names.ROLE_LABEL) or ""
        if pods.running(pod):
            running[role] = running.get(role, 0) + 1
            continue
        if "deletionTimestamp" in pod["metadata"]:
            continue
        waiting[role] = waiting.get(role, 0) + 1
        group = queues.group_of(pod, groups)
        why = queues.reasons(group) if group else []
        if why and not pods.node(pod):
            explained[role] = explained.get(role, 0) + 1
        said = [*stuck.of_pod(pod), *unbound.get(pod["metadata"]["uid"], [])]
        if why := [*(why if not pods.node(pod) else []), *said]:
            reasons.setdefault(role, []).extend(why)
    finished: dict[str, int] = {}
    for pod in everything:
        # An evicted pod ends, too, on its way out; its successor counts.
        if not pods.active(pod) and "deletionTimestamp" not in pod["metadata"]:
            role = pods.label(pod, names.ROLE_LABEL) or ""
            finished[role] = finished.get(role, 0) + 1
    if short := [r for r, n in goal.running.items() if running.get(r, 0) + waiting.get(r, 0) < n]:
        for role, why in stuck.of_jobs(cluster, test, short).items():
            reasons.setdefault(role, []).extend(why)
    live = {q["metadata"]["name"]: q for q in cluster.items(names.QUEUES)} if goal.queues else {}
    held = {name: float(queues.allocated(live.get(name))) for name in goal.queues}
    return State(running, waiting, explained, reasons, held, finished)


@dataclass(frozen=True)
class Outcome:
    """How the wait ended; `seconds` from its begin."""

    reached: bool
    seconds: float
    state: State
    why: str


def wait(
    cluster: Cluster,
    test: str,
    goal: Goal,
    timeout: float,
    say: Callable[[str], None] = print,
    interval: float = 0.5,
    hopeless_after: float = 10.0,
) -> Outcome:
    """Look every `interval` seconds until the goal is met, out of reach for a while, or `timeout` ends.

    Never raises on a time-out: the checks judge what is there.
    """
    shown = ""

    def tell(state: State, passed: float) -> None:
        nonlocal shown
        if state.line() != shown:
            shown = state.line()
            say(f"{test} +{passed:.1f} s: {shown}")

    state, passed, end = while_hopeful(
        lambda: look(cluster, test, goal),
        lambda state: state.reached(goal),
        lambda state: state.impossible(goal),
        tell,
        timeout,
        interval,
        hopeless_after,
    )
    if end == "reached":
        return Outcome(True, passed, state, "")
    why = _why(
        state, goal, "cannot be met any more" if end == "hopeless" else f"not met within {timeout:g} s"
    )
    say(f"{test}: {why}")
    return Outcome(False, passed, state, why)


def _why(state: State, goal: Goal, how: str) -> str:
    wanted = [f"{n} {role} running" for role, n in goal.running.items()]
    wanted += [f"{n} {role} pending with a reason" for role, n in goal.pending.items()]
    wanted += [f"{n} {role} ended" for role, n in goal.finished.items()]
    wanted += [f"queue {name} at {n:g} GPU" for name, n in goal.queues.items()]
    reasons = [
        f"{role}: {r['reason']} {r['message']}".strip() for role, why in state.reasons.items() for r in why
    ]
    text = f"goal {how} (wanted {', '.join(wanted)}; found {state.line()})"
    return f"{text}; told reasons: {' | '.join(dict.fromkeys(reasons))}" if reasons else text
