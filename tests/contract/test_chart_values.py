"""What the kit sets on each chart, against schemas that were written from the charts' documentation.

Removing any one value, or adding one that no chart knows, has to be refused.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import pytest
import yaml

from components.addons.inputs import AddonInputs
from components.addons.values import chart_values
from components.cluster import ClusterFacts
from components.config.model import Settings
from components.full import rendered
from components.kai import v0_18
from components.kai.settings import kai_inputs
from components.merging import merged
from components.namespaces import PULL_SECRET
from components.prometheus import stack
from policy import front
from tests.contract.doubles import CHARTS as CHARTS_FOLDER
from tests.contract.doubles import names, schema
from tests.full import FULL
from tests.stack import CATALOG, LOCAL, changed, settings

Json = dict[str, Any]
MIRROR = {"prefix": "harbor.example.test/m", "username": "robot", "password": "word"}
CHANGES: Json = {
    "fakeGpus": {},
    "registry": MIRROR,
    "scheduler.version": "0.18.6",
    "gpuOperator": {
        "source": "install",
        "mode": "vgpu",
        "driver": {"version": "615.10"},
        "licence": {"token": "tok"},
    },
    "sharing": "timeSlicing",
    "monitoring": {"source": "chart", "grafana": True},
    "ingress": {"enabled": True, "source": "controller"},
}


def everything() -> Settings:
    """A stack whose charts are all asked for everything: a mirror with a user, vGPUs, shared devices."""
    values = LOCAL
    for path, value in CHANGES.items():
        values = changed(values, path, value)
    return settings(values)


ROLES = {
    "gpu-operator": ("gpuOperator", "gpu-operator-26.7"),
    "lws": ("leaderWorkerSet", "leader-worker-set"),
    "gpu-fractioning": ("fractioning", "gpu-fractioning"),
    "grove-charts": ("grove", "grove-0.1.0-alpha.17"),
    "karta": ("workloadMap", "workload-map"),
    "kai-resource-management": ("resourceManagement", "kai-resource-management"),
}


FRONT_ROLES = {
    "knative-operator": ("knativeOperator", "knative-operator"),
    "kubernetes-ingress": ("ingress", "haproxy-ingress"),
}
FULL_ROLES = {"control-plane": "controlPlane", "runai-cluster": "clusterAgents"}


def whole() -> Settings:
    """Run:ai with support, from a mirror with a user, on an external database and a storage class."""
    values = FULL
    for path, value in {
        "registry": MIRROR,
        "ngc": {"acceptLicense": True, "supportEntitled": True, "apiKey": "key"},
        "controlPlane.storageClass": "fast",
        "controlPlane.postgresql": {"host": "db.example.test", "username": "runai", "password": "word word"},
    }.items():
        values = changed(values, path, value)
    return settings(values)


@cache
def judge(chart: str) -> jsonschema.Draft7Validator:
    """The schema, ready to judge values."""
    return jsonschema.Draft7Validator(schema(chart))


@cache
def values_of(chart: str) -> Json:
    """What the component of this chart sets."""
    chosen = everything()
    if chart == "kai-scheduler":
        kai = kai_inputs(chosen, CATALOG, ClusterFacts("", (), {}), "kai-scheduler-0.18", PULL_SECRET)
        return v0_18.values(kai)
    if chart == "kube-prometheus-stack":
        part = CATALOG.parts[chart]
        return stack.values(chosen.monitoring, part, chosen.registry.prefix, PULL_SECRET)
    if chart in FRONT_ROLES:
        return front.chart_values(FRONT_ROLES[chart][0], chosen, CATALOG, PULL_SECRET)
    if chart in FULL_ROLES:
        return rendered.chart_values(FULL_ROLES[chart], whole(), CATALOG, PULL_SECRET)
    role, key = ROLES[chart]
    return chart_values(role, AddonInputs(chosen, CATALOG, key, PULL_SECRET))


def key_of(chart: str) -> str:
    """The catalog key of the chart's part."""
    if chart in ROLES or chart in FRONT_ROLES:
        return (ROLES | FRONT_ROLES)[chart][1]
    return "kai-scheduler-0.18" if chart == "kai-scheduler" else chart


def leaves(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Paths of everything that is no mapping, and of empty mappings."""
    if isinstance(node, dict) and node:
        for key, value in node.items():
            yield from leaves(value, (*path, key))
    else:
        yield path


def without(values: Json, path: tuple[str, ...]) -> Json:
    changed_values = copy.deepcopy(values)
    node = changed_values
    for key in path[:-1]:
        node = node[key]
    del node[path[-1]]
    return changed_values


CHARTS = ["kai-scheduler", "kube-prometheus-stack", *ROLES, *FRONT_ROLES, *FULL_ROLES]
LEAVES = [(chart, path) for chart in CHARTS for path in leaves(values_of(chart))]


def test_every_double_has_a_component() -> None:
    assert set(names()) == set(CHARTS)


@pytest.mark.req("I4", "I5", "I6", "I8", "I9", "I12")
@pytest.mark.parametrize("chart", CHARTS)
def test_the_chart_takes_what_the_component_sets(chart: str) -> None:
    jsonschema.Draft7Validator.check_schema(schema(chart))
    judge(chart).validate(values_of(chart))


@pytest.mark.req("I4", "I5", "I6", "I8", "I9", "I12")
@pytest.mark.parametrize(("chart", "path"), LEAVES, ids=[f"{c}:{'.'.join(p)}" for c, p in LEAVES])
def test_no_value_can_be_left_out(chart: str, path: tuple[str, ...]) -> None:
    assert not judge(chart).is_valid(without(values_of(chart), path))


@pytest.mark.req("I4", "I5", "I6", "I8", "I9", "I12")
@pytest.mark.parametrize("chart", CHARTS)
def test_a_value_that_the_chart_does_not_know_is_refused(chart: str) -> None:
    for place in {path[:1] for path in leaves(values_of(chart)) if len(path) > 1}:
        values = copy.deepcopy(values_of(chart))
        values[place[0]]["no-such-value"] = 1
        if _open(chart, place[0]):
            continue
        assert not judge(chart).is_valid(values), place
    assert not judge(chart).is_valid({**values_of(chart), "noSuchValue": 1})


@pytest.mark.req("I6")
def test_the_control_planes_own_database_has_a_password_and_no_address() -> None:
    own = yaml.safe_load((CHARTS_FOLDER / "control-plane" / "values.yaml").read_text())
    plane = rendered.chart_values("controlPlane", settings(FULL), CATALOG, PULL_SECRET)
    judge("control-plane").validate(merged(own, plane))
    judge("control-plane").validate(merged(own, values_of("control-plane")))
    away = merged(plane, {"global": {"postgresql": {"auth": {"host": "db.example.test"}}}})
    assert not judge("control-plane").is_valid(merged(own, away))


def _open(chart: str, key: str) -> bool:
    """Whether the schema leaves a section open: those of which only a part was read."""
    section = schema(chart)["properties"][key]
    return "$ref" not in section and section.get("additionalProperties", True) is True
