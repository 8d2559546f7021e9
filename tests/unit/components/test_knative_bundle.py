"""A release's objects as the kit installs them: what is left out, what is set, what stays as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.knative.bundle import Bundle, BundleError, fit, read
from components.knative.inputs import knative_inputs, repository
from components.labels import MANAGED_BY
from policy.pod_security import required_level
from tests.stack import CATALOG, LOCAL, changed, run_platform, settings

FIXTURES = Path(__file__).parents[2] / "fixtures"
Object = dict[str, Any]


def bundle(values: dict[str, Any] = LOCAL, pull_secret: str = "") -> Bundle:
    files = [read(FIXTURES / name) for name in ("knative-serving.yaml", "net-kourier.yaml")]
    return fit(files[0], files[1], knative_inputs(settings(values), CATALOG, pull_secret))


def every(found: Bundle) -> list[Object]:
    return [*found.crds, *found.ground, *found.deployments, *found.last]


def one(objects: list[Object], kind: str, name: str) -> Object:
    (found,) = [item for item in objects if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    return found


@pytest.mark.req("I7")
def test_what_the_kit_decides_itself_is_left_out() -> None:
    kinds = {item["kind"] for item in every(bundle())}
    assert not kinds & {"Namespace", "HorizontalPodAutoscaler", "PodDisruptionBudget"}
    several = bundle(changed(LOCAL, "knative.replicas", 2))
    assert "PodDisruptionBudget" in {item["kind"] for item in several.ground}
    assert {item["spec"]["replicas"] for item in several.deployments} == {2}


@pytest.mark.req("I7")
@pytest.mark.req("I14")
def test_what_controllers_write_is_not_stated() -> None:
    found = bundle()
    (hook,) = one(found.last, "ValidatingWebhookConfiguration", "validation.webhook.serving.knative.dev")[
        "webhooks"
    ]
    assert "rules" not in hook
    assert hook["failurePolicy"] == "Fail"
    assert "rules" not in one(found.ground, "ClusterRole", "knative-serving-admin")
    assert one(found.ground, "ClusterRole", "knative-serving-core")["rules"]
    assert "data" not in one(found.ground, "Secret", "webhook-certs")


@pytest.mark.req("I14")
def test_webhooks_and_what_they_are_asked_about_come_last() -> None:
    found = bundle()
    assert {item["kind"] for item in found.last} == {
        "ValidatingWebhookConfiguration",
        "Certificate",
        "Image",
    }
    assert [item["kind"] for item in found.crds] == ["CustomResourceDefinition"]


@pytest.mark.req("I7")
def test_kouriers_gateway_is_beside_everything_else() -> None:
    found = bundle()
    assert {item["metadata"].get("namespace", "knative-serving") for item in every(found)} == {
        "knative-serving"
    }
    controller = one(found.deployments, "Deployment", "net-kourier-controller")
    (env,) = controller["spec"]["template"]["spec"]["containers"][0]["env"]
    assert env == {"name": "KOURIER_GATEWAY_NAMESPACE", "value": "knative-serving"}
    assert one(found.ground, "Service", "kourier")["spec"]["type"] == "ClusterIP"
    assert "type" not in one(found.ground, "Service", "webhook")["spec"]


@pytest.mark.req("I13")
def test_every_image_is_the_catalogs_and_from_the_mirror() -> None:
    found = bundle(changed(LOCAL, "registry.prefix", "harbor.test/m"), "pull")
    prefix = "harbor.test/m/gcr.io/knative-releases/knative.dev"
    assert one(found.last, "Image", "queue-proxy")["spec"]["image"] == f"{prefix}/serving/cmd/queue:v1.21.1"
    config = one(found.ground, "ConfigMap", "config-deployment")["data"]
    assert config["queue-sidecar-image"] == f"{prefix}/serving/cmd/queue:v1.21.1"
    assert "harbor.test" in config["registries-skipping-tag-resolving"].split(",")
    pods = [item["spec"]["template"]["spec"] for item in found.deployments]
    assert {pod["containers"][0]["image"] for pod in pods} == {
        f"{prefix}/serving/cmd/webhook:v1.21.1",
        f"{prefix}/net-kourier/cmd/kourier:v1.21.0",
        "harbor.test/m/docker.io/envoyproxy/envoy:v1.40.0",
    }
    assert all(pod["imagePullSecrets"] == [{"name": "pull"}] for pod in pods)
    assert all(pod["containers"][0]["imagePullPolicy"] == "IfNotPresent" for pod in pods)


@pytest.mark.req("I13")
def test_an_image_that_the_catalog_does_not_list_is_refused() -> None:
    serving = read(FIXTURES / "knative-serving.yaml")
    one(serving, "Deployment", "webhook")["spec"]["template"]["spec"]["containers"][0]["image"] = "a.b/c:1"
    with pytest.raises(BundleError, match=r"image a\.b/c:1: found no such image in the catalog"):
        fit(serving, [], knative_inputs(settings(LOCAL), CATALOG, ""))


@pytest.mark.req("I7")
def test_versions_are_those_of_the_catalog_and_examples_are_dropped() -> None:
    found = bundle(changed(LOCAL, "knative.version", "1.20.1"))
    webhook = one(found.deployments, "Deployment", "webhook")
    for labels in (webhook["metadata"]["labels"], webhook["spec"]["template"]["metadata"]["labels"]):
        assert labels["app.kubernetes.io/version"] == "1.20.1"
    assert webhook["spec"]["template"]["spec"]["containers"][0]["image"].endswith("/webhook:v1.20.1")
    features = one(found.ground, "ConfigMap", "config-features")
    assert "_example" not in features["data"]
    assert "annotations" not in features["metadata"]
    assert "data" not in one(found.ground, "ConfigMap", "config-gc")
    assert all(MANAGED_BY.items() <= item["metadata"]["labels"].items() for item in every(found))


@pytest.mark.req("I1")
def test_pods_pass_restricted() -> None:
    for item in bundle().deployments:
        assert required_level(item["spec"]["template"]["spec"]) == ("restricted", []), item["metadata"][
            "name"
        ]


@pytest.mark.req("I14")
def test_a_destroy_takes_the_askers_first_and_leaves_the_crds(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    hook = run.one("ValidatingWebhookConfiguration", "validation.webhook.serving.knative.dev")
    assert {"webhook", "net-kourier-controller", "3scale-kourier-gateway"} <= hook.depends_on
    assert {"config-features", "knative-serving-core"} <= run.one("Deployment", "webhook").depends_on
    assert "services.serving.knative.dev" in run.one("ConfigMap", "config-features").depends_on
    crd = run.one("CustomResourceDefinition", "services.serving.knative.dev")
    assert crd.retain_on_delete is True
    assert not [item.name for item in run.resources if item.retain_on_delete and item != crd]
    assert run.one("ConfigMap", "config-features").type == "kubernetes:core/v1:ConfigMap"
    assert run.one("Certificate", "routing-serving-certs").parent == "inference"


@pytest.mark.req("I7")
def test_a_file_without_objects_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("---\n")
    with pytest.raises(BundleError, match=r"x\.yaml: found 0 objects"):
        read(tmp_path / "x.yaml")
    (tmp_path / "y.yaml").write_text("a: 1\n")
    with pytest.raises(BundleError, match="expected a release's manifests"):
        read(tmp_path / "y.yaml")


@pytest.mark.parametrize(
    "reference", ["gcr.io/a/b", "gcr.io/a/b:v1", "gcr.io/a/b@sha256:00", "gcr.io/a/b:v1@sha256:00"]
)
def test_a_repository_is_what_tag_and_digest_leave(reference: str) -> None:
    assert repository(reference) == "gcr.io/a/b"
