"""Validation's questions to VCF Operations, against a double over TLS: seen, not seen, and nobody there."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.control_plane import document
from tests.contract.control_plane.failures import Fault
from tests.contract.serving import over_tls
from tests.contract.vcf_operations.app import application
from tests.contract.vcf_operations.state import CLUSTER, NAMESPACE, POD, SUPERVISOR, State
from tests.unit.validation.runs import OUTPUTS
from tests.unit.validation.tls import Authority
from validation.compare import differences
from validation.expect import vcf_operations as expect
from validation.observe import vcf_operations as observe
from validation.settings import StackOutputs, load
from validation.suite_api import inventory
from validation.suite_api.client import Access, SuiteApi
from validation.suite_api.errors import SuiteError

pytestmark = pytest.mark.req("I11")
DOCUMENT: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "vcf_operations/openapi.yaml").read_text())
NAME = "vks-gpu"
Start = Callable[[State], StackOutputs]


@pytest.fixture
def start(authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts doubles; at the end all that was said must be what the document allows, and a GET."""
    pem = authority.issue("localhost", tmp_path)
    started: list[State] = []
    with ExitStack() as stack:

        def one(state: State) -> StackOutputs:
            # A password of its own each time: nothing can work by a constant.
            state.password = secrets.token_urlsafe(12)
            url = stack.enter_context(over_tls(application(state), pem))
            monkeypatch.setenv(observe.PASSWORD, state.password)
            started.append(state)
            asked = {"url": url, "ca": authority.pem, "username": state.username, "clusterName": NAME}
            return load({**OUTPUTS, "vcfOperations": asked})

        yield one
    told = [item for state in started for item in state.journal.told]
    assert document.problems(DOCUMENT, told) == []
    assert {(t.method, t.path.rpartition("/")[2]) for t in told if t.method != "GET"} <= {
        ("POST", "acquire"),
        ("POST", "release"),
    }


def seen(state: State, minutes: float = 2) -> str:
    """A cluster that is monitored with its pods; returns its id. A VM and a folder share its name."""
    state.adapter("VMWARE", 600)
    state.adapter(SUPERVISOR, minutes)
    cluster = state.resource(NAME, CLUSTER, minutes=minutes)
    state.resource(f"{NAME}-workers-1", "VirtualMachine", minutes=1)
    state.resource(NAME, "Folder")
    space = state.resource("runai", NAMESPACE, cluster)
    state.resource("kube-system", NAMESPACE, cluster)
    state.resource("default", NAMESPACE, cluster)
    for number in range(3):
        state.resource(f"pod-{number}", POD, space, minutes=1)
    return cluster


def faults(outputs: StackOutputs) -> dict[str, list[str]]:
    """Differences by check of what is asked over the API."""
    wanted, found = expect.expected(outputs), observe.observe(outputs)
    assert set(found) == set(observe.CHECKS)
    return {check: lines for check in found if (lines := differences(wanted[check], found[check]))}


def test_every_field_of_the_document_says_how_it_is_known() -> None:
    assert document.unmarked(DOCUMENT) == []


def test_a_monitored_cluster_is_seen_and_the_token_is_given_back(start: Start) -> None:
    state = State()
    seen(state)
    outputs = start(state)
    assert faults(outputs) == {}
    assert observe.observe(outputs)["vcf_operations.pods"] == {"receiving": 3}
    assert state.tokens == {}
    assert state.schemes == {"OpsToken"}
    # Pages of two: not everything was on the first one.
    assert len([t for t in state.journal.told if t.path.endswith("/resources")]) > 6


@pytest.mark.parametrize(
    ("change", "failing", "word"),
    [
        (lambda state: state.adapters.clear(), {"adapter"}, "instances: expected atLeast 1"),
        (
            lambda state: [a.update(lastCollected=0) for a in state.adapters],
            {"adapter"},
            "minutesSinceCollection",
        ),
        (lambda state: state.resources.clear(), {"cluster", "data", "pods"}, "objects: expected 1"),
        (lambda state: state.resource(NAME, "OtherCluster"), {"cluster", "data", "pods"}, "found 2"),
        (lambda state: state.samples.clear(), {"data"}, "minutesOld"),
        (lambda state: state.parents.clear(), {"pods"}, "receiving: expected atLeast 1, found 0"),
    ],
    ids=["no adapter", "silent adapter", "no cluster", "two clusters", "no samples", "no pods"],
)
def test_each_thing_that_is_missing_fails_its_check(
    start: Start, change: Callable[[State], object], failing: set[str], word: str
) -> None:
    state = State()
    seen(state)
    change(state)
    found = faults(start(state))
    assert set(found) == {f"vcf_operations.{name}" for name in failing}
    assert any(word in line for lines in found.values() for line in lines), found


def test_two_clusters_of_a_name_are_told_apart_by_their_kind(start: Start) -> None:
    state = State()
    seen(state)
    state.resource(NAME, "OtherCluster")
    outputs = start(state)
    both = observe.observe(outputs)["vcf_operations.cluster"]
    assert both["kinds"] == [f"{SUPERVISOR}/OtherCluster", f"{SUPERVISOR}/{CLUSTER}"]
    assert "resourceKind" in both["why"]
    chosen = outputs.vcfOperations.model_copy(update={"resourceKind": CLUSTER})
    assert faults(outputs.model_copy(update={"vcfOperations": chosen})) == {}


def test_old_data_and_a_collector_that_is_down_are_named(start: Start) -> None:
    state = State()
    cluster = seen(state, minutes=40)
    state.resources[cluster]["resourceStatusStates"] = [
        {"resourceStatus": "DATA_RECEIVING", "resourceState": "STARTED", "statusMessage": ""},
        {"resourceStatus": "COLLECTOR_DOWN", "resourceState": "STARTED", "statusMessage": "proxy is gone"},
    ]
    outputs = start(state)
    found = faults(outputs)
    assert set(found) == {"vcf_operations.adapter", "vcf_operations.data"}
    assert any("COLLECTOR_DOWN" in line for line in found["vcf_operations.data"])
    assert observe.observe(outputs)["vcf_operations.data"]["why"] == "proxy is gone"


def test_pods_without_data_do_not_count(start: Start) -> None:
    state = State()
    cluster = seen(state)
    for item in state.resources.values():
        if item["resourceKey"]["resourceKindKey"] == POD:
            item["resourceStatusStates"][0]["resourceStatus"] = "NO_DATA_RECEIVING"
    outputs = start(state)
    assert set(faults(outputs)) == {"vcf_operations.pods"}
    with SuiteApi(observe.access(outputs.vcfOperations)) as api:
        assert inventory.pods(api, cluster) == 0


def test_a_wrong_password_is_one_sentence_without_it(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = start(State())
    monkeypatch.setenv(observe.PASSWORD, "canary-7f3a")
    for check, found in observe.observe(outputs).items():
        assert "found 401" in found["error"], check
        assert "password of user kit of source LOCAL" in found["error"]
        assert "canary" not in found["error"]


def test_without_a_password_nobody_is_asked(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    state = State()
    outputs = start(state)
    monkeypatch.delenv(observe.PASSWORD)
    found = observe.observe(outputs)["vcf_operations.data"]
    assert f"environment variable {observe.PASSWORD}" in found["error"]
    assert state.journal.told == []


def test_without_an_address_there_is_nothing_to_check() -> None:
    assert observe.observe(load(OUTPUTS)) == {check: {"url": ""} for check in observe.CHECKS}


def test_another_authority_is_not_trusted(start: Start) -> None:
    state = State()
    outputs = start(state)
    other = outputs.vcfOperations.model_copy(update={"ca": Authority("another").pem})
    found = observe.observe(outputs.model_copy(update={"vcfOperations": other}))
    assert "a certificate that is not trusted" in found["vcf_operations.data"]["error"]
    assert state.journal.told == []


def test_a_password_never_goes_out_in_clear() -> None:
    with pytest.raises(SuiteError, match="https address"):
        SuiteApi(Access("http://ops.example.test", "kit", "password"))
    assert "canary" not in repr(Access("https://ops.example.test", "kit", "canary-7f3a"))


def test_a_busy_server_is_asked_again_and_a_lasting_failure_told(start: Start) -> None:
    state = State()
    seen(state)
    outputs = start(state)
    path = "/suite-api/api/adapterkinds"
    state.journal.faults.append(Fault("GET", path, times=2, status=503))
    assert faults(outputs) == {}
    state.journal.faults.append(Fault("GET", path, times=1, status=403))
    assert "role that may read" in observe.observe(outputs)["vcf_operations.data"]["error"]
    # Released also after a failure.
    assert state.tokens == {}


def test_a_page_of_somebody_else_is_told_as_that(start: Start) -> None:
    state = State()
    outputs = start(state)
    state.journal.faults.append(Fault("GET", "/suite-api/api/resources", page="<html>login</html>"))
    found = observe.observe(outputs)["vcf_operations.cluster"]
    assert "a body that is no JSON" in found["error"]
    state.journal.told.clear()
