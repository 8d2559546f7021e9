"""A second proof beside a first: what changed is told; certificates that end soon are named."""

from __future__ import annotations

import base64
import datetime
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.acceptance.changing import call
from tests.acceptance.conftest import ROOT, Kubectl
from validation.settings import StackOutputs

Json = dict[str, Any]
NAME = "runai-kit-ends-soon"
DAYS = 0


def short_lived() -> str:
    """A certificate in PEM that ends within the day, in base64."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now)
    made = builder.not_valid_after(now + datetime.timedelta(hours=6)).sign(key, hashes.SHA256())
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


@contextmanager
def webhook(outputs: StackOutputs, namespace: str) -> Iterator[None]:
    """One more webhook of a part, whose certificate nobody renewed; it is asked about nothing."""
    rule = {
        "apiGroups": ["runai-kit.io"],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["nothing"],
    }
    hook = {
        "name": "ends-soon.runai-kit.io",
        "clientConfig": {
            "service": {"namespace": namespace, "name": "no-such-service"},
            "caBundle": short_lived(),
        },
        "rules": [rule | {"operations": ["CREATE"]}],
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    name = f"{NAME}-{namespace}"
    kind = "ValidatingWebhookConfiguration"
    metadata = {"name": name}
    obj = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": metadata,
        "webhooks": [hook],
    }
    call(outputs, "create", "-f", "-", body=obj)
    try:
        yield
    finally:
        call(outputs, "delete", kind, name)


def preflight(outputs: StackOutputs, folder: Path, days: Json | None = None, **variables: Any) -> Json:
    """Report of preflight alone; `days`: the stack's bounds of certificates, if others than its own."""
    raw = outputs.model_dump()
    bounds = {**raw["validation"], **({"certificateDays": days} if days else {})}
    saved = folder / "outputs.json"
    saved.write_text(json.dumps({**raw, "validation": bounds}))
    command = ["ansible-playbook", "-i", f"inventory/{outputs.environment}", "validation/preflight.yml"]
    options = ["-e", json.dumps({"kit_report_dir": str(folder), **variables})]
    environment = {**os.environ, "KIT_OUTPUTS_FILE": str(saved)}
    done = subprocess.run(
        [*command, *options], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )
    file = folder / "report.json"
    assert file.exists(), done.stdout[-3000:] + done.stderr[-1000:]
    report: Json = json.loads(file.read_text())
    return report


@pytest.fixture(scope="module")
def first(outputs: StackOutputs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of the cluster as it is."""
    folder = tmp_path_factory.mktemp("first")
    preflight(outputs, folder)
    return folder / "report.json"


@pytest.mark.req("V1")
@pytest.mark.req("V12")
def test_certificates_that_end_soon_fail_and_are_what_changed(
    kubectl: Kubectl, outputs: StackOutputs, first: Path, tmp_path: Path
) -> None:
    part = next(item.namespace for item in outputs.components if item.name == "kai-scheduler")
    assert part
    with webhook(outputs, part), webhook(outputs, outputs.inference.namespace):
        report = preflight(outputs, tmp_path, kit_against=str(first))
    checks = {check["id"]: check for check in report["checks"]}
    for name, namespace in (
        ("preflight.certificates", part),
        ("preflight.certificates_knative", outputs.inference.namespace),
    ):
        assert checks[name]["verdict"] == "fail", checks[name]
        assert checks[name]["observed"]["days"][f"{NAME}-{namespace}"] == DAYS
    for name in ("preflight.certificates_api", "preflight.tls"):
        assert checks[name]["verdict"] == "pass", checks[name]
    told = report["against"]
    assert told["warnings"] == []
    changed = [change for change in told["changes"] if change["kind"] == "verdict"]
    every = " ".join(change["what"] for change in changed)
    assert "preflight.certificates" in every
    assert "preflight.certificates_knative" in every
    assert all(change["before"] == "pass" and change["now"].startswith("fail") for change in changed)
    assert not [c for c in told["changes"] if c["kind"] in {"part", "image", "setting", "check"}]
    page = (tmp_path / "index.html").read_text()
    assert 'id="changes"' in page
    assert f"{NAME}-{part}" in page


@pytest.mark.req("V1")
@pytest.mark.req("V12")
def test_a_bound_that_no_certificate_meets_fails_each_of_them(
    outputs: StackOutputs, first: Path, tmp_path: Path
) -> None:
    days = {"least": 40000, "renewed": 40000}
    report = preflight(outputs, tmp_path, days, kit_against=str(first))
    failed = {check["id"] for check in report["checks"] if check["verdict"] == "fail"}
    assert failed == {
        "preflight.certificates",
        "preflight.certificates_api",
        "preflight.certificates_knative",
        "preflight.tls",
    }
    changes = report["against"]["changes"]
    moved = [c["what"] for c in changes if c["kind"] == "expected" and c["now"] == "40000"]
    assert "preflight.certificates_api days.atLeast" in moved
    set_ = {c["what"]: c["now"] for c in changes if c["kind"] == "setting"}
    assert set_ == {f"validation.certificateDays.{name}": "40000" for name in days}


@pytest.mark.req("V12")
def test_what_is_no_report_stops_before_anything_runs(outputs: StackOutputs, tmp_path: Path) -> None:
    bad = tmp_path / "report.json"
    bad.write_text('{"environment": 1}')
    command = ["build/venv/bin/python", "-m", "validation.prove", outputs.environment, "--against", str(bad)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout.count("\n") == 1
    assert f"against: {bad}: not a report of this kit" in done.stdout
    assert "Traceback" not in done.stderr
