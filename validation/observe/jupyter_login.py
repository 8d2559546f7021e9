"""V6 behind the control plane's login: the address that it tells leads people there, and nowhere else."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from validation import https
from validation.https import Answer, HttpsError
from validation.notebook import Notebook
from validation.observe import jupyter_workspace
from validation.runai import driver, told
from validation.settings import StackOutputs

Json = dict[str, Any]
TEST = "jupyter_workspace"
LOGIN = "login"
# oauth2-proxy asks at a path of its own on the same host, or sends to the issuer at once.
_OWN_LOGIN = "/oauth2/"
_REDIRECTS = (301, 302, 303, 307, 308)


def host(outputs: StackOutputs, name: str) -> str:
    """Host of the workspace as the control plane tells it. HttpsError when it tells none."""
    for workload in driver.own(driver.connect(outputs), outputs, TEST):
        if workload["name"] == name:
            return https.host_of(told.url(workload))
    raise HttpsError(f"workspace {name}: not in the control plane {outputs.controlPlane.url}")


def address(notebook: Notebook, plane: str, seconds: float, interval: float = 1.0) -> Json:
    """Whether the address leads to the login over verified TLS; `seconds`: a new name takes a moment."""

    def login(answer: Answer) -> tuple[Json, bool]:
        to = leads(answer, plane)
        return {"leadsTo": to}, to == LOGIN

    return jupyter_workspace.reach(notebook, login, seconds, interval)


def closed(notebook: Notebook, plane: str) -> Json:
    """What somebody without a session gets, whatever is asked."""
    wrong = Notebook(notebook.ingress, notebook.host, "not-the-token")
    asked = {
        "interface": (notebook, "/api/kernels", "GET", None),
        "newKernel": (notebook, "/api/kernels", "POST", {"name": "python3"}),
        "guessed": (wrong, "/api/kernels", "GET", None),
        "page": (notebook, "/lab", "GET", None),
    }
    try:
        return {
            "jupyter_workspace.closed": {
                name: leads(one.request(path, method, body), plane)
                for name, (one, path, method, body) in asked.items()
            }
        }
    except HttpsError as error:
        return {"jupyter_workspace.closed": {"error": str(error)}}


def leads(answer: Answer, plane: str) -> str | int:
    """`login` for a redirect to the control plane (its URL) or a proxy's own login, else the status."""
    place = urlsplit(answer.headers.get("location", ""))
    there = place.hostname == urlsplit(plane).hostname or place.path.startswith(_OWN_LOGIN)
    return LOGIN if answer.status in _REDIRECTS and there else answer.status
