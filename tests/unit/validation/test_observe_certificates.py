"""Days left: the fewest counts, what cannot be read has ended, and the API server's own is verified."""

from __future__ import annotations

import base64
import datetime
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.unit.validation.double import OUTPUTS, Double
from validation.observe import certificates
from validation.observe.snapshot import Snapshot
from validation.settings import load

pytestmark = pytest.mark.req("V1")
Json = dict[str, Any]


def pem(days: int) -> bytes:
    """A certificate that ends in so many days and an hour."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "short")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now - datetime.timedelta(days=400))
    made = builder.not_valid_after(now + datetime.timedelta(days=days, hours=1)).sign(key, hashes.SHA256())
    return made.public_bytes(serialization.Encoding.PEM)


def hook(name: str, namespace: str, bundle: bytes) -> Json:
    client = {"service": {"namespace": namespace, "name": "s"}, "caBundle": base64.b64encode(bundle).decode()}
    outside = {"url": "https://example.test"}
    return {"metadata": {"name": name}, "webhooks": [{"clientConfig": client}, {"clientConfig": outside}]}


def at(**changes: Any) -> Snapshot:
    double = Double()
    double.add(
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        hook("kai", "kai-scheduler", pem(300)),
        hook("knative", "knative-serving", pem(5)),
    )
    double.add(
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        hook("kai-too", "kai-scheduler", pem(3)),
        hook("foreign", "elsewhere", pem(-2)),
    )
    return Snapshot(double.cluster, load({**OUTPUTS, **changes}))


def test_the_fewest_days_of_each_owners_webhooks() -> None:
    of_kai = certificates.certificates(at())
    assert of_kai["fewestDays"] == 3
    assert of_kai["days"] == {"kai": 300, "kai-too": 3}
    assert of_kai["why"] == ["webhook configuration kai-too"]
    assert certificates.knative(at())["days"] == {"knative": 5}


def test_without_knative_there_is_nothing_to_look_at() -> None:
    assert certificates.knative(at(inference={"enabled": False})) == {}


def test_what_cannot_be_read_has_ended() -> None:
    double = Double().add(
        "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
        hook("broken", "kai-scheduler", b"no certificate"),
    )
    found = certificates.certificates(Snapshot(double.cluster, load(OUTPUTS)))
    assert (found["fewestDays"], found["days"]) == (-1, {"broken": None})
    assert found["why"] == ["webhook configuration broken"]
    nothing = certificates.certificates(Snapshot(Double().cluster, load(OUTPUTS)))
    assert nothing["why"] == ["no webhook of kai-scheduler has a certificate"]


def test_of_a_chain_the_one_that_ends_first() -> None:
    assert certificates.days_left(pem(90) + pem(9)) == 9
    assert certificates.days_left(pem(-3)) == -3
