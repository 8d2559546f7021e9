"""Sends every request to the login: `gate.py <port> <address of the login>`."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Gate(BaseHTTPRequestHandler):
    """Nobody has a session."""

    def answer(self) -> None:
        """Read what was sent, and send away."""
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(302)
        self.send_header("location", sys.argv[2])
        self.send_header("content-length", "0")
        self.end_headers()

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = answer  # noqa: N815 (names of the base class)


if __name__ == "__main__":
    ThreadingHTTPServer(("", int(sys.argv[1])), Gate).serve_forever()
