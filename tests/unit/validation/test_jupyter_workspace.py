"""V6's observations against its expectations: right in, pass; any single thing wrong, fail. TLS is real."""

from __future__ import annotations

import base64
import dataclasses
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.validation.double import OUTPUTS, UUID_0, UUID_1, Double, group, node, pod, queue, thing
from tests.unit.validation.jupyter_double import Jupyter
from tests.unit.validation.tls import Authority, served
from validation import browser, names, tokens
from validation.cluster import ClusterError
from validation.compare import differences
from validation.expect import jupyter_workspace as expect
from validation.https import HttpsError
from validation.notebook import Notebook
from validation.observe import jupyter_page
from validation.observe import jupyter_workspace as observe
from validation.settings import load

pytestmark = pytest.mark.req("V6")
Json = dict[str, Any]
HOST = "runai-kit-jupyter-runai-team-a.workspaces.apps.local.test"
TOKEN = "a-token-of-this-test-7f3a"
NUMBERS = [123456789, 987654321, 1000003]
SMI = f"GPU 0: NVIDIA A100-SXM4-80GB (UUID: {UUID_0})\n"
WANTED = expect.expected(load(OUTPUTS), "team-a", NUMBERS)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[Jupyter, Notebook]]:
    double = Jupyter(TOKEN)
    with served(double.respond, tmp_path, HOST) as ingress:
        yield double, Notebook(ingress, HOST, TOKEN)


def faults(found: Json) -> dict[str, list[str]]:
    """Differences by check; an error is one, as it is for the judge."""
    found = {
        name.partition(".")[2]: [seen["error"]] if "error" in seen else differences(WANTED[name], seen)
        for name, seen in found.items()
    }
    return {name: why for name, why in found.items() if why}


def anonymous(notebook: Notebook) -> Notebook:
    return dataclasses.replace(notebook, token="")


def test_an_address_that_answers_with_a_good_certificate_passes(server: tuple[Jupyter, Notebook]) -> None:
    found = observe.address(anonymous(server[1]), 5)
    assert faults(found) == {}
    assert found["jupyter_workspace.address"]["names"] == [HOST]


def test_a_certificate_of_another_authority_fails_at_once(server: tuple[Jupyter, Notebook]) -> None:
    ingress = dataclasses.replace(server[1].ingress, ca=Authority("another").pem)
    found = observe.address(Notebook(ingress, HOST), 60)
    assert "certificate was not accepted" in found["jupyter_workspace.address"]["error"]


def test_an_address_without_jupyter_behind_it_fails_after_its_time(server: tuple[Jupyter, Notebook]) -> None:
    elsewhere = dataclasses.replace(server[1].ingress, port=1)
    found = observe.address(Notebook(elsewhere, HOST), 0.2, interval=0.05)
    assert "no answer" in found["jupyter_workspace.address"]["error"]


def test_a_closed_server_passes_and_an_open_one_fails_everywhere(server: tuple[Jupyter, Notebook]) -> None:
    double, notebook = server
    assert faults(observe.closed(anonymous(notebook))) == {}
    double.open_to_all = True
    (why,) = faults(observe.closed(anonymous(notebook))).values()
    assert [line.partition(":")[0] for line in why] == ["interface", "guessed", "newKernel", "page"]


def prints(text: str) -> tuple[str, Json]:
    return ("stream", {"name": "stdout", "text": text})


def test_a_kernel_that_works_passes(server: tuple[Jupyter, Notebook]) -> None:
    double, notebook = server
    double.says = [("status", {"execution_state": "busy"}), prints(SMI[:9]), prints(SMI[9:])]
    found = observe.kernel(notebook, [UUID_0], NUMBERS)
    assert found["jupyter_workspace.gpu"]["inKernel"] == [UUID_0]
    assert "computation" in faults(found), "the double says the same to everything"
    double.says = [prints(f"{pow(*NUMBERS)}\n")]
    found = observe.kernel(notebook, [UUID_0], NUMBERS)
    assert set(faults(found)) == {"gpu"}
    assert double.asked[1] == "print(pow(123456789, 987654321, 1000003))"
    assert double.kernels == []


def test_another_gpu_than_the_kubelets_fails(server: tuple[Jupyter, Notebook]) -> None:
    double, notebook = server
    double.says = [prints(SMI)]
    found = observe.kernel(notebook, [UUID_1], NUMBERS)
    assert faults(found)["gpu"] == ["sameAsKubelet: expected True, found False"]
    double.says = [prints(SMI + SMI.replace(UUID_0, UUID_1))]
    assert "uuidsInKernel: expected 1, found 2" in faults(observe.kernel(notebook, [UUID_0], NUMBERS))["gpu"]


def test_a_cell_that_raises_fails_with_its_error(server: tuple[Jupyter, Notebook]) -> None:
    double, notebook = server
    double.says = [("error", {"ename": "FileNotFoundError", "evalue": "nvidia-smi", "traceback": []})]
    found = observe.kernel(notebook, [UUID_0], NUMBERS)
    assert found["jupyter_workspace.gpu"]["said"] == "FileNotFoundError: nvidia-smi"
    assert "raised: expected , found FileNotFoundError: nvidia-smi" in faults(found)["computation"]


def test_a_kernel_that_stays_fails(server: tuple[Jupyter, Notebook]) -> None:
    double, notebook = server
    double.stops_kernels = False
    assert "left: expected [], found ['k1']" in faults(observe.kernel(notebook, [], NUMBERS))["stopped"]


def test_a_silent_kernel_fails_in_time(server: tuple[Jupyter, Notebook]) -> None:
    double, notebook = server
    double.says = None
    with pytest.raises(HttpsError, match=r"websocket broke off|not idle in time"):
        notebook.run(notebook.start_kernel(), "1", timeout=0.5)


def test_a_wrong_token_starts_no_kernel_and_is_not_in_the_error(server: tuple[Jupyter, Notebook]) -> None:
    found = observe.kernel(dataclasses.replace(server[1], token="wrong-token"), [UUID_0], NUMBERS)
    assert set(faults(found)) == {"gpu", "computation", "stopped"}
    assert "expected status 201, found 403" in str(found)
    assert "wrong-token" not in str(found)


def bed() -> Double:
    cluster = Double()
    name = "runai-kit-jupyter-0"
    cluster.add(names.PODS, pod(name, gpus=1, test="jupyter_workspace", role="workspace"))
    cluster.add(names.NODES, node("w1"))
    held = {"resourcesStatus": {"allocated": {"nvidia.com/gpu": "1"}}}
    cluster.add(names.POD_GROUPS, group(name, "team-a", status=held, priority="build"))
    cluster.add(names.PRIORITY_CLASSES, {**thing("build"), "value": 100}, {**thing("train"), "value": 50})
    cluster.add(names.QUEUES, queue("team-a", "engineering", allocated="1"))
    cluster.said[name] = "12 jupyter lab --no-browser --ServerApp.ip=0.0.0.0"
    return cluster


def test_a_workspace_that_cannot_be_taken_away_passes() -> None:
    assert faults(observe.holds(bed().at(), {"allocated": {}}, "team-a")) == {}


def test_a_preemptible_workspace_fails() -> None:
    cluster = bed()
    cluster.objects[names.POD_GROUPS][0]["spec"]["priorityClassName"] = "train"
    (why,) = faults(observe.holds(cluster.at(), {"allocated": {}}, "team-a")).values()
    assert why == ["priorityClass: expected build, found train", "preemptible: expected False, found True"]


def test_a_token_that_stands_nowhere_passes(tmp_path: Path) -> None:
    (tmp_path / "logs.txt").write_text("http://127.0.0.1:8888/lab?token=...")
    found = observe.secrecy(bed().at(), TOKEN, tmp_path)
    assert faults(found) == {}
    assert "evidence logs.txt" in found["jupyter_workspace.secrecy"]["places"]


def test_a_token_in_clear_is_found_wherever_it_stands(tmp_path: Path) -> None:
    cluster = bed()
    cluster.objects[names.PODS][0]["spec"]["containers"][0]["args"] = [f"--token={TOKEN}"]
    cluster.said["runai-kit-jupyter-0"] += f" --token={TOKEN}"
    (tmp_path / "pods.json").write_text(f'"{TOKEN}"')
    found = observe.secrecy(cluster.at(), TOKEN, tmp_path)["jupyter_workspace.secrecy"]["found"]
    assert found == [
        "pods runai-team-a/runai-kit-jupyter-0",
        "log of runai-team-a/runai-kit-jupyter-0",
        "command lines in runai-team-a/runai-kit-jupyter-0",
        "evidence pods.json",
    ]


def test_a_pod_that_cannot_be_searched_is_no_pass(tmp_path: Path) -> None:
    cluster = bed()
    cluster.said.clear()
    (why,) = faults(observe.secrecy(cluster.at(), TOKEN, tmp_path)).values()
    assert [line.partition(":")[0] for line in why] == ["unreadable", "sawServer"]


def test_the_host_comes_from_the_ingress_object_where_there_is_one() -> None:
    cluster = bed()
    composed = observe.host(cluster.at(), "runai-team-a", "runai-kit-jupyter")
    assert composed == f"runai-kit-jupyter-runai-team-a.{load(OUTPUTS).workspaces.domain}"
    cluster.add(
        names.INGRESSES, thing("runai-kit-jupyter", "runai-team-a", spec={"rules": [{"host": "there"}]})
    )
    assert observe.host(cluster.at(), "runai-team-a", "runai-kit-jupyter") == "there"


def test_each_secret_gets_a_token_of_its_own_and_an_old_one_goes() -> None:
    made: list[Json] = []

    class Recording(Double):
        def create(self, path: str, body: Json, dry_run: bool = False) -> Json:
            made.append(body)
            return body

    cluster = Recording()
    for _ in range(2):
        tokens.make(cluster.cluster, "ns", "x-token", {"a": "b"})
    first, second = (body["stringData"]["token"] for body in made)
    assert first != second
    assert len(first) >= 32
    assert cluster.deleted == ["/api/v1/namespaces/ns/secrets/x-token"] * 2


def test_a_token_is_read_from_its_secret() -> None:
    cluster = Double()
    cluster.add(names.SECRETS, thing("x-token", "ns", data={"token": base64.b64encode(b"abc").decode()}))
    assert tokens.read(cluster.cluster, "ns", "x-token") == "abc"
    cluster.objects[names.SECRETS][0]["data"] = {}
    with pytest.raises(ClusterError, match="has no key 'token'"):
        tokens.read(cluster.cluster, "ns", "x-token")


needs_browser = pytest.mark.skipif(
    not (any(map(shutil.which, browser.PROGRAMS)) and shutil.which("certutil")),
    reason="no chromium or no certutil on this machine",
)


@needs_browser
def test_a_browser_logs_in_and_shows_the_launcher(server: tuple[Jupyter, Notebook], tmp_path: Path) -> None:
    _, notebook = server
    found = observe.page(notebook.ingress, HOST, TOKEN, tmp_path / "evidence/page.png")
    assert faults(found) == {}
    assert found["jupyter_workspace.page"]["issuer"] == "kit test CA"


def _no_launcher(double: Jupyter, notebook: Notebook) -> Notebook:
    double.lab = b"<title>JupyterLab</title>"
    return notebook


def _wrong_token(_double: Jupyter, notebook: Notebook) -> Notebook:
    return dataclasses.replace(notebook, token="wrong")


def _unknown_authority(_double: Jupyter, notebook: Notebook) -> Notebook:
    return dataclasses.replace(
        notebook, ingress=dataclasses.replace(notebook.ingress, ca=Authority("other").pem)
    )


@needs_browser
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_no_launcher, "Timeout"),
        (_wrong_token, "Timeout"),
        (_unknown_authority, "ERR_CERT_AUTHORITY_INVALID"),
    ],
)
def test_a_browser_that_is_not_served_fails(
    change: Callable[[Jupyter, Notebook], Notebook],
    says: str,
    server: tuple[Jupyter, Notebook],
    tmp_path: Path,
) -> None:
    spoiled = change(*server)
    found = jupyter_page.look(spoiled.ingress, HOST, spoiled.token, tmp_path / "page.png", seconds=3)
    assert says in found["error"]
    assert not (tmp_path / "page.png").exists()


@needs_browser
def test_a_server_that_asks_for_no_login_fails(server: tuple[Jupyter, Notebook], tmp_path: Path) -> None:
    double, notebook = server
    double.open_to_all = True
    found = observe.page(notebook.ingress, HOST, TOKEN, tmp_path / "page.png")
    assert faults(found) == {"page": ["loginAsked: expected True, found False"]}


def test_without_a_browser_the_check_is_a_skip_that_says_what_to_install(
    server: tuple[Jupyter, Notebook], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser, "PROGRAMS", ("no-such-browser",))
    found = jupyter_page.look(server[1].ingress, HOST, TOKEN, tmp_path / "page.png")
    assert found == {"skipped": "none of no-such-browser is on this machine: install package chromium"}
