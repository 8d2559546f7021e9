"""Run in the workspace's pod: start a kernel, run cells, end it. `python3 … <port> <cells as JSON>`.

Uses tornado, which every Jupyter server brings. The token comes from the file that JUPYTER_TOKEN_FILE names.
"""

import asyncio
import json
import os
import sys
import uuid
from pathlib import Path

from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import websocket_connect

HOST = f"127.0.0.1:{sys.argv[1]}"


def known() -> dict[str, str]:
    """Headers of who knows the token; read late, so that a server without a file is asked all the same."""
    file = os.environ.get("JUPYTER_TOKEN_FILE", "")
    return {"Authorization": f"token {Path(file).read_text().strip()}"} if file else {}


async def ask(path, headers, method="GET", body=None):
    """(status, JSON or None) of one request."""
    asked = HTTPRequest(
        f"http://{HOST}{path}",
        method=method,
        headers=headers,
        body=body,
        allow_nonstandard_methods=True,
        follow_redirects=False,
        request_timeout=60,
    )
    got = await AsyncHTTPClient().fetch(asked, raise_error=False)
    try:
        return got.code, json.loads(got.body or b"null")
    except ValueError:
        return got.code, None


async def run(channels, session, code):
    """What a cell printed, and the error that ended it."""
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "session": session}
    header |= {"username": "", "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": False, "allow_stdin": False}
    message = {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}}
    await channels.write_message(json.dumps({**message, "content": content, "buffers": []}))
    printed = {"text": "", "error": ""}
    while True:
        told = json.loads(await channels.read_message())
        if told.get("parent_header", {}).get("msg_id") != header["msg_id"]:
            continue
        said = told["content"]
        if told["msg_type"] == "stream":
            printed["text"] += said["text"]
        elif told["msg_type"] == "error":
            printed["error"] = f"{said['ename']}: {said['evalue']}"
        elif told["msg_type"] == "status" and said["execution_state"] == "idle":
            return printed


async def main():
    """Everything in one kernel; prints one line of JSON."""
    headers, session = known(), uuid.uuid4().hex
    without, _ = await ask("/api/kernels", {})
    status, made = await ask("/api/kernels", headers, "POST", json.dumps({"name": "python3"}))
    if status != 201:
        sys.exit(f"a new kernel: expected status 201, found {status}")
    place = f"/api/kernels/{made['id']}"
    try:
        url = HTTPRequest(f"ws://{HOST}{place}/channels?session_id={session}", headers=headers)
        channels = await websocket_connect(url)
        cells = [await run(channels, session, code) for code in json.loads(sys.argv[2])]
        channels.close()
    finally:
        stopped, _ = await ask(place, headers, "DELETE")
    _, left = await ask("/api/kernels", headers)
    told = {"cells": cells, "stopped": stopped, "withoutToken": without, "left": [k["id"] for k in left]}
    print("KERNEL=" + json.dumps(told))


asyncio.run(main())
