"""V6: what a workspace with one GPU at an external address has to show."""

from __future__ import annotations

from typing import Any

from validation.expect.witness import WITNESS
from validation.settings import StackOutputs

REFUSED = [401, 403]


def expected(outputs: StackOutputs, queue: str, numbers: list[int]) -> dict[str, Any]:
    """Expectations by check id; numbers: base, exponent, modulus of the computation, chosen by the run."""
    base, exponent, modulus = numbers
    front = _behind_login() if outputs.driver == "runai" else _by_token()
    return {
        "jupyter_workspace.running": {
            "running": 1,
            "gpus": 1,
            "scheduler": outputs.schedulerName,
            "queue": queue,
            # Work of people is not taken away from them; KAI's class for it is called so.
            **({} if outputs.driver == "runai" else {"priorityClass": "build"}),
            "preemptible": False,
            "uuidsBy": WITNESS,
            "podGroupGpus": 1,
            "queueAllocated": 1,
        },
        "jupyter_workspace.gpu": {"uuidsInKernel": 1, "sameAsKubelet": True},
        "jupyter_workspace.computation": {"result": str(pow(base, exponent, modulus)), "raised": ""},
        "jupyter_workspace.stopped": {"status": 204, "left": []},
        "jupyter_workspace.secrecy": {"found": [], "unreadable": [], "sawServer": True},
        **front,
    }


def _by_token() -> dict[str, Any]:
    """The server's own token is the only lock: refused without it and with a guess; the page asks for it."""
    return {
        "jupyter_workspace.address": {
            "status": 200,
            "answersAs": "Jupyter",
            "protocol": {"matches": "^TLSv1\\.[23]$"},
        },
        "jupyter_workspace.closed": {
            "interface": {"oneOf": REFUSED},
            "guessed": {"oneOf": REFUSED},
            "newKernel": {"oneOf": REFUSED},
            "page": {"oneOf": ["login", *REFUSED]},
        },
        "jupyter_workspace.page": {
            "loginAsked": True,
            "title": {"matches": "JupyterLab"},
            "launcherCards": {"atLeast": 1},
            "pythonCard": True,
            "protocol": {"matches": "^TLS 1\\.[23]$"},
            "screenshot": "1280x800",
        },
    }


def _behind_login() -> dict[str, Any]:
    """Run:ai's proxy stands before the server: without a session everything leads to the login."""
    outside = {"oneOf": ["login", *REFUSED]}
    return {
        "jupyter_workspace.address": {"leadsTo": outside, "protocol": {"matches": "^TLSv1\\.[23]$"}},
        "jupyter_workspace.closed": dict.fromkeys(("interface", "guessed", "newKernel", "page"), outside),
    }
