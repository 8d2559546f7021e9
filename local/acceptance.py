"""`make acceptance`: the acceptance tests in two suites, side by side on two clusters.

`main` is for the demo's cluster and leaves it as it was. `scratch` (marker of that name) breaks and destroys
what it finds, on a cluster of its own that is made before and removed afterwards.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from local import paths

RESULTS = paths.BUILD / "acceptance"
SCRATCH = os.environ.get("RUNAI_KIT_SCRATCH", "runai-kit-scratch")
_print = threading.Lock()


@dataclass
class Part:
    """One file of tests: how many ran, failed and were skipped, and for how many seconds."""

    name: str
    tests: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0


@dataclass
class Suite:
    """`expression` is pytest's `-m`; `own` says that the cluster is made and removed here."""

    name: str
    expression: str
    cluster: str
    own: bool
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    def run(self, options: Sequence[str]) -> None:
        """Make the cluster if need be, run the tests, remove it; what went wrong is in `problems`."""
        begun = time.monotonic()
        try:
            if not self.own or self._step(
                "cluster", sys.executable, "-m", "local.demo", "--until", "up,load-lab,load-database"
            ):
                self._step("tests", str(paths.VENV / "bin" / "pytest"), *self._pytest(), *options)
        finally:
            if self.own:
                self._step("removal", sys.executable, "-m", "local.down")
        self.seconds = time.monotonic() - begun

    def _pytest(self) -> list[str]:
        common = ["-v", "--tb=short", "-p", "no:cacheprovider", f"--junitxml={self.results}"]
        return [*common, "-m", self.expression, "tests/acceptance"]

    @property
    def results(self) -> Path:
        """pytest's file of results."""
        return RESULTS / f"{self.name}.xml"

    def _step(self, what: str, *command: str) -> bool:
        """One command with its output told line by line; False, and a problem, when it fails."""
        script = f'. "{paths.ROOT}/local/env.sh" && exec "$@"'
        words = ["bash", "-c", script, "bash", *command]
        env = {**os.environ, "RUNAI_KIT_CLUSTER": self.cluster, "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(
            words, cwd=paths.ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                self._say(line.rstrip("\n"))
        if process.returncode:
            self.problems.append(f"{what} ended with {process.returncode}")
        return process.returncode == 0

    def _say(self, line: str) -> None:
        with _print:
            print(f"{self.name:<8}| {line}", flush=True)

    def parts(self) -> list[Part]:
        """The files of tests in the order in which they ran."""
        if not self.results.exists():
            return []
        found: dict[str, Part] = {}
        for case in ElementTree.parse(self.results).iter("testcase"):  # noqa: S314 (our own file)
            name = case.get("classname", "").rpartition(".")[2].removeprefix("test_")
            part = found.setdefault(name, Part(name))
            part.tests += 1
            part.failed += case.find("failure") is not None or case.find("error") is not None
            part.skipped += case.find("skipped") is not None
            part.seconds += float(case.get("time", 0))
        return list(found.values())


def suites(wanted: str) -> list[Suite]:
    """The suites that a word stands for: main, scratch, or all."""
    every = [
        Suite("main", "not scratch", paths.CLUSTER, own=False),
        Suite("scratch", "scratch", SCRATCH, own=True),
    ]
    return [suite for suite in every if wanted in ("all", suite.name)]


def table(ran: Sequence[Suite]) -> str:
    """Suites and their parts with tests, failures and seconds."""
    lines = [f"{'suite':<8} {'part':<24} {'tests':>5} {'failed':>6} {'skipped':>7} {'seconds':>7}"]
    for suite in ran:
        for part in suite.parts():
            lines.append(
                f"{suite.name:<8} {part.name:<24} {part.tests:>5} {part.failed:>6} {part.skipped:>7} "
                f"{part.seconds:>7.0f}"
            )
        verdict = "; ".join(suite.problems) or "passed"
        lines.append(f"{suite.name:<8} {verdict:<45} {suite.seconds:>7.0f}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when every suite that was asked for passed, else 1."""
    parser = argparse.ArgumentParser(prog="python3 -m local.acceptance", description=__doc__)
    parser.add_argument("suite", choices=("all", "main", "scratch"))
    given, options = parser.parse_known_args(arguments)
    chosen = suites(given.suite)
    RESULTS.mkdir(parents=True, exist_ok=True)
    for suite in chosen:
        suite.results.unlink(missing_ok=True)
    begun = time.monotonic()
    with ThreadPoolExecutor(max_workers=len(chosen)) as pool:
        for future in [pool.submit(suite.run, options) for suite in chosen]:
            future.result()
    print(f"\n{table(chosen)}\nin all {time.monotonic() - begun:.0f} s")
    return 1 if any(suite.problems for suite in chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
