"""Knative's settings: what Run:ai asks for, the same for both ways of installing it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.knative.config import config
from components.knative.inputs import knative_inputs
from tests.stack import CATALOG, LOCAL, changed, run_platform, settings

OPERATOR = changed(LOCAL, "knative.source", "operator")
# From Run:ai's installation guide, and what newer clusters look at.
ASKED_FOR = {
    *("affinity", "init-containers", "persistent-volume-claim", "persistent-volume-write", "schedulername"),
    *(
        "securitycontext",
        "tolerations",
        "volumes-emptydir",
        "fieldref",
        "nodeselector",
        "hostipc",
        "hostnetwork",
    ),
}


def of(values: dict[str, Any]) -> dict[str, dict[str, str]]:
    return config(knative_inputs(settings(values), CATALOG, ""))


@pytest.mark.req("I7")
def test_every_feature_that_runai_asks_for_is_on() -> None:
    features = of(LOCAL)["features"]
    assert {f"kubernetes.podspec-{name}" for name in ASKED_FOR} <= features.keys()
    assert {"kubernetes.containerspec-addcapabilities", "multi-container"} <= features.keys()
    assert set(features.values()) == {"enabled"}


@pytest.mark.req("I7")
def test_names_domain_and_scheme() -> None:
    found = of(LOCAL)
    assert found["domain"] == {"inference.apps.example.test": ""}
    assert found["network"] == {
        "ingress-class": "kourier.ingress.networking.knative.dev",
        "domain-template": "{{.Name}}-{{.Namespace}}.{{.Domain}}",
        "default-external-scheme": "https",
    }
    assert of(changed(LOCAL, "knative.domain", "ml.example.test"))["domain"] == {"ml.example.test": ""}


@pytest.mark.req("I7")
@pytest.mark.parametrize(("value", "text"), [(True, "true"), (False, "false")])
def test_scale_to_zero_is_a_setting(value: bool, text: str) -> None:
    assert of(changed(LOCAL, "knative.scaleToZero", value))["autoscaler"] == {"enable-scale-to-zero": text}


@pytest.mark.req("I10")
def test_metrics_go_to_prometheus() -> None:
    assert of(LOCAL)["observability"] == {
        "metrics-protocol": "prometheus",
        "request-metrics-protocol": "prometheus",
    }


@pytest.mark.req("I7")
def test_tags_are_not_resolved_where_no_registry_answers() -> None:
    def skipped(values: dict[str, Any]) -> set[str]:
        return set(of(values)["deployment"]["registries-skipping-tag-resolving"].split(","))

    assert skipped(LOCAL) == {"kind.local", "ko.local", "dev.local"}
    packages = skipped(changed(LOCAL, "images.source", "packages"))
    assert {"kind.local", "nvcr.io", "docker.io", "index.docker.io", "gcr.io"} <= packages


@pytest.mark.req("I7")
def test_the_operator_is_told_the_same(tmp_path: Path) -> None:
    run = run_platform(tmp_path, OPERATOR)
    serving = run.one("KnativeServing", "knative-serving").inputs
    spec = serving["spec"]
    assert spec["config"] == of(LOCAL)
    assert spec["version"] == "1.21.1"
    assert spec["ingress"] == {"kourier": {"enabled": True, "service-type": "ClusterIP"}}
    assert spec["high-availability"] == {"replicas": 1}
    assert serving["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=Ready"
    assert serving["metadata"]["namespace"] == "knative-serving"
    assert run.one("KnativeServing", "knative-serving").depends_on == {"knative-operator"}
    assert not run.of_type("CustomResourceDefinition")


@pytest.mark.req("I1")
def test_the_operators_pods_pass_restricted(tmp_path: Path) -> None:
    release = run_platform(tmp_path, OPERATOR).one("Release", "knative-operator").inputs
    assert release["namespace"] == "knative-operator"
    assert CATALOG.parts["knative-operator"].namespaces["knative-operator"].psa == "restricted"
    for program in release["values"]["knative_operator"].values():
        assert program["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}
        assert program["tag"] == "v1.21.4"


@pytest.mark.req("I13")
def test_the_operators_own_pods_get_the_mirrors_login_by_their_accounts(tmp_path: Path) -> None:
    mirror = {"prefix": "harbor.test/m", "username": "robot", "password": "word"}
    run = run_platform(tmp_path, changed(OPERATOR, "registry", mirror))
    release = run.one("Release", "knative-operator")
    for name in ("knative-operator", "operator-webhook"):
        account = run.one("ServiceAccount", f"knative-operator-account-{name}")
        assert account.inputs["imagePullSecrets"] == [{"name": "runai-kit-registry"}]
        where = account.inputs["metadata"]
        assert (where["name"], where["namespace"]) == (name, "knative-operator")
        # Without these marks Helm refuses an object that is there already.
        assert where["labels"]["app.kubernetes.io/managed-by"] == "Helm"
        assert where["annotations"]["meta.helm.sh/release-name"] == release.inputs["name"]
        assert where["annotations"]["meta.helm.sh/release-namespace"] == release.inputs["namespace"]
        assert account.name in release.depends_on
        # The release deletes them; without a login they are still the operator's.
        assert account.retain_on_delete


@pytest.mark.req("I13")
def test_without_a_login_the_operators_accounts_are_the_charts(tmp_path: Path) -> None:
    accounts = {item.name for item in run_platform(tmp_path, OPERATOR).of_type("ServiceAccount")}
    assert not [name for name in accounts if name.startswith("knative-operator")]


@pytest.mark.req("I13")
def test_the_operator_takes_every_image_from_the_mirror(tmp_path: Path) -> None:
    run = run_platform(tmp_path, changed(OPERATOR, "registry.prefix", "harbor.test/m"))
    spec = run.one("KnativeServing", "knative-serving").inputs["spec"]
    override = spec["registry"]["override"]
    assert override["kourier-gateway"] == "harbor.test/m/docker.io/envoyproxy/envoy:v1.40.0"
    # Two Deployments have a container of that name.
    assert override["controller/controller"].endswith("/serving/cmd/controller:v1.21.1")
    assert override["net-kourier-controller/controller"].endswith("/net-kourier/cmd/kourier:v1.21.0")
    assert {"activator", "autoscaler", "webhook", "queue-proxy", "autoscaler-hpa"} <= override.keys()
    assert all(image.startswith("harbor.test/m/") for image in override.values())
    values = run.one("Release", "knative-operator").inputs["values"]["knative_operator"]
    assert values["operator_webhook"]["image"].startswith("harbor.test/m/gcr.io/")


@pytest.mark.req("I7")
def test_knative_can_be_left_out(tmp_path: Path) -> None:
    run = run_platform(tmp_path, changed(LOCAL, "knative.enabled", False))
    assert not run.of_type("CustomResourceDefinition")
    assert run.value["inference"] == {
        "enabled": False,
        "domain": "",
        "namespace": "",
        "version": "",
        "scaleToZero": False,
    }
    assert "knative-serving" not in {item["name"] for item in run.value["namespaces"]}
    assert run.value["ingress"]["enabled"] is True
