"""Credentials of a kubeconfig: used over TLS with a client certificate, and no file of them stays."""

from __future__ import annotations

import base64
import json
import os
import ssl
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from components import credentials
from components.cluster import LiveCluster
from tests.unit.validation.tls import Authority
from validation.cluster import Cluster, ClusterError

pytestmark = pytest.mark.req("I14")


# What the API server's /version has at least.
VERSION = ("buildDate", "compiler", "gitCommit", "gitTreeState", "goVersion", "major", "minor", "platform")


class Api(BaseHTTPRequestHandler):
    """Answers whoever showed a certificate."""

    def do_GET(self) -> None:
        body = json.dumps({"items": [], **dict.fromkeys(VERSION, "x"), "gitVersion": "v1.34.9"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


def data(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[str]:
    """Of a server that takes nobody without a certificate; all credentials are inside of the file."""
    authority = Authority("kit test CA")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.issue("localhost", tmp_path))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=authority.pem)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pair = authority.issue("me", tmp_path).read_text()
    file = tmp_path / "kubeconfig"
    write(file, f"https://localhost:{server.server_port}", authority.pem, pair)
    yield str(file)
    server.shutdown()
    server.server_close()


def write(file: Path, address: str, authority: str, pair: str) -> None:
    split = pair.index("-----BEGIN CERTIFICATE")
    cluster = {"server": address, "certificate-authority-data": data(authority)}
    user = {"client-certificate-data": data(pair[split:]), "client-key-data": data(pair[:split])}
    config: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "there", "context": {"cluster": "c", "user": "u"}}],
    }
    file.write_text(yaml.safe_dump(config))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_client_certificate_is_shown_and_no_file_stays(kubeconfig: str, temporary: Path) -> None:
    assert Cluster(kubeconfig, "there").get("/version")["gitVersion"] == "v1.34.9"
    assert list(temporary.iterdir()) == []
    api = credentials.api_client(*credentials.load(kubeconfig, "there"))
    assert LiveCluster(api).facts().version == "v1.34.9"
    assert list(temporary.iterdir()) == []


def test_a_process_that_ends_at_once_leaves_nothing(kubeconfig: str, temporary: Path) -> None:
    """As Ansible's workers do: without the interpreter's own clearing up."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if Cluster(kubeconfig, "there").get("/version") else 1
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert list(temporary.iterdir()) == []


def test_files_are_ours_alone_while_they_are_needed(kubeconfig: str, temporary: Path) -> None:
    with credentials.with_files(kubeconfig, "there") as configuration:
        files: Any = configuration
        (folder,) = temporary.iterdir()
        assert folder.stat().st_mode & 0o077 == 0
        for path in (Path(files.key_file), Path(files.cert_file), Path(files.ssl_ca_cert)):
            assert path.parent == folder
            assert path.stat().st_mode & 0o077 == 0
    assert list(temporary.iterdir()) == []


def test_threads_do_not_use_each_others_files(kubeconfig: str, temporary: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: credentials.load(kubeconfig, "there")[1], range(32)))
    assert {len(context.get_ca_certs()) for context in made} == {1}
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("what", ["client-key-data", "client-certificate-data"])
def test_a_certificate_that_is_none_is_an_error_and_leaves_nothing(
    what: str, kubeconfig: str, temporary: Path
) -> None:
    config = yaml.safe_load(Path(kubeconfig).read_text())
    config["users"][0]["user"][what] = data("no PEM")
    Path(kubeconfig).write_text(yaml.safe_dump(config))
    with pytest.raises(ClusterError, match="'there' cannot be read from"):
        Cluster(kubeconfig, "there")
    assert list(temporary.iterdir()) == []


def test_only_the_kubeconfigs_ca_is_trusted(kubeconfig: str) -> None:
    config = yaml.safe_load(Path(kubeconfig).read_text())
    config["clusters"][0]["cluster"]["certificate-authority-data"] = data(Authority("another").pem)
    Path(kubeconfig).write_text(yaml.safe_dump(config))
    started = time.monotonic()
    with pytest.raises(ClusterError, match="CERTIFICATE_VERIFY_FAILED"):
        Cluster(kubeconfig, "there").get("/version")
    assert time.monotonic() - started < 10
