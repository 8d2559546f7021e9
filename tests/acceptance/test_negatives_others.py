"""V1 and V11 in both directions: beside work of others that could be hurt no test begins, and says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance import things
from tests.acceptance.broken import Broken, Json, until
from tests.acceptance.proving import Proof, Wrong, prove
from validation import names
from validation.observe import evictions, pods, queues
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.req("V1"), pytest.mark.usefixtures("unchanged")]


def others_work(wrong: Broken) -> list[Json]:
    """A pod above its queue's quota, in queues of its own, and pods that hold all the other GPUs."""
    project, image = wrong.outputs.projects[0], wrong.outputs.images["cuda"]
    wrong.made(names.QUEUES, things.queue("their-department", "", 0))
    wrong.made(names.QUEUES, things.queue("their-team", "their-department", 0))
    labels = {wrong.outputs.queueLabelKey: "their-team"}
    theirs = things.pod("their-work", image, 1, labels, schedulerName=wrong.outputs.schedulerName)
    paths = [wrong.made(names.in_namespace(names.PODS, project.namespace), theirs)]
    until(lambda: pods.running(wrong.api.get(paths[0])), "the pod above its quota runs")
    taken = pods.node(wrong.api.get(paths[0]))
    for node, gpus in wrong.outputs.expectedGpus.items():
        if count := gpus - (node == taken):
            body = things.pod(f"their-gpus-{node}", image, count, nodeName=node)
            paths.append(wrong.made(names.in_namespace(names.PODS, "default"), body))
    until(lambda: all(pods.running(wrong.api.get(path)) for path in paths), "all GPUs are held")
    queue = f"{names.QUEUES}/their-team"
    until(lambda: queues.allocated(wrong.api.get(queue)) == 1, "the queue counts the pod")
    return [wrong.api.get(path) for path in paths]


def second_default(wrong: Broken) -> None:
    """One more StorageClass, marked as default like the first."""
    like = wrong.api.get(f"{names.STORAGE_CLASSES}/standard")
    meta = {"name": "theirs", "annotations": {names.DEFAULT_STORAGE_CLASS_ANNOTATION: "true"}}
    keep = ("apiVersion", "kind", "provisioner", "volumeBindingMode", "reclaimPolicy")
    wrong.made(names.STORAGE_CLASSES, {**{key: like[key] for key in keep if key in like}, "metadata": meta})


@pytest.mark.req("V11")
@pytest.mark.negative(
    "preflight.foreign_queues", "preflight.blast_radius", "preflight.capacity", "preflight.storage_class"
)
def test_the_tests_refuse_to_run_beside_others_work(outputs: StackOutputs, tmp_path: Path) -> None:
    with Broken(outputs) as wrong:
        second_default(wrong)
        theirs = others_work(wrong)
        before = evictions.seen(wrong.api)
        proof = prove(outputs, tmp_path, tags="V2,V3,V4")
        evicted = evictions.since(wrong.api, before)
        after = {pods.name(p): p["metadata"]["uid"] for p in wrong.api.items(names.PODS) if pods.running(p)}
    namespace = outputs.projects[0].namespace
    shown = (
        Wrong("preflight.foreign_queues", ("their-department", "their-team")),
        Wrong("preflight.blast_radius", (f"{namespace}/their-work", "queue their-team", "above its quota")),
        Wrong(
            "preflight.capacity",
            ("freeGpus: expected atLeast 1, found 0", "default/their-gpus-", "their-work"),
        ),
        Wrong("preflight.storage_class", ("defaults: expected 1, found 2",)),
    )
    proof.shows(*shown)
    assert proof.failed() == {one.check for one in shown}
    refused_because_of(proof, "preflight.foreign_queues", "preflight.blast_radius", "preflight.capacity")
    assert evicted == []
    assert {pods.name(p): p["metadata"]["uid"] for p in theirs}.items() <= after.items()
    assert proof.seconds <= 180


def refused_because_of(proof: Proof, *checks: str) -> None:
    """None of the chosen tests began, and each of their checks says why."""
    for name, entry in proof.checks.items():
        if name.partition(".")[0] in ("fractional_gpu", "over_quota", "reclaim"):
            assert entry["verdict"] == "skip"
            assert entry["reason"].startswith("refused because of")
            assert all(check in entry["reason"] for check in checks), entry["reason"]
