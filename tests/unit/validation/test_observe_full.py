"""V1 in the full profile: each observation on a healthy bed, and on one with exactly its fault."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.unit.validation.double import OUTPUTS, Double, pod, thing
from tests.unit.validation.full_bed import PLANE, Bed
from tests.unit.validation.tls import Authority, say, served
from validation import declared, names
from validation.cluster import ClusterError
from validation.compare import differences
from validation.expect import full as expect
from validation.expect import preflight as whole
from validation.observe import preflight, probes
from validation.observe.full import CHECKS, DNS, plane
from validation.observe.full.ground import AGENTS, BACKEND, LEASES
from validation.settings import load

pytestmark = pytest.mark.req("V1")
Json = dict[str, Any]
# What only the control plane tells is asked of its double in tests/contract/test_preflight.py.
OVER_REST = {"login", "cluster", "version", "teams"}


def judged(bed: Bed) -> tuple[set[str], dict[str, str]]:
    """Failed checks by their last word, and the text of each."""
    at = bed.at()
    wanted = expect.expected(at.outputs, 30)
    told = {}
    for check in CHECKS:
        word = check.removeprefix("preflight.runai_")
        if word in OVER_REST:
            continue
        seen = CHECKS[check](at)
        if lines := differences(wanted[check], seen):
            told[word] = "; ".join([*lines, *seen.get("why", [])])
    return set(told), told


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    return Bed(tmp_path)


def test_a_healthy_cluster_passes(bed: Bed) -> None:
    assert judged(bed)[1] == {}


def restricted(bed: Bed) -> None:
    bed.named(names.NAMESPACES, AGENTS)["metadata"]["labels"][names.PSA_ENFORCE_LABEL] = "restricted"
    message = 'pods "agent-1" is forbidden: violates PodSecurity "restricted:latest": privileged'
    bed.cluster.add(names.EVENTS, thing("e", AGENTS, reason="FailedCreate", message=message))


def by_hand(bed: Bed) -> None:
    bed.cluster.add(names.NAMESPACES, thing("runai-by-hand", labels={"runai/queue": "by-hand"}))


def no_reservation_namespace(bed: Bed) -> None:
    spaces = bed.cluster.objects[names.NAMESPACES]
    spaces[:] = [n for n in spaces if n["metadata"]["name"] != "runai-reservation"]


def reservation_refused(bed: Bed) -> None:
    def admit(path: str, body: Json) -> Json:
        if "runai-reservation/pods" in path:
            raise ClusterError('403 violates PodSecurity "restricted:latest"', 403)
        return body

    bed.cluster.admit = admit


def no_scheduler_name(bed: Bed) -> None:
    features = bed.named(names.CONFIG_MAPS, "config-features", "knative-serving")["data"]
    del features["kubernetes.podspec-schedulername"]

    def admit(path: str, body: Json) -> Json:
        if path.endswith("/services"):
            raise ClusterError(
                "400 validation failed: must not set the field(s): spec.template.spec.schedulerName", 400
            )
        return body

    bed.cluster.admit = admit


def http_urls(bed: Bed) -> None:
    bed.named(names.CONFIG_MAPS, "config-network", "knative-serving")["data"] = {}


def ca_on_one_side(bed: Bed) -> None:
    secrets = bed.cluster.objects[names.SECRETS]
    secrets.remove(bed.named(names.SECRETS, "runai-ca-cert", AGENTS))


def another_ca(bed: Bed) -> None:
    other = base64.b64encode(Authority("another").pem.encode()).decode()
    bed.named(names.SECRETS, "runai-ca-cert", BACKEND)["data"] = {"runai-ca.pem": other}


def old_shape_of_the_ca(bed: Bed) -> None:
    data = bed.named(names.SECRETS, "runai-ca-cert", AGENTS)["data"]
    data["ca.crt"] = data.pop("runai-ca.pem")


def no_wildcard(bed: Bed) -> None:
    bed.certificate(AGENTS, "star", PLANE)


def certificate_for_another(bed: Bed) -> None:
    bed.certificate(BACKEND, "runai-backend-tls", "elsewhere.test")


def certificate_ends(bed: Bed) -> None:
    bed.certificate(AGENTS, "runai-cluster-domain-tls-secret", PLANE, days=3)


def hook_left(bed: Bed) -> None:
    failed = {
        "type": "Failed",
        "status": "True",
        "reason": "BackoffLimitExceeded",
        "message": "backoff limit",
    }
    job = thing(
        "pre-install", BACKEND, annotations={"helm.sh/hook": "pre-install"}, status={"conditions": [failed]}
    )
    bed.cluster.add(names.JOBS, job)


def release_failed(bed: Bed) -> None:
    bed.release(AGENTS, "runai-cluster", 3, "failed")


def waiting(reason: str, message: str) -> Json:
    return {"name": "main", "restartCount": 0, "state": {"waiting": {"reason": reason, "message": message}}}


def out_of_pods(bed: Bed) -> None:
    failed = pod("thanos-0", BACKEND, phase="Failed", reason="OutOfpods", message="not enough resource: pods")
    bed.cluster.add(names.PODS, failed)


def volume_pending(bed: Bed) -> None:
    claim = thing("data-thanos-receive-0", BACKEND, spec={}, status={"phase": "Pending"})
    bed.cluster.add(names.CLAIMS, claim)


def two_mpi(bed: Bed) -> None:
    training = bed.named(names.DEPLOYMENTS, "training-operator", "kubeflow")
    del training["spec"]["template"]["spec"]["containers"][0]["args"]


def first_mpi(bed: Bed) -> None:
    bed.named(names.CRDS, "mpijobs.kubeflow.org")["spec"]["versions"] = [{"name": "v1", "served": True}]


def late_clock(bed: Bed) -> None:
    leases = bed.cluster.items(LEASES)
    leases[0]["spec"]["renewTime"] = "2026-11-30T23:30:47.000000Z"


@pytest.mark.parametrize(
    ("spoil", "checks", "words"),
    [
        (restricted, {"psa"}, ["namespace runai: restricted", 'violates PodSecurity "restricted:latest"']),
        (by_hand, {"psa"}, ["namespace runai-by-hand: no label"]),
        (no_reservation_namespace, {"psa"}, ["runai-reservation: missing"]),
        (reservation_refused, {"reservation"}, ["namespace runai-reservation: 403 violates PodSecurity"]),
        (no_scheduler_name, {"knative"}, ["must not set", "podspec-schedulername is not set"]),
        (http_urls, {"knative"}, ["scheme: expected https, found http"]),
        (
            ca_on_one_side,
            {"ca"},
            ["different: expected [], found ['runai']", "Secret runai/runai-ca-cert: none"],
        ),
        (another_ca, {"ca"}, ["found ['runai-backend']"]),
        (old_shape_of_the_ca, {"ca"}, ["Secret runai/runai-ca-cert: no key runai-ca.pem"]),
        (no_wildcard, {"certificates"}, [f"Secret runai/star: is for {PLANE}; expected *.{PLANE}"]),
        (certificate_for_another, {"certificates"}, ["is for elsewhere.test; expected runai.apps.test"]),
        (certificate_ends, {"certificates"}, ["Secret runai/runai-cluster-domain-tls-secret: 2 days"]),
        (hook_left, {"releases"}, ["runai-backend/pre-install (pre-install): BackoffLimitExceeded"]),
        (release_failed, {"releases"}, ["release runai/runai-cluster: revision 3 is failed"]),
        (out_of_pods, {"pods"}, ["runai-backend/thanos-0: OutOfpods"]),
        (volume_pending, {"pods"}, ["data-thanos-receive-0: Pending, class not set"]),
        (two_mpi, {"mpi"}, ["kubeflow/training-operator watches MPI jobs beside mpi-operator/mpi-operator"]),
        (first_mpi, {"mpi"}, ["serves v1, not v2beta1"]),
        (late_clock, {"clock"}, ["node w1: -120 s"]),
    ],
)
def test_each_fault_is_found_by_its_check(
    spoil: Callable[[Bed], None], checks: set[str], words: list[str], bed: Bed
) -> None:
    spoil(bed)
    found, told = judged(bed)
    assert found == checks
    for word in words:
        assert word in told[next(iter(checks))], told


@pytest.mark.req("V11")
def test_events_and_leases_of_others_are_no_fault(bed: Bed) -> None:
    theirs = thing("e", "default", reason="FailedCreate", message='violates PodSecurity "restricted"')
    bed.cluster.add(names.EVENTS, theirs)
    bed.cluster.add(names.PODS, pod("theirs", "default", phase="Failed", reason="OutOfpods"))
    assert judged(bed)[1] == {}


def test_without_host_based_routing_no_wildcard_is_asked_for(bed: Bed) -> None:
    bed.outputs["controlPlane"]["hostBasedRouting"] = False
    no_wildcard(bed)
    assert judged(bed)[1] == {}
    assert expect.resolvable(load(bed.outputs)) == [PLANE, "runai-kit-preflight.inference.apps.local.test"]


def test_agents_alone_are_held_against_the_control_plane_elsewhere(bed: Bed) -> None:
    bed.outputs["namespaces"] = [n for n in bed.outputs["namespaces"] if n["name"] != BACKEND]
    another_ca(bed)
    certificate_for_another(bed)
    hook_left(bed)
    assert judged(bed)[1] == {}
    ca_on_one_side(bed)
    assert judged(bed)[0] == {"ca"}


@pytest.mark.req("I1")
def test_vgpu_is_reported_and_neither_refused_nor_called_supported(bed: Bed) -> None:
    for name in ("w1", "w2"):
        bed.named(names.NODES, name)["metadata"]["labels"][names.GPU_PRODUCT_LABEL] = "NVIDIA-H100XM-80C"
    bed.outputs["fakeGpus"] = {"enabled": False}
    at = bed.at()
    seen = preflight.CHECKS["preflight.gpu_mode"](at)
    live: Json = {"apiAddress": None, "gpuNodes": [], "labelledGpus": {}}
    wanted = preflight_expectations(at.outputs, live)["preflight.gpu_mode"]
    assert differences(wanted, seen) == []
    assert "outside the vendor's support statement" in seen["statement"]
    assert judged(bed)[1] == {}


def preflight_expectations(outputs: Any, live: Json) -> Json:
    return whole.expected(outputs, live, "restricted", 10, 30, 1, "word")


def test_the_modular_profile_is_not_asked_and_says_why() -> None:
    at = Double().at()
    assert {check: look(at) for check, look in CHECKS.items()} == {check: {} for check in CHECKS}
    why = declared.beside(OUTPUTS)
    assert set(CHECKS) | {DNS} <= set(why)
    assert why[DNS] == "it is about profile full, and this stack's profile is modular"


def test_what_a_full_stack_leaves_out_is_not_asked_either(bed: Bed) -> None:
    page = {"jupyter_workspace.page"}  # behind the control plane's login
    assert set(declared.beside(bed.outputs)) == page
    bed.outputs["inference"] = {"enabled": False}
    why = declared.beside(bed.outputs)
    assert set(why) == page | {"preflight.runai_knative"}
    assert why["preflight.runai_knative"].endswith("this stack's inference.enabled is false")
    assert CHECKS["preflight.runai_knative"](bed.at()) == {}


def test_names_that_a_pod_did_not_resolve_are_found(bed: Bed) -> None:
    outputs = load(bed.outputs)
    wanted = expect.expected(outputs, 30)[DNS]
    first, *others = expect.resolvable(outputs)
    log = "".join(f"NAME={name} ADDRESS=192.0.2.7\n" for name in others)
    probe = pod(probes.NAMES_POD, "runai-kit-preflight", phase="Succeeded")
    bed.cluster.add(names.PODS, probe)
    bed.cluster.said[probes.NAMES_POD] = f"NAME={first} ADDRESS=\n{log}"
    seen = probes.resolved(bed.cluster.cluster, 1)[0][DNS]
    assert differences(wanted, seen) == [f"addresses.{first}: expected matches ., found "]
    assert seen["why"] == ["no Service carries k8s-app=kube-dns"]
    bed.cluster.said[probes.NAMES_POD] = f"NAME={first} ADDRESS=192.0.2.7\n{log}"
    assert differences(wanted, probes.resolved(bed.cluster.cluster, 1)[0][DNS]) == []
    # A probe that said nothing is no success.
    bed.cluster.said[probes.NAMES_POD] = ""
    assert differences(wanted, probes.resolved(bed.cluster.cluster, 1)[0][DNS])


@pytest.mark.parametrize("port", ["", ":30443"])
def test_logins_issued_at_another_address_are_found(port: str, bed: Bed, tmp_path: Path) -> None:
    told: Json = {}

    def respond(handler: BaseHTTPRequestHandler, _body: bytes) -> None:
        say(handler, 200 if "openid-configuration" in handler.path else 404, json.dumps(told).encode())

    with served(respond, tmp_path, "localhost") as there:
        url = f"https://localhost:{there.port}"
        told["issuer"] = f"{f'https://localhost{port}' if port else url}/auth/realms/runai"
        bed.outputs["controlPlane"] |= {"url": url, "ca": there.ca}
        at = bed.at()
        seen = plane.login(at)
    lines = differences(expect.expected(at.outputs, 30)["preflight.runai_login"], seen)
    assert bool(lines) is bool(port)
    assert not port or ":30443/auth/realms/runai" in lines[0]


def test_a_control_plane_that_does_not_answer_fails_the_check_and_says_so(bed: Bed) -> None:
    bed.outputs["controlPlane"] |= {"url": "https://127.0.0.1:1"}
    assert "expected one within" in plane.login(bed.at())["error"]


def test_a_project_without_pools_and_a_department_without_quota_are_named() -> None:
    def quota(gpus: float) -> list[Json]:
        return [{"nodePool": {"id": "p1", "name": "default"}, "gpu": {"deserved": gpus}}]

    department = {"id": "d1", "name": "research", "resources": quota(0)}
    projects: list[Json] = [
        {"name": "a", "parentId": "d1", "resources": quota(1), "defaultNodePools": ["default"]},
        {"name": "b", "parentId": "d1", "resources": quota(0.5), "effective": {"defaultNodePools": []}},
    ]
    assert plane.without_pools(projects) == ["b"]
    told = "department research, node pool default: no quota, its projects were promised 1.5"
    assert plane.without_quota([department], projects) == [told]
    assert plane.without_quota([{**department, "resources": quota(1)}], projects) == []
