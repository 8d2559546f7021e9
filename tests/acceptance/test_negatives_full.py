"""V1 of the full profile in both directions: what users of Run:ai ran into, on a cluster that looks like one.

First everything as it should be, then all faults at once that do not hide each other; what only the product
could show (its login service) fails in both and is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.runai.access import Access
from tests.acceptance import things
from tests.acceptance.as_if_full import BELOW, NOT_HERE, RESERVATION, Product
from tests.acceptance.broken import Broken, until
from tests.acceptance.proving import Wrong, prove
from tests.contract.control_plane.options import Options
from tests.contract.control_plane.serving import running
from tests.unit.validation.tls import Authority
from validation import names
from validation.observe.full.ground import AGENTS, BACKEND, PROJECT_LABEL
from validation.settings import StackOutputs

pytestmark = [pytest.mark.scratch, pytest.mark.req("V1"), pytest.mark.usefixtures("unchanged")]
Json = dict[str, Any]
PASSWORD = "Of-a-test-1"
QUICK = {"preflight_timeout": 30, "preflight_cleanup_timeout": 30}


@pytest.fixture
def product(outputs: StackOutputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Product]:
    """Preflight may ask it: the account is in the environment."""
    authority = Authority("full profile")
    options = Options(password=PASSWORD, ready_after=0, connect_after=0)
    pem = authority.issue("localhost", tmp_path)
    with running(options, pem) as plane, Broken(outputs) as wrong:
        made = Product(wrong, plane, authority, tmp_path)
        made.install(Access(plane.url, authority.pem, username=options.username, password=PASSWORD))
        for name, value in made.environment.items():
            monkeypatch.setenv(name, value)
        yield made


def test_a_cluster_as_run_ai_leaves_it_passes(
    product: Product, outputs: StackOutputs, tmp_path: Path
) -> None:
    proof = prove(outputs, tmp_path / "run", "preflight", variables=QUICK, **product.outputs())
    assert proof.failed() == NOT_HERE
    full = {name for name in proof.checks if name.startswith("preflight.runai_")}
    assert {proof.checks[name]["verdict"] for name in full - NOT_HERE} == {"pass"}


def damage_the_ground(product: Product) -> None:
    """Namespaces that refuse, no CA on one side, a wildcard for another, two operators for MPI, no name."""
    wrong = product.wrong
    for name in (AGENTS, RESERVATION):
        label = {"labels": {names.PSA_ENFORCE_LABEL: "restricted"}}
        wrong.patched(f"{names.NAMESPACES}/{name}", {"metadata": label})
    meta = {"name": "runai-by-hand", "labels": {PROJECT_LABEL: "by-hand"}}
    wrong.made(names.NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    wrong.api.delete(f"{names.in_namespace(names.SECRETS, AGENTS)}/runai-ca-cert")
    wrong.api.delete(f"{names.in_namespace(names.SECRETS, AGENTS)}/star")
    product.certificate(AGENTS, "star", "*.elsewhere.test")
    wrong.api.delete(f"{names.in_namespace(names.DEPLOYMENTS, BACKEND)}/training-operator")
    product.operator("training-operator", [])
    wrong.api.delete(f"{names.in_namespace(names.SERVICES, 'default')}/{BELOW}")
    features = f"{names.in_namespace(names.CONFIG_MAPS, wrong.outputs.inference.namespace)}/config-features"
    wrong.patched(features, {"data": {"kubernetes.podspec-schedulername": "disabled"}})


def damage_what_runs(product: Product) -> None:
    """A hook that failed, a pod that its node refuses, a volume of a class that does not exist."""
    wrong, image = product.wrong, product.wrong.outputs.images["cuda"]
    failing = things.pod("hook", image, restartPolicy="Never")["spec"]
    failing["containers"][0]["command"] = ["false"]
    job: Json = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "pre-install", "annotations": {"helm.sh/hook": "pre-install"}},
        "spec": {"backoffLimit": 0, "template": {"spec": failing}},
    }
    path = wrong.made(names.in_namespace(names.JOBS, BACKEND), job)
    until(lambda: _failed(wrong.api.get(path)), "the hook failed")
    node = next(name for name, gpus in sorted(wrong.outputs.expectedGpus.items()) if gpus)
    refused = things.pod("too-many", image, 99, nodeName=node)
    path = wrong.made(names.in_namespace(names.PODS, BACKEND), refused)
    until(lambda: wrong.api.get(path)["status"]["phase"] == "Failed", "the kubelet refused the pod")
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-thanos-receive-0"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "nowhere",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    wrong.made(names.in_namespace(names.CLAIMS, BACKEND), claim)


def _failed(job: Json) -> bool:
    conditions = job.get("status", {}).get("conditions") or []
    return any(c["type"] == "Failed" and c["status"] == "True" for c in conditions)


def damage_the_org(product: Product) -> None:
    """What the control plane tells: another version, a missing dependency, a project without pools."""
    state = product.plane.state
    cluster = state.clusters[product.uuid]
    cluster["version"] = "2.24.82"
    cluster["status"]["state"] = "MissingPrerequisites"
    (project,) = (p for p in state.projects.values() if p["name"] == "team")
    project["defaultNodePools"], project["effective"] = [], {}
    state.departments[project["parentId"]]["resources"][0]["gpu"]["deserved"] = 0


def second_default(product: Product) -> None:
    """Two IngressClasses, each marked as default."""
    for name in ("ours", "theirs"):
        meta = {"name": name, "annotations": {names.DEFAULT_INGRESS_CLASS_ANNOTATION: "true"}}
        body = {"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass", "metadata": meta}
        product.wrong.made(names.INGRESS_CLASSES, {**body, "spec": {"controller": f"example.org/{name}"}})


@pytest.mark.negative(
    "preflight.runai_psa",
    "preflight.runai_reservation",
    "preflight.runai_knative",
    "preflight.runai_ca",
    "preflight.runai_certificates",
    "preflight.runai_dns",
    "preflight.runai_releases",
    "preflight.runai_pods",
    "preflight.runai_cluster",
    "preflight.runai_version",
    "preflight.runai_teams",
    "preflight.runai_mpi",
    "preflight.ingress_class",
)
def test_what_users_of_run_ai_ran_into(product: Product, outputs: StackOutputs, tmp_path: Path) -> None:
    damage_the_ground(product)
    damage_what_runs(product)
    damage_the_org(product)
    second_default(product)
    proof = prove(outputs, tmp_path / "run", "preflight", variables=QUICK, **product.outputs())
    shown = (
        Wrong(
            "preflight.runai_psa", (f"namespace {AGENTS}: restricted", "namespace runai-by-hand: no label")
        ),
        Wrong("preflight.runai_reservation", (f"namespace {RESERVATION}: ", "PodSecurity")),
        Wrong("preflight.runai_knative", ("podspec-schedulername is disabled", "must not set")),
        Wrong("preflight.runai_ca", ("found ['runai']", "Secret runai/runai-ca-cert: none")),
        Wrong("preflight.runai_certificates", ("Secret runai/star: is for *.elsewhere.test",)),
        Wrong("preflight.runai_dns", (f"addresses.{BELOW}.", "expected matches ."), seconds=30),
        Wrong("preflight.runai_releases", ("runai-backend/pre-install (pre-install): BackoffLimitExceeded",)),
        Wrong(
            "preflight.runai_pods",
            ("runai-backend/too-many: ", "data-thanos-receive-0: Pending, class nowhere"),
        ),
        Wrong("preflight.runai_cluster", ("expected Connected, found MissingPrerequisites",)),
        Wrong("preflight.runai_version", ("expected 3.0.24, found 2.24.82",)),
        Wrong("preflight.runai_teams", ("withoutPools: expected [], found ['team']", "department research")),
        Wrong("preflight.runai_mpi", ("runai-backend/training-operator watches MPI jobs",)),
        Wrong("preflight.ingress_class", ("'defaults': 2",)),
    )
    proof.shows(*shown)
    assert proof.failed() == {one.check for one in shown} | {"preflight.namespaces"} | NOT_HERE
    assert proof.seconds <= 120
