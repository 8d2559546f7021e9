"""The four files of MNIST: on a volume, or fetched from the first origin that serves them; then verified.

Only the standard library, so that it is tested without PyTorch.
"""

from __future__ import annotations

import argparse
import gzip
import math
import struct
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Name -> shape; the format is a magic number (2048 + dimensions), the sizes, and unsigned bytes.
FILES: dict[str, tuple[int, ...]] = {
    "train-images-idx3-ubyte": (60000, 28, 28),
    "train-labels-idx1-ubyte": (60000,),
    "t10k-images-idx3-ubyte": (10000, 28, 28),
    "t10k-labels-idx1-ubyte": (10000,),
}
# Where the files lie below a mounted folder: plain, or as torchvision puts them.
LAYOUTS = ("", "raw", "MNIST/raw")
# A network that enforces policies refuses a new pod's first connections until it knows the pod's address.
SETTLE_SECONDS = 5.0


class DatasetError(RuntimeError):
    """The data set cannot be used; the text says which file, what was found and what was expected."""


@dataclass(frozen=True)
class Dataset:
    """Raw pixels and labels by file name, and where they came from."""

    origin: str
    content: dict[str, bytes]


def options(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Adds where the data set is and where it may be fetched from."""
    parser.add_argument("--data", type=Path, required=True, help="folder with the four files")
    parser.add_argument("--origin", action="append", default=[], help="address to fetch them from, in order")
    parser.add_argument("--origin-timeout", type=float, default=30, help="seconds for each origin")
    return parser


def load(folder: Path, origins: list[str], timeout: float) -> Dataset:
    """From the folder where it has all four files, else from the first origin that serves them.

    `timeout` bounds each origin, in seconds. DatasetError when nothing works.
    """
    for layout in LAYOUTS:
        place = folder / layout
        if all(_stored(place, name) for name in FILES):
            return Dataset(place.resolve().as_uri(), {name: _read(place, name) for name in FILES})
    if not origins:
        raise DatasetError(
            f"{folder}: expected {', '.join(FILES)} (or .gz) there, found none or not all, "
            "and no origin to fetch them from; fill the volume or name origins"
        )
    for origin in origins:
        begun = time.monotonic()
        try:
            content = {name: _fetch(origin, name, begun + timeout) for name in FILES}
        except (OSError, DatasetError) as error:
            waited = time.monotonic() - begun
            print(f"Data set: {origin} does not serve it, after {waited:.1f} s: {error}", flush=True)
            continue
        return Dataset(origin, content)
    raise DatasetError(f"none of the origins served the data set: {', '.join(origins)}")


def unpack(name: str, raw: bytes) -> bytes:
    """The bytes behind the header; DatasetError for anything but a whole file of the expected shape."""
    shape = FILES[name]
    header = 4 * (1 + len(shape))
    size = header + math.prod(shape)
    if len(raw) != size:
        raise DatasetError(f"{name}: found {len(raw)} bytes, expected {size}; fetch or seed the file again")
    magic, *found = struct.unpack(f">{1 + len(shape)}I", raw[:header])
    if magic != 2048 + len(shape) or tuple(found) != shape:
        raise DatasetError(f"{name}: found magic {magic} and shape {tuple(found)}, expected {shape}")
    return raw[header:]


def _stored(place: Path, name: str) -> Path | None:
    return next((p for p in (place / name, place / f"{name}.gz") if p.is_file()), None)


def _read(place: Path, name: str) -> bytes:
    path = _stored(place, name)
    assert path is not None
    raw = path.read_bytes()
    return unpack(name, _inflate(name, raw) if path.suffix == ".gz" else raw)


def _inflate(name: str, raw: bytes) -> bytes:
    try:
        return gzip.decompress(raw)
    except (OSError, EOFError) as error:
        raise DatasetError(
            f"{name}.gz: found {len(raw)} bytes that are no whole gzip file: {error}"
        ) from None


def _fetch(origin: str, name: str, deadline: float) -> bytes:
    """One file of an origin; a socket's own time-out begins anew with each byte, so the clock is watched."""
    url = f"{origin.rstrip('/')}/{name}.gz"
    if not url.startswith(("http://", "https://")):
        raise DatasetError(f"{url}: expected an http or https address")
    if deadline <= time.monotonic():
        raise DatasetError("no time left")
    with _open(url, deadline) as answer:
        parts: list[bytes] = []
        while part := answer.read1(1 << 16):
            parts.append(part)
            if time.monotonic() > deadline:
                raise DatasetError(f"{url} is too slow")
    return unpack(name, _inflate(name, b"".join(parts)))


def _open(url: str, deadline: float) -> Any:
    """The answer's headers; a refused connection is tried again for SETTLE_SECONDS within the deadline."""
    until = min(deadline, time.monotonic() + SETTLE_SECONDS)
    while True:
        try:
            return urllib.request.urlopen(url, timeout=max(deadline - time.monotonic(), 0.1))  # noqa: S310
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError) or time.monotonic() + 0.5 > until:
                raise
        time.sleep(0.5)


if __name__ == "__main__":
    chosen = options(argparse.ArgumentParser(description=__doc__)).parse_args()
    try:
        print(f"Data set: served by {load(chosen.data, chosen.origin, chosen.origin_timeout).origin}")
    except DatasetError as error:
        # The log's last word: two streams may change places on their way into it.
        print(f"error: {error}", flush=True)
        sys.exit(1)
