"""Two people prove the same cluster at once: the second is told who is at work, and takes nothing away."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.changing import mine, run, when
from tests.acceptance.conftest import Json, Kubectl
from tests.acceptance.test_wrong_on_purpose import failed, in_background
from validation.settings import StackOutputs


@pytest.mark.req("V1", "V11", "I14")
@pytest.mark.negative("preflight.leftovers")
def test_a_second_run_names_the_first_and_leaves_its_objects_alone(
    kubectl: Kubectl, outputs: StackOutputs, tmp_path: Path
) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    second: list[dict[str, Json]] = []

    def look(_: Any) -> None:
        second.append(run("preflight", outputs, tmp_path / "second"))

    def work(stop: threading.Event) -> None:
        when(stop, lambda: mine(kubectl, "reclaim", "filler"), look)

    with in_background(work):
        first = run("reclaim", outputs, tmp_path / "first", timeout=120)
    assert failed(first) == set(), {name: first[name]["reason"] for name in failed(first)}
    (refused,) = second
    assert refused["preflight.leftovers"]["verdict"] == "fail"
    holder = json.loads((tmp_path / "first" / "report" / "run.json").read_text())["id"]
    assert f"(run {holder})" in refused["preflight.leftovers"]["reason"]
    # It came to nothing else: neither probes nor their removal, which have the same names in every run.
    assert refused["preflight.cleanup"]["verdict"] == "fail"
    # The last one takes its Lease with it.
    leases = kubectl("get", "leases", "-n", "default")["items"]
    assert [lease["metadata"]["name"] for lease in leases] == []
