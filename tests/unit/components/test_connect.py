"""Every way in which a cluster cannot be used: one sentence, within seconds, before anything changes."""

from __future__ import annotations

import base64
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from kubernetes import client

from components import connect as module
from components.cluster import GPU, LiveCluster
from components.config.sections import Cluster
from components.connect import ClusterError, connect
from tests.unit.validation.tls import say, served


def kubeconfig(root: Path, **cluster: Any) -> Cluster:
    """A kubeconfig with one context `there`; `cluster` are the fields of its cluster."""
    entry = {"server": "https://127.0.0.1:1"} | {
        key.replace("_", "-"): value for key, value in cluster.items()
    }
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": entry}],
        "users": [{"name": "u", "user": {"token": "canary-token"}}],
        "contexts": [{"name": "there", "context": {"cluster": "c", "user": "u"}}],
    }
    (root / "kubeconfig").write_text(yaml.safe_dump(config), encoding="utf-8")
    return setting("there")


def setting(context: str, file: str = "kubeconfig") -> Cluster:
    return Cluster.model_validate({"kind": "other", "context": context, "kubeconfig": file})


def message(settings: Cluster, root: Path) -> str:
    started = time.monotonic()
    with pytest.raises(ClusterError) as caught:
        connect(settings, root)
    assert time.monotonic() - started < 30
    text = str(caught.value)
    assert text.endswith("Nothing was changed.")
    assert "canary-token" not in text
    return text


@pytest.mark.req("I14")
def test_a_missing_file_is_named(tmp_path: Path) -> None:
    text = message(setting("there", "build/kubeconfig"), tmp_path)
    assert text.startswith("runai-kit:cluster.kubeconfig: found no file build/kubeconfig; expected")


def test_without_a_setting_the_users_default_file_counts(tmp_path: Path) -> None:
    assert "cluster.kubeconfig: found no file" in message(setting("there", ""), tmp_path)


@pytest.mark.parametrize("text", ["", "just a text", "- a\n- list\n", "contexts: {a: [", "contexts: 5\n"])
def test_a_file_that_is_no_kubeconfig(text: str, tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text(text, encoding="utf-8")
    assert "cluster.kubeconfig: found kubeconfig, which is no kubeconfig" in message(
        setting("there"), tmp_path
    )


@pytest.mark.req("I14")
def test_an_unknown_context_shows_those_there_are(tmp_path: Path) -> None:
    kubeconfig(tmp_path)
    text = message(setting("elsewhere"), tmp_path)
    assert 'cluster.context: found "elsewhere"; expected a context of kubeconfig (there)' in text


@pytest.mark.req("I14")
def test_unverified_tls_is_refused(tmp_path: Path) -> None:
    assert "insecure-skip-tls-verify" in message(
        kubeconfig(tmp_path, insecure_skip_tls_verify=True), tmp_path
    )


def test_plain_http_is_refused(tmp_path: Path) -> None:
    assert "expected an https address" in message(kubeconfig(tmp_path, server="http://127.0.0.1:1"), tmp_path)


@pytest.mark.req("I14")
def test_an_unreachable_cluster_is_one_sentence(tmp_path: Path) -> None:
    assert "found no answer from https://127.0.0.1:1" in message(kubeconfig(tmp_path), tmp_path)


@pytest.mark.req("I14")
def test_a_server_that_never_answers_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("components.cluster.TIMEOUT", (0.3, 0.3))
    with listening(silent=True) as port:
        assert "found no answer from" in message(
            kubeconfig(tmp_path, server=f"https://127.0.0.1:{port}"), tmp_path
        )


@contextmanager
def listening(silent: bool = False, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """A server on this machine: one that accepts and says nothing, or plain HTTP, or TLS."""

    class Handler(BaseHTTPRequestHandler):
        def handle(self) -> None:
            if silent:
                time.sleep(2)
            else:
                super().handle()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def test_a_port_that_does_not_speak_tls(tmp_path: Path) -> None:
    with listening() as port:
        text = message(kubeconfig(tmp_path, server=f"https://127.0.0.1:{port}"), tmp_path)
    assert f"found no answer from https://127.0.0.1:{port}" in text


@pytest.mark.req("I14")
def test_a_certificate_that_is_not_trusted_is_told_apart(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with listening(tls=context) as port:
        text = message(kubeconfig(tmp_path, server=f"https://127.0.0.1:{port}"), tmp_path)
    assert f"a certificate of https://127.0.0.1:{port} that is not trusted" in text
    assert "certificate-authority-data" in text


def self_signed(root: Path) -> tuple[Path, Path]:
    """Files with a fresh certificate for 127.0.0.1 and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "nobody")])
    now = datetime.now(UTC)
    alternative = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(alternative, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, unencrypted = serialization.Encoding.PEM, serialization.NoEncryption()
    (root / "cert.pem").write_bytes(certificate.public_bytes(pem))
    (root / "key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, unencrypted))
    return root / "cert.pem", root / "key.pem"


@pytest.mark.req("I14")
@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "log in again"), (403, "cluster-admin rights"), (500, "look at the API server")],
)
def test_what_the_server_says_is_passed_on(status: int, words: str) -> None:
    error = client.ApiException(status=status, reason="Because")
    text = str(module._api_error(error, setting("there")))
    assert f'"there" answered {status} Because' in text
    assert words in text


def test_missing_rights_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def review(self: Any, body: Any, **_: Any) -> Any:
        attributes = body.spec.resource_attributes
        asked.append(f"{attributes.verb} {attributes.resource}")
        status = client.V1SubjectAccessReviewStatus(allowed=attributes.resource == "namespaces")
        return client.V1SelfSubjectAccessReview(spec=body.spec, status=status)

    monkeypatch.setattr(client.AuthorizationV1Api, "create_self_subject_access_review", review)
    with pytest.raises(ClusterError, match="whose user may not create clusterroles"):
        module._check_rights(client.ApiClient(client.Configuration()), setting("there"))
    assert asked == ["create namespaces", "create clusterroles"]


def test_facts_are_read_from_the_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    managed = client.V1ManagedFieldsEntry(
        manager="pulumi-kubernetes-1a2b",
        fields_v1={"f:metadata": {"f:labels": {"f:pod-security.kubernetes.io/enforce": {}, ".": {}}}},
    )
    namespace = client.V1Namespace(
        metadata=client.V1ObjectMeta(name="monitoring", labels={"a": "b"}, managed_fields=[managed])
    )
    status = client.V1NodeStatus(capacity={"cpu": "1500m", "memory": "2Ki", GPU: "4"}, allocatable={GPU: "3"})
    node = client.V1Node(
        metadata=client.V1ObjectMeta(
            name="n", labels={"x": "y"}, annotations={"runai-kit.io/unhealthy-gpus": "0,GPU-1,"}
        ),
        status=status,
    )
    bare = client.V1Node(metadata=client.V1ObjectMeta(name="m"), status=client.V1NodeStatus())
    version = SimpleNamespace(git_version="v1.34.9")
    monkeypatch.setattr(client.VersionApi, "get_code", lambda self, **_: version)
    monkeypatch.setattr(
        client.CoreV1Api, "list_namespace", lambda self, **_: client.V1NamespaceList(items=[namespace])
    )
    monkeypatch.setattr(
        client.CoreV1Api, "list_node", lambda self, **_: client.V1NodeList(items=[node, bare])
    )
    facts = LiveCluster(client.ApiClient(client.Configuration())).facts()
    assert facts.version == "v1.34.9"
    assert facts.namespaces["monitoring"].written_by_kit == {"pod-security.kubernetes.io/enforce"}
    assert [(n.installed, n.usable, n.cpu_cores, n.memory_bytes, n.marked) for n in facts.nodes] == [
        (4, 3, 1.5, 2048, 2),
        (0, 0, 0, 0, 0),
    ]


@pytest.mark.parametrize(("status", "found"), [(404, None), (500, "raised")])
def test_a_custom_object_that_is_not_there_is_none(
    status: int, found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def get(self: Any, *_: Any, **__: Any) -> Any:
        raise client.ApiException(status=status)

    monkeypatch.setattr(client.CustomObjectsApi, "get_cluster_custom_object", get)
    cluster = LiveCluster(client.ApiClient(client.Configuration()))
    if found is None:
        assert cluster.custom_object("g", "v1", "things", "x") is None
    else:
        with pytest.raises(client.ApiException):
            cluster.custom_object("g", "v1", "things", "x")


@pytest.mark.req("I14")
@pytest.mark.parametrize("body", [b"<html>log in</html>", b'{"kind": "Welcome"}', b"[]", b""])
def test_an_answer_that_is_not_kubernetes(body: bytes, tmp_path: Path) -> None:
    def page(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        say(handler, 200, body)

    with served(page, tmp_path, "localhost") as front:
        authority = base64.b64encode(front.ca.encode()).decode()
        address = f"https://localhost:{front.port}"
        settings = kubeconfig(tmp_path, server=address, certificate_authority_data=authority)
        text = message(settings, tmp_path)
    assert f"found answers of {address} that are not Kubernetes'" in text
