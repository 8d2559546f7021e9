"""The loader of the training pod: whole files only, from a volume or the first origin that serves them."""

from __future__ import annotations

import gzip
import importlib.util
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.req("V7", "V10")
FILE = Path(__file__).parents[3] / "roles/mnist_training/files/dataset.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("dataset", FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["dataset"] = module
    spec.loader.exec_module(module)
    return module


dataset = loaded()
SMALL = {
    "train-images-idx3-ubyte": (6, 28, 28),
    "train-labels-idx1-ubyte": (6,),
    "t10k-images-idx3-ubyte": (2, 28, 28),
    "t10k-labels-idx1-ubyte": (2,),
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The format with few images."""
    monkeypatch.setattr(dataset, "FILES", SMALL)


def content(name: str) -> bytes:
    shape = SMALL[name]
    size = 1
    for number in shape:
        size *= number
    return struct.pack(f">{1 + len(shape)}I", 2048 + len(shape), *shape) + bytes(n % 251 for n in range(size))


def fill(folder: Path, packed: bool = False) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in SMALL:
        data = content(name)
        (folder / (f"{name}.gz" if packed else name)).write_bytes(gzip.compress(data) if packed else data)


@contextmanager
def origin(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mnist/"
    finally:
        server.shutdown()
        server.server_close()


def serve(handler: BaseHTTPRequestHandler) -> None:
    name = handler.path.removeprefix("/mnist/").removesuffix(".gz")
    body = gzip.compress(content(name))
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def refuse(handler: BaseHTTPRequestHandler) -> None:
    handler.send_error(503)


def trickle(handler: BaseHTTPRequestHandler) -> None:
    """Never silent for long, never done: a socket's time-out alone would wait for ever."""
    handler.send_response(200)
    handler.end_headers()
    try:
        for _ in range(100):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        pass


@pytest.mark.parametrize("layout", ["", "raw", "MNIST/raw"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_volume_is_read_plain_or_packed(tmp_path: Path, layout: str, packed: bool) -> None:
    fill(tmp_path / layout, packed)
    found = dataset.load(tmp_path, [], 1)
    assert found.origin == (tmp_path / layout).as_uri()
    assert found.content["train-labels-idx1-ubyte"] == bytes(range(6))
    assert len(found.content["t10k-images-idx3-ubyte"]) == 2 * 28 * 28


def test_a_truncated_file_is_named_with_its_size(tmp_path: Path) -> None:
    fill(tmp_path)
    whole = content("train-images-idx3-ubyte")
    (tmp_path / "train-images-idx3-ubyte").write_bytes(whole[:1000])
    with pytest.raises(dataset.DatasetError, match=f"found 1000 bytes, expected {len(whole)}; fetch or seed"):
        dataset.load(tmp_path, [], 1)


def test_a_truncated_gzip_file_is_named(tmp_path: Path) -> None:
    fill(tmp_path, packed=True)
    file = tmp_path / "t10k-images-idx3-ubyte.gz"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(
        dataset.DatasetError, match=r"t10k-images-idx3-ubyte\.gz: found \d+ bytes that are no whole"
    ):
        dataset.load(tmp_path, [], 1)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    fill(tmp_path)
    wrong = bytearray(content("t10k-labels-idx1-ubyte"))
    wrong[3] = 3
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(wrong)
    with pytest.raises(dataset.DatasetError, match="found magic 2051"):
        dataset.load(tmp_path, [], 1)


def test_a_volume_that_lacks_a_file_says_what_is_expected(tmp_path: Path) -> None:
    fill(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte").unlink()
    with pytest.raises(dataset.DatasetError, match="found none or not all, and no origin to fetch them from"):
        dataset.load(tmp_path, [], 1)


@pytest.mark.parametrize("broken", [refuse, trickle])
def test_the_mirror_serves_when_the_origin_does_not(
    tmp_path: Path, broken: Callable[[BaseHTTPRequestHandler], None], capsys: pytest.CaptureFixture[str]
) -> None:
    with origin(broken) as first, origin(serve) as second:
        begun = time.monotonic()
        found = dataset.load(tmp_path, [first, second], 0.5)
        assert time.monotonic() - begun < 3, "each origin is bounded"
    assert found.origin == second
    assert f"Data set: {first} does not serve it, after " in capsys.readouterr().out


def test_an_origin_that_refuses_for_a_moment_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[str] = []
    ask = urllib.request.urlopen

    def later(url: str, timeout: float) -> object:
        if len(refused) < 2:
            refused.append(url)
            raise urllib.error.URLError(ConnectionRefusedError(111, "Connection refused"))
        return ask(url, timeout=timeout)

    monkeypatch.setattr(dataset.urllib.request, "urlopen", later)
    with origin(serve) as only:
        assert dataset.load(tmp_path, [only], 5).origin == only
    assert len(refused) == 2


def test_without_any_origin_that_serves_all_are_named(tmp_path: Path) -> None:
    with origin(refuse) as first, pytest.raises(dataset.DatasetError, match="none of the origins") as error:
        dataset.load(tmp_path, [first, "file:///etc"], 0.5)
    assert first in str(error.value)
    assert "file:///etc" in str(error.value)


def test_it_runs_by_itself_and_fails_with_one_line(tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(FILE),
        f"--data={tmp_path}",
        "--origin=http://127.0.0.1:1/",
        "--origin-timeout=1",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "Data set: http://127.0.0.1:1/ does not serve it" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last == "error: none of the origins served the data set: http://127.0.0.1:1/"
    assert done.stderr == ""
