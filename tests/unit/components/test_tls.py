"""Certificates: generated ones that stay until there is a reason, given ones that are checked first."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from components.config.serving import Tls
from components.tls import generate, given
from components.tls.material import Certificates, load, names, remaining
from tests.stack import LOCAL, FakeCluster, changed, kept_secrets, plain, run_platform, write_certificates

DOMAINS = {"inference": "inference.example.test", "workspaces": "workspaces.example.test"}
FILES = Tls.model_validate(
    {
        "source": "files",
        "ca": "certificates/ca.pem",
        "inference": {"certificate": "certificates/inference.pem", "keyFile": "certificates/inference.key"},
        "workspaces": {
            "certificate": "certificates/workspaces.pem",
            "keyFile": "certificates/workspaces.key",
        },
    }
)


def tls(**changes: Any) -> Tls:
    return Tls.model_validate({"source": "generated", **changes})


def kept(found: Certificates) -> Callable[[str], dict[str, str]]:
    """What the cluster gives back of certificates that were put there."""
    return lambda use: {
        "tls.crt": found.pairs[use].chain,
        "tls.key": found.pairs[use].key,
        "ca.crt": found.ca,
        "rotation": found.rotation,
    }


@pytest.mark.req("I7")
def test_generated_ones_are_for_their_domain_and_of_one_ca() -> None:
    made = generate.make(DOMAINS, 90, "")
    (ca,) = load(made.ca)
    for use, pair in made.pairs.items():
        (leaf,) = load(pair.chain)
        assert names(leaf) == [f"*.{DOMAINS[use]}"]
        leaf.verify_directly_issued_by(ca)
        assert timedelta(days=89) < remaining(leaf) <= timedelta(days=90)
        assert "PRIVATE KEY" not in pair.chain
        assert pair.key not in repr(pair)


@pytest.mark.req("I7")
def test_openssl_accepts_them_with_the_strictest_checks(tmp_path: Path) -> None:
    """As a client does: chain, purpose and name, and nothing else trusted."""
    made = write_certificates(tmp_path, DOMAINS)
    openssl = shutil.which("openssl")
    assert openssl is not None
    for use, domain in DOMAINS.items():
        for host, code in ((f"x.{domain}", 0), (f"x.y.{domain}", 2), (domain, 2)):
            command = [openssl, "verify", "-x509_strict", "-purpose", "sslserver", "-verify_hostname", host]
            files = ["-CAfile", "certificates/ca.pem", f"certificates/{use}.pem"]
            done = subprocess.run([*command, *files], cwd=tmp_path, capture_output=True, check=False)
            assert done.returncode == code, (host, done.stdout, done.stderr)
    ssl.create_default_context(cadata=made.ca)


@pytest.mark.req("I14")
def test_good_ones_are_stated_again() -> None:
    made = generate.make(DOMAINS, 90, "x")
    assert generate.certificates(tls(rotation="x"), DOMAINS, kept(made)) == made


def other_rotation(made: Certificates) -> Tls:
    return tls(rotation="y")


def near_its_end(made: Certificates) -> Tls:
    return tls(renewBeforeDays=90)


@pytest.mark.req("I14")
@pytest.mark.parametrize("settings", [other_rotation, near_its_end])
def test_a_reason_makes_new_ones(settings: Callable[[Certificates], Tls]) -> None:
    made = generate.make(DOMAINS, 90, "")
    again = generate.certificates(settings(made), DOMAINS, kept(made))
    assert again.ca != made.ca
    assert {pair.key for pair in again.pairs.values()}.isdisjoint(pair.key for pair in made.pairs.values())


@pytest.mark.req("I14")
def test_a_damaged_set_is_made_anew_as_a_whole() -> None:
    made, other = generate.make(DOMAINS, 90, ""), generate.make(DOMAINS, 90, "")
    whole = kept(made)
    damages: list[dict[str, str]] = [
        {},
        {"tls.key": other.pairs["workspaces"].key},
        {"tls.crt": other.pairs["workspaces"].chain},
        {"tls.crt": "no certificate"},
        {"ca.crt": other.ca},
    ]
    for damage in damages:
        texts = {
            "workspaces": {**whole("workspaces"), **damage} if damage else {},
            "inference": whole("inference"),
        }
        again = generate.certificates(tls(), DOMAINS, texts.__getitem__)
        assert again.ca not in {made.ca, other.ca}, damage
        assert all(generate.good(again, tls(), DOMAINS) for _ in again.pairs)


@pytest.mark.req("I14")
def test_another_domain_makes_new_ones() -> None:
    made = generate.make(DOMAINS, 90, "")
    moved = {**DOMAINS, "inference": "ml.example.test"}
    again = generate.certificates(tls(), moved, kept(made))
    assert names(load(again.pairs["inference"].chain)[0]) == ["*.ml.example.test"]
    assert again.ca != made.ca


def problems(root: Path, settings: Tls = FILES) -> list[str]:
    return [str(item) for item in given.problems(settings, DOMAINS, root)]


@pytest.mark.req("I7")
@pytest.mark.req("I13")
def test_right_files_have_no_problem_and_are_what_is_used(tmp_path: Path) -> None:
    made = write_certificates(tmp_path, DOMAINS)
    assert problems(tmp_path) == []
    assert given.certificates(FILES, DOMAINS, tmp_path) == Certificates(made.pairs, made.ca)


@pytest.mark.req("I7")
def test_a_chain_of_several_leads_to_the_ca(tmp_path: Path) -> None:
    write_certificates(tmp_path, DOMAINS)
    root, root_key = signed("root", None, ca=True)
    between, between_key = signed("between", (root, root_key), ca=True)
    leaf, key = signed("leaf", (between, between_key), name=f"*.{DOMAINS['inference']}")
    folder = tmp_path / "certificates"
    (folder / "ca.pem").write_text(pem(root) + (folder / "ca.pem").read_text())
    (folder / "inference.key").write_text(key_text(key))
    (folder / "inference.pem").write_text(pem(leaf) + pem(between))
    assert problems(tmp_path) == []
    (folder / "inference.pem").write_text(pem(leaf))
    (line,) = problems(tmp_path)
    assert line == (
        "runai-kit:tls.inference.certificate: found issued by CN=between; "
        "expected a chain that leads to tls.ca; "
        "append the certificates between it and the CA, or correct tls.ca"
    )


@pytest.mark.req("I7")
def test_who_may_not_sign_is_no_authority(tmp_path: Path) -> None:
    write_certificates(tmp_path, DOMAINS)
    plain_one, plain_key = signed("plain", None)
    leaf, key = signed("leaf", (plain_one, plain_key), name=f"*.{DOMAINS['inference']}")
    folder = tmp_path / "certificates"
    (folder / "ca.pem").write_text(pem(plain_one) + (folder / "ca.pem").read_text())
    (folder / "inference.key").write_text(key_text(key))
    (folder / "inference.pem").write_text(pem(leaf))
    assert "expected a chain that leads to tls.ca" in problems(tmp_path)[0]


def no_ca(root: Path) -> None:
    (root / "certificates" / "ca.pem").unlink()


def no_certificate(root: Path) -> None:
    (root / "certificates" / "inference.pem").unlink()


def key_as_certificate(root: Path) -> None:
    shutil.copy(root / "certificates" / "inference.key", root / "certificates" / "inference.pem")


def no_key(root: Path) -> None:
    (root / "certificates" / "inference.key").unlink()


def binary_key(root: Path) -> None:
    (root / "certificates" / "inference.key").write_bytes(b"\x30\x82\xff")


def text_key(root: Path) -> None:
    (root / "certificates" / "inference.key").write_text("secret")


def others_key(root: Path) -> None:
    shutil.copy(root / "certificates" / "workspaces.key", root / "certificates" / "inference.key")


def others_pair(root: Path) -> None:
    others_key(root)
    shutil.copy(root / "certificates" / "workspaces.pem", root / "certificates" / "inference.pem")


def of_another_ca(root: Path) -> None:
    other = generate.make(DOMAINS, 90, "").pairs["inference"]
    (root / "certificates" / "inference.pem").write_text(other.chain)
    (root / "certificates" / "inference.key").write_text(other.key)


def ended(root: Path) -> None:
    leaf, key = signed("leaf", None, name=f"*.{DOMAINS['inference']}", begin=-20, end=-10)
    (root / "certificates" / "inference.pem").write_text(pem(leaf))
    (root / "certificates" / "inference.key").write_text(key_text(key))


def of_tomorrow(root: Path) -> None:
    leaf, key = signed("leaf", None, name=f"*.{DOMAINS['inference']}", begin=1)
    (root / "certificates" / "inference.pem").write_text(pem(leaf))
    (root / "certificates" / "inference.key").write_text(key_text(key))


@pytest.mark.req("I7")
@pytest.mark.parametrize(
    ("damage", "path", "words"),
    [
        (no_ca, "tls.ca", "a PEM file with the CA's certificate"),
        (no_certificate, "tls.inference.certificate", "a PEM file with the certificate"),
        (key_as_certificate, "tls.inference.certificate", "a PEM file with the certificate"),
        (no_key, "tls.inference.keyFile", "a PEM file with the private key"),
        (binary_key, "tls.inference.keyFile", "a PEM file with the private key"),
        (text_key, "tls.inference.keyFile", "found no PEM private key"),
        (others_key, "tls.inference.keyFile", "found the key of another certificate"),
        (
            others_pair,
            "tls.inference.certificate",
            "found *.workspaces.example.test; expected the name *.inference.",
        ),
        (of_another_ca, "tls.inference.certificate", "a chain that leads to tls.ca"),
        (ended, "tls.inference.certificate", "expected a certificate that is valid now"),
        (of_tomorrow, "tls.inference.certificate", "expected a certificate that is valid now"),
    ],
)
def test_each_fault_is_one_line(
    damage: Callable[[Path], None], path: str, words: str, tmp_path: Path
) -> None:
    write_certificates(tmp_path, DOMAINS)
    damage(tmp_path)
    (line,) = problems(tmp_path)
    assert line.startswith(f"runai-kit:{path}: found ")
    assert words in line
    assert "secret" not in line


@pytest.mark.req("I7")
def test_an_encrypted_key_is_refused(tmp_path: Path) -> None:
    write_certificates(tmp_path, DOMAINS)
    openssl = shutil.which("openssl")
    assert openssl is not None
    key = tmp_path / "certificates" / "inference.key"
    command = [openssl, "pkcs8", "-topk8", "-in", str(key), "-passout", "pass:x"]
    text = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    key.write_text(text)
    assert "found a key that is encrypted" in problems(tmp_path)[0]


@pytest.mark.req("I7")
def test_keys_go_to_the_engine_as_secrets_only(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    secrets = [item for item in run.of_type("Secret") if item.inputs.get("type") == "kubernetes.io/tls"]
    assert {(i.inputs["metadata"]["namespace"], i.inputs["metadata"]["name"]) for i in secrets} == {
        ("knative-serving", "runai-cluster-inference-tls-secret"),
        ("haproxy-controller", "runai-cluster-inference-tls-secret"),
        ("haproxy-controller", "runai-cluster-domain-star-tls-secret"),
    }
    keys = {texts["tls.key"] for texts in kept_secrets(run).values()}
    assert len(keys) == 2
    for item in secrets:
        assert plain(item.inputs["data"]) is not item.inputs["data"], "the data is not marked as a secret"
    others = json.dumps([item.inputs for item in run.resources if item not in secrets])
    assert "PRIVATE KEY" not in others
    assert "PRIVATE KEY" not in json.dumps(run.value)
    assert run.value["tls"]["ca"].startswith("-----BEGIN CERTIFICATE-----")


@pytest.mark.req("I14")
def test_new_certificates_roll_the_pods_and_the_same_do_not(tmp_path: Path) -> None:
    def checksum(cluster: FakeCluster, values: dict[str, Any] = LOCAL) -> str:
        spec = run_platform(tmp_path, values, cluster).one("Deployment", "haproxy").inputs["spec"]
        return str(spec["template"]["metadata"]["annotations"]["runai-kit.io/config-checksum"])

    first = run_platform(tmp_path)
    there = kept_secrets(first)
    before = checksum(FakeCluster(secrets=there))
    assert before == checksum(FakeCluster(secrets=there))
    rotated = changed(LOCAL, "tls.rotation", "again")
    assert checksum(FakeCluster(secrets=there), rotated) != before


def signed(
    name_of: str,
    issuer: tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None,
    ca: bool = False,
    name: str = "",
    begin: int = -1,
    end: int = 30,
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """A certificate as another authority would make it; days from now."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name_of)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=begin))
        .not_valid_after(now + timedelta(days=end))
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    )
    if name:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    return builder.sign(issuer[1] if issuer else key, hashes.SHA256()), key


def pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(Encoding.PEM).decode()


def key_text(key: ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
