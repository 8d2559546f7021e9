"""The double over TLS, and a client that trusts only its CA."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from components.runai.access import Access
from components.runai.client import Client
from components.runai.transport import Patience
from tests.contract.control_plane import document
from tests.contract.control_plane.options import Options
from tests.contract.control_plane.serving import Running, running
from tests.unit.validation.tls import Authority

QUICK = Patience(connect=5, read=5, retries=3, pause=0.01, longest_pause=1)


@dataclass(frozen=True)
class Double:
    """A running double with its first user."""

    running: Running
    access: Access

    def client(self, **changes: Any) -> Client:
        """A client of the first user, or of who is given."""
        return Client(replace(self.access, **changes), QUICK)


Start = Callable[[Options], Double]


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority("control plane")


@pytest.fixture
def start(authority: Authority, tmp_path: Path) -> Iterator[Start]:
    """Starts doubles; at the end all that was said must be what the document allows."""
    pem = authority.issue("localhost", tmp_path)
    started: list[Double] = []
    with ExitStack() as stack:

        def one(options: Options) -> Double:
            # A password of its own each time: nothing can work by a constant.
            options = replace(options, password=secrets.token_urlsafe(12))
            found = stack.enter_context(running(options, pem))
            access = Access(found.url, authority.pem, username=options.username, password=options.password)
            started.append(Double(found, access))
            return started[-1]

        yield one
    told = [item for double in started for item in double.running.state.journal.told]
    assert document.problems(document.load(), told) == []


@pytest.fixture
def double(start: Start) -> Double:
    return start(Options())
