"""The page of a workspace as a browser shows it to a person: login form, then JupyterLab's launcher."""

from __future__ import annotations

import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as BrowserError
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as BrowserTimeout

from validation.browser import HEIGHT, WIDTH, BrowserMissingError, browser
from validation.ingress import Ingress

Json = dict[str, Any]
LAUNCHER = ".jp-LauncherCard:visible"
NEWS_MS = 3000
PASSWORD = "input[name=password]"  # noqa: S105 (a field's name)


def look(ingress: Ingress, host: str, token: str, picture: Path, seconds: float = 60) -> Json:
    """Log in with the token, wait for the launcher, take a picture of it. `skipped` without a browser."""
    try:
        with browser(ingress, host) as opened:
            page = opened.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.set_default_timeout(1000 * seconds)
            return _visit(page, f"https://{host}/lab", token, picture)
    except BrowserMissingError as error:
        return {"skipped": str(error)}
    except BrowserError as error:
        return {"error": f"https://{host}/lab in a browser: {error.message.splitlines()[0]}"}


def _visit(page: Page, url: str, token: str, picture: Path) -> Json:
    answer = page.goto(url, wait_until="domcontentloaded")
    fields = page.locator(PASSWORD)
    asked = fields.count() > 0
    if asked:
        # The token travels in the form's body; it is in no address and no argument of a process.
        fields.first.fill(token)
        fields.first.press("Enter")
    page.wait_for_selector(LAUNCHER)
    _decline_news(page)
    picture.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=picture)
    cards = page.locator(LAUNCHER)
    secured: Json = dict((answer.security_details() if answer else None) or {})
    return {
        "loginAsked": asked,
        "title": page.title(),
        "launcherCards": cards.count(),
        "pythonCard": cards.filter(has_text="Python 3").count() > 0,
        "protocol": secured.get("protocol", ""),
        "issuer": secured.get("issuer", ""),
        "screenshot": size_of(picture),
    }


def _decline_news(page: Page) -> None:
    """JupyterLab asks once about news; the question would cover a corner of the picture."""
    with suppress(BrowserTimeout):
        question = page.get_by_role("button", name="No", exact=True)
        question.click(timeout=NEWS_MS)
        question.wait_for(state="hidden", timeout=NEWS_MS)


def size_of(picture: Path) -> str:
    """`<width>x<height>` of a PNG; "no PNG" for anything else."""
    head = picture.read_bytes()[:24]
    if not head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "no PNG"
    width, height = struct.unpack(">II", head[16:24])
    return f"{width}x{height}"
