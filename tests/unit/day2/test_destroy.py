"""Steps of a destroy on a cluster of a few objects, and Pulumi's own run under watch."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any, cast

import pytest

from components.fake_gpus import LABELS
from components.labels import MANAGED_BY
from day2.destroy import engine, holders, marks, people, sweep, webhooks, workloads
from day2.destroy.options import Options, agreed, options
from day2.destroy.run import Destroy, RefusedError
from day2.inventory import inventory
from day2.kinds import Kinds
from day2.state import Declared, Stack
from day2.stated import Stated
from tests.unit.day2.cluster import FakeCluster, obj
from validation.cluster import Cluster

Json = dict[str, Any]
PROJECT = obj("v1", "Namespace", "runai-a", metadata={"labels": {"runai-kit.io/project": "a"}})
HOME = obj("v1", "Namespace", "kai-scheduler")
THEIRS = obj("v1", "Namespace", "monitoring")
CRD = obj(
    "apiextensions.k8s.io/v1",
    "CustomResourceDefinition",
    "queues.scheduling.run.ai",
    metadata={"managedFields": [{"manager": "pulumi-kubernetes-1"}]},
)
STACK = Stack(
    "test",
    "context",
    "",
    (
        Declared(PROJECT, False, False),
        Declared(HOME, False, False),
        Declared(THEIRS, True, False),
        Declared(CRD, False, True),
    ),
    (),
)


def live(cluster: FakeCluster) -> Cluster:
    return cast(Cluster, cluster)


def refused(cluster: FakeCluster, stack: Stack = STACK, **given: bool) -> str:
    run = Destroy(Options("test", **given), stack, live(cluster), Path(), lambda _: None)
    with pytest.raises(RefusedError) as error:
        run.look()
    assert cluster.deleted == []
    assert cluster.patched == []
    return str(error.value)


def accepted(cluster: FakeCluster, stack: Stack = STACK, **given: bool) -> None:
    Destroy(Options("test", **given), stack, live(cluster), Path(), lambda _: None).look()


BASE = (PROJECT, HOME, THEIRS, CRD)
POD = obj("v1", "Pod", "theirs", "runai-a")
QUEUE = obj("scheduling.run.ai/v2", "Queue", "theirs")


def test_peoples_objects_in_our_namespaces_are_refused_or_accepted() -> None:
    text = refused(FakeCluster(*BASE, POD))
    assert "Pod runai-a/theirs" in text
    assert "WORKLOADS=1" in text
    accepted(FakeCluster(*BASE, POD), workloads=True)


def test_what_lies_in_a_namespace_that_is_not_ours_stays_and_is_no_reason() -> None:
    accepted(FakeCluster(*BASE, obj("v1", "ConfigMap", "theirs", "monitoring")))


def test_objects_elsewhere_that_would_lose_their_controllers() -> None:
    assert "Queue theirs" in refused(FakeCluster(*BASE, QUEUE))
    accepted(FakeCluster(*BASE, QUEUE), workloads=True)


def test_a_purge_never_deletes_an_object_of_others() -> None:
    assert "PURGE would delete" in refused(FakeCluster(*BASE, QUEUE), purge=True, workloads=True)
    empty = Stack("test", "context", "", (), ())
    marked = CRD | {"metadata": CRD["metadata"] | {"labels": {marks.BROUGHT_BY: "test"}}}
    assert "Queue theirs" in refused(FakeCluster(marked, QUEUE), empty, purge=True)


@pytest.mark.parametrize(
    "labels",
    [{marks.BROUGHT_BY: "test"}, MANAGED_BY],
    ids=["marked by an earlier destroy", "the kit's label"],
)
def test_a_purge_looks_for_objects_of_every_crd_that_it_would_delete(labels: dict[str, str]) -> None:
    """Also of one that this stack does not state any more."""
    stack = Stack("test", "context", "", (Declared(HOME, False, False),), ())
    crd = CRD | {"metadata": CRD["metadata"] | {"labels": labels}}
    assert "Queue theirs" in refused(FakeCluster(HOME, crd, QUEUE), stack, purge=True, workloads=True)
    accepted(FakeCluster(HOME, crd), stack, purge=True)


def test_a_purge_leaves_another_installations_kai() -> None:
    """Its Config is by the same provider as this kit's own would be."""
    crd = obj(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "configs.kai.scheduler",
        metadata={"labels": {marks.BROUGHT_BY: "test"}},
    )
    written = {"managedFields": [{"manager": "pulumi-kubernetes-1"}]}
    config = obj("kai.scheduler/v1", "Config", "kai-config", metadata=written)
    empty = Stack("test", "context", "", (), ())
    assert "Config kai-config" in refused(FakeCluster(HOME, crd, config), empty, purge=True)
    # Without a home it is a left-over, which is swept before the CRDs go.
    accepted(FakeCluster(crd, config), empty, purge=True)


def test_tests_and_controllers_are_not_people() -> None:
    part = {"app.kubernetes.io/part-of": "runai-kit-validation"}
    accepted(
        FakeCluster(
            *BASE,
            obj("v1", "Pod", "test", "runai-a", metadata={"labels": part}),
            obj("v1", "Pod", "gpu-reservation-x", "kai-scheduler"),
            obj("v1", "Pod", "owned", "runai-a", metadata={"ownerReferences": [{"kind": "Job"}]}),
            obj("v1", "ConfigMap", "kube-root-ca.crt", "runai-a"),
            obj(
                "v1",
                "ConfigMap",
                "half-installed",
                "kai-scheduler",
                metadata={"managedFields": [{"manager": "pulumi-resource-kubernetes"}]},
            ),
        )
    )
    # In a project's namespace another program that uses Pulumi is somebody else.
    stranger = obj(
        "v1", "Pod", "p", "runai-a", metadata={"managedFields": [{"manager": "pulumi-kubernetes"}]}
    )
    assert "Pod runai-a/p" in refused(FakeCluster(*BASE, stranger))


def test_only_crds_that_the_stack_brought_are_marked_or_purged() -> None:
    before = obj(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "servicemonitors.monitoring.coreos.com",
        metadata={"managedFields": [{"manager": "kubectl-client-side-apply"}]},
    )
    cluster = FakeCluster(CRD, before)
    both = [Stated(CRD), Stated(before)]
    found = marks.candidates(live(cluster), Kinds(live(cluster)), "test", both)
    assert [item.name for item in found] == ["queues.scheduling.run.ai"]
    marks.mark(live(cluster), "test", found)
    assert [path.rpartition("/")[2] for path, _ in cluster.patched] == [
        "queues.scheduling.run.ai?fieldManager=runai-kit"
    ]


def hook(name: str, namespace: str, service: str) -> Json:
    config = {"service": {"namespace": namespace, "name": service}}
    return obj(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        name,
        webhooks=[{"clientConfig": config}, {"clientConfig": {"url": "https://example.com"}}],
    )


def slice_of(service: str, namespace: str, ready: bool) -> Json:
    return obj(
        "discovery.k8s.io/v1",
        "EndpointSlice",
        f"{service}-x",
        namespace,
        metadata={"labels": {"kubernetes.io/service-name": service}},
        endpoints=[{"conditions": {"ready": ready}}],
    )


@pytest.mark.parametrize(("ready", "dead"), [(True, []), (False, ["kai"])])
def test_a_webhook_is_dead_when_no_endpoint_is_ready(ready: bool, dead: list[str]) -> None:
    cluster = FakeCluster(
        hook("kai", "kai-scheduler", "admission"),
        hook("theirs", "shop", "gone"),
        slice_of("admission", "kai-scheduler", ready),
    )
    found = webhooks.unanswered(live(cluster), {"kai-scheduler"})
    assert [path.rpartition("/")[2] for path in found] == dead


def test_workloads_end_within_their_grace() -> None:
    cluster = FakeCluster(POD)
    owners = [item for item in inventory(live(cluster)) if item.kind == "Pod"]
    workloads.end(live(cluster), Kinds(live(cluster)), ["runai-a"], owners, lambda _: None, 1)
    assert cluster.objects == {}


def test_a_pod_that_does_not_go_is_named_with_its_finalizer() -> None:
    held = POD | {"metadata": POD["metadata"] | {"finalizers": ["example.com/hold"]}}
    cluster = FakeCluster(held)
    cluster.deaf.add("/api/v1/namespaces/runai-a/pods/theirs")
    start = time.monotonic()
    with pytest.raises(workloads.StuckError, match=r"Pod runai-a/theirs \(example.com/hold\)"):
        workloads.end(live(cluster), Kinds(live(cluster)), ["runai-a"], [], lambda _: None, 0.1)
    assert time.monotonic() - start < 5
    assert cluster.deleted == [("/api/v1/namespaces/runai-a/pods/theirs", workloads.GRACE)]


def test_who_holds_what_is_told() -> None:
    held = obj(
        "v1",
        "ConfigMap",
        "held",
        "runai-a",
        metadata={"finalizers": ["example.com/hold"], "deletionTimestamp": "2026-01-01T00:00:00Z"},
    )
    waiting = {"type": "NamespaceDeletionContentFailure", "status": "True", "message": "one  api\nis down"}
    cluster = FakeCluster(PROJECT | {"status": {"conditions": [waiting]}}, held)
    texts = holders.holders(live(cluster), ["runai-a"], inventory(live(cluster)))
    assert texts == [
        "ConfigMap runai-a/held: finalizer example.com/hold",
        "namespace runai-a: one api is down",
    ]
    assert holders.holders(live(cluster), ["other"], inventory(live(cluster))) == []


def node(name: str, manager: str, *labels: str) -> Json:
    fields: Json = {"f:metadata": {"f:labels": {".": {}, f"f:{labels[0]}": {}}}}
    entry = {"manager": manager, "fieldsV1": fields}
    return obj("v1", "Node", name, metadata={"labels": dict.fromkeys(labels, "1"), "managedFields": [entry]})


def test_labels_of_nodes_that_the_agent_worked_on_are_taken_back() -> None:
    """Also one that somebody wrote over; never those of real GPUs, or of people."""
    mine, others = "nvidia.com/gpu.count", "nvidia.com/gpu.memory"
    cluster = FakeCluster(
        node("pretended", "fake-gpu", mine, others, "team", "nvidia.com/gpu.deploy.device-plugin"),
        node("real", "gpu-feature-discovery", mine, others),
    )
    sweep.unlabel(live(cluster), lambda _: None)
    assert [(path, set(change["metadata"]["labels"])) for path, change in cluster.patched] == [
        ("/api/v1/nodes/pretended", {mine, others})
    ]


def test_the_agents_labels_are_those_of_its_source() -> None:
    source = Path("local/fake-gpu/internal/node/labels.go").read_text()
    named = re.findall(r'^\t+"(nvidia\.com/[^"]+)":', source, re.MULTILINE)
    assert sorted(named) == sorted(key for key in LABELS if key != "run.ai/fake.gpu")
    assert 'FakeLabel = "run.ai/fake.gpu"' in source


def test_objects_of_a_release_whose_namespace_is_gone_go() -> None:
    helm = {
        "annotations": {"meta.helm.sh/release-namespace": "kai-scheduler"},
        "managedFields": [{"manager": "pulumi-resource-kubernetes"}],
    }
    orphan = obj("scheduling.run.ai/v2", "Queue", "orphan", metadata=helm)
    alive = FakeCluster(HOME, orphan)
    sweep.orphans(live(alive), ["kai-scheduler"], lambda _: None)
    assert alive.deleted == []
    dead = FakeCluster(orphan, obj("scheduling.run.ai/v2", "Queue", "theirs"))
    sweep.orphans(live(dead), ["kai-scheduler"], lambda _: None)
    assert [path.rpartition("/")[2] for path, _ in dead.deleted] == ["orphan"]


def test_what_is_left_is_told() -> None:
    everything = [Stated(HOME), Stated(THEIRS, patch=True), Stated(CRD)]
    cluster = FakeCluster(THEIRS, CRD, obj("v1", "ConfigMap", "x", "kai-scheduler"))
    left = sweep.left(live(cluster), {"kai-scheduler"}, everything, set(), 0)
    assert left == ["ConfigMap kai-scheduler/x"]
    purged = sweep.left(live(cluster), set(), everything, {"queues.scheduling.run.ai"}, 0)
    assert purged == ["CustomResourceDefinition queues.scheduling.run.ai"]


def pulumi(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "pulumi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.parametrize("code", [0, 3])
def test_pulumis_words_and_its_code_are_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    pulumi(tmp_path, f'echo "$@"; exit {code}', monkeypatch)
    said: list[str] = []
    assert engine.destroy("test", tmp_path, 5, said.append) == code
    assert said == ["destroy --yes --skip-preview --non-interactive --stack test"]


def test_a_destroy_that_stands_still_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pulumi(
        tmp_path,
        "trap 'echo asked > asked; exit 1' INT; echo begun; while :; do sleep 0.1; done",
        monkeypatch,
    )
    start = time.monotonic()
    assert engine.destroy("test", tmp_path, 0.5, lambda _: None) is None
    assert time.monotonic() - start < 20
    assert (tmp_path / "asked").exists()


def test_nobody_to_ask_is_no_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def __init__(self, there: bool) -> None:
            self.there = there

        def isatty(self) -> bool:
            return self.there

    asked = options(["test", "--purge"])
    assert (asked.purge, asked.workloads, asked.yes) == (True, False, False)
    monkeypatch.setattr("sys.stdin", Terminal(False))
    assert not agreed(asked, "context")
    assert agreed(options(["test", "--yes"]), "context")
    monkeypatch.setattr("sys.stdin", Terminal(True))
    monkeypatch.setattr("builtins.input", lambda question: "test " if "with its CRDs" in question else "")
    assert agreed(asked, "context")
    assert not agreed(options(["test"]), "context")


def test_names_of_many_objects_are_cut() -> None:
    cluster = FakeCluster(*(obj("v1", "ConfigMap", f"c{number:02}", "a") for number in range(20)))
    found = inventory(live(cluster))
    assert people.listed(found).count("\n") == 13
    assert "… and 8 more" in people.listed(found)
