"""V3 and V4: observations against expectations, right and wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.validation.double import Double, group, node, pod, queue, reason
from validation import names
from validation.compare import differences
from validation.expect import over_quota, reclaim
from validation.observe import evictions, queues, teams
from validation.observe import reclaim as observe
from validation.settings import load
from validation.timeline import lives

Json = dict[str, Any]
MESSAGE = (
    "engineering quota has reached the allowable limit of GPUs. "
    "Limit is 4 GPUs, currently 4 GPUs allocated and workload requested 1 GPUs"
)


def bed(
    first: int = 4, second: int = 2, extra_runs: bool = False, why: str = "OverLimit", limit: int = 4
) -> Double:
    cluster = Double().add(names.NODES, node("w1"), node("w2"))
    jobs = [(f"runai-kit-a-{n}", "team-a", "first", "Running") for n in range(first)]
    jobs += [(f"runai-kit-b-{n}", "team-b", "second", "Running") for n in range(second)]
    jobs += [("runai-kit-extra", "team-a", "extra", "Running" if extra_runs else "Pending")]
    for number, (name, project, role, phase) in enumerate(jobs):
        where = f"w{number % 2 + 1}" if phase == "Running" else None
        cluster.add(
            names.PODS,
            pod(name, f"runai-{project}", where, 1, phase, "over_quota", role),
        )
        status = (
            {"schedulingConditions": [reason(why, "engineering", MESSAGE, limit)]}
            if phase == "Pending"
            else {}
        )
        cluster.add(names.POD_GROUPS, group(name, project, f"runai-{project}", status))
    held = first + extra_runs
    cluster.add(
        names.QUEUES,
        queue("engineering", allocated=str(held)),
        queue("team-a", "engineering", allocated=str(held)),
        queue("research", allocated=str(second)),
        queue("team-b", "research", allocated=str(second)),
    )
    return cluster


def failed(cluster: Double) -> set[str]:
    at = cluster.at()
    first, second = over_quota.teams(at.outputs, [])
    wanted = over_quota.expected(over_quota.plan(first, second, 8))
    both = {t.project: teams.allocation(at, t.queue, t.departmentQueue) for t in (first, second)}
    found = {"over_quota.both": both, "over_quota.limit": teams.pending(at, "over_quota", "extra")}
    return {check for check in found if differences(wanted[check], found[check])}


@pytest.mark.req("V3")
@pytest.mark.parametrize(
    ("cluster", "wrong"),
    [
        (bed(), set()),
        (bed(first=3), {"over_quota.both"}),
        (bed(limit=3), {"over_quota.limit"}),
        (bed(extra_runs=True), {"over_quota.both", "over_quota.limit"}),
        (bed(second=1), {"over_quota.both"}),
        (bed(why="PodSchedulingErrors"), {"over_quota.limit"}),
    ],
)
def test_allocations_and_the_reason(cluster: Double, wrong: set[str]) -> None:
    assert failed(cluster) == wrong


@pytest.mark.req("V3")
def test_queue_status_and_pods_are_counted_separately() -> None:
    cluster = bed()
    # The status says four, one of the pods is not there.
    cluster.objects[names.PODS].pop(0)
    assert failed(cluster) == {"over_quota.both"}


@pytest.mark.req("V3")
def test_a_changed_quota_is_seen_even_with_the_right_allocation() -> None:
    cluster = bed()
    cluster.objects[names.QUEUES][1]["spec"]["resources"]["gpu"]["quota"] = 1
    assert failed(cluster) == {"over_quota.both"}


@pytest.mark.req("V3")
def test_evictions_of_others_are_told_from_those_of_the_test() -> None:
    cluster = Double()

    def event(name: str, count: int = 1) -> Json:
        target = {"namespace": "ns", "name": name}
        meta = {"name": f"e-{name}", "uid": f"e-{name}"}
        return {"metadata": meta, "reason": "Evict", "count": count, "involvedObject": target}

    cluster.add(names.EVENTS, event("pg-old"), event("pg-again"))
    before = evictions.seen(cluster.cluster)
    cluster.objects[names.EVENTS][1]["count"] = 2
    cluster.add(names.EVENTS, event("pg-runai-kit-reclaim-a-1-x-uid"), event("pg-theirs"))
    assert evictions.foreign(evictions.since(cluster.cluster, before)) == ["ns/pg-again", "ns/pg-theirs"]


@pytest.mark.req("V1")
@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ({"priorityClassName": "train"}, True),
        ({"priorityClassName": "build"}, False),
        ({"priorityClassName": "build", "preemptibility": "preemptible"}, True),
        ({"priorityClassName": "train", "preemptibility": "non-preemptible"}, False),
        ({}, True),
    ],
)
def test_who_can_be_evicted(spec: Json, answer: bool) -> None:
    assert queues.preemptible({"spec": spec}, {"train": 50, "build": 100}) is answer
    assert queues.preemptible(None, {})


LIMIT = reclaim.plan(8)


def watched(evicted: list[str], claim_runs: bool = True) -> list[Json]:
    lines: list[Json] = []

    def line(t: float, name: str, role: str, queue_name: str, phase: str, deleting: bool = False) -> None:
        state = {"role": role, "queue": queue_name, "phase": phase, "deleting": deleting, "api": {}}
        about = {"kind": "pod", "type": "MODIFIED", "name": name, "uid": f"uid-{name}", "test": "reclaim"}
        lines.append({**about, **state, "t": t})

    for n in range(7):
        line(1, f"runai-kit-a-{n}", "filler", reclaim.VICTIM, "Running")
    line(1, "runai-kit-p", "protected", reclaim.VICTIM, "Running")
    for name in evicted:
        role = "protected" if name == "runai-kit-p" else "filler"
        line(101.5, name, role, reclaim.VICTIM, "Running", deleting=True)
    for n in range(2):
        line(100, f"runai-kit-b-{n}", "claimant", reclaim.CLAIMANT, "Pending")
        if claim_runs:
            line(104.25, f"runai-kit-b-{n}", "claimant", reclaim.CLAIMANT, "Running")
    return lines


def after(evicted: list[str], claim_runs: bool = True) -> Json:
    cluster = Double().add(names.NODES, node("w1"), node("w2"))
    for n in range(7):
        if f"runai-kit-a-{n}" not in evicted:
            cluster.add(names.PODS, pod(f"runai-kit-a-{n}", gpus=1, test="reclaim", role="filler"))
    cluster.add(names.PODS, pod("runai-kit-p", gpus=1, test="reclaim", role="protected"))
    for n in range(2 if claim_runs else 0):
        cluster.add(names.PODS, pod(f"runai-kit-b-{n}", gpus=1, test="reclaim", role="claimant"))
    held = "2" if claim_runs else "0"
    cluster.add(
        names.QUEUES,
        queue(reclaim.VICTIM, reclaim.DEPARTMENT, allocated=str(8 - len(evicted))),
        queue(reclaim.CLAIMANT, reclaim.DEPARTMENT, allocated=held),
    )
    uids = {"runai-team-a/runai-kit-p": "uid-runai-kit-p"}
    return observe.after(cluster.at(), lives(watched(evicted, claim_runs), "reclaim"), uids, claimed_at=99.0)


@pytest.mark.req("V4")
@pytest.mark.parametrize(
    ("evicted", "claim_runs", "wrong"),
    [
        (["runai-kit-a-5", "runai-kit-a-6"], True, set()),
        (["runai-kit-a-4", "runai-kit-a-5", "runai-kit-a-6"], True, {"victims", "reclaimed"}),
        (["runai-kit-p", "runai-kit-a-6"], True, {"victims"}),
        ([], False, {"victims", "reclaimed", "latency"}),
    ],
)
def test_reclaim_in_both_directions(evicted: list[str], claim_runs: bool, wrong: set[str]) -> None:
    wanted = reclaim.expected(LIMIT, timeout=60)
    found = after(evicted, claim_runs)
    assert {c for c in found if differences(wanted[c], found[c])} == {f"reclaim.{w}" for w in wrong}


@pytest.mark.req("V4")
def test_latency_and_order_come_from_the_watch() -> None:
    found = after(["runai-kit-a-5", "runai-kit-a-6"])
    assert found["reclaim.latency"]["seconds"] == 4.25
    assert found["reclaim.victims"]["order"] == ["+2.500 s runai-kit-a-5", "+2.500 s runai-kit-a-6"]


@pytest.mark.req("V3")
def test_outputs_of_the_bed_are_valid() -> None:
    assert load(Double().at().outputs.model_dump()).environment == "local"
