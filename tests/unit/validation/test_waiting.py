"""Waiting, cleaning up, evidence and the sampler."""

from __future__ import annotations

import io
import json
import os
import threading
import time
from pathlib import Path
from typing import Any, cast

import pytest

from tests.unit.validation.double import Double, group, pod, queue, reason, thing
from validation import cleanup, evidence, names, sampler, timeline
from validation.cluster import Cluster
from validation.observe import probes
from validation.observe.admission import PROBE_NAMESPACE
from validation.waiting import Goal, wait

Json = dict[str, Any]
RESERVATION = "kai-resource-reservation"


def bed(running: int, pending: int, why: str = "OverLimit") -> Double:
    cluster = Double().add(names.QUEUES, queue("team-a", allocated=str(running)))
    for n in range(running):
        cluster.add(names.PODS, pod(f"runai-kit-{n}", test="over_quota", role="first"))
    for n in range(pending):
        cluster.add(
            names.PODS, pod(f"runai-kit-p{n}", on=None, phase="Pending", test="over_quota", role="extra")
        )
        status = {"schedulingConditions": [reason(why, "team-a", "Limit is 2")]} if why else {}
        cluster.add(names.POD_GROUPS, group(f"runai-kit-p{n}", "team-a", status=status))
    return cluster


def done(cluster: Double, goal: Goal, timeout: float = 0.2, hopeless: float = 10) -> Any:
    said: list[str] = []
    outcome = wait(cluster.cluster, "over_quota", goal, timeout, said.append, 0.02, hopeless)
    assert said
    return outcome


@pytest.mark.req("V3")
def test_a_goal_that_is_met_is_reached_at_once() -> None:
    goal = Goal({"first": 2}, {"extra": 1}, {"team-a": 2})
    assert done(bed(2, 1), goal).reached


@pytest.mark.req("V3", "V10")
def test_a_time_out_tells_what_was_wanted_and_the_reason() -> None:
    outcome = done(bed(1, 1), Goal({"first": 1, "extra": 1}))
    assert not outcome.reached
    assert "1 extra running" in outcome.why
    assert "OverLimit Limit is 2" in outcome.why


@pytest.mark.req("V3")
def test_pending_without_a_reason_is_not_enough() -> None:
    assert not done(bed(2, 1, why=""), Goal({"first": 2}, {"extra": 1})).reached


@pytest.mark.req("V3")
@pytest.mark.parametrize(
    "goal",
    [
        Goal({"extra": 1}),  # refused by the queue's numbers
        Goal({}, {"first": 1}),  # runs and must not
    ],
)
def test_what_time_does_not_cure_is_given_up_early(goal: Goal) -> None:
    outcome = done(bed(2, 1), goal, timeout=30, hopeless=0.05)
    assert not outcome.reached
    assert outcome.seconds < 5
    assert "cannot be met any more" in outcome.why


@pytest.mark.req("V11")
def test_clean_up_removes_owners_and_verifies_what_kai_made() -> None:
    cluster = bed(2, 0)
    labels = {names.PART_OF_LABEL: names.PART_OF, names.TEST_LABEL: "over_quota"}
    cluster.add(names.JOBS, thing("runai-kit-job", "runai-team-a", labels))
    cluster.add(names.CONFIG_MAPS, thing("runai-kit-0-shared-gpu", "runai-team-a"), thing("theirs", "ns"))
    removed, left = cleanup.remove(cluster.cluster, RESERVATION, "over_quota", timeout=0.1, interval=0.02)
    assert "jobs runai-team-a/runai-kit-job" in removed
    assert left == ["configmaps runai-team-a/runai-kit-0-shared-gpu"]
    cluster.objects[names.CONFIG_MAPS].pop(0)
    assert cleanup.remove(cluster.cluster, RESERVATION, "over_quota", timeout=0.1) == ([], [])


@pytest.mark.req("V11")
def test_queues_go_after_the_pods() -> None:
    cluster = bed(1, 0)
    labels = {names.PART_OF_LABEL: names.PART_OF, names.TEST_LABEL: "over_quota"}
    cluster.add(names.QUEUES, thing("kit-reclaim-a", labels=labels))
    cleanup.remove(cluster.cluster, RESERVATION, "over_quota", timeout=0.1)
    kinds = [path.rpartition("/")[0].rpartition("/")[2] for path in cluster.deleted]
    assert kinds == ["pods", "queues"]


@pytest.mark.req("V11")
@pytest.mark.parametrize(
    ("labels", "left"),
    [
        ({}, ["pods kai-resource-reservation/gpu-reservation-x"]),
        ({names.GPU_GROUP_LABEL: "g1"}, []),
        ({f"{names.GPU_GROUP_LABEL}/g1": "g1"}, []),
    ],
)
def test_a_reservation_nobody_uses_is_left_over(labels: Json, left: list[str]) -> None:
    reservation = pod("gpu-reservation-x", RESERVATION, labels={names.GPU_GROUP_LABEL: "g1"})
    assert cleanup.orphaned_reservations([reservation, pod("user", labels=labels)], RESERVATION) == left


@pytest.mark.req("V11")
def test_evidence_tells_phase_reason_and_queue(tmp_path: Path) -> None:
    cluster = bed(1, 1)
    cluster.said = {"runai-kit-0": "GPU 0"}
    target = {"kind": "Pod", "name": "runai-kit-0"}
    cluster.add(
        names.EVENTS, thing("e", "runai-team-a", involvedObject=target, reason="Started", message="ok")
    )
    files = evidence.gather(cluster.cluster, tmp_path, "over_quota", RESERVATION, scheduler_logs=True)
    text = (tmp_path / "summary.txt").read_text()
    assert "runai-team-a/runai-kit-p0  Pending  no node  OverLimit: Limit is 2" in text
    assert "team-a  parent=-  deserved=2  limit=4  allocated=1" in text
    assert "Started: ok" in (tmp_path / "events.txt").read_text()
    assert (tmp_path / "logs-runai-kit-0.txt").read_text() == "GPU 0\n"
    assert (tmp_path / "logs-runai-kit-p0.txt").read_text().startswith("no log:")
    assert all(f.is_file() for f in files)


@pytest.mark.req("V1")
@pytest.mark.parametrize(("phase", "log", "read"), [("Succeeded", "READ=word", "word"), ("Failed", "", None)])
def test_probes_report_what_the_pods_said(phase: str, log: str, read: str | None) -> None:
    cluster = Double()
    for name in (probes.VOLUME_POD, probes.DNS_POD):
        cluster.add(names.PODS, pod(name, PROBE_NAMESPACE, phase=phase))
    cluster.add(names.CLAIMS, thing(probes.CLAIM, PROBE_NAMESPACE, spec={}, status={"phase": "Bound"}))
    cluster.said = {probes.VOLUME_POD: log, probes.DNS_POD: "10.96.0.1       kubernetes.default"}
    found, took = probes.probes(cluster.cluster, 5, print)
    assert found["preflight.volume"]["read"] == read
    assert found["preflight.volume"]["claim"] == "Bound"
    assert found["preflight.dns"]["address"] == "10.96.0.1"
    assert took["preflight.dns"] < 5


@pytest.mark.req("V1")
def test_probes_that_hang_end_with_their_bound_and_say_why() -> None:
    cluster = Double()
    conditions = [{"type": "PodScheduled", "status": "False", "message": "unbound PersistentVolumeClaims"}]
    cluster.add(names.PODS, pod(probes.VOLUME_POD, PROBE_NAMESPACE, phase="Pending", conditions=conditions))
    said: list[str] = []
    found, _ = probes.probes(cluster.cluster, 0.1, said.append)
    assert found["preflight.volume"]["claim"] == "missing"
    assert found["preflight.volume"]["why"] == ["unbound PersistentVolumeClaims"]
    assert found["preflight.dns"]["pod"] == "missing"
    assert said


@pytest.mark.req("V1")
@pytest.mark.parametrize("said", ["refused", "reached"])
def test_the_probe_under_a_policy_tells_what_it_reached(said: str) -> None:
    cluster = Double()
    for name in (probes.OPEN_POD, probes.CLOSED_POD):
        cluster.add(names.PODS, pod(name, PROBE_NAMESPACE, phase="Succeeded"))
    cluster.said = {probes.OPEN_POD: "API=reached", probes.CLOSED_POD: f"API={said}"}
    found, took = probes.enforced(cluster.cluster, 5)
    assert found[probes.POLICIES_CHECK] == {"withoutPolicy": "reached", "withPolicy": said, "why": []}
    assert took[probes.POLICIES_CHECK] < 5


@pytest.mark.req("V1")
def test_a_probe_that_does_not_end_has_not_been_refused() -> None:
    cluster = Double()
    cluster.add(names.PODS, pod(probes.OPEN_POD, PROBE_NAMESPACE, phase="Running"))
    found, _ = probes.enforced(cluster.cluster, 0.1)
    assert found[probes.POLICIES_CHECK]["withPolicy"] is None


class Watched:
    """A cluster whose watch replays events and then stays silent."""

    def __init__(self, events: list[tuple[str, Json]]) -> None:
        self.events = events

    def items(self, path: str, **_: Any) -> list[Json]:
        if path == names.EVENTS:
            return []
        return [queue("engineering"), queue("team-a", "engineering", allocated="3")]

    def watch(self, _path: str, _seconds: float, **_: Any) -> Any:
        yield from self.events
        self.events = []
        time.sleep(0.02)


@pytest.mark.req("V4", "V12")
def test_the_sampler_writes_samples_and_pods_until_it_is_told_to_stop(tmp_path: Path) -> None:
    young = pod("runai-kit-b-1", phase="Pending", test="reclaim", role="claimant", labels={"q": "b"})
    old = pod("runai-kit-b-1", phase="Running", test="reclaim", role="claimant", labels={"q": "b"})
    leaving = {**old, "metadata": {**old["metadata"], "deletionTimestamp": "now"}}
    cluster = cast(
        Cluster, Watched([("ADDED", young), ("MODIFIED", old), ("MODIFIED", old), ("DELETED", leaving)])
    )
    out, stop = tmp_path / "t.jsonl", tmp_path / "stop"
    threading.Timer(0.3, stop.touch).start()
    taken = sampler.run(cluster, out, stop, os.getpid(), 20, 0.05, "q")
    lines = timeline.read(out)
    assert taken == sum(1 for line in lines if line["kind"] == "sample") >= 2
    # The department is not a leaf; what repeats is written once.
    assert all(line["gpus"] == {"team-a": 3} for line in lines if line["kind"] == "sample")
    (life,) = timeline.lives(lines, "reclaim")
    assert sum(1 for line in lines if line["kind"] == "pod") == 3
    assert (life.queue, life.role) == ("b", "claimant")
    assert life.latency is not None
    assert life.deleting == life.gone


class Restarted(Watched):
    """Its first watch ends after a pod, its second is told that the version is gone."""

    def __init__(self) -> None:
        self.since: list[str | None] = []

    def watch(self, _path: str, _seconds: float, resourceVersion: str | None = None, **_: Any) -> Any:  # noqa: N803
        self.since.append(resourceVersion)
        thing_ = pod("runai-kit-x", test="reclaim")
        thing_["metadata"]["resourceVersion"] = "7"
        yield ("ERROR", {"code": 410}) if resourceVersion else ("ADDED", thing_)
        time.sleep(0.02)


@pytest.mark.req("V4")
def test_a_new_watch_goes_on_where_the_last_one_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampler, "SHORT_SECONDS", 0.01)
    cluster = Restarted()
    stop = tmp_path / "stop"
    threading.Timer(0.3, stop.touch).start()
    sampler.run(cast(Cluster, cluster), tmp_path / "t", stop, os.getpid(), 20, 0.05, "q")
    assert cluster.since[:3] == [None, "7", None]


@pytest.mark.req("V4")
def test_the_sampler_does_not_outlive_its_parent(tmp_path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    # The child is a zombie until it is waited for: it must not count as alive.
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    taken = sampler.run(cast(Cluster, Watched([])), tmp_path / "t", tmp_path / "s", pid, 20, 0.05, "q")
    os.waitpid(pid, 0)
    assert taken == 0


@pytest.mark.req("V4")
def test_a_half_written_last_line_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t"
    good = json.dumps({"kind": "sample", "t": 1, "gpus": {"a": 1}})
    path.write_text(f'{good}\n{{"kind": "sam')
    assert timeline.series(timeline.read(path)) == ([0.0], {"a": [1]})
    path.write_text(f'{{"kind": "sam\n{good}\n')
    with pytest.raises(ValueError, match="Unterminated"):
        timeline.read(path)


@pytest.mark.req("V4")
def test_a_replayed_watch_adds_nothing() -> None:
    stream = io.StringIO()
    writer = sampler.Writer(stream)
    line = sampler.pod_line("ADDED", pod("runai-kit-x", test="reclaim"), 1.0, "q")
    writer.write(line)
    writer.write({**line, "t": 2.0, "type": "MODIFIED"})
    assert len(stream.getvalue().splitlines()) == 1
