"""V10: fallbacks: observations against expectations, right and wrong."""

from __future__ import annotations

import pytest

from tests.unit.validation.beds import TWO, pinned, workers
from tests.unit.validation.double import Double, group, pod, queue, reason
from validation import names
from validation.compare import differences
from validation.expect import fallbacks as expect_fallbacks
from validation.observe import fallbacks


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
