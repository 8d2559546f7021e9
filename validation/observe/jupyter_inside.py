"""A kernel asked inside the workspace's pod: where a login of people stands before the address."""

from __future__ import annotations

import json
import re
from typing import Any

from validation.cluster import Cluster, ClusterError
from validation.notebook import Output
from validation.observe import pods
from validation.observe.jupyter_workspace import SMI, kernel_told, no_kernel

Json = dict[str, Any]
SECONDS = 90.0
_PORT = 8888


def kernel(cluster: Cluster, mine: list[Json], program: str, kubelet: list[str], numbers: list[int]) -> Json:
    """As jupyter_workspace.kernel, by a program (roles/jupyter_workspace/files/kernel.py) in the pod."""
    running = [p for p in mine if pods.running(p)]
    if not running:
        return no_kernel("no pod of the workspace runs")
    base, exponent, modulus = numbers
    cells = [SMI, f"print(pow({base}, {exponent}, {modulus}))"]
    try:
        told = _ask(cluster, running[0], program, cells)
    except ClusterError as error:
        return no_kernel(str(error))
    smi, computed = (Output(cell["text"], cell["error"]) for cell in told["cells"])
    found = kernel_told(kubelet, smi, computed, told["stopped"], told["left"])
    found["jupyter_workspace.gpu"]["withoutToken"] = told["withoutToken"]
    return found


def _ask(cluster: Cluster, pod: Json, program: str, cells: list[str]) -> Json:
    """The program's answer; its arguments are the port and the cells, the token it reads from its file."""
    meta = pod["metadata"]
    command = ["python3", "-c", program, str(_PORT), json.dumps(cells)]
    said = cluster.execute(meta["namespace"], meta["name"], command, pods.container(pod), SECONDS)
    match = re.search(r"^KERNEL=(\{.*\})$", said, re.MULTILINE)
    if not match:
        raise ClusterError(f"no kernel answered in {pods.name(pod)}: {said.strip()[-400:]}")
    told: Json = json.loads(match.group(1))
    return told
