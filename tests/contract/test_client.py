"""The client against the double: tokens, pages, retries, and errors that say what to do."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from components.runai.client import Client
from components.runai.errors import (
    ApiError,
    ConflictError,
    ForbiddenError,
    MalformedError,
    NotFoundError,
    RefusedError,
    UnauthorizedError,
    UnavailableError,
    UnreachableError,
    UntrustedError,
)
from components.runai.transport import Patience
from tests.contract.conftest import QUICK, Double, Start
from tests.contract.control_plane import document
from tests.contract.control_plane.failures import Fault
from tests.contract.control_plane.options import Options
from tests.unit.validation.tls import Authority

CLUSTERS = "/api/v1/clusters"
DEPARTMENTS = "/api/v1/org-unit/departments"


def registered(client: Client) -> str:
    """A cluster to hang objects on."""
    return str(
        client.post(CLUSTERS, {"name": "one", "domain": "https://one.test", "version": "3.0.24"})["uuid"]
    )


def asked(double: Double, method: str, path: str) -> int:
    """How often the double heard this."""
    return sum((t.method, t.path) == (method, path) for t in double.running.state.journal.told)


@pytest.mark.req("I5")
def test_every_field_of_the_document_says_how_it_is_known() -> None:
    assert document.unmarked(document.load()) == []


@pytest.mark.req("I5")
def test_the_published_capture_fits_the_document() -> None:
    from tests.contract.control_plane.failures import Told

    capture = Path(__file__).parent / "control_plane" / "captures" / "cluster-connected.json"
    cluster = {"uuid": "u", "tenantId": 1, "name": "n", "createdAt": "t"} | json.loads(capture.read_text())
    told = Told("GET", f"{CLUSTERS}/u", 200, None, cluster)
    assert document.problems(document.load(), [told]) == []
    told.answer["status"]["state"] = "Fine"
    assert document.problems(document.load(), [told]) != []


@pytest.mark.req("I5")
def test_a_token_is_taken_once_and_renewed_before_it_ends(start: Start) -> None:
    double = start(Options(token_seconds=2))
    client = double.client()
    client.get(CLUSTERS)
    client.get(CLUSTERS)
    assert asked(double, "POST", "/api/v2/token") == 1
    time.sleep(1.9)
    client.get(CLUSTERS)
    assert asked(double, "POST", "/api/v2/token") == 2
    # Renewed in time: no request was refused.
    assert {told.status for told in double.running.state.journal.told} == {200}


@pytest.mark.req("I5")
def test_a_revoked_token_is_replaced_once(double: Double) -> None:
    client = double.client()
    client.get(CLUSTERS)
    double.running.state.tokens.clear()
    assert client.get(CLUSTERS) == []
    assert [t.status for t in double.running.state.journal.told if t.path == CLUSTERS] == [200, 401, 200]


@pytest.mark.req("I5")
def test_a_wrong_password_is_one_sentence_without_the_password(double: Double) -> None:
    with pytest.raises(UnauthorizedError) as caught:
        double.client(password="not this one").get(CLUSTERS)
    text = str(caught.value)
    assert "found 401 Invalid user credentials; expected valid credentials; check the user" in text
    assert "not this one" not in text
    assert "not this one" not in repr(double.client(password="not this one").access)


@pytest.mark.req("I5")
def test_an_account_without_a_role_is_forbidden(double: Double) -> None:
    made = double.client().post("/api/v1/service-accounts", {"name": "robot"})
    robot = double.client(client_id=made["clientId"], client_secret=made["clientSecret"])
    with pytest.raises(ForbiddenError, match="give the account an access rule"):
        robot.get(CLUSTERS)
    roles = double.client().get("/api/v1/authorization/roles")
    rule = {
        "subjectId": made["id"],
        "subjectType": "service-account",
        "roleId": roles[0]["id"],
        "scopeType": "tenant",
        "scopeId": "1001",
    }
    double.client().post("/api/v1/authorization/access-rules", rule)
    assert robot.get(CLUSTERS) == []


@pytest.mark.req("I5")
def test_pages_of_two_give_the_whole_list_once(double: Double) -> None:
    client = double.client()
    cluster = registered(client)
    for number in range(4):
        body = {"name": f"d{number}", "clusterId": cluster, "resources": []}
        client.post(DEPARTMENTS, body)
    names = [item["name"] for item in client.pages(DEPARTMENTS, "departments")]
    assert names == ["default", "d0", "d1", "d2", "d3"]
    # And where the answer does not say whether there is more.
    for number in range(2):
        label = {"labelKey": "k", "labelValue": f"{number}"}
        client.post("/api/v1/node-pools", {"name": f"p{number}", "clusterId": cluster, **label})
    pools = [item["name"] for item in client.pages("/api/v1/node-pools", "nodepools")]
    assert pools == ["default", "p0", "p1"]


@pytest.mark.req("I5")
@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_is_asked_again(status: int, double: Double) -> None:
    double.running.state.journal.faults.append(Fault("GET", CLUSTERS, 2, status, retry_after=0))
    assert double.client().get(CLUSTERS) == []
    assert asked(double, "GET", CLUSTERS) == 3


@pytest.mark.req("I5")
def test_a_server_that_stays_busy_is_given_up(double: Double) -> None:
    double.running.state.journal.faults.append(Fault("GET", CLUSTERS, 99, 503))
    with pytest.raises(UnavailableError, match="found 503 on demand; expected an answer after 3 more tries"):
        double.client().get(CLUSTERS)
    assert asked(double, "GET", CLUSTERS) == 1 + QUICK.retries


@pytest.mark.req("I5")
def test_nobody_is_kept_waiting_by_a_long_retry_after(double: Double) -> None:
    double.running.state.journal.faults.append(Fault("GET", CLUSTERS, 1, 429, retry_after=3600))
    begin = time.monotonic()
    assert double.client().get(CLUSTERS) == []
    assert time.monotonic() - begin < 3


@pytest.mark.req("I5")
def test_a_lost_answer_to_a_post_is_not_sent_twice(double: Double) -> None:
    client = Client(double.access, Patience(connect=1, read=0.3, retries=3, pause=0.01))
    double.running.state.journal.faults.append(Fault("POST", CLUSTERS, 1, 0, delay=1))
    with pytest.raises(UnreachableError, match="check the domain's DNS entry"):
        client.post(CLUSTERS, {"name": "slow"})
    time.sleep(1.2)
    # The slow one came through; a second one would have been refused as a name in use.
    assert [item["name"] for item in client.get(CLUSTERS)] == ["slow"]
    assert asked(double, "POST", CLUSTERS) == 1


@pytest.mark.req("I5")
@pytest.mark.parametrize("status", [502, 504])
def test_a_post_is_not_sent_again_after_a_gateways_answer(status: int, double: Double) -> None:
    double.running.state.journal.faults.append(Fault("POST", CLUSTERS, 1, status))
    told = f"found {status} on demand; expected an answer; .* and whether it was done all the same"
    with pytest.raises(UnavailableError, match=told):
        double.client().post(CLUSTERS, {"name": "one"})
    assert asked(double, "POST", CLUSTERS) == 1


@pytest.mark.req("I5")
@pytest.mark.parametrize("status", [429, 503])
def test_a_post_that_a_busy_server_put_off_is_sent_again(status: int, double: Double) -> None:
    double.running.state.journal.faults.append(Fault("POST", CLUSTERS, 2, status, retry_after=0))
    assert registered(double.client())
    assert asked(double, "POST", CLUSTERS) == 3


@pytest.mark.req("I5")
@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_token_and_what_only_reads_are_asked_for_again_after_each_of_them(
    status: int, double: Double
) -> None:
    for method, path in (("POST", "/api/v2/token"), ("GET", CLUSTERS)):
        double.running.state.journal.faults.append(Fault(method, path, 2, status, retry_after=0))
    assert double.client().get(CLUSTERS) == []
    assert asked(double, "POST", "/api/v2/token") == asked(double, "GET", CLUSTERS) == 3
    # A gateway's answers are not the API's: they are no part of what the document speaks about.
    double.running.state.journal.told.clear()


@pytest.mark.req("I5")
def test_each_refusal_is_an_error_of_its_own(double: Double) -> None:
    client = double.client()
    cluster = registered(client)
    with pytest.raises(NotFoundError, match="Cluster nowhere not found"):
        client.get(f"{CLUSTERS}/nowhere")
    quota = {"nodePool": {"id": "none"}, "gpu": {"deserved": 1}}
    with pytest.raises(RefusedError, match="400 Bad request - resources name a node pool"):
        client.post(DEPARTMENTS, {"name": "d", "clusterId": cluster, "resources": [quota]})
    with pytest.raises(ConflictError, match="409 default already exists"):
        client.post(DEPARTMENTS, {"name": "default", "clusterId": cluster, "resources": []})


@pytest.mark.req("I5")
def test_a_page_of_a_proxy_is_no_answer(double: Double) -> None:
    double.running.state.journal.faults.append(Fault("GET", CLUSTERS, 1, page="<html>sign in</html>"))
    with pytest.raises(MalformedError, match="no proxy answers in its place"):
        double.client().get(CLUSTERS)
    # The page is not the API's: it is no part of what the document speaks about.
    double.running.state.journal.told.clear()


@pytest.mark.req("I5")
def test_only_the_private_ca_is_trusted(double: Double) -> None:
    with pytest.raises(UntrustedError, match=r"controlPlane\.ca"):
        double.client(ca="").get(CLUSTERS)
    with pytest.raises(UntrustedError):
        double.client(ca=Authority("somebody else").pem).get(CLUSTERS)
    with pytest.raises(UntrustedError):
        double.client(url=double.access.url.replace("localhost", "127.0.0.1")).get(CLUSTERS)
    assert double.running.state.journal.told == []


@pytest.mark.req("I5")
def test_credentials_never_go_in_the_clear(double: Double) -> None:
    with pytest.raises(ApiError, match="expected https://"):
        double.client(url=double.access.url.replace("https", "http"))
