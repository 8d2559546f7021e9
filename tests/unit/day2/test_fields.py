"""Who wrote what, from managedFields as an API server writes them."""

from __future__ import annotations

from typing import Any

from day2.drift.compare import written
from day2.drift.fields import writer, written_fields

Json = dict[str, Any]
STATED: Json = {
    "metadata": {"name": "a", "labels": {"kit": "1"}},
    "spec": {"containers": [{"name": "main", "ports": [{"containerPort": 80}]}]},
    "data": {"one": "1"},
}
LIVE: Json = {
    "metadata": {
        "name": "a",
        "labels": {"kit": "1", "team": "x"},
        "finalizers": ["kept"],
        "managedFields": [
            {
                "manager": "kit",
                "fieldsV1": {"f:data": {"f:one": {}}, "f:metadata": {"f:labels": {"f:kit": {}}}},
            },
            {
                "manager": "kubectl-edit",
                "fieldsV1": {
                    "f:data": {"f:two": {}},
                    "f:metadata": {
                        "f:labels": {"f:team": {}},
                        "f:finalizers": {".": {}, 'v:"kept"': {}},
                    },
                    "f:spec": {
                        "f:containers": {
                            'k:{"name":"main"}': {
                                ".": {},
                                "f:image": {},
                                "f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {"f:name": {}}},
                            }
                        },
                        "f:gone": {},
                    },
                },
            },
            {"manager": "kubelet", "subresource": "status", "fieldsV1": {"f:status": {"f:phase": {}}}},
            {"manager": "old", "fieldsV1": {"f:status": {"f:phase": {}}}},
        ],
    },
    "spec": {
        "containers": [{"name": "main", "image": "x", "ports": [{"containerPort": 80, "name": "http"}]}]
    },
    "data": {"one": "1", "two": "2"},
    "status": {"phase": "Running"},
}


def test_fields_that_nobody_stated_are_told_with_their_writer() -> None:
    added = {written(f.path): (f.value, f.manager) for f in written_fields(STATED, LIVE) if not f.stated}
    assert added == {
        "data.two": ("2", "kubectl-edit"),
        "metadata.labels.team": ("x", "kubectl-edit"),
        'metadata.finalizers["kept"]': ("kept", "kubectl-edit"),
        "spec.containers[main].image": ("x", "kubectl-edit"),
        "spec.containers[main].ports[80/TCP].name": ("http", "kubectl-edit"),
    }


def test_the_writer_of_a_stated_field() -> None:
    fields = written_fields(STATED, LIVE)
    assert writer(("data", "one"), fields) == "kit"
    assert writer(("spec", "containers", "[main]", "image"), fields) == "kubectl-edit"
    assert writer(("data", "none"), fields) == ""
