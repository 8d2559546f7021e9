"""A live cluster, read through kubectl; outputs from the stack (KIT_STACK) or a file (KIT_OUTPUTS_FILE).

A cluster that cannot be reached fails every test here: these tests are run on purpose.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import testinfra

from components.config.local import DEFAULT
from tests.acceptance import inventory, looked, seen
from validation.cluster import Cluster
from validation.outputs import from_file, from_stack, resolved
from validation.settings import StackOutputs, load

ROOT = Path(__file__).parents[2]
Json = dict[str, Any]
Kubectl = Callable[..., Json]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What breaks and destroys does so only where somebody named a cluster for it."""
    if item.get_closest_marker("scratch") and os.environ.get("RUNAI_KIT_CLUSTER", DEFAULT) == DEFAULT:
        pytest.fail(
            f"this test destroys what it finds; found the cluster {DEFAULT} that people look at, expected "
            f"RUNAI_KIT_CLUSTER to name another one; run `make acceptance-scratch`",
            pytrace=False,
        )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A run of an hour tells at once why a test failed, not at its end."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if report.failed and crash:
        print(f"\n  {report.when}: {crash.path}:{crash.lineno}: {crash.message[:2000]}", flush=True)


@pytest.fixture(scope="module")
def outputs() -> StackOutputs:
    """What the stack promised; files before this one may have left another CA and other addresses."""
    file = os.environ.get("KIT_OUTPUTS_FILE")
    raw = from_file(Path(file)) if file else from_stack(os.environ.get("KIT_STACK", "local"), ROOT)
    return load(resolved(raw, ROOT))


@pytest.fixture(scope="module")
def kubectl(outputs: StackOutputs) -> Kubectl:
    """`kubectl("get", "pods", "-A")` as JSON, always with the stack's kubeconfig and context."""
    host = testinfra.get_host("local://")

    def call(*words: str) -> Json:
        options = ["--context", outputs.context]
        if outputs.kubeconfig:
            options += ["--kubeconfig", outputs.kubeconfig]
        command = [
            "kubectl",
            *options,
            *words,
            *(["-o", "json"] if words[0] == "get" and "--raw" not in words else []),
        ]
        done = host.run(" ".join(["%s"] * len(command)), *command)
        assert done.rc == 0, done.stderr
        data: Json = json.loads(done.stdout)
        return data

    return call


@pytest.fixture(scope="session")
def report() -> Json:
    """The report of the last run."""
    folder = ROOT / os.environ.get("KIT_REPORT_DIR", "build/report")
    data: Json = json.loads((folder / "report.json").read_text())
    return data


@pytest.fixture(autouse=True)
def kept_promise(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a test's marks `negative` promise, its playbooks must have seen failing."""
    promised = {check for mark in request.node.iter_markers("negative") for check in mark.args}
    seen.begin()
    yield
    assert not seen.unkept(promised), "marked as made to fail by this test, and did not fail"


@pytest.fixture
def looked_at(outputs: StackOutputs) -> None:
    """Preflight was made before a test changes what it would find fault with."""
    looked.before(outputs.model_dump())


@pytest.fixture
def unchanged(outputs: StackOutputs) -> Iterator[None]:
    """Everything in the cluster is afterwards as it was before, also when the test fails in its middle."""
    api = Cluster(outputs.kubeconfig, outputs.context)
    before = inventory.snapshot(api)
    yield
    assert inventory.settled(api, before) == []
