"""V6 as the API, the server behind the ingress, its kernel and a browser show it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from validation import https, names, tokens
from validation.cluster import Cluster, ClusterError
from validation.https import Answer, CertificateError, HttpsError
from validation.ingress import Ingress
from validation.notebook import Notebook, Output
from validation.observe import jupyter_page, pods, queues
from validation.observe.holding import holding, uuids_in
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
TEST = "jupyter_workspace"
SMI = 'import subprocess; print(subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout)'
COMMAND_LINES = ["bash", "-c", "cat /proc/[0-9]*/cmdline | tr '\\0' ' '"]


def holds(at: Snapshot, then: Json, queue: str) -> Json:
    """What the workspace holds."""
    mine = at.mine(TEST)
    groups = [queues.group_of(p, at.groups) for p in mine if pods.running(p)]
    return {
        "jupyter_workspace.running": {
            **holding(at, mine, then, queue),
            "preemptible": any(queues.preemptible(g, at.priorities) for g in groups),
        }
    }


def host(at: Snapshot, namespace: str, name: str) -> str:
    """Where the workspace answers: what its Ingress says, else the rule of the ingress that was rendered."""
    made = at.cluster.find(f"{names.in_namespace(names.INGRESSES, namespace)}/{name}")
    if made is not None:
        return str(made["spec"]["rules"][0]["host"])
    return f"{name}-{namespace}.{at.outputs.workspaces.domain}"


def address(notebook: Notebook, seconds: float, interval: float = 1.0) -> Json:
    """Whether the server answers by its name over verified TLS; `seconds`: a new name takes a moment."""

    def jupyter(answer: Answer) -> tuple[Json, bool]:
        known = answer.status == 200 and "version" in answer.json()
        return {"answersAs": "Jupyter" if known else "something else"}, answer.status == 200

    return reach(notebook, jupyter, seconds, interval)


def reach(
    notebook: Notebook, judge: Callable[[Answer], tuple[Json, bool]], seconds: float, interval: float
) -> Json:
    """Ask again until `judge` calls an answer the wanted one; it also tells what the answer is."""
    begun = time.monotonic()
    while True:
        wanted = False
        try:
            answer = notebook.request("/api")
            shown = https.peer(notebook.ingress, notebook.host)
            told, wanted = judge(answer)
            found: Json = {
                **told,
                "status": answer.status,
                "protocol": shown.protocol,
                "issuer": shown.issuer,
                "names": shown.names,
                "url": f"https://{notebook.host}/",
            }
        except CertificateError as error:
            return {"jupyter_workspace.address": {"error": str(error)}}
        except HttpsError as error:
            found = {"error": str(error)}
        waited = time.monotonic() - begun
        if wanted or waited > seconds:
            return {"jupyter_workspace.address": {**found, "seconds": round(waited, 1)}}
        time.sleep(interval)


def closed(notebook: Notebook) -> Json:
    """What somebody without the token gets."""
    wrong = Notebook(notebook.ingress, notebook.host, "not-the-token")
    try:
        page = notebook.request("/lab")
        to_login = page.status in (301, 302, 303, 307) and "/login" in page.headers.get("location", "")
        return {
            "jupyter_workspace.closed": {
                "interface": notebook.request("/api/kernels").status,
                "newKernel": notebook.request("/api/kernels", "POST", {"name": "python3"}).status,
                "guessed": wrong.request("/api/kernels").status,
                "page": "login" if to_login else page.status,
            }
        }
    except HttpsError as error:
        return {"jupyter_workspace.closed": {"error": str(error)}}


def kernel(notebook: Notebook, kubelet: list[str], numbers: list[int]) -> Json:
    """A kernel's GPU (against the UUIDs that the kubelet names), its computation, and its end."""
    base, exponent, modulus = numbers
    try:
        name = notebook.start_kernel()
        try:
            smi = notebook.run(name, SMI)
            computed = notebook.run(name, f"print(pow({base}, {exponent}, {modulus}))")
        finally:
            status = notebook.stop_kernel(name)
        left = notebook.kernels()
    except HttpsError as error:
        return no_kernel(str(error))
    return kernel_told(kubelet, smi, computed, status, left)


def kernel_told(kubelet: list[str], smi: Output, computed: Output, status: int, left: list[str]) -> Json:
    """Observations of a kernel, from what its cells printed, the status of its end, and kernels left."""
    inside = uuids_in(smi.text)
    return {
        "jupyter_workspace.gpu": {
            "uuidsInKernel": len(inside),
            "sameAsKubelet": inside == kubelet,
            "inKernel": inside,
            "kubelet": kubelet,
            "said": smi.text.strip() or smi.error,
        },
        "jupyter_workspace.computation": {"result": computed.text.strip(), "raised": computed.error},
        "jupyter_workspace.stopped": {"status": status, "left": left},
    }


def no_kernel(why: str) -> Json:
    """The same where no kernel could be asked."""
    checks = ("jupyter_workspace.gpu", "jupyter_workspace.computation", "jupyter_workspace.stopped")
    return {check: {"error": why} for check in checks}


def page(ingress: Ingress, name: str, token: str, picture: Path, seconds: float = 60) -> Json:
    """The launcher at a host name in a browser, within `seconds`."""
    return {"jupyter_workspace.page": jupyter_page.look(ingress, name, token, picture, seconds)}


def secrecy(at: Snapshot, token: str, evidence: Path) -> Json:
    """Places where the token stands in clear: objects, logs, command lines in the pod, stored evidence."""
    places, unreadable = _objects(at.cluster), []
    for pod in at.mine(TEST):
        meta = pod["metadata"]
        try:
            where = (meta["namespace"], meta["name"])
            places[f"log of {pods.name(pod)}"] = at.cluster.logs(*where, 1000, pods.container(pod))
            said = at.cluster.execute(*where, COMMAND_LINES, pods.container(pod))
            places[f"command lines in {pods.name(pod)}"] = said
        except ClusterError as error:
            unreadable.append(str(error))
    for file in sorted(evidence.rglob("*")):
        if file.is_file():
            places[f"evidence {file.name}"] = file.read_text(errors="replace")
    found = [name for name, text in places.items() if token in text]
    return {
        "jupyter_workspace.secrecy": {
            "found": found,
            "unreadable": unreadable,
            # A process list without the server was no look at the server.
            "sawServer": any(
                "jupyter" in text for name, text in places.items() if name.startswith("command")
            ),
            "places": sorted(places),
        }
    }


def _objects(cluster: Cluster) -> dict[str, str]:
    selector = f"{names.TEST_LABEL}={TEST}"
    kinds = (names.PODS, names.STATEFUL_SETS, names.SERVICES, names.INGRESSES, names.CONFIG_MAPS)
    return {
        f"{kind.rpartition('/')[2]} {pods.name(thing)}": str(thing)
        for kind in kinds
        for thing in cluster.items(kind, labelSelector=selector)
    }


def token_of(cluster: Cluster, namespace: str, name: str) -> str:
    """The token of a workspace, from its Secret."""
    return tokens.read(cluster, namespace, f"{name}-token")
