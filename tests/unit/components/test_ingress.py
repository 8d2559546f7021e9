"""The ingress: HAProxy with a rendered configuration, its controller, or somebody else's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from components.haproxy.inputs import Routes, routes
from components.haproxy.rendered import render
from policy.pod_security import required_level
from tests.mocks import Run
from tests.stack import CATALOG, LOCAL, changed, run_platform, settings

ROUTES = Routes("inference.x.test", "workspaces.x.test", ("runai-a", "runai-b-runai-a"), 900)
CONTROLLER = changed(LOCAL, "ingress", {"enabled": True, "source": "controller", "replicas": 2})
EXISTING = changed(
    LOCAL,
    "ingress",
    {"enabled": True, "source": "existing", "className": "nginx", "namespace": "edge", "service": "front"},
)


def pod(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = run.one("Deployment", "haproxy").inputs["spec"]["template"]["spec"]
    return found


def tls_secrets(run: Run) -> set[str]:
    """Pulumi names of the Secrets with a certificate."""
    return {item.name for item in run.of_type("Secret") if item.inputs.get("type") == "kubernetes.io/tls"}


@pytest.mark.req("I7")
def test_tls_ends_in_haproxy_and_never_below_1_2() -> None:
    text = render(ROUTES)
    (bind,) = [line for line in text.splitlines() if "bind :8443" in line]
    assert "crt /etc/haproxy-certificates/inference.pem" in bind
    assert "crt /etc/haproxy-certificates/workspaces.pem" in bind
    assert "ssl-min-ver TLSv1.2" in text
    assert "verify none" not in text
    assert "http-request redirect scheme https code 301" in text


@pytest.mark.req("I7")
def test_inference_goes_to_kourier_whatever_its_name() -> None:
    text = render(ROUTES)
    assert "use_backend kourier if { var(txn.host) -m end .inference.x.test }" in text
    assert "server kourier kourier.knative-serving.svc.cluster.local:80" in text
    without = render(Routes("", "workspaces.x.test", ("runai-a",), 900))
    assert "kourier" not in without
    assert "inference.pem" not in without


def split(text: str, host: str) -> tuple[str, str] | None:
    """Name and namespace that the rules find, read as HAProxy reads them: in order, until one has fitted."""
    rules = re.findall(r"regsub\('(\S+)\$',''\) if \{ var\(txn.host\) -m end -- (\S+) } !taken", text)
    spaces = re.findall(r"set-var\(txn.namespace\) str\((\S+)\) if", text)
    assert len(rules) == len(spaces)
    for (pattern, end), namespace in zip(rules, spaces, strict=True):
        if host.endswith(end):
            return re.sub(f"{pattern}$", "", host), namespace
    return None


@pytest.mark.req("V6")
@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("lab-runai-a.workspaces.x.test", ("lab", "runai-a")),
        ("my-lab-2-runai-a.workspaces.x.test", ("my-lab-2", "runai-a")),
        ("lab-runai-b-runai-a.workspaces.x.test", ("lab", "runai-b-runai-a")),
        ("lab-kube-system.workspaces.x.test", None),
        ("lab-runai-a.inference.x.test", None),
        ("lab-runai-axworkspaces.x.test", None),
    ],
)
def test_a_host_has_one_reading(host: str, found: tuple[str, str] | None) -> None:
    assert split(render(ROUTES), host) == found


@pytest.mark.req("V6")
def test_only_projects_are_reached() -> None:
    assert routes(settings(LOCAL), CATALOG).namespaces == ("runai-team-a", "runai-test")
    nobody = render(Routes("inference.x.test", "w.test", (), 900))
    assert "backend workspaces" not in nobody
    assert "use_backend workspaces" not in nobody


@pytest.mark.req("V5")
def test_a_cold_start_is_waited_for() -> None:
    assert routes(settings(LOCAL), CATALOG).wait_seconds == 900
    slow = changed(LOCAL, "validation.inference.initializationTimeoutSeconds", 3600)
    chosen = routes(settings(slow), CATALOG)
    assert chosen.wait_seconds == 3660
    text = render(chosen)
    for name in ("server", "client", "queue"):
        assert f"    timeout {name} 3660s\n" in text


@pytest.mark.req("I13")
def test_tokens_in_urls_are_not_logged() -> None:
    (line,) = [line for line in render(ROUTES).splitlines() if "log-format" in line]
    assert "%HPO" in line
    assert not re.search(r"%(HU|HQ|r|HP)\b", line)
    assert "option httplog" not in render(ROUTES)


@pytest.mark.req("I7")
@pytest.mark.req("I1")
def test_haproxy_runs_restricted_with_both_certificates(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    spec = pod(run)
    assert required_level(spec) == ("restricted", [])
    assert spec["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True
    assert spec["automountServiceAccountToken"] is False
    (volume,) = [item for item in spec["volumes"] if item["name"] == "certificates"]
    found = {
        source["secret"]["name"]: [item["path"] for item in source["secret"]["items"]]
        for source in volume["projected"]["sources"]
    }
    assert found == {
        "runai-cluster-inference-tls-secret": ["inference.pem", "inference.pem.key"],
        "runai-cluster-domain-star-tls-secret": ["workspaces.pem", "workspaces.pem.key"],
    }
    secrets = tls_secrets(run)
    assert {f"haproxy-controller-{name}" for name in found} <= secrets
    (ingress,) = [
        item for item in run.resources if item.type.endswith(":Ingress") and "runai-kit" in item.type
    ]
    assert secrets <= ingress.depends_on


@pytest.mark.req("I7")
def test_no_class_is_promised_where_nothing_serves_it(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    assert run.of_type("IngressClass") == []
    assert [item for item in run.of_type("Ingress") if item.type.startswith("kubernetes:")] == []


@pytest.mark.req("I7")
def test_outside_and_metrics_are_two_services(tmp_path: Path) -> None:
    run = run_platform(tmp_path, changed(LOCAL, "ingress.httpsPort", 8443))
    outside = run.one("Service", "haproxy").inputs["spec"]
    assert outside["type"] == "NodePort"
    assert {item["name"]: item["port"] for item in outside["ports"]} == {"http": 80, "https": 8443}
    metrics = run.one("Service", "haproxy-metrics").inputs["spec"]
    assert metrics["type"] == "ClusterIP"
    assert run.value["ingress"] == {
        "enabled": True,
        "source": "rendered",
        "className": "haproxy",
        "namespace": "haproxy-controller",
        "service": "haproxy",
        "httpsPort": 8443,
    }
    assert run.value["workspaces"] == {
        "enabled": True,
        "domain": "workspaces.apps.example.test",
        "tlsSecret": "runai-cluster-domain-star-tls-secret",
    }


@pytest.mark.req("I14")
def test_open_requests_end_before_a_pod_does(tmp_path: Path) -> None:
    spec = pod(run_platform(tmp_path))
    assert "kill -USR1 1" in spec["containers"][0]["lifecycle"]["preStop"]["exec"]["command"][2]
    assert spec["terminationGracePeriodSeconds"] > 900


@pytest.mark.req("I7")
def test_the_controller_is_behind_a_load_balancer(tmp_path: Path) -> None:
    run = run_platform(tmp_path, CONTROLLER)
    release = run.one("Release", "haproxy-ingress").inputs
    assert (release["name"], release["namespace"]) == ("haproxy", "haproxy-controller")
    controller = release["values"]["controller"]
    assert release["values"]["fullnameOverride"] == run.value["ingress"]["service"] == "haproxy"
    assert controller["service"]["type"] == "LoadBalancer"
    assert controller["ingressClassResource"] == {"name": "haproxy", "default": True}
    assert controller["replicaCount"] == 2
    assert controller["image"] == {"repository": "docker.io/haproxytech/kubernetes-ingress", "tag": "3.2.12"}
    assert controller["config"]["timeout-server"] == "900s"
    assert "haproxy" not in {item.name for item in run.of_type("Deployment")}


@pytest.mark.req("I7")
@pytest.mark.parametrize("port", [443, 8444])
def test_the_controller_redirects_to_the_port_that_clients_use(port: int, tmp_path: Path) -> None:
    """Unless told the controller names 8443, its pods' own port, where no client reaches it."""
    run = run_platform(tmp_path, changed(CONTROLLER, "ingress.httpsPort", port))
    controller = run.one("Release", "haproxy-ingress").inputs["values"]["controller"]
    assert controller["service"]["ports"] == {"https": port}
    assert controller["config"]["ssl-redirect-port"] == str(port)


@pytest.mark.req("I7")
def test_the_controller_gets_one_wildcard_for_each_domain(tmp_path: Path) -> None:
    run = run_platform(tmp_path, CONTROLLER)
    inference = run.one("networking.k8s.io/v1:Ingress", "inference").inputs
    host = "*.inference.apps.example.test"
    assert inference["metadata"]["namespace"] == "knative-serving"
    assert inference["spec"]["ingressClassName"] == "haproxy"
    assert inference["spec"]["tls"] == [{"hosts": [host], "secretName": "runai-cluster-inference-tls-secret"}]
    (rule,) = inference["spec"]["rules"]
    assert rule["host"] == host
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert backend == {"name": "kourier", "port": {"number": 80}}
    star = run.one("networking.k8s.io/v1:Ingress", "runai-cluster-domain-star-ingress")
    assert star.inputs["metadata"]["namespace"] == "haproxy-controller"
    assert "haproxy-ingress" in star.depends_on
    assert tls_secrets(run) == {
        "knative-serving-runai-cluster-inference-tls-secret",
        "haproxy-controller-runai-cluster-domain-star-tls-secret",
    }


@pytest.mark.req("I7")
def test_somebody_elses_controller_only_gets_objects(tmp_path: Path) -> None:
    run = run_platform(tmp_path, EXISTING)
    assert run.one("networking.k8s.io/v1:Ingress", "inference").inputs["spec"]["ingressClassName"] == "nginx"
    star = run.one("networking.k8s.io/v1:Ingress", "runai-cluster-domain-star-ingress").inputs
    assert star["metadata"]["namespace"] == "knative-serving"
    assert run.value["ingress"]["namespace"] == "edge"
    assert run.value["ingress"]["service"] == "front"
    assert "haproxy-controller" not in {item["name"] for item in run.value["namespaces"]}


@pytest.mark.req("I7")
def test_the_ingress_can_be_left_out(tmp_path: Path) -> None:
    run = run_platform(tmp_path, changed(changed(LOCAL, "ingress", {}), "knative", {}))
    assert tls_secrets(run) == set()
    assert run.value["ingress"] == {
        "enabled": False,
        "source": "",
        "className": "",
        "namespace": "",
        "service": "",
        "httpsPort": 0,
    }
    assert run.value["workspaces"] == {"enabled": False, "domain": "", "tlsSecret": ""}
    assert run.value["tls"] == {"ca": ""}
