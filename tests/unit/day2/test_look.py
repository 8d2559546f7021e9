"""`make drift` on a cluster of a few objects: exit codes, secrets, releases, notes, and looking failing."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any, cast

import pytest

from day2 import state
from day2.drift.findings import Findings
from day2.drift.look import look
from day2.releases import ReleaseError, decode, rendered
from tests.unit.day2.cluster import FakeCluster, obj
from validation.cluster import Cluster

Json = dict[str, Any]
SECRET = base64.b64encode(b"hunter2").decode()
OTHER = base64.b64encode(b"other").decode()


def release(manifest: str, **chart: Any) -> str:
    """A release as its Secret has it."""
    data = {"manifest": manifest, "chart": {"files": [], **chart}, "hooks": []}
    packed = gzip.compress(json.dumps(data).encode())
    return base64.b64encode(base64.b64encode(packed)).decode()


MANIFEST = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator}
spec: {replicas: 1, since: 2024-01-01}
---
"""
HELM = obj(
    "v1",
    "Secret",
    "sh.helm.release.v1.kai.v1",
    "home",
    metadata={"labels": {"owner": "helm", "name": "kai", "status": "deployed", "version": "1"}},
    data={"release": release(MANIFEST)},
)
NAMESPACE = obj("v1", "Namespace", "home", metadata={"labels": {"level": "baseline"}})
DEPLOYMENT = obj("apps/v1", "Deployment", "operator", "home", spec={"replicas": 1, "since": "2024-01-01"})


def stack(*objects: Json, patch: bool = False, releases: bool = False) -> state.Stack:
    declared = tuple(state.Declared(body, patch, False) for body in objects)
    names = (state.ReleaseName("kai", "home"),) if releases else ()
    return state.Stack("test", "context", "", declared, names)


def see(cluster: FakeCluster, of: state.Stack) -> Findings:
    return look(cast(Cluster, cluster), of)


def test_the_same_is_no_drift() -> None:
    found = see(FakeCluster(NAMESPACE, HELM, DEPLOYMENT), stack(NAMESPACE, releases=True))
    assert (found.code(), found.objects, found.notes) == (0, 2, [])
    assert found.lines("test")[-1] == "stack test: 2 objects compared: no drift"


def test_a_removed_label_and_a_changed_release_are_named() -> None:
    bare = obj("v1", "Namespace", "home")
    changed = DEPLOYMENT | {"spec": {"replicas": 2, "since": "2024-01-01"}}
    found = see(FakeCluster(bare, HELM, changed), stack(NAMESPACE, releases=True))
    assert found.code() == 1
    assert sorted(map(str, found.drift)) == [
        "Deployment home/operator [release kai] spec.replicas: expected 1, found 2",
        'Namespace home metadata.labels: expected {"level": "baseline"}, found nothing',
    ]
    assert "pulumi up --refresh --stack test" in found.lines("test")[-1]


def test_a_missing_object_and_a_missing_kind() -> None:
    queue = obj("scheduling.run.ai/v2", "Queue", "team")
    unknown = obj("example.com/v1", "Thing", "one")
    found = see(FakeCluster(), stack(queue, unknown))
    assert [item.found for item in found.drift] == ["nothing", "no kind Thing in the API"]
    assert found.code() == 1


def test_secrets_are_compared_and_never_shown() -> None:
    stated = obj("v1", "Secret", "key", "home", stringData={"key": "hunter2"})
    same = obj("v1", "Secret", "key", "home", data={"key": SECRET})
    assert see(FakeCluster(same), stack(stated)).code() == 0
    found = see(FakeCluster(same | {"data": {"key": OTHER}}), stack(stated))
    text = "\n".join(found.lines("test"))
    assert found.code() == 1
    assert "Secret home/key data.key: expected digest " in text
    assert not any(word in text for word in ("hunter2", SECRET, OTHER, "other,"))


@pytest.mark.parametrize("path", ["/api/v1/namespaces/home", "/api/v1", "/api/v1/configmaps"])
def test_what_cannot_be_read_is_never_right(path: str) -> None:
    cluster = FakeCluster(NAMESPACE)
    cluster.broken.add(path)
    found = see(cluster, stack(NAMESPACE))
    assert found.code() == 2
    assert any("503" in line for line in found.lines("test"))


def test_a_release_that_is_not_deployed_is_not_looked_over() -> None:
    found = see(FakeCluster(NAMESPACE), stack(NAMESPACE, releases=True))
    assert found.code() == 2
    assert "home/kai: found no deployed revision" in found.unread[0]
    with pytest.raises(ReleaseError):
        rendered(cast(Cluster, FakeCluster()), state.ReleaseName("kai", "home"))


def test_an_object_that_nobody_stated_is_a_note() -> None:
    stray = obj("v1", "ConfigMap", "stray", "home")
    usual = obj("v1", "ConfigMap", "kube-root-ca.crt", "home")
    owned = obj("v1", "Pod", "one", "home", metadata={"ownerReferences": [{"kind": "ReplicaSet"}]})
    found = see(FakeCluster(NAMESPACE, stray, usual, owned), stack(NAMESPACE))
    assert found.code() == 0
    assert [note.partition(":")[0] for note in found.notes] == ["ConfigMap home/stray"]


def written_by(manager: str, body: Json, fields: Json) -> Json:
    entry = {"manager": manager, "fieldsV1": fields}
    return body | {"metadata": body["metadata"] | {"managedFields": [entry]}}


def test_what_somebody_added_is_drift_and_a_label_of_theirs_a_note() -> None:
    stated = obj("v1", "ConfigMap", "settings", "home", data={"a": "1"})
    live = obj(
        "v1",
        "ConfigMap",
        "settings",
        "home",
        metadata={"labels": {"team": "x"}},
        data={"a": "1", "b": "2"},
    )
    fields = {"f:data": {"f:b": {}}, "f:metadata": {"f:labels": {"f:team": {}}}}
    found = see(FakeCluster(written_by("kubectl-edit", live, fields)), stack(stated))
    assert [str(item) for item in found.drift] == [
        "ConfigMap home/settings data.b: expected nothing, found 2 (written by kubectl-edit)"
    ]
    assert len(found.notes) == 1
    assert see(FakeCluster(written_by("pulumi-kubernetes-1", live, fields)), stack(stated)).code() == 0
    # Of somebody else's object only what was patched is ours to look at.
    patched = see(FakeCluster(written_by("kubectl-edit", live, fields)), stack(stated, patch=True))
    assert (patched.code(), patched.notes) == (0, [])


@pytest.mark.parametrize(
    ("value", "refused", "code"), [("usual", False, 0), ("usual", True, 1), ("other", False, 1)]
)
def test_a_servers_default_that_somebody_wrote_out_is_no_drift(value: str, refused: bool, code: int) -> None:
    stated = obj("v1", "ConfigMap", "settings", "home", data={"a": "1"})
    live = written_by("kubectl-create", stated | {"policy": value}, {"f:policy": {}})
    cluster = FakeCluster(live)
    if refused:
        cluster.broken.add("/api/v1/namespaces/home/configmaps")
    assert see(cluster, stack(stated)).code() == code


def test_helms_own_marks_are_nobodys_change() -> None:
    stated = obj("v1", "ConfigMap", "settings", "home")
    marks = {
        "annotations": {"meta.helm.sh/release-name": "kai"},
        "labels": {"app.kubernetes.io/managed-by": "Helm"},
    }
    live = obj("v1", "ConfigMap", "settings", "home", metadata=marks)
    fields: Json = {f"f:{key}": {f"f:{name}": {} for name in marks[key]} for key in marks}
    found = see(FakeCluster(written_by("kubectl-create", live, {"f:metadata": fields})), stack(stated))
    assert (found.code(), found.notes) == (0, [])


def test_dates_and_equals_signs_in_manifests_are_texts() -> None:
    text = release("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {d: 2024-01-01, e: =}\n")
    assert decode(text, "home").objects[0]["data"] == {"d": "2024-01-01", "e": "="}
    assert decode(text, "home").objects[0]["metadata"]["namespace"] == "home"


def test_crds_of_a_chart_are_compared_too() -> None:
    crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n"
    file = {"name": "crds/a.yaml", "data": base64.b64encode(crd.encode()).decode()}
    found = decode(release("", files=[file, {"name": "README.md", "data": ""}]), "home")
    assert [body["metadata"]["name"] for body in found.crds] == ["a.b"]
