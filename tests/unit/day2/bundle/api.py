"""An API server that knows a few objects, breaks on some paths, and does not come back on others."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

CANARY = "Xq7-canary/ä+99=="
SHAPED = "hunter2hunter2"
Json = dict[str, Any]


def canary_pod(namespace: str) -> Json:
    """A pod that holds the canary wherever a person may put one."""
    return {
        "metadata": {
            "name": "app",
            "namespace": namespace,
            "annotations": {"team.example/note": CANARY, "knative.dev/url": f"https://u:{CANARY}@h/p"},
            "managedFields": [{"manager": "x"}],
        },
        "spec": {"containers": [{"name": "c", "env": [{"name": "PLAIN", "value": CANARY}]}]},
        "status": {"containerStatuses": [{"name": "c", "restartCount": 1}]},
    }


def secret(namespace: str) -> Json:
    """The canary's own Secret."""
    data = {"word": base64.b64encode(CANARY.encode()).decode()}
    return {"metadata": {"name": "s", "namespace": namespace}, "type": "Opaque", "data": data}


def known(namespaces: list[str]) -> dict[str, Any]:
    """Answers by path."""
    answers: dict[str, Any] = {"/version": {"gitVersion": "v1.34.9"}, "/readyz": "ok\n"}
    for namespace in namespaces:
        base = f"/api/v1/namespaces/{namespace}"
        answers[f"{base}/secrets"] = {"items": [secret(namespace)]}
        answers[f"{base}/pods"] = {"items": [canary_pod(namespace)]}
        answers[f"{base}/pods/app/log"] = (
            f"start\ngot {CANARY}\npassword={SHAPED} at https://bob:{SHAPED}@h/\n"
        )
        answers[f"{base}/events"] = {"items": [{"involvedObject": {"name": "app"}, "message": CANARY}]}
    return answers


@contextmanager
def serving(answers: dict[str, Any], broken: set[str], hanging: set[str]) -> Iterator[str]:
    """The server's URL; paths that contain a word of `broken` are 500, of `hanging` take three seconds."""

    class Api(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if any(word in path for word in hanging):
                time.sleep(3)
            code = 500 if any(word in path for word in broken) else 200 if path in answers else 404
            body = answers.get(path, {"message": f"{path}: nothing here"})
            data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def kubeconfig(folder: Path, url: str) -> Path:
    """A file that names the server."""
    path = folder / "kubeconfig"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "kind-runai-kit", "context": {"cluster": "c", "user": "u"}}],
    }
    path.write_text(yaml.safe_dump(config))
    return path
