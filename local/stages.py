"""Stages with needs: run side by side where they can, each printed with elapsed and expected time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from local import shell

COMPILES_AT_ONCE = 2


@dataclass(frozen=True)
class Stage:
    """One step of the demo.

    cold and warm: expected seconds. done: whether the result for the same inputs is there
    (then `run` is skipped). compiles: at most COMPILES_AT_ONCE of these run together, the
    first in the list first.
    """

    name: str
    run: Callable[[], None]
    cold: int
    warm: int = 0
    needs: Sequence[str] = ()
    done: Callable[[], bool] = lambda: False
    compiles: bool = False


@dataclass
class Result:
    """What became of a stage: `state` is done, cached, failed or not reached.

    began is a monotonic time, seconds and expected are durations.
    """

    name: str
    expected: int
    state: str = "not reached"
    began: float = 0.0
    seconds: float = 0.0
    error: str = ""


@dataclass
class Runner:
    """Runs stages in the order of their needs; `log_folder` receives one log per stage."""

    stages: Sequence[Stage]
    log_folder: Path
    heartbeat: float = 60.0
    results: dict[str, Result] = field(default_factory=dict)
    _started: float = field(default_factory=time.monotonic)
    _print: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        known = {stage.name for stage in self.stages}
        for stage in self.stages:
            missing = set(stage.needs) - known
            if missing:
                raise ValueError(f"stage {stage.name}: needs {sorted(missing)}, which no stage is called")

    def run(self) -> bool:
        """Run all stages; returns whether every one of them ended well."""
        self.log_folder.mkdir(parents=True, exist_ok=True)
        self.results = {stage.name: Result(stage.name, stage.cold) for stage in self.stages}
        waiting = list(self.stages)
        running: dict[Future[None], Stage] = {}
        with ThreadPoolExecutor(max_workers=len(self.stages) or 1) as pool:
            while waiting or running:
                for stage in list(waiting):
                    if self._ready(stage, running.values()):
                        waiting.remove(stage)
                        running[pool.submit(self._one, stage)] = stage
                if not running:
                    break
                finished, _ = wait(running, timeout=self.heartbeat, return_when=FIRST_COMPLETED)
                for future in finished:
                    future.result()
                    del running[future]
                if any(result.state == "failed" for result in self.results.values()):
                    waiting.clear()
                if not finished:
                    self._beat(running.values())
        return all(result.state in ("done", "cached") for result in self.results.values())

    def _ready(self, stage: Stage, running: Iterable[Stage]) -> bool:
        if stage.compiles and sum(other.compiles for other in running) >= COMPILES_AT_ONCE:
            return False
        return all(self.results[need].state in ("done", "cached") for need in stage.needs)

    def _one(self, stage: Stage) -> None:
        result = self.results[stage.name]
        with (self.log_folder / f"{stage.name}.log").open("w") as log:
            shell.log_to(log)
            result.began = time.monotonic()
            try:
                cached = stage.done()
                result.expected = stage.warm if cached else stage.cold
                if cached:
                    result.state = "cached"
                    self._say(f"{stage.name}: cached")
                    return
                self._say(f"{stage.name}: started, expected {stage.cold} s")
                stage.run()
                result.state = "done"
            except Exception as error:
                result.state, result.error = "failed", f"{error}"
                shell.say(f"failed: {error!r}")
            result.seconds = time.monotonic() - result.began
            self._say(
                f"{stage.name}: {result.state} in {result.seconds:.0f} s (expected {result.expected} s)"
            )
            if result.error:
                self._say(f"{stage.name}: {result.error}\n  whole log: {log.name}")

    def _beat(self, stages: Iterable[Stage]) -> None:
        now = time.monotonic()
        each = (
            f"{stage.name} ({now - self.results[stage.name].began:.0f} of {stage.cold} s)" for stage in stages
        )
        self._say(f"still at work: {', '.join(each)}")

    def _say(self, text: str) -> None:
        elapsed = int(time.monotonic() - self._started)
        with self._print:
            print(f"[{elapsed // 60:02d}:{elapsed % 60:02d}] {text}", flush=True)

    def table(self) -> str:
        """Return the stages with state, seconds and expected seconds as a text table."""
        rows = [f"{'stage':<20} {'state':<12} {'seconds':>8} {'expected':>9}"]
        for result in self.results.values():
            rows.append(f"{result.name:<20} {result.state:<12} {result.seconds:>8.0f} {result.expected:>9}")
        rows.append(f"{'in all':<20} {'':<12} {time.monotonic() - self._started:>8.0f}")
        return "\n".join(rows)
