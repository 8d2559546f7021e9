"""A bundle as a tar.gz with an index."""

from __future__ import annotations

import io
import json
import os
import tarfile
import tempfile
import time
from pathlib import Path

from day2.bundle.piece import Gathered
from day2.bundle.scrub import Scrubber

LARGEST = 60_000_000


def write(target: Path, gathered: Gathered, scrubber: Scrubber, about: dict[str, str]) -> dict[str, object]:
    """Clean every text, add the index, write the file in one step; returns the index.

    Empty texts are only named. Texts beyond LARGEST bytes in all are left out, logs first.
    """
    name = target.name.removesuffix(".tar.gz")
    files: dict[str, bytes] = {}
    room = LARGEST
    empty = sorted(path for path, text in gathered.texts.items() if text.strip() in {"", "[]"})
    for path in sorted(gathered.texts.keys() - set(empty), key=lambda p: (p.endswith(".log"), p)):
        content = scrubber.clean(gathered.texts[path]).encode("utf-8", "replace")
        if len(content) > room:
            gathered.leave_out(
                path, gathered.what[path], f"{len(content)} bytes more than the bundle may hold"
            )
            continue
        room -= len(content)
        files[path] = content
    index: dict[str, object] = {
        **{key: scrubber.clean(value) for key, value in about.items()},
        "files": {path: {"bytes": len(files[path]), "what": gathered.what[path]} for path in sorted(files)},
        "empty": empty,
        "missing": {path: scrubber.clean(why) for path, why in sorted(gathered.missing.items())},
    }
    files["index.json"] = (json.dumps(index, indent=1) + "\n").encode()
    _write(target, name, files)
    return index


def _write(target: Path, folder: str, files: dict[str, bytes]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    os.close(handle)
    try:
        with tarfile.open(temporary, "w:gz", compresslevel=6) as archive:
            for path in ("index.json", *(p for p in sorted(files) if p != "index.json")):
                entry = tarfile.TarInfo(f"{folder}/{path}")
                entry.size, entry.mtime, entry.mode = len(files[path]), int(time.time()), 0o644
                archive.addfile(entry, io.BytesIO(files[path]))
        # Redacted, and still nobody else's on this machine.
        os.chmod(temporary, 0o600)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
