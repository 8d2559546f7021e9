"""Wrong settings and unusable kubeconfigs through the real `pulumi` and the real playbooks.

Each is one clear error within its bound, nothing is registered, and there is no traceback.
"""

from __future__ import annotations

import base64
import copy
import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.changing import call
from tests.acceptance.commands import Done
from tests.acceptance.conftest import ROOT, Kubectl
from tests.acceptance.refusing import (
    PEM,
    Authority,
    Stack,
    another_authority,
    service_account_token,
    silent_server,
)
from validation.settings import StackOutputs

pytestmark = pytest.mark.req("I14")
Json = dict[str, Any]
BOUND = 90
CANARY = "canary-4Tq9"
NAME = "runai-kit-nobody"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    return Stack(tmp_path_factory.mktemp("stack"))


def one_error(ended: Done, words: str) -> str:
    """The only error that was told; it holds `words`."""
    assert ended.code != 0, ended.text
    assert ended.seconds < BOUND
    assert "Traceback" not in ended.text, ended.text
    assert CANARY not in ended.text
    told = [line for line in ended.text.splitlines() if line.strip().startswith("error:")]
    (line,) = told
    rest = ended.text[ended.text.index(line) :]
    assert words in rest, ended.text
    return rest


SETTINGS: dict[str, tuple[Json, str]] = {
    "wrong type": (
        {"fakeGpus": {"enabled": "yes"}},
        'runai-kit:fakeGpus.enabled: found "yes"; expected true',
    ),
    "unknown key": ({"schedular": {}}, "runai-kit:schedular: found an unknown key; expected one of"),
    "missing": ({"domain": None}, "runai-kit:domain: found nothing; expected a value; set it"),
    "out of bounds": (
        {"scheduler": {"version": "0.12.0", "replicas": 9}},
        "scheduler.replicas: found 9; expected at",
    ),
    "pair": (
        {"scheduler": {"version": "0.12.0", "replicas": 2}},
        "scheduler.leaderElection: found false; expected",
    ),
    "no secret": (
        {"registry": {"prefix": "h.test", "username": "robot"}},
        "runai-kit:registry.password: found nothing; expected a secret",
    ),
    "secret in the clear": (
        {"registry": {"prefix": "h.test", "username": "robot", "password": CANARY}},
        "runai-kit:registry.password: found plain text; expected an encrypted value",
    ),
}


@pytest.mark.req("I13")
@pytest.mark.parametrize("name", list(SETTINGS))
def test_wrong_settings_are_one_error_and_register_nothing(name: str, stack: Stack) -> None:
    changes, words = SETTINGS[name]
    stack.configure(changes)
    text = one_error(stack.pulumi("up", "--yes", "--skip-preview"), words)
    assert "1 problem in the stack's settings, nothing was changed" in text
    assert stack.resources() == []


@pytest.fixture(scope="module")
def authority(kubectl: Kubectl) -> dict[str, bytes]:
    """The cluster's own keys, from the node that holds them."""
    (node,) = kubectl("get", "nodes", "-l", "node-role.kubernetes.io/control-plane")["items"]
    found = {}
    for file in ("ca.crt", "ca.key", "sa.key"):
        command = ["podman", "exec", node["metadata"]["name"], "cat", f"/etc/kubernetes/pki/{file}"]
        found[file] = subprocess.run(command, check=True, capture_output=True).stdout
    return found


@pytest.fixture(scope="module")
def nobodys_token(outputs: StackOutputs, kubectl: Kubectl) -> Iterator[str]:
    """A token of a real ServiceAccount that may do nothing."""
    call(outputs, "create", "serviceaccount", NAME, "--namespace", "default")
    try:
        yield kubectl("create", "token", NAME, "--namespace", "default", "-o", "json")["status"]["token"]
    finally:
        call(outputs, "delete", "serviceaccount", NAME, "--namespace", "default")


@pytest.fixture
def good(outputs: StackOutputs) -> Json:
    """The kubeconfig that works, for changing."""
    found: Json = yaml.safe_load(Path(outputs.kubeconfig).read_text())
    return copy.deepcopy(found)


KUBECONFIGS = {
    "no file": "runai-kit:cluster.kubeconfig: found no file",
    "no YAML": "which is no kubeconfig; expected a kubeconfig file",
    "unknown context": "expected a context of",
    "expired certificate": "answered 401 Unauthorized; expected valid credentials; log in again",
    "expired token": "answered 401 Unauthorized; expected valid credentials; log in again",
    "certificate of another cluster": "answered 401 Unauthorized; expected valid credentials",
    "no rights": "answered 403 Forbidden; expected a user with cluster-admin rights",
    "another CA": "that is not trusted",
    "verification off": "with insecure-skip-tls-verify; expected a verified certificate",
    "plain http": "expected an https address",
    "nobody there": "found no answer from https://127.0.0.1:1",
    "never answers": "found no answer from https://127.0.0.1:",
}


@pytest.fixture(params=list(KUBECONFIGS))
def unusable(
    request: pytest.FixtureRequest,
    good: Json,
    authority: dict[str, bytes],
    nobodys_token: str,
    tmp_path: Path,
) -> Iterator[tuple[str, str]]:
    """(class of fault, file) of a kubeconfig that cannot be used."""
    name, file = request.param, tmp_path / "kubeconfig"
    cluster, user = good["clusters"][0]["cluster"], good["users"][0]
    own = Authority(authority["ca.crt"], authority["ca.key"])
    with ExitStack() as stack:
        if name == "expired certificate":
            user["user"] = own.user("kubernetes-admin", "system:masters", timedelta(hours=-1))
        elif name == "certificate of another cluster":
            other = another_authority("kubernetes")
            user["user"] = other.user("kubernetes-admin", "system:masters", timedelta(hours=1))
        elif name == "expired token":
            user["user"] = {"token": expired(nobodys_token, authority["sa.key"])}
        elif name == "no rights":
            user["user"] = {"token": nobodys_token}
        elif name == "another CA":
            other_ca = another_authority("kubernetes").certificate.public_bytes(PEM)
            cluster["certificate-authority-data"] = base64.b64encode(other_ca).decode()
        elif name == "verification off":
            del cluster["certificate-authority-data"]
            cluster["insecure-skip-tls-verify"] = True
        elif name == "plain http":
            cluster["server"] = cluster["server"].replace("https", "http")
        elif name == "nobody there":
            cluster["server"] = "https://127.0.0.1:1"
        elif name == "never answers":
            cluster["server"] = f"https://127.0.0.1:{stack.enter_context(silent_server())}"
        elif name == "unknown context":
            good["contexts"][0]["name"] = "elsewhere"
        text = "contexts: [\n" if name == "no YAML" else yaml.safe_dump(good)
        if name != "no file":
            file.write_text(text)
        yield name, str(file)


def expired(token: str, key: bytes) -> str:
    """The same token, as if its hour were over."""
    body = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    now = int(time.time())
    return service_account_token(key, {**claims, "nbf": now - 7200, "iat": now - 7200, "exp": now - 3600})


def test_an_unusable_kubeconfig_is_one_error_and_registers_nothing(
    unusable: tuple[str, str], stack: Stack, outputs: StackOutputs
) -> None:
    name, file = unusable
    cluster = {"kind": "local", "context": outputs.context, "kubeconfig": file}
    stack.configure({"cluster": cluster})
    text = one_error(stack.pulumi("preview"), KUBECONFIGS[name])
    assert text.rstrip().splitlines()[0].endswith("Nothing was changed.")
    assert stack.resources() == []


def test_a_good_kubeconfig_in_the_same_place_is_taken(
    good: Json, stack: Stack, outputs: StackOutputs, tmp_path: Path
) -> None:
    """What the refusals are worth: the stack is right but for its kubeconfig."""
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(good))
    cluster = {"kind": "local", "context": outputs.context, "kubeconfig": str(tmp_path / "kubeconfig")}
    stack.configure({"cluster": cluster})
    ended = stack.pulumi("preview")
    assert ended.code == 0, ended.text
    assert "to create" in ended.text


REASONS = {
    "expired certificate": "401",
    "no rights": "create namespaces",
    "another CA": "CERTIFICATE_VERIFY_FAILED",
    "verification off": "insecure-skip-tls-verify",
    "never answers": "does not answer",
}


@pytest.mark.req("V1", "V12")
@pytest.mark.parametrize("unusable", list(REASONS), indirect=True)
def test_preflight_fails_with_the_reason_and_the_report_says_it(
    unusable: tuple[str, str], outputs: StackOutputs, tmp_path: Path
) -> None:
    """The same for validation: what a server refuses, or where nobody answers."""
    name, file = unusable
    values = tmp_path / "outputs.json"
    values.write_text(json.dumps({**outputs.model_dump(), "kubeconfig": file}))
    environment = {
        **os.environ,
        "KIT_OUTPUTS_FILE": str(values),
        "KIT_REPORT_DIR": str(tmp_path / "report"),
    }
    command = ["ansible-playbook", "-i", f"inventory/{outputs.environment}", "validation/preflight.yml"]
    started = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert time.monotonic() - started < 300
    assert done.returncode != 0
    assert "Traceback" not in done.stdout + done.stderr
    checks = json.loads((tmp_path / "report" / "report.json").read_text())["checks"]
    failed = [check["reason"] for check in checks if check["verdict"] == "fail"]
    assert [reason for reason in failed if REASONS[name] in reason], failed
