"""V1 in both directions: an installation of which somebody changed exactly what a check looks at.

Faults that do not hide each other are provoked in one run, and exactly their checks must fail, each within
its bound and naming its own cause. Every change is taken back whatever happens; the cluster is compared.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.acceptance import things
from tests.acceptance.broken import Broken
from tests.acceptance.hurried import QUICK
from tests.acceptance.proving import Wrong, prove
from validation import names
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.req("V1"), pytest.mark.usefixtures("unchanged")]
KAI = "kai-scheduler"
CONFIG = f"{names.CONFIGS}/kai-config"
# Days that no certificate of an API server has left.
DEMANDED = 4000


def ca_bundle(days: int) -> str:
    """A CA that signed nothing, valid for so many days more, as a webhook configuration holds it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody else")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=9))
    made = builder.not_valid_after(now + timedelta(days=days, hours=1)).sign(key, hashes.SHA256())
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


def damage_the_scheduler(wrong: Broken) -> None:
    """KAI without operator, scheduler and admission, and with a Config that the stack did not write."""
    wrong.restless(lambda: available(wrong))
    # The operator first, or it brings the others back.
    for deployment in ("kai-operator", "kai-scheduler-default", "admission"):
        wrong.scaled(KAI, deployment)
    admission = {"gpuSharing": not wrong.outputs.gpuSharing, "gpuPodRuntimeClassName": "nowhere"}
    wrong.patched(CONFIG, {"spec": {"admission": admission}})
    wrong.replaced(f"{names.PRIORITY_CLASSES}/build", value=60)
    hooks = f"{names.VALIDATING_WEBHOOKS}/kai-podgroup-validation-v2alpha2"
    (hook,) = wrong.api.get(hooks)["webhooks"]
    hook["clientConfig"]["caBundle"] = ca_bundle(5)
    wrong.patched(hooks, {"webhooks": [hook]})


def old_webhook(wrong: Broken) -> None:
    """A webhook configuration of Knative that nobody renews; it sees only a kind that does not exist."""
    rule = {"apiGroups": ["example.org"], "apiVersions": ["v1"], "resources": ["nothings"]}
    service = {"namespace": wrong.outputs.inference.namespace, "name": "webhook"}
    hook = {
        "name": "left.example.org",
        "clientConfig": {"service": service, "caBundle": ca_bundle(-1)},
        "rules": [{**rule, "operations": ["CREATE"]}],
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    body = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "left-by-an-earlier-knative"},
    }
    wrong.made(names.VALIDATING_WEBHOOKS, {**body, "webhooks": [hook]})


def available(wrong: Broken) -> bool:
    conditions = (wrong.api.get(CONFIG).get("status") or {}).get("conditions") or []
    return {c["type"] for c in conditions if c["status"] == "True"} >= {"Deployed", "Available"}


@pytest.mark.negative(
    "preflight.scheduler",
    "preflight.gpu_sharing",
    "preflight.runtime_class",
    "preflight.priority_classes",
    "preflight.webhooks",
    "preflight.certificates",
    "preflight.certificates_api",
    "preflight.certificates_knative",
    "preflight.versions",
    "preflight.exclusive_profile",
    "preflight.namespaces",
    "preflight.queues",
    "preflight.tls",
)
def test_an_installation_that_somebody_changed(outputs: StackOutputs, tmp_path: Path) -> None:
    project = outputs.projects[0]
    old = things.pod("old-binder", "ghcr.io/nvidia/kai-scheduler/binder:v0.11.9")
    with Broken(outputs) as wrong:
        wrong.made(names.in_namespace(names.PODS, KAI), old)
        wrong.made(names.CRDS, things.crd("runaiconfigs", "run.ai", "RunaiConfig"))
        limit = {"gpu": {"limit": 5}}
        wrong.patched(f"{names.QUEUES}/{project.queue}", {"spec": {"resources": limit}})
        label = {"labels": {names.PSA_ENFORCE_LABEL: "restricted"}}
        wrong.patched(f"{names.NAMESPACES}/{outputs.reservationNamespace}", {"metadata": label})
        wrong.scaled(outputs.ingress.namespace, outputs.ingress.service)
        old_webhook(wrong)
        damage_the_scheduler(wrong)
        variables = {**QUICK, "preflight_min_certificate_days": DEMANDED}
        proof = prove(outputs, tmp_path, "preflight", variables=variables)
    shown = (
        Wrong("preflight.scheduler", ("kai-scheduler-default: scaled to 0", "kai-operator: scaled to 0")),
        Wrong("preflight.gpu_sharing", ("gpuSharing: expected True, found False",)),
        Wrong("preflight.runtime_class", ("RuntimeClass nowhere", "kai-config", "does not exist")),
        Wrong("preflight.priority_classes", ("build: expected atLeast 100, found 60",)),
        Wrong("preflight.webhooks", ('"admission.kai-scheduler.svc"', "refused", "podGroup: ", "x509")),
        Wrong("preflight.certificates", ("found 5", "kai-podgroup-validation-v2alpha2")),
        Wrong("preflight.certificates_api", (f"days: expected atLeast {DEMANDED}, found ",)),
        Wrong("preflight.certificates_knative", ("found -1", "left-by-an-earlier-knative")),
        Wrong("preflight.versions", ("kai-scheduler: expected 0.12.0", "0.11.9", "haproxy")),
        Wrong("preflight.exclusive_profile", ("CustomResourceDefinition runaiconfigs.run.ai",)),
        Wrong("preflight.namespaces", (outputs.reservationNamespace, "expected baseline, found restricted")),
        Wrong("preflight.queues", (f"{project.queue}.limit: expected {project.gpu.limit}, found 5",)),
        Wrong("preflight.tls", ("inference: ", "workspaces: ", "expected"), seconds=15),
    )
    proof.shows(*shown)
    assert proof.failed() == {one.check for one in shown}
    assert proof.seconds <= 180
