"""V2, V3 and V4 in both directions: the cluster is changed before or while the tests run.

One run proves several faults where they do not hide each other. Waiting is cut short by the
settings' time-out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import things
from tests.acceptance.broken import Broken, Json, until
from tests.acceptance.proving import Wrong, prove
from tests.acceptance.test_negatives_installation import CONFIG, KAI
from tests.acceptance.test_wrong_on_purpose import in_background
from validation import names
from validation.expect.reclaim import CLAIMANT
from validation.observe import pods
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.usefixtures("unchanged")]
# Seconds that a test waits for a state, and for its clean-up, where it is expected not to come.
WAIT, CLEANUP = 25, 15
# Bounds beside the tests of another cluster; without a limit of their own all would wait five minutes.
LATE, AT_ONCE, CLEANED = WAIT + 45, 60, CLEANUP + 20
BOUNDS = {"timeoutSeconds": WAIT}
HELD = "example.org/held"


class Watcher:
    """Looks at a test's pods while it runs, and changes things at the right moment."""

    def __init__(self, wrong: Broken, stop: threading.Event) -> None:
        self.wrong, self.api, self._stop = wrong, wrong.api, stop

    def when(self, condition: Callable[[], Any]) -> Any:
        """What the condition found, as soon as it finds something."""
        while not self._stop.wait(0.2):
            if found := condition():
                return found
        raise AssertionError("what should be changed did not appear")

    def running(self, test: str, role: str, count: int = 1) -> list[Json]:
        """Pods of one part of a test, once so many run."""

        def look() -> list[Json]:
            found = [p for p in self.pods(test, role) if pods.running(p)]
            return found if len(found) >= count else []

        return list(self.when(look))

    def pods(self, test: str, role: str) -> list[Json]:
        selector = f"{names.TEST_LABEL}={test},{names.ROLE_LABEL}={role}"
        return self.api.items(names.PODS, labelSelector=selector)

    def hold(self, job: str, namespace: str) -> None:
        """A finalizer on a Job of the test, as a controller that died leaves it."""
        path = f"{names.in_namespace(names.JOBS, namespace)}/{job}"
        self.wrong.callback(self._release, path)
        finalizers = self.api.get(path)["metadata"].get("finalizers") or []
        self.api.patch(path, {"metadata": {"finalizers": [*finalizers, HELD]}})

    def _release(self, path: str) -> None:
        if self.api.find(path):
            self.api.patch(path, {"metadata": {"finalizers": None}})
        until(lambda: self.api.find(path) is None, f"{path} is gone")

    def evict_somebody(self) -> None:
        """Other people's work in a queue of one GPU: KAI takes it from the first pod for the second."""
        outputs, image = self.wrong.outputs, self.wrong.outputs.images["cuda"]
        if self.api.find(f"{names.QUEUES}/their-team") is None:
            self.wrong.made(names.QUEUES, things.queue("their-department", "", 1, 1))
            self.wrong.made(names.QUEUES, things.queue("their-team", "their-department", 1, 1))
        where = names.in_namespace(names.PODS, outputs.projects[-1].namespace)
        for priority in ("train", "build"):
            labels = {outputs.queueLabelKey: "their-team", "priorityClassName": priority}
            body = things.pod(f"their-{priority}", image, 1, labels, schedulerName=outputs.schedulerName)
            path = self.wrong.made(where, body)
            self.when(partial(self._runs, path))

    def _runs(self, path: str) -> bool:
        return pods.running(self.api.get(path))

    def delete(self, path: str) -> None:
        """At once, as nobody should."""
        self.api.delete(path, grace_seconds=0)
        self.when(lambda: self.api.find(path) is None)


def meddling(wrong: Broken, work: Callable[[Watcher], None]) -> Any:
    """Work that is done in the background of a run."""
    return in_background(lambda stop: work(Watcher(wrong, stop)))


@pytest.mark.req("V3", "V4")
@pytest.mark.negative(
    "preflight.evictions",
    "over_quota.both",
    "over_quota.limit",
    "over_quota.foreign",
    "reclaim.victims",
    "reclaim.reclaimed",
    "reclaim.protected",
    "reclaim.latency",
    "reclaim.foreign",
    "reclaim.cleanup",
)
def test_a_higher_limit_and_a_claim_that_nobody_grants(outputs: StackOutputs, tmp_path: Path) -> None:
    first = outputs.projects[0]
    namespace = first.namespace
    gpus = sum(outputs.expectedGpus.values())
    theirs = names.in_namespace(names.PODS, outputs.projects[-1].namespace)

    def work(watcher: Watcher) -> None:
        watcher.running("over_quota", "first", 4)
        watcher.evict_somebody()
        watcher.when(lambda: not watcher.pods("over_quota", "first"))
        watcher.delete(f"{theirs}/their-build")
        watcher.running("reclaim", "filler", gpus - 1)
        nothing = {"quota": 0, "overQuotaWeight": 0}
        watcher.api.patch(f"{names.QUEUES}/{CLAIMANT}", {"spec": {"resources": {"gpu": nothing}}})
        watcher.hold("runai-kit-reclaim-a-1", namespace)
        watcher.when(lambda: watcher.pods("reclaim", "claimant"))
        watcher.evict_somebody()
        for pod in watcher.running("reclaim", "protected"):
            meta = pod["metadata"]
            watcher.delete(f"{names.in_namespace(names.PODS, meta['namespace'])}/{meta['name']}")

    with Broken(outputs) as wrong:
        for queue in (first.queue, next(d.queue for d in outputs.departments if d.name == first.department)):
            wrong.patched(f"{names.QUEUES}/{queue}", {"spec": {"resources": {"gpu": {"limit": 5}}}})
        with meddling(wrong, work):
            variables = {"workload_cleanup_timeout": CLEANUP}
            proof = prove(outputs, tmp_path, tags="V3,V4", variables=variables, bounds=BOUNDS)
    shown = (
        Wrong("preflight.evictions", ("their-train",)),
        Wrong("over_quota.both", (f"{first.name}.projectAllocated: expected 4, found 5",), LATE),
        Wrong("over_quota.limit", ("phase: expected Pending, found Running",)),
        Wrong("over_quota.foreign", ("their-train",)),
        Wrong(
            "reclaim.victims",
            ("evictedNonPreemptible: expected 0, found 1", "runai-kit-reclaim-protected"),
            LATE,
        ),
        Wrong("reclaim.reclaimed", ("claimantQuota: expected 2, found 0", "claimant running"), LATE),
        Wrong("reclaim.protected", ("runai-kit-reclaim-protected", "ran before the claim")),
        Wrong("reclaim.foreign", ("their-train",)),
        Wrong("reclaim.latency", ("measured: expected 2, found ",)),
        Wrong("reclaim.cleanup", ("jobs", "runai-kit-reclaim-a-1", HELD), CLEANED),
    )
    proof.shows(*shown)
    assert proof.failed("preflight") == {"preflight.queues", "preflight.evictions"}
    assert proof.checks["over_quota.borrow"]["verdict"] == "pass"
    assert proof.checks["over_quota.cleanup"]["verdict"] == "pass"
    assert proof.seconds <= 420


@pytest.mark.req("V2", "V3", "V4")
@pytest.mark.negative("fractional_gpu.running", "over_quota.start", "reclaim.fill")
def test_a_restricted_reservation_namespace_a_queue_in_use_and_a_gpu_that_somebody_took(
    outputs: StackOutputs, tmp_path: Path
) -> None:
    """The tests that depend on the step that failed stop there, and say so."""
    project, image = outputs.projects[0], outputs.images["cuda"]
    department = next(d.queue for d in outputs.departments if d.name == project.department)

    def work(watcher: Watcher) -> None:
        watcher.when(lambda: watcher.api.find(f"{names.QUEUES}/{CLAIMANT}"))
        node = next(node for node, count in outputs.expectedGpus.items() if count)
        watcher.wrong.made(
            names.in_namespace(names.PODS, "default"), things.pod("took-it", image, 1, nodeName=node)
        )

    with Broken(outputs) as wrong:
        labels = {outputs.queueLabelKey: project.queue}
        theirs = things.pod("their-work", image, 1, labels, schedulerName=outputs.schedulerName)
        path = wrong.made(names.in_namespace(names.PODS, project.namespace), theirs)
        until(lambda: pods.running(wrong.api.get(path)), "their pod runs")
        label = {"labels": {names.PSA_ENFORCE_LABEL: "restricted"}}
        wrong.patched(f"{names.NAMESPACES}/{outputs.reservationNamespace}", {"metadata": label})
        with meddling(wrong, work):
            proof = prove(outputs, tmp_path, tags="V2,V3,V4", bounds=BOUNDS)
    shown = (
        Wrong(
            "preflight.namespaces", (f"{outputs.reservationNamespace}: expected baseline, found restricted",)
        ),
        Wrong("fractional_gpu.running", ("found 0", "violates PodSecurity", "restricted"), LATE),
        Wrong("over_quota.start", (f"allocated.{department}: expected 0, found 1", "their-work")),
        Wrong("over_quota.borrow", ("did not run", f"{department}: expected 0, found 1")),
        Wrong("reclaim.fill", ("victimPods: expected 7, found 6", "default/took-it holds 1"), LATE),
        Wrong("reclaim.victims", ("did not run", "victimPods: expected 7, found 6")),
    )
    proof.shows(*shown)
    assert proof.failed("preflight") == {"preflight.namespaces"}
    for test in ("fractional_gpu", "over_quota", "reclaim"):
        assert proof.checks[f"{test}.cleanup"]["verdict"] == "pass"
    assert proof.seconds <= 360


def shares(wrong: Broken, on: bool) -> bool:
    """Does KAI's admission run with this setting, and no other pod of it any more?"""
    found = wrong.api.get(f"{names.in_namespace(names.DEPLOYMENTS, KAI)}/admission")
    (container,) = found["spec"]["template"]["spec"]["containers"]
    status = found.get("status", {})
    current = bool(status.get("observedGeneration") == found["metadata"]["generation"])
    one = all(status.get(key) == 1 for key in ("replicas", "updatedReplicas", "readyReplicas"))
    return current and one and ("--gpu-sharing-enabled=true" in container["args"]) is on


@pytest.mark.req("V2", "V3")
@pytest.mark.negative("fractional_gpu.running", "over_quota.borrow", "over_quota.cleanup")
def test_sharing_that_is_off_a_lower_limit_and_a_job_that_stays(
    outputs: StackOutputs, tmp_path: Path
) -> None:
    """Both are told long before the time-out: time does not cure them."""
    project = outputs.projects[0]

    def work(watcher: Watcher) -> None:
        watcher.running("over_quota", "first")
        watcher.hold("runai-kit-overquota-a-1", project.namespace)

    with Broken(outputs) as wrong:
        wrong.restless(lambda: shares(wrong, True))
        wrong.patched(CONFIG, {"spec": {"admission": {"gpuSharing": False}}})
        until(lambda: shares(wrong, False), "the operator told admission")
        wrong.patched(f"{names.QUEUES}/{project.queue}", {"spec": {"resources": {"gpu": {"limit": 3}}}})
        with meddling(wrong, work):
            variables = {"workload_cleanup_timeout": CLEANUP}
            proof = prove(outputs, tmp_path, tags="V2,V3", variables=variables)
    shown = (
        Wrong("preflight.gpu_sharing", ("gpuSharing: expected True, found False",)),
        Wrong("preflight.queues", (f"{project.queue}.limit: expected {project.gpu.limit}, found 3",)),
        Wrong(
            "fractional_gpu.running", ("found 0", "denied the request", "GPU sharing is disabled"), AT_ONCE
        ),
        Wrong(
            "over_quota.borrow",
            (f"{project.name}.projectAllocated: expected 4, found 3", "OverLimit"),
            AT_ONCE,
        ),
        Wrong("over_quota.cleanup", ("jobs", "runai-kit-overquota-a-1", HELD), CLEANED),
    )
    proof.shows(*shown)
    assert proof.failed("preflight") == {"preflight.gpu_sharing", "preflight.queues"}
    assert proof.checks["fractional_gpu.cleanup"]["verdict"] == "pass"
    assert proof.seconds <= 300


def ending(halves: list[Json]) -> bool:
    """Has the test begun to remove its pods?"""
    return not halves or any("deletionTimestamp" in pod["metadata"] for pod in halves)


@pytest.mark.req("V2")
@pytest.mark.negative(
    "fractional_gpu.group",
    "fractional_gpu.uuid",
    "fractional_gpu.portion",
    "fractional_gpu.shares",
    "fractional_gpu.others_free",
    "fractional_gpu.cleanup",
)
def test_marks_that_do_not_agree_and_a_stranger_in_the_queue(outputs: StackOutputs, tmp_path: Path) -> None:
    project, image = outputs.projects[0], outputs.images["cuda"]
    reserving = names.in_namespace(names.PODS, outputs.reservationNamespace)
    other = "GPU-00000000-0000-0000-0000-000000000000"

    def work(watcher: Watcher) -> None:
        (half,) = watcher.running("fractional_gpu", "half")
        meta = half["metadata"]
        watcher.hold("runai-kit-half-1", meta["namespace"])
        group = pods.label(half, names.GPU_GROUP_LABEL)
        (reservation,) = watcher.api.items(reserving, labelSelector=f"{names.GPU_GROUP_LABEL}={group}")
        watcher.api.patch(
            f"{reserving}/{reservation['metadata']['name']}",
            {"metadata": {"annotations": {names.RESERVED_GPU_ANNOTATION: other}}},
        )
        watcher.when(lambda: len(watcher.pods("fractional_gpu", "half")) == 2)
        own = {outputs.queueLabelKey: project.queue}
        theirs = things.pod("their-work", image, 1, own, schedulerName=outputs.schedulerName)
        watcher.wrong.made(names.in_namespace(names.PODS, project.namespace), theirs)
        watcher.running("fractional_gpu", "half", 2)
        labels = reservation["metadata"]["labels"]
        # Another account's pod is not admitted there.
        account = reservation["spec"]["serviceAccountName"]
        where = {"nodeName": pods.node(half), "serviceAccountName": account}
        twin = things.pod("reservation-twin", image, 0, labels, **where)
        path = watcher.wrong.made(reserving, twin)
        more = {"metadata": {"annotations": {names.GPU_FRACTION_ANNOTATION: "0.9"}}}
        watcher.api.patch(f"{names.in_namespace(names.PODS, meta['namespace'])}/{meta['name']}", more)
        # KAI removes one reservation of a group when its last pod ends: that has to be its own.
        watcher.when(lambda: ending(watcher.pods("fractional_gpu", "half")))
        watcher.delete(path)

    with Broken(outputs) as wrong, meddling(wrong, work):
        variables = {"workload_cleanup_timeout": CLEANUP}
        proof = prove(outputs, tmp_path, tags="V2", variables=variables, bounds=BOUNDS)
    shown = (
        Wrong("fractional_gpu.group", ("reservationPods: expected 1, found 2", "reservation-twin"), LATE),
        Wrong("fractional_gpu.uuid", ("distinct: expected 1, found 2", f"annotation {other}"), LATE),
        Wrong("fractional_gpu.portion", ("queueAllocated: expected 1, found 2",), LATE),
        Wrong("fractional_gpu.shares", ("overCommitted: expected {}, found", "1.4"), LATE),
        Wrong("fractional_gpu.others_free", ("newlyHeld: expected 1, found 2", "their-work"), LATE),
        Wrong("fractional_gpu.cleanup", ("runai-kit-half-1", HELD), CLEANED),
    )
    proof.shows(*shown)
    assert proof.failed("preflight") == set()
    assert proof.checks["fractional_gpu.running"]["verdict"] == "pass"
    assert proof.seconds <= 240
