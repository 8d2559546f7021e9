"""Requests through the ingress, against a real TLS server; and where the ingress is."""

from __future__ import annotations

import time
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.unit.validation.double import OUTPUTS, Double, node, thing
from tests.unit.validation.tls import HOST, Authority, say, served
from validation import https, ingress, names
from validation.settings import load

Json = dict[str, Any]


def echo(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    host = handler.headers["Host"]
    kind = handler.headers.get("Content-Type", "")
    say(handler, 200, f'{{"host": "{host}", "path": "{handler.path}", "type": "{kind}"}}'.encode())


@pytest.mark.req("V5")
def test_the_name_of_the_url_goes_into_sni_and_host_and_no_dns_is_asked(tmp_path: Path) -> None:
    with served(echo, tmp_path) as where:
        got = https.request(where, f"https://{HOST}/v1/models?all=1", "POST", body={"a": 1})
    assert got.status == 200
    assert got.json() == {"host": HOST, "path": "/v1/models?all=1", "type": "application/json"}
    assert got.seconds > 0
    assert got.headers["content-type"] == "application/json"


@pytest.mark.req("V5")
def test_another_ca_or_name_is_refused(tmp_path: Path) -> None:
    with served(echo, tmp_path) as where:
        foreign = replace(where, ca=Authority("kit test CA").pem)
        with pytest.raises(https.CertificateError, match=r"by way of 127.0.0.1:\d+: the certificate was not"):
            https.request(foreign, f"https://{HOST}/")
        with pytest.raises(https.CertificateError, match="CERTIFICATE_VERIFY_FAILED"):
            https.peer(foreign, HOST)
        with pytest.raises(https.CertificateError, match=r"Hostname mismatch|doesn't match"):
            https.request(where, "https://other.apps.local.test/")
        # The machine's own CAs do not know it either.
        with pytest.raises(https.CertificateError):
            https.request(replace(where, ca=""), f"https://{HOST}/")


@pytest.mark.req("V5")
def test_an_expired_certificate_is_refused(tmp_path: Path) -> None:
    with served(echo, tmp_path, days=-1) as where, pytest.raises(https.CertificateError, match="expired"):
        https.request(where, f"https://{HOST}/")


@pytest.mark.req("V5")
def test_the_peer_shows_its_certificate(tmp_path: Path) -> None:
    with served(echo, tmp_path) as where:
        seen = https.peer(where, HOST)
    assert seen.names == [HOST]
    assert seen.issuer == "kit test CA"
    assert seen.protocol in ("TLSv1.2", "TLSv1.3")


@pytest.mark.req("V5")
def test_http_and_broken_json_are_refused(tmp_path: Path) -> None:
    def garbage(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        say(handler, 503, b"<html>no server", "text/html")

    with served(garbage, tmp_path) as where:
        with pytest.raises(https.HttpsError, match="expected https://<host>"):
            https.request(where, f"http://{HOST}/")
        got = https.request(where, f"https://{HOST}/")
        assert got.status == 503
        with pytest.raises(https.HttpsError, match="503 with a body that is no JSON: '<html>no serv"):
            got.json()


@pytest.mark.req("V5")
def test_silence_and_a_closed_port_are_told_with_url_and_address(tmp_path: Path) -> None:
    def slow(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        time.sleep(1.5)
        say(handler, 200, b"{}")

    with served(slow, tmp_path) as where, pytest.raises(https.HttpsError, match=r"no answer: .*[Tt]imed out"):
        https.request(where, f"https://{HOST}/", timeout=0.3)
    with pytest.raises(https.HttpsError, match=r"https://.* by way of 127.0.0.1:1: no answer"):
        https.request(ingress.Ingress("127.0.0.1", 1, where.ca), f"https://{HOST}/")


def pieces(*parts: bytes, pause: float = 0.05) -> Any:
    def respond(handler: BaseHTTPRequestHandler, body: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for part in parts:
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            time.sleep(pause)
        handler.wfile.write(b"0\r\n\r\n")

    return respond


@pytest.mark.req("V5")
def test_events_arrive_one_by_one_whatever_the_pieces(tmp_path: Path) -> None:
    respond = pieces(
        b'data: {"a":', b" 1}\n", b"\ndata: two\ndata: lines\n\ndata: [DO", b"NE]\r\n\r\n: ping\n\n"
    )
    with served(respond, tmp_path) as where:
        got = https.stream(where, f"https://{HOST}/v1/chat/completions", {"stream": True})
    assert [data for _, data in got.items] == ['{"a": 1}', "two\nlines", "[DONE]"]
    times = [seconds for seconds, _ in got.items]
    assert times == sorted(times)
    assert times[-1] - times[0] > 0.04


@pytest.mark.req("V5")
def test_what_is_no_stream_and_what_never_ends(tmp_path: Path) -> None:
    with served(lambda h, b: say(h, 404, b'{"error": "no model"}'), tmp_path) as where:
        got = https.stream(where, f"https://{HOST}/v1/chat/completions", {})
    assert (got.status, got.items, got.body) == (404, [], '{"error": "no model"}')
    endless = pieces(*[b"data: x\n\n"] * 40)
    with (
        served(endless, tmp_path) as where,
        pytest.raises(https.HttpsError, match=r"did not end within"),
    ):
        https.stream(where, f"https://{HOST}/", {}, limit=0.2)


SERVICE = {"ports": [{"port": 80, "nodePort": 30080}, {"port": 443, "nodePort": 30443}]}


def cluster(**service: Any) -> Double:
    there = node("w1")
    there["status"]["addresses"] = [{"type": "InternalIP", "address": "10.89.0.3"}]
    down = node("w0", Ready="False")
    down["status"]["addresses"] = [{"type": "InternalIP", "address": "10.89.0.2"}]
    made = Double().add(names.NODES, down, there)
    if service:
        made.add(names.SERVICES, thing("haproxy", "haproxy-controller", **service))
    return made


@pytest.mark.req("V5", "I9")
def test_a_load_balancer_comes_before_a_node_port() -> None:
    outputs = load(OUTPUTS)
    balanced = {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}}
    found = ingress.find(cluster(spec=SERVICE, status=balanced).cluster, outputs)
    assert (found.address, found.port, found.ca) == ("192.0.2.7", 443, outputs.tls.ca)
    named = {"loadBalancer": {"ingress": [{"hostname": "lb.example.com"}]}}
    assert ingress.find(cluster(spec=SERVICE, status=named).cluster, outputs).address == "lb.example.com"
    found = ingress.find(cluster(spec=SERVICE, status={}).cluster, outputs)
    assert (found.address, found.port) == ("10.89.0.3", 30443)


@pytest.mark.req("V5", "I9")
@pytest.mark.parametrize(
    ("made", "outputs", "wanted"),
    [
        (cluster(), {}, "Service haproxy-controller/haproxy of the ingress does not exist"),
        (cluster(spec={"ports": []}), {}, "neither a load balancer's address nor a node port for port 443"),
        (cluster(spec=SERVICE), {"ingress": {"enabled": False}}, "ingress.enabled is false"),
    ],
)
def test_an_ingress_that_cannot_be_reached_says_why(made: Double, outputs: Json, wanted: str) -> None:
    with pytest.raises(ingress.IngressError, match=wanted):
        ingress.find(made.cluster, load({**OUTPUTS, **outputs}))


@pytest.mark.req("V5")
def test_a_ca_that_is_no_certificate_is_named() -> None:
    with pytest.raises(ingress.IngressError, match=r"tls.ca is no PEM certificate"):
        ingress.Ingress("192.0.2.7", 443, "-----BEGIN CERTIFICATE-----\n").context()
