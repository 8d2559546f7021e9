"""Read a model's weights plainly and by Run:ai's Model Streamer, and compare them tensor by tensor.

`python3 stream.py --plain <file> --streamed <file or s3://bucket/key> [--open <URL>]`

The last line is `RESULT=` with JSON: tensors and bytes of both reads, names of tensors that differ, seconds,
MB/s, and with --open the status that the URL gave without credentials. The exit code is 0 whatever the
comparison says.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import time
import urllib.error
import urllib.request
from typing import Any

import torch
from runai_model_streamer import SafetensorsStreamer
from safetensors import safe_open

Tensors = dict[str, torch.Tensor]


def forget(path: str) -> None:
    """Drop a file from the page cache, so that neither read profits from the other."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def plain(path: str) -> Tensors:
    """All tensors in memory; a mapped tensor would be read only when it is used."""
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118 (no dict)


def streamed(path: str) -> Tensors:
    """All tensors, as the streamer delivers them."""
    with SafetensorsStreamer() as streamer:
        streamer.stream_file(path)
        return dict(streamer.get_tensors())


def digest(tensor: torch.Tensor) -> str:
    """SHA-256 of shape, type and bytes."""
    summed = hashlib.sha256(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
    summed.update(tensor.contiguous().view(torch.uint8).numpy().tobytes())
    return summed.hexdigest()


def size(tensors: Tensors) -> int:
    """Bytes of all tensors."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors.values())


def status_without_credentials(url: str, patience: float = 30.0) -> int:
    """HTTP status of a request that nobody signed; a server that is not up yet is asked again."""
    end = time.monotonic() + patience
    while True:
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 (http in the cluster)
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return int(error.code)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plain", required=True)
    parser.add_argument("--streamed", required=True)
    parser.add_argument("--open", default="")
    given = parser.parse_args()
    result: dict[str, Any] = {}
    if given.open:
        result["openStatus"] = status_without_credentials(given.open)
    forget(given.plain)
    begun = time.monotonic()
    one = plain(given.plain)
    plain_seconds = time.monotonic() - begun
    forget(given.plain)
    begun = time.monotonic()
    other = streamed(given.streamed)
    streamed_seconds = time.monotonic() - begun
    names = sorted(one.keys() | other.keys())
    result |= {
        "tensors": len(one),
        "streamedTensors": len(other),
        "bytes": size(one),
        "streamedBytes": size(other),
        "different": [
            n for n in names if n not in one or n not in other or digest(one[n]) != digest(other[n])
        ],
        "plainSeconds": round(plain_seconds, 3),
        "streamedSeconds": round(streamed_seconds, 3),
        "plainMBps": round(size(one) / 1e6 / plain_seconds, 1),
        "streamedMBps": round(size(other) / 1e6 / streamed_seconds, 1),
    }
    print("RESULT=" + json.dumps(result))


if __name__ == "__main__":
    main()
