"""Answers on port 8000: `/` is there, any other path is not."""

import http.server
import signal
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    """An empty answer to every GET."""

    def do_GET(self) -> None:
        """200 for the root, 404 for everything else."""
        self.send_response(200 if self.path == "/" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()


# The first process of a container gets no signal that it has not asked for.
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
http.server.ThreadingHTTPServer(("", 8000), Handler).serve_forever()
