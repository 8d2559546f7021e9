"""`python -m tests.contract.control_plane`: the double for people and for the local cluster."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import uvicorn

from tests.contract.control_plane.app import application
from tests.contract.control_plane.options import Options


def main(arguments: list[str]) -> int:
    """Serve until interrupted. The first user's password is in DOUBLE_PASSWORD, never an argument."""
    parser = argparse.ArgumentParser(prog="python -m tests.contract.control_plane")
    parser.add_argument("--certificate", type=Path, required=True)
    parser.add_argument("--key", type=Path, required=True)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8443)
    parser.add_argument("--token-seconds", type=float, default=3600)
    parser.add_argument("--ready-after", type=float, default=1)
    parser.add_argument("--connect-after", type=float, default=5)
    parser.add_argument("--kubeconfig", type=Path, help="cluster that trainings are made on")
    parser.add_argument("--context", default="")
    given = parser.parse_args(arguments)
    password = os.environ.get("DOUBLE_PASSWORD", "")
    if not password:
        print("DOUBLE_PASSWORD is not set: nobody could log in", file=sys.stderr)
        return 2
    options = Options(
        password=password,
        token_seconds=given.token_seconds,
        ready_after=given.ready_after,
        connect_after=given.connect_after,
        kubeconfig=given.kubeconfig,
        context=given.context,
    )
    app, _ = application(options)
    uvicorn.run(app, host=given.host, port=given.port, ssl_certfile=given.certificate, ssl_keyfile=given.key)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
