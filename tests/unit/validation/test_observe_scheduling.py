"""V9, V10, V14: observations against expectations, right and wrong."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.validation.double import OUTPUTS, Double, group, node, pod, queue, reason, thing
from validation import cleanup, names, node_labels, prometheus
from validation.cluster import ClusterError
from validation.compare import differences
from validation.expect import coexistence as expect_coexistence
from validation.expect import combined_state as expect_combined
from validation.expect import fair_share_over_time as expect_time
from validation.expect import fallbacks as expect_fallbacks
from validation.expect import gang as expect_gang
from validation.expect import node_pools as expect_pools
from validation.expect import partitions as expect_partitions
from validation.expect import placement as expect_placement
from validation.expect import priority as expect_priority
from validation.expect import topology as expect_topology
from validation.expect.nodes import Bed, GpuNode, bed
from validation.observe import (
    coexistence,
    combined_state,
    fallbacks,
    gang,
    node_pools,
    nodes,
    partitions,
    placement,
    priority,
    topology,
    usage,
)
from validation.observe.watched import Watched
from validation.settings import load

Json = dict[str, Any]
TWO = Bed((GpuNode("w1", "w1", 4, 4), GpuNode("w2", "w2", 4, 4)), 8)
ONE = Bed((GpuNode("w1", "w1", 8, 8),), 8)


def workers(*gpus: int, **labels: str) -> Double:
    cluster = Double()
    for number, count in enumerate(gpus, 1):
        cluster.add(names.NODES, node(f"w{number}", count, labels={nodes.HOSTNAME: f"w{number}", **labels}))
    return cluster


class Seen:
    """A sampler's file, line by line."""

    def __init__(self, folder: Path, test: str) -> None:
        self.file = folder / "timeline.jsonl"
        self.file.write_text("")
        self.test = test

    def line(self, t: float, name: str, role: str, phase: str = "Pending", **more: Any) -> Seen:
        scheduled = "2026-11-30T10:00:00Z" if more.pop("scheduled", phase == "Running") else None
        line = {
            "kind": "pod",
            "t": t,
            "type": "MODIFIED",
            "name": f"runai-team-a/{name}",
            "uid": f"uid-{name}",
            "test": self.test,
            "role": role,
            "queue": more.pop("queue", ""),
            "phase": phase,
            "deleting": more.pop("deleting", False),
            "api": {"scheduled": scheduled},
        }
        with self.file.open("a") as stream:
            stream.write(json.dumps(line) + "\n")
        return self

    @property
    def watched(self) -> Watched:
        return Watched(self.file)


def pinned(name: str, on: str, gpus: int, test: str, role: str) -> Json:
    return pod(f"runai-kit-{name}", on=on, gpus=gpus, test=test, role=role)


def waiting_gang(test: str, role: str, count: int, why: str, message: str = "") -> tuple[list[Json], Json]:
    """Pods of one PodGroup of their own, and that group."""
    pods_ = []
    for number in range(1, count + 1):
        one = pod(f"runai-kit-{role}-{number}", on=None, gpus=1, phase="Pending", test=test, role=role)
        one["metadata"]["annotations"][names.POD_GROUP_ANNOTATION] = f"pg-runai-kit-{role}"
        pods_.append(one)
    status = {"schedulingConditions": [reason(why, message=message)]}
    of_gang = thing(f"pg-runai-kit-{role}", "runai-team-a", spec={"minMember": count}, status=status)
    return pods_, of_gang


GANG = expect_gang.plan(TWO)


def gang_bed(free: int = 5) -> Double:
    """Fillers leave `free` GPUs of eight; two pods of three wait."""
    cluster = workers(4, 4, 0)
    mine, of_gang = waiting_gang("gang", "gang", 2, "PodSchedulingErrors", "0/3 nodes are available")
    fillers = [pinned("f1", "w1", 1, "gang", "filler"), pinned("f2", "w2", 7 - free, "gang", "filler")]
    return cluster.add(names.PODS, *mine, *fillers).add(names.POD_GROUPS, of_gang)


@pytest.mark.req("V9")
def test_a_gang_that_waits_passes_and_its_reason_is_told_once(tmp_path: Path) -> None:
    seen = Seen(tmp_path, "gang").line(1, "runai-kit-gang-1", "gang").line(1, "runai-kit-gang-2", "gang")
    found = gang.waits(gang_bed().at(), seen.watched, GANG.nodes)
    assert differences(expect_gang.expected(GANG, 60)["gang.waits"], found) == []
    assert found["messages"] == ["0/3 nodes are available"]
    assert len(found["uids"]) == 2


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("moment", "fault"),
    [
        ({"phase": "Running"}, "everRan"),
        # It was given a node and taken back before anybody looked: only the watch knows.
        ({"phase": "Pending", "scheduled": True}, "everScheduled"),
    ],
)
def test_half_a_gang_that_started_for_a_moment_is_a_fail(tmp_path: Path, moment: Json, fault: str) -> None:
    seen = Seen(tmp_path, "gang").line(1, "runai-kit-gang-1", "gang").line(1, "runai-kit-gang-2", "gang")
    seen.line(2, "runai-kit-gang-2", "gang", **moment).line(3, "runai-kit-gang-2", "gang")
    found = gang.waits(gang_bed().at(), seen.watched, GANG.nodes)
    faults = differences(expect_gang.expected(GANG, 60)["gang.waits"], found)
    assert any(f.startswith(fault) for f in faults), faults


@pytest.mark.req("V9")
def test_a_gang_that_was_not_watched_or_not_short_of_a_gpu_is_a_fail(tmp_path: Path) -> None:
    wanted = expect_gang.expected(GANG, 60)["gang.waits"]
    half = Seen(tmp_path, "gang").line(1, "runai-kit-gang-1", "gang")
    assert "watched" in differences(wanted, gang.waits(gang_bed().at(), half.watched, GANG.nodes))[0]
    whole = half.line(1, "runai-kit-gang-2", "gang")
    found = gang.waits(gang_bed(free=6).at(), whole.watched, GANG.nodes)
    assert differences(wanted, found) == ["free: expected 5, found 6"]


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("places", "again", "apart", "wrong"),
    [
        (["w1", "w2"], False, 0.5, set()),
        (["w1", "w1"], False, 0.5, {"nodes"}),
        (["w1"], False, 0.5, {"running", "gpusEach", "nodes", "samePods", "apartSeconds"}),
        (["w1", "w2"], True, 0.5, {"samePods"}),
        (["w1", "w2"], False, 90.0, {"apartSeconds"}),
    ],
)
def test_the_same_gang_starts_as_a_whole(
    tmp_path: Path, places: list[str], again: bool, apart: float, wrong: set[str]
) -> None:
    cluster = workers(4, 4)
    seen = Seen(tmp_path, "gang")
    for number, place in enumerate(places, 1):
        one = pinned(f"gang-{number}", place, 3, "gang", "gang")
        one["metadata"]["annotations"][names.POD_GROUP_ANNOTATION] = "pg-runai-kit-gang"
        cluster.add(names.PODS, one)
        seen.line(10, f"runai-kit-gang-{number}", "gang")
        seen.line(10 + number * apart, f"runai-kit-gang-{number}", "gang", "Running")
    cluster.add(names.POD_GROUPS, thing("pg-runai-kit-gang", "runai-team-a", spec={"minMember": 2}))
    before = {f"runai-team-a/runai-kit-gang-{n}": f"uid-runai-kit-gang-{n}" for n in (1, 2)}
    if again:
        before["runai-team-a/runai-kit-gang-1"] = "uid-of-another"
    found = gang.starts(cluster.at(), seen.watched, before)
    faults = differences(expect_gang.expected(GANG, 60)["gang.starts"], found)
    assert {f.partition(":")[0].partition(".")[0] for f in faults} == wrong


TOPOLOGY = expect_topology.plan(TWO)
SAYS = "topology runai-kit-topology, requirement runai-kit.io/rack couldn't be satisfied for job <a/b>"


def racked() -> Double:
    cluster = Double()
    for number, rack in enumerate(expect_topology.RACKS, 1):
        labels = {nodes.HOSTNAME: f"w{number}", names.BLOCK_LABEL: "b", names.RACK_LABEL: rack}
        cluster.add(names.NODES, node(f"w{number}", 4, labels=labels))
    return cluster.add(
        names.PODS, pinned("f1", "w1", 3, "topology", "filler"), pinned("f2", "w2", 2, "topology", "filler")
    )


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("message", "scheduled", "wrong"),
    [
        (SAYS, False, set()),
        (SAYS, True, {"everScheduled"}),
        ("0/3 nodes are available: 3 Insufficient nvidia.com/gpu", False, {"message"}),
    ],
)
def test_an_impossible_rack_has_its_own_reason(
    tmp_path: Path, message: str, scheduled: bool, wrong: set[str]
) -> None:
    mine, of_gang = waiting_gang("topology", "impossible", 3, "PodSchedulingErrors", message)
    cluster = racked().add(names.PODS, *mine).add(names.POD_GROUPS, of_gang)
    seen = Seen(tmp_path, "topology")
    for number in (1, 2, 3):
        seen.line(1, f"runai-kit-impossible-{number}", "impossible", scheduled=scheduled)
    found = topology.impossible(cluster.at(), seen.watched, "impossible")
    faults = differences(expect_topology.expected(TOPOLOGY)["topology.impossible"], found)
    assert {f.partition(":")[0] for f in faults} == wrong
    assert found["freeInBlock"] == 3


@pytest.mark.req("V9")
@pytest.mark.parametrize(("places", "right"), [(["w2", "w2"], True), (["w1", "w2"], False), (["w2"], False)])
def test_a_gang_in_one_rack_is_told_from_a_split_one(places: list[str], right: bool) -> None:
    cluster = racked()
    for number, place in enumerate(places):
        cluster.add(names.PODS, pinned(f"r{number}", place, 1, "topology", "required"))
    found = topology.placed(cluster.at(), "required")
    assert (differences(expect_topology.expected(TOPOLOGY)["topology.required"], found) == []) is right


PRIORITY = expect_priority.plan(TWO)


def full_queue(trains: int, builds: int) -> Double:
    cluster = workers(4, 4)
    for n in range(trains):
        cluster.add(names.PODS, pinned(f"t{n}", "w1", 1, "priority", "train"))
    for n in range(builds):
        cluster.add(names.PODS, pinned(f"b{n}", "w2", 1, "priority", "build"))
    held = queue(expect_priority.QUEUE, quota=1, limit=2, allocated=str(trains + builds))
    held["status"]["allocatedNonPreemptible"] = {"nvidia.com/gpu": str(builds)}
    return cluster.add(names.QUEUES, held)


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("trains", "builds", "gone", "right"),
    [
        (1, 1, ["train"], True),
        (0, 1, ["train", "train"], False),
        (2, 0, [], False),
        (1, 1, ["train", "build"], False),
    ],
)
def test_a_build_takes_the_place_of_exactly_one_train(
    tmp_path: Path, trains: int, builds: int, gone: list[str], right: bool
) -> None:
    seen = Seen(tmp_path, "priority")
    for number, role in enumerate(gone):
        seen.line(1, f"gone-{number}", role, "Running").line(
            12, f"gone-{number}", role, "Running", deleting=True
        )
    # Before the build came; not its doing.
    seen.line(1, "old", "train", "Running").line(9, "old", "train", "Running", deleting=True)
    found = priority.preempts(full_queue(trains, builds).at(), seen.watched, since=10.0)
    faults = differences(expect_priority.expected(PRIORITY)["priority.preempts"], found)
    assert (faults == []) is right, faults


@pytest.mark.req("V9")
def test_a_late_train_waits_and_the_build_is_the_same(tmp_path: Path) -> None:
    cluster = full_queue(1, 1)
    for name, role in (("t9", "train"), ("lt", "late-train")):
        cluster.add(
            names.PODS,
            pod(f"runai-kit-{name}", on=None, gpus=1, phase="Pending", test="priority", role=role),
        )
    uids = {"runai-team-a/runai-kit-b0": "uid-runai-kit-b0"}
    watched = Seen(tmp_path, "priority").watched
    found = priority.protected(cluster.at(), watched, uids, 20.0)
    wanted = expect_priority.expected(PRIORITY)["priority.protected"]
    assert differences(wanted, found) == []
    replaced = priority.protected(cluster.at(), watched, {"runai-team-a/runai-kit-b0": "uid-older"}, 20.0)
    assert differences(wanted, replaced) == ["sameBuilds: expected True, found False"]


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("why", "trains", "right"),
    [("NonPreemptibleOverQuota", 0, True), ("OverLimit", 0, False), ("NonPreemptibleOverQuota", 1, False)],
)
def test_a_late_build_waits_for_quota_and_not_for_room(why: str, trains: int, right: bool) -> None:
    cluster = full_queue(trains, 1)
    late = pod("runai-kit-lb", on=None, gpus=1, phase="Pending", test="priority", role="late-build")
    status = {"schedulingConditions": [reason(why, expect_priority.QUEUE)]}
    cluster.add(names.PODS, late)
    cluster.add(names.POD_GROUPS, group("runai-kit-lb", expect_priority.QUEUE, status=status))
    wanted = expect_priority.expected(PRIORITY)["priority.quota"]
    assert (differences(wanted, priority.quota(cluster.at())) == []) is right


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("stack", "live", "places", "wrong"),
    [
        ("binpack", "binpack", ["w1", "w1"], set()),
        ("binpack", "binpack", ["w1", "w2"], {"placement.pods"}),
        ("spread", "spread", ["w1", "w2"], set()),
        ("binpack", "spread", ["w1", "w2"], {"placement.setting", "placement.pods"}),
    ],
)
def test_the_strategy_is_the_stacks(stack: str, live: str, places: list[str], wrong: set[str]) -> None:
    cluster = workers(4, 4).add(
        names.SHARDS,
        thing("pool", spec={"partitionLabelValue": "pool", "placementStrategy": {"gpu": "spread"}}),
        thing("default", spec={"placementStrategy": {"gpu": live}}),
    )
    for number, place in enumerate(places):
        cluster.add(names.PODS, pinned(f"p{number}", place, 1, "placement", "pod"))
    wanted = expect_placement.expected(expect_placement.plan(TWO, stack, True))
    found = placement.observe(cluster.at(), "node")
    assert {check for check in wanted if differences(wanted[check], found[check])} == wrong


@pytest.mark.req("V9")
def test_halves_on_one_node_share_a_gpu_or_do_not() -> None:
    cluster = workers(8).add(names.SHARDS, thing("default", spec={}))
    for name, of_gpu in (("a", "g1"), ("b", "g1")):
        one = pod(f"runai-kit-{name}", test="placement", role="pod", labels={names.GPU_GROUP_LABEL: of_gpu})
        cluster.add(names.PODS, one)
    packed = expect_placement.expected(expect_placement.plan(ONE, "binpack", True))
    spread = expect_placement.expected(expect_placement.plan(ONE, "spread", True))
    found = placement.observe(cluster.at(), "gpu")
    assert differences(packed["placement.pods"], found["placement.pods"]) == []
    assert differences(spread["placement.pods"], found["placement.pods"]) != []


def plain(role: str, number: int, **more: Any) -> Json:
    one = pod(
        f"runai-kit-coexistence-{role}-{number}",
        expect_coexistence.NAMESPACE,
        test="coexistence",
        role=role,
        labels=more.pop("labels", {}),
    )
    one["metadata"]["annotations"] = more.pop("annotations", {"cni.example.org/podIP": "10.0.0.1"})
    one["spec"]["schedulerName"] = "default-scheduler"
    one["spec"].update(more)
    return one


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("mark", "told"),
    [
        ({}, []),
        ({"annotations": {"pod-group-name": "pg-x"}}, ["pod-group-name"]),
        ({"labels": {"kai.scheduler/queue": "x"}}, ["kai.scheduler/queue"]),
        ({"runtimeClassName": "nvidia"}, ["runtimeClassName=nvidia"]),
    ],
)
def test_marks_of_kai_on_plain_pods_are_told(mark: Json, told: list[str]) -> None:
    cluster = workers(4).add(names.PODS, plain("before", 1), plain("before", 2), plain("after", 1, **mark))
    cluster.add(names.PODS, plain("after", 2))
    at = cluster.at()
    before = {name: uid for name, uid in coexistence.uids(at).items() if "before" in name}
    found = coexistence.observe(at, before)
    wanted = expect_coexistence.expected(expect_coexistence.plan(TWO))
    assert differences(wanted["coexistence.run"], found["coexistence.run"]) == []
    marks = found["coexistence.untouched"]["added"]
    assert marks == ({f"{expect_coexistence.NAMESPACE}/runai-kit-coexistence-after-1": told} if told else {})
    faults = differences(wanted["coexistence.untouched"], found["coexistence.untouched"])
    assert bool(faults) is bool(told)


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("said", "devices", "asked"),
    [
        ("bash: line 1: nvidia-smi: command not found\nasked\n", 0, 1),
        ("/dev/nvidia0\n/dev/nvidiactl\nGPU 0: NVIDIA A100 (UUID: GPU-1)\nasked\n", 3, 1),
        # A probe that did not come to its end has seen nothing.
        ("bash: line 1: nvi", 0, 0),
    ],
)
def test_a_pod_without_a_gpu_finds_none(said: str, devices: int, asked: int) -> None:
    cluster = workers(4).add(names.PODS, plain("before", 1), plain("after", 1))
    cluster.said["runai-kit-coexistence-after-1"] = said
    found = coexistence.observe(cluster.at(), {})["coexistence.no_device"]
    # The other pod cannot be asked at all.
    assert found["asked"] == asked
    assert sum(map(len, found["devices"].values())) == devices


@pytest.mark.req("V9")
def test_a_plain_pod_that_was_replaced_or_does_not_start_is_a_fail() -> None:
    cluster = workers(4).add(names.PODS, plain("before", 1), plain("before", 2), plain("after", 1))
    found = coexistence.observe(cluster.at(), {"other": "uid"})
    wanted = expect_coexistence.expected(expect_coexistence.plan(TWO))["coexistence.run"]
    faults = {f.partition(":")[0] for f in differences(wanted, found["coexistence.run"])}
    assert faults == {"whileFull", "samePods"}


POOLS = expect_pools.plan(TWO)
KEY = "kai.scheduler/node-pool"


def pooled() -> Double:
    cluster = Double()
    pool = {KEY: expect_pools.POOL, nodes.HOSTNAME: "w1"}
    cluster.add(names.NODES, node("w1", 4, labels=pool), node("w2", 4, labels={nodes.HOSTNAME: "w2"}))
    cluster.add(names.SHARDS, thing(expect_pools.POOL, spec={"partitionLabelValue": expect_pools.POOL}))
    ready = {"status": {"readyReplicas": 1}}
    scheduler = thing(f"kai-scheduler-{expect_pools.POOL}", "kai-scheduler", **ready)
    return cluster.add(names.DEPLOYMENTS, scheduler)


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("other", "scheduled", "right"), [("w2", False, True), ("w1", False, False), ("w2", True, False)]
)
def test_work_of_the_default_pool_stays_out(tmp_path: Path, other: str, scheduled: bool, right: bool) -> None:
    cluster = pooled().add(
        names.PODS,
        pod("runai-kit-stray", on=None, gpus=1, phase="Pending", test="node_pools", role="stray"),
        pinned("other", other, 1, "node_pools", "other"),
    )
    seen = Seen(tmp_path, "node_pools").line(1, "runai-kit-stray", "stray", scheduled=scheduled)
    found = node_pools.outside(cluster.at(), seen.watched, expect_pools.POOL)
    wanted = expect_pools.expected(POOLS)
    assert (differences(wanted["node_pools.outside"], found) == []) is right
    assert (
        differences(wanted["node_pools.scheduler"], node_pools.scheduler(cluster.at(), expect_pools.POOL))
        == []
    )


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("place", "excess", "right"), [("w1", None, True), ("w2", None, False), ("w1", "w2", False)]
)
def test_work_of_the_pool_stays_in(tmp_path: Path, place: str, excess: str | None, right: bool) -> None:
    phase = "Running" if excess else "Pending"
    cluster = pooled().add(
        names.PODS,
        pinned("inside", place, 4, "node_pools", "inside"),
        pod("runai-kit-excess", on=excess, gpus=1, phase=phase, test="node_pools", role="excess"),
    )
    seen = Seen(tmp_path, "node_pools").line(1, "runai-kit-excess", "excess", phase)
    found = node_pools.inside(cluster.at(), seen.watched, expect_pools.POOL)
    assert (differences(expect_pools.expected(POOLS)["node_pools.inside"], found) == []) is right


@pytest.mark.req("V9")
def test_a_shard_without_a_scheduler_is_not_ready() -> None:
    cluster = pooled()
    cluster.objects[names.DEPLOYMENTS].clear()
    assert node_pools.scheduler(cluster.at(), expect_pools.POOL)["ready"] == 0
    assert node_pools.scheduler(cluster.at(), "nothing")["pool"] == ""


METRICS = """\
# HELP kai_queue_fair_share_gpu GPU Fair share of queue
kai_queue_fair_share_gpu{queue_name="kit-time-a"} 0
kai_queue_fair_share_gpu{queue_name="kit-time-b"} 4
kai_queue_gpu_usage{queue_name="kit-time-a"} 0.8765
kai_queue_gpu_usage{queue_name="kit-time-b"} 1.0e-01
kai_e2e_scheduling_latency_milliseconds 3
"""
TIME = expect_time.plan(TWO, 5)


def timed(a: int, b: int, text: str = METRICS) -> Double:
    cluster = workers(4, 4)
    name = f"kai-scheduler-{expect_time.POOL}"
    cluster.add(names.PODS, pod(f"{name}-x", "kai-scheduler", labels={"app": name}))
    if text:
        cluster.texts[f"/api/v1/namespaces/kai-scheduler/pods/{name}-x:8080/proxy/metrics"] = text
    for role, count in ((expect_time.USED, a), (expect_time.SPARED, b)):
        for n in range(count):
            cluster.add(names.PODS, pinned(f"{role}-{n}", "w1", 1, usage.TEST, role))
    return cluster


@pytest.mark.req("V9")
@pytest.mark.parametrize(
    ("a", "b", "text", "right"),
    [
        (0, 4, METRICS, True),
        (1, 3, METRICS, True),
        (2, 2, METRICS, False),
        (4, 0, METRICS, False),
        # Who has more jobs must be who the scheduler says deserves more.
        (0, 4, METRICS.replace("} 4", "} 0"), False),
        (0, 4, "", False),
    ],
)
def test_a_shifted_split_is_more_than_half_by_jobs_and_by_fair_share(
    a: int, b: int, text: str, right: bool
) -> None:
    found = usage.shifted(timed(a, b, text).at(), expect_time.POOL, expect_time.USED, expect_time.SPARED)
    wanted = expect_time.expected(TIME)["fair_share_over_time.shifted"]
    assert (differences(wanted, found) == []) is right


@pytest.mark.req("V9")
def test_usage_is_what_the_scheduler_exports_and_nothing_counts_as_none() -> None:
    ask = (expect_time.POOL, expect_time.USED, expect_time.SPARED, 0.0)
    wanted = expect_time.expected(TIME)["fair_share_over_time.usage"]
    assert differences(wanted, usage.usage(timed(4, 0).at(), *ask)) == []
    silent = usage.usage(timed(4, 0, "").at(), *ask)
    assert silent == {expect_time.USED: 0.0, expect_time.SPARED: 0.0}
    assert differences(wanted, silent) != []


@pytest.mark.req("V9")
def test_devices_that_the_cluster_offers_are_found_and_asked_for() -> None:
    cluster = workers(4)
    nothing = partitions.offered(cluster.at())
    assert partitions.applicable(partitions.choice(nothing)) == {
        "partitions.mig": False,
        "partitions.dra": False,
    }
    cluster.objects[names.NODES][0]["status"]["allocatable"]["nvidia.com/mig-1g.10gb"] = "7"
    cluster.add(names.DEVICE_CLASSES, thing("gpu.nvidia.com", spec={}), thing("other.example.org", spec={}))
    found = partitions.offered(cluster.at())
    # A class alone is no device.
    assert partitions.choice(found) == {"mig": "nvidia.com/mig-1g.10gb", "deviceClass": ""}
    devices = {"driver": "gpu.nvidia.com", "devices": [{"name": "gpu-0"}]}
    cluster.add(names.RESOURCE_SLICES, thing("s", spec=devices))
    chosen = partitions.choice(partitions.offered(cluster.at()))
    assert partitions.applicable(chosen) == {"partitions.mig": True, "partitions.dra": True}


@pytest.mark.req("V9")
def test_pods_with_parts_of_gpus_pass_and_an_idle_claim_does_not() -> None:
    cluster = workers(4).add(
        names.PODS,
        pod("runai-kit-mig", test="partitions", role="mig"),
        pod("runai-kit-dra", test="partitions", role="dra"),
    )
    cluster.said["runai-kit-mig"] = (
        "GPU 0: NVIDIA A100 (UUID: GPU-1)\n  MIG 1g.10gb Device 0: (UUID: MIG-58f1c0e3)"
    )
    claim = thing("c", "runai-team-a", status={"allocation": {"devices": {}}, "reservedFor": [{"name": "x"}]})
    claim["metadata"]["ownerReferences"] = [{"name": "runai-kit-dra"}]
    cluster.add(names.RESOURCE_CLAIMS, claim)
    offered = partitions.offered(cluster.at())
    wanted, found = expect_partitions.expected(), partitions.observe(cluster.at(), offered)
    assert {c for c in wanted if differences(wanted[c], found[c])} == set()
    cluster.said["runai-kit-mig"] = "GPU 0: NVIDIA A100 (UUID: GPU-1)"
    claim["status"] = {}
    found = partitions.observe(cluster.at(), offered)
    assert {c for c in wanted if differences(wanted[c], found[c])} == set(wanted)


def state(research: str = "3", scraped: str | None = None) -> Double:
    """The guide's state on two nodes of four; `scraped` is what Prometheus has for team-b."""
    cluster = workers(4, 4, 0)
    held = {
        "engineering": "4",
        "team-a": "4",
        "research": research,
        "team-b": research,
        "default": "1",
        "test": "1",
    }
    for name, gpus in held.items():
        cluster.add(names.QUEUES, queue(name, quota=-1 if name == "default" else 2, limit=4, allocated=gpus))
    for n in range(4):
        cluster.add(names.PODS, pinned(f"a{n}", "w1", 1, "combined_state", "first"))
    for n in range(2):
        cluster.add(names.PODS, pinned(f"b{n}", "w2", 1, "combined_state", "second"))
        half = pod(
            f"runai-kit-h{n}",
            on="w2",
            test="combined_state",
            role="half",
            annotations={"gpu-fraction": "0.5"},
        )
        cluster.add(names.PODS, half)
    cluster.add(names.PODS, pod("gpu-reservation-x", "kai-resource-reservation", on="w2", gpus=1))
    cluster.add(names.PODS, pinned("s", "w2", 1, "combined_state", "serving"))
    told = {**held, "team-b": scraped or held["team-b"]}
    api = prometheus.base(load(OUTPUTS))
    quotas = {name: -1 if name == "default" else 2 for name in held}
    answers: dict[str, Json] = {"kai_queue_allocated_gpus": told, "kai_queue_deserved_gpus": quotas}
    cluster.single[f"{api}/query"] = {"status": "success"}
    cluster.get = lambda path, **given: vector(answers[given["query"]])  # type: ignore[method-assign]
    return cluster


def vector(numbers: dict[str, Any]) -> Json:
    result = [{"metric": {"queue_name": name}, "value": [0, str(n)]} for name, n in numbers.items()]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


def judged(cluster: Double) -> set[str]:
    at = cluster.at()
    made = expect_combined.plan(at.outputs, TWO)
    before = [{"gpus": 4, "free": 4}, {"gpus": 4, "free": 4}]
    wanted = expect_combined.expected(made, before, ["w3"])
    found = {
        "combined_state.queues": combined_state.in_queues(at),
        "combined_state.prometheus": combined_state.in_prometheus(at, 0.0, 0.01),
        "combined_state.workloads": combined_state.workloads(at),
        "combined_state.nodes": combined_state.on_nodes(at),
    }
    return {check for check in wanted if differences(wanted[check], found[check])}


@pytest.mark.req("V14")
def test_the_guides_state_passes_and_each_source_is_judged_by_itself() -> None:
    assert judged(state()) == set()
    assert judged(state(research="2")) == {"combined_state.queues", "combined_state.prometheus"}
    assert judged(state(scraped="2")) == {"combined_state.prometheus"}
    fewer = state()
    fewer.objects[names.PODS].pop(0)
    assert judged(fewer) == {"combined_state.workloads", "combined_state.nodes"}


@pytest.mark.req("V14")
def test_tables_say_unlimited_and_not_available() -> None:
    tables = combined_state.tables(state().at())
    lines = {name: text.splitlines() for name, text in tables.items()}
    assert lines["projects.txt"][1].split() == ["team-a", "engineering", "2.00", "4.00", "200.00%"]
    assert lines["departments.txt"][2].split() == ["research", "2.00", "3.00", "150.00%"]
    assert lines["departments.txt"][3].split()[:3] == ["default", "unlimited", "1.00"]
    assert lines["nodes.txt"][1].split() == ["w1", "Ready", "NVIDIA-A100-SXM4-80GB", "4/4", "0", "default"]
    assert lines["nodes.txt"][3].split() == ["w3", "Ready", "N/A", "N/A", "N/A", "default"]


@pytest.mark.req("V14")
def test_a_prometheus_that_does_not_answer_is_an_error_and_no_number() -> None:
    cluster = state()

    def refuse(_path: str, **_given: Any) -> Json:
        raise ClusterError("503 no endpoints", 503)

    cluster.get = refuse  # type: ignore[assignment,method-assign]
    assert combined_state.in_prometheus(cluster.at(), 0.0) == {"error": "503 no endpoints"}


@pytest.mark.req("V14")
@pytest.mark.parametrize(("text", "value"), [("5s", 5), ("1m30s", 90), ("500ms", 0.5), ("1h", 3600)])
def test_durations_of_prometheus(text: str, value: float) -> None:
    assert prometheus.seconds(text) == value
    with pytest.raises(ValueError, match="not a Prometheus duration"):
        prometheus.seconds(f"{text}!")


def waiting_jobs(quota_why: str = "OverLimit", capacity_why: str = "PodSchedulingErrors") -> Double:
    cluster = workers(4, 4).add(names.QUEUES, queue(expect_fallbacks.QUEUE, quota=0, limit=1, allocated="1"))
    cluster.add(names.QUEUES, queue(expect_fallbacks.OPEN_QUEUE, quota=0, limit=-1))
    cluster.add(names.PODS, pinned("in", "w1", 1, "fallbacks", "in-quota"))
    for role, gpus, why, of in (
        ("over-quota", 1, quota_why, expect_fallbacks.QUEUE),
        ("too-big", 5, capacity_why, ""),
    ):
        name = f"runai-kit-{role}"
        cluster.add(names.PODS, pod(name, on=None, gpus=gpus, phase="Pending", test="fallbacks", role=role))
        status = {"schedulingConditions": [reason(why, of, limit=1)]}
        cluster.add(names.POD_GROUPS, group(name, of, status=status))
    return cluster


@pytest.mark.req("V10")
def test_waiting_for_quota_is_told_from_waiting_for_capacity() -> None:
    wanted = expect_fallbacks.expected(expect_fallbacks.plan(TWO), "word", ["a"], False)
    at = waiting_jobs().at()
    assert differences(wanted["fallbacks.quota"], fallbacks.quota(at)) == []
    assert differences(wanted["fallbacks.capacity"], fallbacks.capacity(at)) == []
    swapped = waiting_jobs("PodSchedulingErrors", "OverLimit").at()
    assert "cause" in differences(wanted["fallbacks.quota"], fallbacks.quota(swapped))[0]
    assert "cause" in differences(wanted["fallbacks.capacity"], fallbacks.capacity(swapped))[0]


@pytest.mark.req("V10")
def test_a_log_is_read_by_both_ways_and_a_refusal_is_no_log() -> None:
    cluster = waiting_jobs()
    paths = {
        "api": "/api/v1/namespaces/runai-team-a/pods/runai-kit-in/log",
        "kubelet": "/api/v1/nodes/w1/proxy/containerLogs/runai-team-a/runai-kit-in/main",
    }
    for path in paths.values():
        cluster.texts[path] = "GPU 0: …\nTOKEN=word\n"
    wanted = expect_fallbacks.expected(expect_fallbacks.plan(TWO), "word", ["a"], False)["fallbacks.logs"]
    assert differences(wanted, fallbacks.logs(cluster.at())) == []
    del cluster.texts[paths["kubelet"]]
    assert differences(wanted, fallbacks.logs(cluster.at())) == [
        f"kubelet: expected word, found GET {paths['kubelet']}: 503"
    ]


SERVES = '10.0.0.1 - - [30/Nov/2026 10:00:00] "GET /train-images-idx3-ubyte.gz HTTP/1.1" 200 -'


@pytest.mark.req("V10")
def test_the_mirror_is_used_after_origins_that_do_not_answer() -> None:
    tried = expect_fallbacks.origins("ns", "")
    wanted = expect_fallbacks.expected(expect_fallbacks.plan(TWO), "w", tried, True)["fallbacks.mirror"]
    cluster = workers(4).add(
        names.PODS,
        pod("runai-kit-loader", phase="Succeeded", test="fallbacks", role="loader"),
        pod("runai-kit-mirror", test="fallbacks", role="mirror"),
    )
    said = [f"Data set: {origin} does not serve it, after 5.0 s: timed out" for origin in tried[:2]]
    cluster.said["runai-kit-loader"] = "\n".join([*said, f"Data set: served by {tried[2]}"])
    files = ("train-images", "train-labels", "t10k-images", "t10k-labels")
    cluster.said["runai-kit-mirror"] = "\n".join(SERVES.replace("train-images", name) for name in files)
    assert differences(wanted, fallbacks.mirror(cluster.at())) == []
    # The first origin answered after all.
    cluster.said["runai-kit-loader"] = f"Data set: served by {tried[0]}"
    cluster.said["runai-kit-mirror"] = SERVES.replace(" 200 ", " 404 ")
    faults = {f.partition(":")[0] for f in differences(wanted, fallbacks.mirror(cluster.at()))}
    assert faults == {"failedOrigins", "servedBy", "filesFromMirror"}


@pytest.mark.req("V9")
def test_gpu_nodes_tell_what_others_use_and_the_bed_is_made_of_it() -> None:
    cluster = workers(4, 4, 0).add(names.PODS, pod("theirs", "other", "w2", 1))
    found = nodes.facts(cluster.at())
    assert found["plainNodes"] == ["w3"]
    made = bed(found)
    assert [(n.name, n.free, n.shared) for n in made.nodes] == [("w1", 4, False), ("w2", 3, True)]
    assert (made.budget, made.scarce) == (7, True)
    bounds = {**OUTPUTS["validation"], "maxGpus": 2}
    bounded = bed(nodes.facts(cluster.at(validation=bounds)))
    assert (bounded.budget, bounded.scarce) == (2, False)


@pytest.mark.req("V9", "V11")
def test_labels_on_nodes_are_taken_back_and_the_nodes_own_names_stay() -> None:
    labels = {
        nodes.HOSTNAME: "runai-kit-worker",
        names.RACK_LABEL: "runai-kit-topology-rack-1",
        KEY: expect_pools.POOL,
    }
    cluster = Double().add(names.NODES, node("runai-kit-worker", 4, labels=copy.deepcopy(labels)))
    assert len(node_labels.left(cluster.cluster)) == 2
    assert node_labels.left(cluster.cluster, "topology") == [
        f"label {names.RACK_LABEL}=runai-kit-topology-rack-1 of node runai-kit-worker"
    ]
    removed, left = cleanup.remove(cluster.cluster, "res", "topology", timeout=0.1, interval=0.01)
    assert (len(removed), left) == (1, [])
    assert cluster.objects[names.NODES][0]["metadata"]["labels"][KEY] == expect_pools.POOL
    cleanup.remove(cluster.cluster, "res", "", timeout=0.1, interval=0.01)
    kept = cluster.objects[names.NODES][0]["metadata"]["labels"]
    assert KEY not in kept
    assert kept[nodes.HOSTNAME] == "runai-kit-worker"


@pytest.mark.req("V9", "V11")
def test_a_shard_goes_and_its_scheduler_is_waited_for() -> None:
    own = {names.PART_OF_LABEL: names.PART_OF, names.TEST_LABEL: "node_pools"}
    cluster = pooled()
    cluster.objects[names.SHARDS][0]["metadata"]["labels"] = own
    cluster.add(names.SHARDS, thing("default", spec={}))
    cluster.objects[names.NODES][0]["metadata"]["labels"].pop(KEY)
    scheduler = f"deployments kai-scheduler/kai-scheduler-{expect_pools.POOL}"
    removed, left = cleanup.remove(cluster.cluster, "res", "node_pools", timeout=0.1, interval=0.01)
    assert removed == [f"schedulingshards {expect_pools.POOL}"]
    assert left == [scheduler]
    assert cleanup.left(cluster.cluster, "res", "topology") == []
    assert [s["metadata"]["name"] for s in cluster.objects[names.SHARDS]] == ["default"]


@pytest.mark.req("V9", "V11")
def test_parts_of_a_test_go_in_its_middle_and_the_rest_stays() -> None:
    cluster = workers(4).add(
        names.PODS, pinned("a", "w1", 1, "gang", "plug"), pinned("b", "w1", 1, "gang", "filler")
    )
    assert cleanup.remove_roles(cluster.cluster, "gang", ["plug"], 0.1, 0.01) == (
        ["pods runai-team-a/runai-kit-a"],
        [],
    )
    assert [p["metadata"]["name"] for p in cluster.objects[names.PODS]] == ["runai-kit-b"]
