"""Evidence files as the page shows them: text in place, pictures as pictures, the rest as a link."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# Text up to this size is in the page, pictures up to the other; beyond, the page links to the file beside it.
TEXT_BYTES = 20_000
PICTURE_BYTES = 1_500_000
# What a picture's first bytes have to be; SVG is text and looked at by itself.
SIGNATURES = {
    ".png": b"\x89PNG\r\n\x1a\n",
    ".jpg": b"\xff\xd8\xff",
    ".jpeg": b"\xff\xd8\xff",
    ".gif": b"GIF8",
}
TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".svg": "image/svg+xml",
    ".json": "application/json",
    ".xml": "application/xml",
    ".md": "text/markdown",
    ".html": "text/html",
}


@dataclass(frozen=True)
class Attachment:
    """One file. kind: text, picture, link, missing; source: an img's src; words: what its name says."""

    name: str
    kind: str
    text: str = ""
    source: str = ""
    words: str = ""
    size: int = 0


def media_type(name: str) -> str:
    """By the file's ending; text/plain for logs and the like."""
    return TYPES.get(Path(name).suffix.lower(), "text/plain")


def attach(root: Path, name: str) -> Attachment:
    """Look at a file of the report's folder; what lies outside of it, or is not there, is missing."""
    path = root / name
    if not path.resolve().is_relative_to(root.resolve()) or not path.is_file():
        return Attachment(name, "missing")
    size = path.stat().st_size
    if picture := _picture(path):
        inside = size <= PICTURE_BYTES
        source = f"data:{media_type(name)};base64,{base64.b64encode(picture).decode()}" if inside else name
        return Attachment(name, "picture", source=source, words=_words(path), size=size)
    if size > TEXT_BYTES:
        return Attachment(name, "link", size=size)
    return Attachment(name, "text", text=path.read_text(errors="replace"), size=size)


def _picture(path: Path) -> bytes | None:
    """Its bytes when they are what the ending says.

    An SVG is only ever shown as an image: there a browser runs no script and loads nothing from elsewhere.
    """
    suffix = path.suffix.lower()
    if suffix == ".svg":
        content = path.read_bytes()
        return content if b"<svg" in content[:2000] else None
    signature = SIGNATURES.get(suffix)
    if signature is None:
        return None
    content = path.read_bytes()
    return content if content.startswith(signature) else None


def _words(path: Path) -> str:
    return path.stem.replace("-", " ").replace("_", " ")


def unlisted(root: Path, test: str, listed: Iterable[str]) -> list[str]:
    """Evidence of a test that no check names, such as what a crash left."""
    folder = root / "evidence" / test
    known = set(listed)
    found = (str(p.relative_to(root)) for p in sorted(folder.rglob("*")) if p.is_file())
    return [name for name in found if name not in known]
