"""Ten kills of `pulumi up` spread over an installation from nothing, each put right by one `make up`.

A moment is a line of Pulumi's own progress: what was just begun or done, whatever time it took.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance import interrupting
from tests.acceptance.commands import YES, pulumi_command

pytestmark = [pytest.mark.scratch, pytest.mark.req("I14")]


@dataclass(frozen=True)
class Moment:
    """`line` of the log, and `seconds` later."""

    name: str
    line: str
    seconds: float = 0


MOMENTS = [
    Moment("before anything is declared", r"Updating \(local\)"),
    Moment("namespaces", r"Namespace knative-serving created"),
    Moment("CRDs of monitoring in Helm", r"Release prometheus-operator-crds creating", 1),
    Moment("CRDs of Knative", r"CustomResourceDefinition \S+ creating"),
    Moment("KAI in Helm", r"Release kai-scheduler creating", 4),
    Moment("configuration of Knative", r"ConfigMap config-\w+ creating"),
    Moment("HAProxy", r"Deployment haproxy creating"),
    Moment("Knative's controllers", r"Deployment webhook creating", 2),
    Moment("gate of KAI's Config", r"Config kai-config creating"),
    Moment("queues", r"Queue queue-engineering creating"),
]
ROWS: list[str] = []


@pytest.fixture(scope="module", autouse=True)
def table(request: pytest.FixtureRequest) -> Iterator[None]:
    """Begins with nothing installed, ends with everything; shows what was measured."""
    interrupting.nothing()
    yield
    interrupting.recover()
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n" + "\n".join(ROWS))


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.name)
def test_a_killed_up_is_put_right_by_the_next(
    moment: Moment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "up.log"
    process = interrupting.begin(log, *pulumi_command("up", *YES))
    interrupting.reached(process, log, moment.line)
    time.sleep(moment.seconds)
    interrupting.kill(process)
    left = interrupting.left()
    assert left.locked, "the run was not killed in its course"
    seconds, _ = interrupting.recover()
    begun = time.monotonic()
    interrupting.unchanged()
    checked = time.monotonic() - begun
    interrupting.destroy()
    gone = time.monotonic() - begun - checked
    row = (
        f"{moment.name:<28} {left.resources:>3} resources  {len(left.pending):>2} pending  "
        f"recovery {seconds:5.1f} s  check {checked:4.1f} s  destroy {gone:5.1f} s"
    )
    ROWS.append(row)
    with capsys.disabled():
        print(f"\n{row}\n  pending: {', '.join(left.pending) or 'nothing'}")
