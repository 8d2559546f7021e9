"""Copies a list into a registry, each thing below the prefix under its own registry and path."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from mirror.listing import Item

# Seconds. An image of tens of GB over a slow line takes hours; a chart is small.
_IMAGE_SECONDS = 6 * 3600.0
_CHART_SECONDS = 1800.0


@dataclass(frozen=True)
class Copier:
    """`to` is the prefix of stacks (`registry.prefix`, `charts.prefix`).

    `source` is a prefix to read from instead of upstream's registries, for a second hop. Logins are those of
    `skopeo login` and `helm registry login`; a private CA is in SSL_CERT_FILE, which both programs read.
    """

    to: str
    source: str
    skopeo: Path
    helm: Path

    def copy(self, items: Iterable[Item], say: Callable[[str], None]) -> list[str]:
        """Copy everything; returns a line for each thing that failed. What is there already costs little."""
        failures: list[str] = []
        for item in items:
            problem = self._image(item) if item.kind == "image" else self._chart(item)
            name = f"{item.reference}{f' {item.version}' if item.version else ''}"
            say(f"{'failed' if problem else 'copied'}: {item.kind} {name}")
            if problem:
                failures.append(f"{item.kind} {name}: {problem}")
        return failures

    def _image(self, item: Item) -> str:
        where = self._place(item.reference)
        command = [str(self.skopeo), "copy", "--quiet", "--all", "--preserve-digests"]
        return _run([*command, f"docker://{where}", f"docker://{self.to}/{item.reference}"], _IMAGE_SECONDS)

    def _chart(self, item: Item) -> str:
        folder = Path(tempfile.mkdtemp(prefix="chart-"))
        home, _, name = item.reference.rpartition("/")
        try:
            # A Helm repository is read over https, an OCI registry as one; both end up in an OCI registry.
            tries = [["pull", f"oci://{self._place(item.reference)}"]]
            if not self.source:
                tries.append(["pull", name, "--repo", f"https://{home}"])
            problem = ""
            for words in tries:
                options = ["--version", item.version, "--destination", str(folder)]
                problem = _run([str(self.helm), *words, *options], _CHART_SECONDS)
                if not problem:
                    break
            archives = list(folder.glob("*.tgz"))
            if problem or len(archives) != 1:
                return problem or "no archive came"
            push = [str(self.helm), "push", str(archives[0]), f"oci://{self.to}/{home}"]
            return _run(push, _CHART_SECONDS)
        finally:
            shutil.rmtree(folder)

    def _place(self, reference: str) -> str:
        return f"{self.source}/{reference}" if self.source else reference


def _run(command: list[str], seconds: float) -> str:
    """The command's last line of error, or that it took too long; empty when it went well."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        words = " ".join([Path(command[0]).name, *command[1:]])
        return (
            f"found no end of `{words}` after {seconds:g} s; expected one within that time; check the "
            "line to both registries, then copy the list again: what is there already costs little"
        )
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return "" if done.returncode == 0 else lines[-1].strip() if lines else f"status {done.returncode}"
