"""What the components ask the API server about Knative and certificates, and how its answers are read."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import urllib3
from kubernetes import client

from components.cluster import DeploymentFacts, LiveCluster


@pytest.fixture
def cluster() -> LiveCluster:
    """A cluster whose API nobody serves: each test answers the one call that it is about."""
    return LiveCluster(client.ApiClient(client.Configuration()))


def raising(error: Exception) -> Callable[..., Any]:
    def call(*_: Any, **__: Any) -> Any:
        raise error

    return call


def status(code: int, message: str = "") -> client.ApiException:
    error = client.ApiException(status=code, reason="said so")
    error.body = json.dumps({"message": message}) if message else None
    return error


@pytest.mark.req("I7")
def test_a_rollout_is_read_with_what_is_unset(cluster: LiveCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def deployment(name: str, replicas: int | None, **state: int | None) -> SimpleNamespace:
        known = {"observed_generation": None, "updated_replicas": None, "available_replicas": None, **state}
        metadata = SimpleNamespace(name=name, labels=None, generation=3)
        return SimpleNamespace(
            metadata=metadata, spec=SimpleNamespace(replicas=replicas), status=SimpleNamespace(**known)
        )

    items = [
        deployment("new", None),
        deployment("old", 2, observed_generation=3, updated_replicas=2, available_replicas=1),
    ]
    listed = lambda *_, **__: SimpleNamespace(items=items)  # noqa: E731
    monkeypatch.setattr(client.AppsV1Api, "list_namespaced_deployment", listed)
    assert cluster.deployments("knative-serving") == (
        DeploymentFacts("new", {}, 3, 0, 1, 0, 0),
        DeploymentFacts("old", {}, 3, 3, 2, 2, 1),
    )


@pytest.mark.req("I7")
def test_a_secret_is_read_as_text_and_may_be_missing(
    cluster: LiveCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"tls.crt": base64.b64encode(b"words").decode()}
    found = lambda *_, **__: SimpleNamespace(data=data)  # noqa: E731
    monkeypatch.setattr(client.CoreV1Api, "read_namespaced_secret", found)
    assert cluster.secret("n", "s") == {"tls.crt": "words"}
    monkeypatch.setattr(client.CoreV1Api, "read_namespaced_secret", raising(status(404)))
    assert cluster.secret("n", "s") == {}
    monkeypatch.setattr(client.CoreV1Api, "read_namespaced_secret", raising(status(403)))
    with pytest.raises(client.ApiException):
        cluster.secret("n", "s")


@pytest.mark.req("I7")
@pytest.mark.parametrize(
    ("answer", "refusal"),
    [
        (lambda *_, **__: {}, ""),
        (raising(status(403, "denied the request: no")), "denied the request: no"),
        (raising(status(500)), "said so"),
        (raising(urllib3.exceptions.ProtocolError("slow")), "slow"),
    ],
)
def test_a_refusal_is_a_text_and_nothing_is_made(
    answer: Callable[..., Any], refusal: str, cluster: LiveCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def create(*words: Any, **options: Any) -> Any:
        asked.append(options)
        return answer()

    monkeypatch.setattr(client.CustomObjectsApi, "create_namespaced_custom_object", create)
    found = cluster.refusal("serving.knative.dev", "v1", "n", "services", {})
    assert found.endswith(refusal)
    assert bool(found) is bool(refusal)
    assert asked[0]["dry_run"] == "All"


@pytest.mark.req("I14")
def test_a_custom_object_of_a_namespace_may_be_missing(
    cluster: LiveCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "get_namespaced_custom_object"
    monkeypatch.setattr(client.CustomObjectsApi, name, raising(status(404)))
    assert cluster.namespaced_object("g", "v1", "n", "things", "x") is None
    monkeypatch.setattr(client.CustomObjectsApi, name, lambda *_, **__: {"kind": "Thing"})
    assert cluster.namespaced_object("g", "v1", "n", "things", "x") == {"kind": "Thing"}
    monkeypatch.setattr(client.CustomObjectsApi, name, raising(status(500)))
    with pytest.raises(client.ApiException):
        cluster.namespaced_object("g", "v1", "n", "things", "x")


@pytest.mark.req("I11")
def test_objects_of_a_kind_are_listed_and_a_kind_may_be_missing(
    cluster: LiveCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Any, ...]] = []

    def listed(*arguments: Any, **named: Any) -> dict[str, Any]:
        asked.append((*arguments[1:], named["label_selector"]))
        return {"items": [{"metadata": {"name": "a"}}]}

    monkeypatch.setattr(client.CustomObjectsApi, "list_cluster_custom_object", listed)
    assert cluster.custom_objects("apps", "v1", "deployments", "a=b") == ({"metadata": {"name": "a"}},)
    assert asked == [("apps", "v1", "deployments", "a=b")]
    monkeypatch.setattr(client.CustomObjectsApi, "list_cluster_custom_object", raising(status(404)))
    assert cluster.custom_objects("packaging.carvel.dev", "v1alpha1", "packageinstalls") == ()
    monkeypatch.setattr(client.CustomObjectsApi, "list_cluster_custom_object", raising(status(403)))
    with pytest.raises(client.ApiException):
        cluster.custom_objects("apps", "v1", "deployments")
