"""A look at a page by a real browser: Debian's Chromium without a window, its own home, one CA to trust.

Names are resolved to the ingress and nothing else can be reached. The browser itself verifies certificates.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from validation.ingress import Ingress

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT = 1280, 800


class BrowserMissingError(RuntimeError):
    """This machine has no browser, or no way to tell it a CA; the text names the package."""


def program() -> str:
    """Path of the browser; BrowserMissingError without one."""
    for name in PROGRAMS:
        if found := shutil.which(name):
            return found
    raise BrowserMissingError(f"none of {', '.join(PROGRAMS)} is on this machine: install package chromium")


@contextmanager
def browser(ingress: Ingress, host: str) -> Iterator[Browser]:
    """A browser that finds `host` at the ingress and trusts the ingress's CA besides the public ones."""
    path = program()
    with tempfile.TemporaryDirectory(prefix="runai-kit-browser-") as home:
        if ingress.ca:
            _trust(Path(home), ingress.ca)
        with sync_playwright() as playwright:
            opened = playwright.chromium.launch(
                executable_path=path,
                args=[
                    f"--host-resolver-rules=MAP {host}:443 {ingress.address}:{ingress.port}, MAP * ~NOTFOUND",
                    "--disable-dev-shm-usage",
                    "--disable-gpu",
                ],
                env={"HOME": home, "PATH": os.environ.get("PATH", os.defpath)},
            )
            try:
                yield opened
            finally:
                opened.close()


def _trust(home: Path, ca: str) -> None:
    """Chromium on Linux reads the CAs that a user added from an NSS database in the home folder."""
    certutil = shutil.which("certutil")
    if certutil is None:
        raise BrowserMissingError("certutil is not on this machine: install package libnss3-tools")
    database = home / ".pki" / "nssdb"
    database.mkdir(parents=True, mode=0o700)
    file = home / "ca.pem"
    file.write_text(ca)
    for words in (["-N", "--empty-password"], ["-A", "-n", "ca", "-t", "C,,", "-i", str(file)]):
        command = [certutil, *words, "-d", f"sql:{database}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        if done.returncode:
            raise BrowserMissingError(f"certutil {words[0]} failed: {done.stderr.strip()}")
