"""V9: fair share over time: observations against expectations, right and wrong."""

from __future__ import annotations

import pytest

from tests.unit.validation.beds import TWO, pinned, workers
from tests.unit.validation.double import Double, pod
from validation import names
from validation.compare import differences
from validation.expect import fair_share_over_time as expect_time
from validation.observe import usage

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
