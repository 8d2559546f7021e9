"""V10 in both directions: where the trouble is gone, the check of its fallback must fail."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.changing import exists, mine, run, when
from tests.acceptance.conftest import Kubectl
from tests.acceptance.test_wrong_on_purpose import failed, in_background, patch
from validation.settings import StackOutputs


@pytest.mark.req("V10")
@pytest.mark.negative("fallbacks.quota", "fallbacks.mirror")
def test_a_wider_queue_and_an_origin_that_answers_fail(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    """The second job is no longer over the limit, and the port of the silent origin leads to the mirror."""
    where = ("-n", outputs.projects[0].namespace)
    service = "runai-kit-fallbacks-mirror"

    def widen(_: Any) -> None:
        change = {"spec": {"resources": {"gpu": {"limit": 2}}}}
        patch(kubectl, "queues.scheduling.run.ai", "kit-fallbacks", change)

    def mend(_: Any) -> None:
        ports = [
            {"name": "mirror", "port": 8080, "targetPort": 8080},
            {"name": "silent", "port": 8081, "targetPort": 8080},
            {"name": "refusing", "port": 8082, "targetPort": 8082},
        ]
        patch(kubectl, "service", service, {"spec": {"ports": ports}}, *where)

    def work(stop: threading.Event) -> None:
        when(stop, exists(kubectl, "service", service, *where), mend)
        when(stop, lambda: mine(kubectl, "fallbacks", "in-quota"), widen)

    with in_background(work):
        checks = run("fallbacks", outputs, tmp_path, timeout=60)
    assert {"fallbacks.quota", "fallbacks.mirror"} <= failed(checks)
    assert checks["fallbacks.capacity"]["verdict"] == "pass"
    assert checks["fallbacks.logs"]["verdict"] == "pass"
    assert checks["fallbacks.cleanup"]["verdict"] == "pass"
