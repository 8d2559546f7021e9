"""Preflight while another run is at work: against a small API server it removes and makes nothing."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.roles.conftest import ROOT, Played
from validation import lease, names

pytestmark = pytest.mark.req("V11")
Json = dict[str, Any]
THEIRS = "they@there, begun 2026-12-01T10:00:00.000Z, report folder report (run 2)"
LEFT = {"name": "runai-kit-old", "namespace": "default", "labels": {names.PART_OF_LABEL: names.PART_OF}}


class Api(BaseHTTPRequestHandler):
    """Everything is allowed and little is there: one thing of a run, and maybe a Lease."""

    asked: list[tuple[str, str]] = []  # noqa: RUF012
    # A status for each write of the Lease.
    refuses = 0
    # With a holder of its own the Lease is renewed before each look at it.
    theirs = False
    stored: Json | None = None

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        path = self.path.partition("?")[0]
        self.asked.append((self.command, path))
        if path == names.ACCESS_REVIEWS:
            self.answer(201, {**body, "status": {"allowed": True}})
        elif path.startswith(lease.LEASES):
            self.answer(*self.of_lease(body))
        elif path == names.CONFIG_MAPS:
            self.answer(200, {"items": [{"metadata": LEFT}]})
        else:
            self.answer(404, {"message": "not found"})

    def of_lease(self, body: Json) -> tuple[int, Json]:
        if self.command != "GET" and self.refuses:
            return self.refuses, {"message": "leases, refused"}
        if self.theirs:
            spec = {"holderIdentity": THEIRS, "renewTime": str(len(self.asked))}
            return 200, {"metadata": {"resourceVersion": "1"}, "spec": spec}
        if self.command == "POST":
            Api.stored = {"metadata": {"resourceVersion": "1"}, "spec": body["spec"]}
        found = Api.stored
        if self.command == "DELETE":
            Api.stored = None
        return (200, found) if found else (404, {"message": "not found"})

    def answer(self, code: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PATCH = do_DELETE = handle_any  # noqa: N815


@pytest.fixture
def served(play: Callable[..., Played], tmp_path: Path) -> Iterator[Callable[..., Played]]:
    """Plays against that server."""
    Api.asked.clear()
    Api.refuses, Api.theirs, Api.stored = 0, False, None
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    file = tmp_path / "kubeconfig"
    config = yaml.safe_load(file.read_text())
    config["clusters"][0]["cluster"]["server"] = f"http://127.0.0.1:{server.server_address[1]}"
    file.write_text(yaml.safe_dump(config))
    yield play
    server.shutdown()
    server.server_close()


def untouched() -> bool:
    """Nothing was written but the questions about rights, and attempts at the Lease."""
    writes = {(verb, path) for verb, path in Api.asked if verb != "GET"}
    return {path for _, path in writes} <= {names.ACCESS_REVIEWS, lease.LEASES}


def test_another_run_at_work_is_named_and_its_objects_stay(served: Callable[..., Played]) -> None:
    Api.theirs = True
    played = served("validation/preflight.yml")
    assert played.code != 0
    checks = played.checks()
    assert checks["preflight.access"]["verdict"] == "pass"
    said = checks["preflight.leftovers"]
    assert said["verdict"] == "fail"
    assert said["reason"] == (
        f"found a run at work on this cluster: {THEIRS}; expected none; wait for its end, or end it; "
        "nothing was removed"
    )
    assert "Stop where another run may be at work" in checks["preflight.cleanup"]["reason"]
    assert untouched(), Api.asked
    assert "Traceback" not in played.text


def test_where_the_lease_cannot_be_written_nothing_is_removed(served: Callable[..., Played]) -> None:
    Api.refuses = 403
    played = served("validation/preflight.yml")
    said = played.checks()["preflight.leftovers"]
    assert said["verdict"] == "fail"
    assert said["reason"].startswith("whether another run is at work cannot be told: POST ")
    assert "403 leases, refused" in said["reason"]
    assert untouched(), Api.asked
    assert "Traceback" not in played.text


def test_a_run_takes_the_lease_under_its_own_name_and_its_sampler_gives_it_back(
    served: Callable[..., Played],
) -> None:
    begin = {"ansible.builtin.include_tasks": str(ROOT / "validation/tasks/begin.yml")}
    played = served([begin, {"kit_cleanup": {"check": "preflight.leftovers", "timeout": 0.1}}])
    assert played.code == 0, played.text
    taken = Api.asked.index(("POST", lease.LEASES))
    removed = Api.asked.index(("DELETE", "/api/v1/namespaces/default/configmaps/runai-kit-old"))
    assert taken < removed
    # The playbook is over, and with it the run.
    end = time.monotonic() + 240
    while ("DELETE", lease.LEASE) not in Api.asked:
        assert time.monotonic() < end, "the sampler did not give it back"
        time.sleep(0.2)
    assert Api.stored is None
    run = json.loads((played.report / "run.json").read_text())
    assert run["id"] in run["holder"]
