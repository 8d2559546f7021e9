"""Pod network between the nodes where the node image has no network plugin of its own.

Each node gets a point-to-point configuration with its pod range and a route to every other
node's range. A flat layer 2 network between the nodes makes an overlay needless.
"""

from __future__ import annotations

import json
import time

from local import engine, paths, shell
from local.cluster import config, watches

CONFLIST = "/etc/cni/net.d/10-ptp.conflist"
# What leaves the cluster (CoreDNS asking the machine's name server) needs an address that is known there.
_RULE = f"POSTROUTING --source {config.POD_SUBNET} ! --destination {config.POD_SUBNET} --jump MASQUERADE"
REGISTERED_SECONDS = 120
MASQUERADE = f"iptables -t nat --check {_RULE} 2>/dev/null || iptables -t nat --append {_RULE}"


def connect(kubectl: list[str]) -> None:
    """Write every node's configuration and routes; safe to repeat."""
    nodes = _nodes(kubectl, 1 + config.gpu_nodes())
    for name, (_, pods) in nodes.items():
        routes = [
            f"ip route replace {other} via {address}"
            for peer, (address, other) in nodes.items()
            if peer != name
        ]
        text = json.dumps(_conflist(pods))
        write = [f"cat > {CONFLIST}.new", f"mv {CONFLIST}.new {CONFLIST}"]
        script = "\n".join(["set -e", *write, *routes, MASQUERADE])
        shell.run(["podman", "exec", "-i", name, "sh", "-c", script], env=engine.environment(), stdin=text)
    _forward("--insert", check=False)


def disconnect() -> None:
    """Take back the forwarding rule; what is on the nodes goes with them."""
    _forward("--delete", check=True)


def _nodes(kubectl: list[str], count: int) -> dict[str, tuple[str, str]]:
    """Return the nodes with their address and pod range.

    On a busy machine a kubelet that has joined registers later: up to REGISTERED_SECONDS it is waited for.
    Raises CommandError when fewer than `count` have a pod range by then.
    """
    end = time.monotonic() + REGISTERED_SECONDS
    while True:
        listed = json.loads(shell.read([*kubectl, "get", "nodes", "-o", "json"]))["items"]
        ready = [node for node in listed if "podCIDR" in node["spec"]]
        if len(ready) >= count:
            break
        if time.monotonic() > end:
            raise shell.CommandError(
                f"nodes: found {len(ready)} with a pod range after {REGISTERED_SECONDS} s, expected {count}; "
                f"look at the kubelets of the others{watches.advice()}"
            )
        time.sleep(1)
    found = {}
    for node in ready:
        address = next(
            item["address"] for item in node["status"]["addresses"] if item["type"] == "InternalIP"
        )
        found[node["metadata"]["name"]] = (address, node["spec"]["podCIDR"])
    return found


def _conflist(pods: str) -> dict[str, object]:
    ipam = {"type": "host-local", "ranges": [[{"subnet": pods}]], "routes": [{"dst": "0.0.0.0/0"}]}
    ptp = {"type": "ptp", "ipMasq": False, "mtu": 1500, "ipam": ipam}
    return {
        "cniVersion": "0.3.1",
        "name": "runai-kit",
        "plugins": [ptp, {"type": "portmap", "capabilities": {"portMappings": True}}],
    }


def _forward(action: str, *, check: bool) -> None:
    """Accept forwarded pod traffic on the host: Docker's policy DROP would cover the nodes' bridge too."""
    rule = [
        "FORWARD",
        "--source",
        config.POD_SUBNET,
        "--jump",
        "ACCEPT",
        "-m",
        "comment",
        "--comment",
        paths.CLUSTER,
    ]
    if shell.succeeds(["iptables", "--check", *rule]) == check:
        shell.run(["iptables", action, *rule])
