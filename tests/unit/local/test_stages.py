"""The stage runner: order, side by side, cached, failing."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from local import shell
from local.stages import Runner, Stage

pytestmark = pytest.mark.req("E1")


def _noop() -> None:
    return None


def test_a_stage_starts_after_what_it_needs(tmp_path: Path) -> None:
    order: list[str] = []

    def note(name: str) -> Callable[[], None]:
        return lambda: order.append(name)

    stages = [
        Stage("last", note("last"), cold=1, needs=["middle"]),
        Stage("middle", note("middle"), cold=1, needs=["first"]),
        Stage("first", note("first"), cold=1),
    ]
    assert Runner(stages, tmp_path).run()
    assert order == ["first", "middle", "last"]


def test_independent_stages_run_side_by_side(tmp_path: Path) -> None:
    meeting = threading.Barrier(2, timeout=5)

    def meet() -> None:
        meeting.wait()

    stages = [Stage(name, meet, cold=1) for name in ("a", "b")]
    assert Runner(stages, tmp_path).run()


def test_no_more_than_two_compile_at_once(tmp_path: Path) -> None:
    running, most, lock = [0], [0], threading.Lock()
    gate = threading.Event()

    def compile_one() -> None:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        gate.wait(0.05)
        with lock:
            running[0] -= 1

    stages = [Stage(f"c{number}", compile_one, cold=1, compiles=True) for number in range(6)]
    assert Runner(stages, tmp_path).run()
    assert most[0] == 2


def test_a_cached_stage_is_not_run_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def never() -> None:
        raise AssertionError("was run")

    runner = Runner([Stage("tools", never, cold=9, warm=2, done=lambda: True)], tmp_path)
    assert runner.run()
    assert "tools: cached" in capsys.readouterr().out
    assert runner.results["tools"].expected == 2


def test_a_failure_stops_what_needs_it_and_names_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        shell.run(["sh", "-c", "echo the reason; exit 3"])

    runner = Runner([Stage("a", broken, cold=1), Stage("b", _noop, cold=1, needs=["a"])], tmp_path)
    assert not runner.run()
    assert runner.results["a"].state == "failed"
    assert runner.results["b"].state == "not reached"
    out = capsys.readouterr().out
    assert "the reason" in out
    assert "status 3" in out
    assert str(tmp_path / "a.log") in out


def test_a_long_stage_says_how_long_it_has_been_at_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def long() -> None:
        threading.Event().wait(0.3)

    assert Runner([Stage("compile", long, cold=870)], tmp_path, heartbeat=0.05).run()
    assert "still at work: compile (0 of 870 s)" in capsys.readouterr().out


def test_an_unknown_need_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="needs \\['typo'\\]"):
        Runner([Stage("a", _noop, cold=1, needs=["typo"])], tmp_path)


def test_the_table_has_every_stage_with_its_times(tmp_path: Path) -> None:
    runner = Runner([Stage("a", _noop, cold=7), Stage("b", _noop, cold=8, needs=["a"])], tmp_path)
    runner.run()
    lines = runner.table().splitlines()
    assert [line.split()[0] for line in lines] == ["stage", "a", "b", "in"]
    assert lines[1].split()[-1] == "7"
