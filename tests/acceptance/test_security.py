"""Controls of relaxed and project namespaces on the live cluster: what is refused, what goes on working."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from components.catalog import load_catalog
from components.config.security import Security
from components.security.governed import relaxed
from tests.acceptance.changing import call
from tests.acceptance.conftest import ROOT, Kubectl
from tests.acceptance.flows import End, Net
from validation.settings import StackOutputs

Json = dict[str, Any]
ENFORCE = "pod-security.kubernetes.io/enforce"
HOST: dict[str, Json] = {
    "hostPath volumes": {"volumes": [{"name": "h", "hostPath": {"path": "/"}}]},
    "hostNetwork": {"hostNetwork": True},
    "hostPID": {"hostPID": True},
    "privileged containers": {"containers": [{"securityContext": {"privileged": True}}]},
    "hostPort": {"containers": [{"ports": [{"containerPort": 80, "hostPort": 80}]}]},
}


def pod(namespace: str, account: str = "default", **spec: Any) -> Json:
    """A pod that `restricted` admits, but for `spec`."""
    container = {
        "name": "probe",
        "image": "registry.k8s.io/pause:3.10.1",
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    more = [container | item for item in spec.pop("containers", [{}])]
    if any(item["securityContext"].get("privileged") for item in more):
        more = [item | {"securityContext": {"privileged": True}} for item in more]
    context = {"runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "runai-kit-security-probe", "namespace": namespace},
        "spec": {"serviceAccountName": account, "securityContext": context, "containers": more, **spec},
    }


def refusal(outputs: StackOutputs, obj: Json) -> str:
    """What admission says about the object, "" when it admits it; nothing is stored."""
    command = ["kubectl", "--context", outputs.context, "--kubeconfig", outputs.kubeconfig]
    words = ["create", "--dry-run=server", "-f", "-"]
    done = subprocess.run(
        [*command, *words], input=json.dumps(obj), text=True, capture_output=True, timeout=60
    )
    return "" if done.returncode == 0 else done.stderr


@contextmanager
def level(kubectl: Kubectl, outputs: StackOutputs, namespace: str, wanted: str) -> Iterator[None]:
    """The namespace as somebody with rights on it might leave it."""
    before = kubectl("get", "namespace", namespace)["metadata"]["labels"][ENFORCE]
    call(outputs, "label", "namespace", namespace, f"{ENFORCE}={wanted}", "--overwrite")
    try:
        yield
    finally:
        call(outputs, "label", "namespace", namespace, f"{ENFORCE}={before}", "--overwrite")


@pytest.mark.req("I1")
def test_no_pod_of_a_project_reaches_its_node_whatever_the_label_says(
    kubectl: Kubectl, outputs: StackOutputs
) -> None:
    namespace = outputs.projects[0].namespace
    with level(kubectl, outputs, namespace, "privileged"):
        assert refusal(outputs, pod(namespace)) == ""
        for what, spec in HOST.items():
            said = refusal(outputs, pod(namespace, **spec))
            assert "ValidatingAdmissionPolicy 'runai-kit-projects'" in said, (what, said)
            assert f"{what}" in said, said


@pytest.mark.req("I1")
def test_a_relaxed_namespace_takes_pods_of_its_own_accounts_only(outputs: StackOutputs) -> None:
    reservation = outputs.reservationNamespace
    assert refusal(outputs, pod(reservation, reservation)) == ""
    said = refusal(outputs, pod(reservation))
    assert f"namespace {reservation} is for pods of {reservation} only; found default" in said
    for item in outputs.namespaces:
        if item.psa == "privileged":
            said = refusal(outputs, pod(item.name, **HOST["hostPath volumes"]))
            assert f"namespace {item.name} is for pods of" in said, said


@pytest.mark.req("I1")
def test_the_catalog_lists_every_account_of_a_relaxed_namespace(
    kubectl: Kubectl, outputs: StackOutputs
) -> None:
    catalog = load_catalog()
    here = {(item.name, item.version) for item in outputs.components}
    mine = [key for key, part in catalog.parts.items() if (part.name, part.version) in here]
    for item in relaxed(catalog, mine):
        found = kubectl("get", "pods", "-n", item.name)["items"]
        assert {pod["spec"]["serviceAccountName"] for pod in found} <= set(item.accounts), item.name


@pytest.mark.req("I1")
def test_a_relaxed_namespace_admits_no_host_access_when_its_label_is_lowered(
    kubectl: Kubectl, outputs: StackOutputs
) -> None:
    reservation = outputs.reservationNamespace
    with level(kubectl, outputs, reservation, "privileged"):
        said = refusal(outputs, pod(reservation, reservation, **HOST["hostPath volumes"]))
    assert f"hostPath volumes: not allowed in namespace {reservation}" in said


@pytest.mark.req("I1")
def test_a_project_opens_no_port_beside_the_ingress(outputs: StackOutputs) -> None:
    def service(kind: str) -> Json:
        metadata = {"name": "runai-kit-security-probe", "namespace": outputs.projects[0].namespace}
        spec = {"type": kind, "ports": [{"port": 80}], "selector": {"app": "x"}}
        return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}

    assert refusal(outputs, service("ClusterIP")) == ""
    assert "exceeded quota: runai-kit" in refusal(outputs, service("NodePort"))
    assert "exceeded quota: runai-kit" in refusal(outputs, service("LoadBalancer"))


@pytest.fixture(scope="module")
def net(kubectl: Kubectl) -> Net:
    """Every policy of the cluster."""
    namespaces = {
        item["metadata"]["name"]: item["metadata"]["labels"] for item in kubectl("get", "namespaces")["items"]
    }
    return Net(kubectl("get", "networkpolicies", "-A")["items"], namespaces)


@pytest.fixture(scope="module")
def pods(kubectl: Kubectl) -> dict[str, End]:
    """Running pods with an address of their own, by it."""
    return {
        item["status"]["podIP"]: End(
            item["status"]["podIP"], item["metadata"]["namespace"], item["metadata"].get("labels") or {}
        )
        for item in kubectl("get", "pods", "-A", "--field-selector=status.phase=Running")["items"]
        if not item["spec"].get("hostNetwork")
    }


@pytest.fixture(scope="module")
def parts(outputs: StackOutputs, net: Net, pods: dict[str, End]) -> list[End]:
    """Pods of the installation's own parts in namespaces that a policy closes."""
    names = {policy["metadata"]["namespace"] for policy in net.policies}
    names -= {project.namespace for project in outputs.projects}
    return [end for end in pods.values() if end.namespace in names]


def of(pods: dict[str, End], namespace: str) -> list[End]:
    """The pods of a namespace."""
    return [end for end in pods.values() if end.namespace == namespace]


def api_servers(kubectl: Kubectl) -> list[tuple[End, int]]:
    """Addresses and ports that the Service `kubernetes` leads to."""
    subsets = kubectl("get", "endpoints", "kubernetes", "-n", "default")["subsets"]
    return [
        (End(address["ip"]), port["port"])
        for subset in subsets
        for address in subset["addresses"]
        for port in subset["ports"]
    ]


def hooks(kubectl: Kubectl) -> Iterator[tuple[str, End, int]]:
    """Every endpoint of every webhook: its configuration's name, the pod, the pod's port."""
    found: set[tuple[str, str, str, int]] = set()
    for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
        for config in kubectl("get", kind)["items"]:
            for hook in config.get("webhooks") or []:
                if service := hook["clientConfig"].get("service"):
                    name = config["metadata"]["name"]
                    found.add((name, service["namespace"], service["name"], service.get("port", 443)))
    for name, namespace, service, port in sorted(found):
        ports = kubectl("get", "service", service, "-n", namespace)["spec"]["ports"]
        names = {item.get("name", "") for item in ports if item["port"] == port}
        for subset in kubectl("get", "endpoints", service, "-n", namespace).get("subsets") or []:
            for address in subset["addresses"]:
                for item in subset["ports"]:
                    if item.get("name", "") in names:
                        yield name, End(address["ip"], namespace), item["port"]


@pytest.mark.req("I1")
def test_what_the_installation_needs_is_allowed(
    kubectl: Kubectl, outputs: StackOutputs, net: Net, pods: dict[str, End], parts: list[End]
) -> None:
    """Held against what this cluster does: Prometheus' targets, webhooks, name servers, API servers."""
    servers = api_servers(kubectl)
    seen = 0
    for name, target, port in hooks(kubectl):
        seen += 1
        assert net.allows(servers[0][0], pods.get(target.ip, target), port), (name, target, port)
    assert seen
    for project in ("", *(item.namespace for item in outputs.projects)):
        for end in [End("10.0.0.1", project)] if project else parts:
            for dns in (e for e in of(pods, "kube-system") if e.labels.get("k8s-app") == "kube-dns"):
                assert net.allows(end, dns, 53, "UDP"), end
            assert project or all(net.allows(end, server, port) for server, port in servers), end


@pytest.mark.req("V8")
def test_prometheus_reaches_every_target(
    kubectl: Kubectl, outputs: StackOutputs, net: Net, pods: dict[str, End], parts: list[End]
) -> None:
    where = outputs.monitoring
    path = f"/api/v1/namespaces/{where.namespace}/services/{where.prometheusService}:{where.prometheusPort}"
    answer = kubectl("get", "--raw", f"{path}/proxy/api/v1/targets?state=active")
    urls = [urlsplit(target["scrapeUrl"]) for target in answer["data"]["activeTargets"]]
    (prometheus,) = [
        end
        for end in of(pods, where.namespace)
        if end.labels.get("operator.prometheus.io/name")
        or end.labels.get("app.kubernetes.io/name") == "prometheus"
    ]
    mine = [(pods[url.hostname], url.port or 0) for url in urls if url.hostname in pods]
    assert {end.namespace for end, _ in mine} & {end.namespace for end in parts}
    for target, port in mine:
        assert net.allows(prometheus, target, port), (target, port)


@pytest.mark.req("V5")
@pytest.mark.req("V6")
def test_what_serves_reaches_a_projects_pods(outputs: StackOutputs, net: Net, pods: dict[str, End]) -> None:
    workload = End("10.0.0.1", outputs.projects[0].namespace, {"app": "x"})
    serving = of(pods, outputs.inference.namespace)
    assert serving
    for end in serving:
        # queue-proxy's ports for requests and for the autoscaler.
        assert all(net.allows(end, workload, port) for port in (8012, 8013, 9090)), end
    for end in of(pods, outputs.ingress.namespace):
        assert net.allows(end, workload, 8888), end
        assert net.allows(workload, end, outputs.ingress.httpsPort), end


@pytest.mark.req("I1")
def test_everything_else_is_closed(
    kubectl: Kubectl, outputs: StackOutputs, net: Net, parts: list[End]
) -> None:
    stranger = End("10.0.0.9", "default", {"app": "x"})
    first, second = (
        End(f"10.0.0.{i}", item.namespace) for i, item in enumerate(outputs.projects[:2], start=1)
    )
    for end in [*parts, first]:
        assert not net.allows(stranger, end, 8080), end
        assert end is first or not net.allows(first, end, 8081)
    assert not net.allows(first, second, 8888)
    assert not net.allows(first, End("169.254.169.254"), 80), "a cloud's metadata service"
    assert net.allows(first, End("203.0.113.7"), Security().egress_ports[0])
    assert not net.allows(first, End("203.0.113.7"), 22)
    for server, port in api_servers(kubectl):
        assert not net.allows(first, server, port), "a workload asked the API server"


@pytest.mark.req("I1")
def test_the_security_page_is_what_catalog_and_charts_say() -> None:
    options = ["--check", "--charts", "build/charts", "--helm", "build/bin/helm"]
    command = [sys.executable, "-m", "policy.page", "docs/security.md", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
