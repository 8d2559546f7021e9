"""Pods that try to open a connection, from inside of the cluster and out of it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

from tests.acceptance import things
from tests.acceptance.broken import Broken, until
from tests.acceptance.commands import run
from validation import names
from validation.cluster import Cluster
from validation.observe import pods
from validation.settings import StackOutputs

LISTEN = """
import socket
server = socket.create_server(("", 8080))
while True:
    server.accept()[0].close()
"""
# Says whether a connection to an address and port could be opened.
KNOCK = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 3).close()
    print("reached")
except OSError as error:
    print(f"refused: {error}")
"""
PORT = 8080
# Seconds within which a network plugin has followed a change of policies.
FOLLOWED = 30


@dataclass(frozen=True)
class Place:
    """A pod, or with an empty name something outside of the cluster, and where it answers."""

    namespace: str
    pod: str
    address: str
    port: int = PORT

    def __str__(self) -> str:
        return f"{self.namespace}/{self.pod}" if self.pod else f"outside port {self.port}"


def reaches(outputs: StackOutputs, source: Place, target: Place) -> bool:
    """Can a pod open a connection? A pod that cannot try is an error."""
    command = ["kubectl", "--context", outputs.context, "--kubeconfig", outputs.kubeconfig]
    command += ["exec", "-n", source.namespace, source.pod, "--", "python3", "-c", KNOCK]
    command += [target.address, str(target.port)]
    said = run(*command, timeout=60).well().out
    assert said.startswith(("reached", "refused")), said
    return said.startswith("reached")


def become(outputs: StackOutputs, wanted: dict[tuple[Place, Place], bool]) -> None:
    """Wait until each pair is connected, or not, as wanted."""
    for (source, target), connected in wanted.items():
        what = f"{source} {'reaches' if connected else 'does not reach'} {target}"
        until(partial(_is, outputs, source, target, connected), what, FOLLOWED)


def _is(outputs: StackOutputs, source: Place, target: Place, connected: bool) -> bool:
    return reaches(outputs, source, target) is connected


@contextmanager
def pods_of(outputs: StackOutputs, **namespaces: str) -> Iterator[dict[str, Place]]:
    """A listening pod in each of these namespaces, which are made if need be; by the argument's name."""
    with Broken(outputs) as cluster:
        paths = {}
        for name, namespace in namespaces.items():
            if cluster.api.find(f"{names.NAMESPACES}/{namespace}") is None:
                meta = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
                cluster.made(names.NAMESPACES, meta)
            body = things.pod(f"runai-kit-knocks-{name}", outputs.images["seed"])
            body["spec"]["containers"][0]["command"] = ["python3", "-c", LISTEN]
            until(partial(_account, cluster, namespace), f"{namespace} has its account")
            paths[name] = cluster.made(names.in_namespace(names.PODS, namespace), body)
        until(lambda: all(pods.running(cluster.api.get(path)) for path in paths.values()), "the pods run")
        found = {name: cluster.api.get(path) for name, path in paths.items()}
        yield {
            name: Place(pod["metadata"]["namespace"], pod["metadata"]["name"], pod["status"]["podIP"])
            for name, pod in found.items()
        }


def _account(cluster: Broken, namespace: str) -> bool:
    """Pods are refused until the namespace has its default ServiceAccount."""
    return cluster.api.find(f"/api/v1/namespaces/{namespace}/serviceaccounts/default") is not None


@contextmanager
def outside(outputs: StackOutputs, count: int) -> Iterator[list[Place]]:
    """Listening ports of this machine, which is outside of the cluster, at the address that its nodes see."""
    nodes = Cluster(outputs.kubeconfig, outputs.context).items(names.NODES)
    addresses = nodes[0]["status"]["addresses"]
    node = next(item["address"] for item in addresses if item["type"] == "InternalIP")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect((node, 9))
        here = way.getsockname()[0]
    with ExitStack() as open_:
        servers = [open_.enter_context(socket.create_server((here, 0))) for _ in range(count)]
        yield [Place("", "", here, server.getsockname()[1]) for server in servers]
