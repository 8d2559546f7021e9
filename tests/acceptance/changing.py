"""For tests that change the cluster while a playbook of the suite runs."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import looked
from tests.acceptance.conftest import ROOT, Kubectl
from tests.acceptance.test_wrong_on_purpose import prove
from validation import names
from validation.outputs import from_file, from_stack
from validation.settings import StackOutputs

Json = dict[str, Any]


def run(
    playbook: str, outputs: StackOutputs, folder: Path, timeout: int = 30, own: bool = False, **changes: Any
) -> dict[str, Json]:
    """Run one playbook with the stack's outputs, some of them changed; its checks by id.

    `timeout`: seconds that a test waits for a state, low because it is expected not to come. `own`: with a
    preflight of its own, where what was changed concerns preflight, too.
    """
    file = os.environ.get("KIT_OUTPUTS_FILE")
    raw = from_file(Path(file)) if file else from_stack(os.environ.get("KIT_STACK", "local"), ROOT)
    raw["validation"] = {**raw["validation"], "timeoutSeconds": timeout}
    changed = folder / "outputs.json"
    changed.write_text(json.dumps({**raw, **changes}))
    variables = {} if own or playbook == "preflight" else looked.before(raw)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("KIT_OUTPUTS_FILE", str(changed))
        _, checks = prove(playbook, outputs, folder / "report", variables=variables)
    return checks


def mine(kubectl: Kubectl, test: str, role: str) -> list[Json]:
    """Pods of one part of a test."""
    selector = f"{names.TEST_LABEL}={test},{names.ROLE_LABEL}={role}"
    found: list[Json] = kubectl("get", "pods", "-A", "-l", selector)["items"]
    return found


def when(stop: threading.Event, condition: Callable[[], Any], act: Callable[[Any], None]) -> None:
    """Look until something is there, then act on it once."""
    while not stop.wait(0.3):
        if found := condition():
            act(found)
            return
    raise AssertionError("what should be changed did not appear")


def exists(kubectl: Kubectl, kind: str, name: str, *where: str) -> Callable[[], bool]:
    """A condition: is there a thing of that name?"""

    def look() -> bool:
        return any(thing["metadata"]["name"] == name for thing in kubectl("get", kind, *where)["items"])

    return look


def call(outputs: StackOutputs, *words: str, body: Json | None = None) -> None:
    """A kubectl that answers in words, or not at all; `body` goes to its standard input."""
    command = ["kubectl", "--context", outputs.context, "--kubeconfig", outputs.kubeconfig, *words]
    text = json.dumps(body) if body is not None else None
    done = subprocess.run(command, input=text, text=True, timeout=60, capture_output=True)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
