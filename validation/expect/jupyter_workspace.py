"""V6: what a workspace with one GPU at an external address has to show."""

from __future__ import annotations

from typing import Any

from validation.settings import StackOutputs

REFUSED = [401, 403]


def expected(outputs: StackOutputs, queue: str, numbers: list[int]) -> dict[str, Any]:
    """Expectations by check id; numbers: base, exponent, modulus of the computation, chosen by the run."""
    base, exponent, modulus = numbers
    return {
        "jupyter_workspace.running": {
            "running": 1,
            "gpus": 1,
            "scheduler": outputs.schedulerName,
            "queue": queue,
            # Work of people is not taken away from them: KAI's class for it is not preemptible.
            "priorityClass": "build",
            "preemptible": False,
            "podGroupGpus": 1,
            "queueAllocated": 1,
        },
        "jupyter_workspace.address": {
            "status": 200,
            "answersAs": "Jupyter",
            "protocol": {"matches": "^TLSv1\\.[23]$"},
        },
        # Without a token, and with one that is guessed: the interface refuses, the page leads to the login.
        "jupyter_workspace.closed": {
            "interface": {"oneOf": REFUSED},
            "guessed": {"oneOf": REFUSED},
            "newKernel": {"oneOf": REFUSED},
            "page": {"oneOf": ["login", *REFUSED]},
        },
        "jupyter_workspace.gpu": {"uuidsInKernel": 1, "sameAsKubelet": True},
        "jupyter_workspace.computation": {"result": str(pow(base, exponent, modulus)), "raised": ""},
        "jupyter_workspace.stopped": {"status": 204, "left": []},
        "jupyter_workspace.page": {
            "loginAsked": True,
            "title": {"matches": "JupyterLab"},
            "launcherCards": {"atLeast": 1},
            "pythonCard": True,
            "protocol": {"matches": "^TLS 1\\.[23]$"},
            "screenshot": "1280x800",
        },
        "jupyter_workspace.secrecy": {"found": [], "unreadable": [], "sawServer": True},
    }
