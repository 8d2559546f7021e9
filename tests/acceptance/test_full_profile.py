"""The full profile on a live cluster with Pod Security `restricted`: up, unchanged, drift, upgrade, destroy.

NVIDIA's charts and control plane are doubles; the API server, admission, Knative, HAProxy and Prometheus are
not.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.catalog import Catalog
from components.full.saved import NAME as FILE
from components.full.saved import folder_of
from components.runai.access import Access
from components.runai.client import Client
from day2.backup.__main__ import main as backup
from day2.backup.database import FILE as DUMP
from day2.backup.document import Database, read
from day2.backup.live import DEPARTMENTS, PROJECTS, look
from day2.bundle.make import Options
from day2.bundle.make import make as bundle
from policy.render import read_stack, sources
from tests.acceptance import next_release, own_database
from tests.acceptance.canary import leaking, leaks, watched_arguments
from tests.acceptance.commands import YES, pulumi
from tests.acceptance.conftest import ROOT, Kubectl
from tests.acceptance.full_stack import ADMIN, NAME, PASSWORD, FullStack, doubles, stand_in
from tests.contract.doubles import HELM, MANIFESTS, pack_all
from tests.stack import CATALOG
from validation import names
from validation.cluster import Cluster
from validation.settings import StackOutputs

pytestmark = pytest.mark.scratch
Json = dict[str, Any]
OWN = {
    "runai",
    "runai-backend",
    "runai-reservation",
    "gpu-operator",
    "lws-system",
    "kubeflow",
    "mpi-operator",
}
OWN |= {"grove-system", "workload-map", "knative-serving", "haproxy-controller", "monitoring"}
SPACES = {"runai-team-a", "runai-team-b", "runai-test"}


@pytest.fixture(scope="module")
def stack(
    outputs: StackOutputs, kubectl: Kubectl, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FullStack]:
    """The stack, up; afterwards the cluster is as it was."""
    folder = tmp_path_factory.mktemp("full")
    cluster = {"context": outputs.context, "kubeconfig": outputs.kubeconfig}
    charts = folder / "charts"
    shutil.copytree(ROOT / "build" / "charts", charts)
    for name in MANIFESTS:
        shutil.copyfile(ROOT / "tests" / "fixtures" / name, charts / name)
    api = Cluster(outputs.kubeconfig, outputs.context)
    kinds = definitions(api)
    pulumi("destroy", *YES).well()
    try:
        with doubles(folder, CATALOG) as (registry, plane):
            made = FullStack(folder, registry, plane, cluster)
            made.begin()
            for key, archive in pack_all(CATALOG, folder / "packed").items():
                chart = CATALOG.parts[key].chart
                assert chart is not None
                shutil.copyfile(archive, charts / chart.file)
            stand_in(rendered(made, CATALOG), nodes(kubectl))
            try:
                made.pulumi("up", "--yes", "--skip-preview", "--diff")
                yield made
            finally:
                made.changes.clear()
                made.pulumi("destroy", "--yes", "--skip-preview")
                made.end()
    finally:
        # A destroy keeps kinds; another test's may bear the same names.
        for name in definitions(api) - kinds:
            api.delete(f"{names.CRDS}/{name}")
        pulumi("up", *YES).well()


def nodes(kubectl: Kubectl) -> list[str]:
    """All nodes by name, which are this machine's containers, too."""
    return [node["metadata"]["name"] for node in kubectl("get", "nodes")["items"]]


def definitions(api: Cluster) -> set[str]:
    """Names of all kinds that are defined by somebody."""
    return {item["metadata"]["name"] for item in api.items(names.CRDS)}


def rendered(stack: FullStack, catalog: Catalog) -> list[Json]:
    """Everything that doubles of both Grove versions and of all other parts make."""
    found: list[Json] = []
    for version in ("0.1.0-alpha.13", "0.1.0-alpha.17"):
        settings = read_stack(stack.file)
        settings = settings.model_copy(
            update={"grove": settings.grove.model_copy(update={"enabled": True, "version": version})}
        )
        for source in sources(settings, catalog, stack.folder / "charts", HELM):
            part = catalog.parts[source.name]
            if part.name not in {"knative-serving", "haproxy", "prometheus-operator", "kube-state-metrics"}:
                found += source.objects
    return found


@pytest.mark.req("I8", "I9", "I1")
def test_everything_runs_in_namespaces_with_their_levels(stack: FullStack, kubectl: Kubectl) -> None:
    namespaces = {
        item["metadata"]["name"]: item["metadata"] for item in kubectl("get", "namespaces")["items"]
    }
    assert set(namespaces) >= OWN | SPACES
    for name in SPACES | {"runai", "runai-backend", "runai-reservation", "gpu-operator"}:
        assert namespaces[name]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged", name
    assert namespaces["lws-system"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    for kind in ("deployments", "daemonsets"):
        for item in kubectl("get", kind, "-A", "-l", "runai-kit.io/provenance=double")["items"]:
            status = item["status"]
            wanted = status.get("desiredNumberScheduled", item.get("spec", {}).get("replicas"))
            assert status.get("readyReplicas", status.get("numberReady")) == wanted, item["metadata"]["name"]


@pytest.mark.req("I9")
def test_the_agents_know_their_cluster_and_it_is_connected(stack: FullStack, kubectl: Kubectl) -> None:
    (cluster,) = stack.plane.state.clusters.values()
    told = json.loads(stack.pulumi("stack", "output", "--json"))
    assert told["controlPlane"]["clusterId"] == cluster["uuid"]
    secret = kubectl("get", "secret", "runai-kit-client", "-n", "runai")
    assert secret["data"]["clientSecret"]
    values = subprocess.run(
        [str(HELM), "get", "values", "runai-cluster", "-n", "runai", "-o", "json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(values.stdout)["cluster"]["uid"] == cluster["uuid"]


@pytest.mark.req("I14")
def test_the_order_is_that_of_what_needs_what(stack: FullStack, kubectl: Kubectl) -> None:
    order = ["gpu-operator", "runai-backend", "runai-cluster", "grove"]
    releases = kubectl("get", "secrets", "-A", "-l", "owner=helm")["items"]
    first = {item["metadata"]["labels"]["name"]: item["metadata"]["creationTimestamp"] for item in releases}
    times = [first[name] for name in order]
    assert times == sorted(times), first


@pytest.mark.req("I14")
def test_a_second_up_changes_nothing(stack: FullStack) -> None:
    stack.pulumi("preview", "--refresh", "--expect-no-changes")


@pytest.mark.req("I14")
def test_a_change_by_hand_is_shown_and_put_back(stack: FullStack, kubectl: Kubectl) -> None:
    key = "pod-security.kubernetes.io/enforce"
    change = json.dumps({"metadata": {"labels": {key: "restricted"}}})
    kubectl("patch", "namespace", "runai-reservation", "--type=merge", "-p", change, "-o", "json")
    said = stack.pulumi("preview", "--refresh", "--expect-no-changes", "--diff", fails=True)
    assert "runai-reservation" in said
    stack.pulumi("up", "--refresh", "--yes", "--skip-preview")
    labels = kubectl("get", "namespace", "runai-reservation")["metadata"]["labels"]
    assert labels[key] == "privileged"


@pytest.mark.req("I6")
def test_org_units_are_saved_lost_and_brought_back(
    stack: FullStack, capsys: pytest.CaptureFixture[str]
) -> None:
    access = Access(stack.plane.url.removesuffix(":443"), _ca(stack), username=ADMIN, password=PASSWORD)
    client = Client(access)
    (cluster,) = stack.plane.state.clusters
    quota = {"clusterId": cluster, "resources": []}
    department = client.post(DEPARTMENTS, {**quota, "name": "by-hand", "description": "people's"})
    child = {**quota, "parentId": department["id"], "requestedNamespace": "runai-by-hand"}
    client.post(PROJECTS, {**child, "name": "by-hand"})
    before = look(client).tree
    # The chart's double brings no database: that comes with the next test.
    assert backup(["save", NAME], stack.project) == 1
    assert "StatefulSet runai-backend/runai-backend-postgresql: found no such" in capsys.readouterr().err
    assert backup(["save", NAME, "--no-database"], stack.project) == 0
    (folder,) = folder_of(stack.project, NAME).iterdir()
    assert PASSWORD not in (folder / FILE).read_text()
    # Everything goes but what comes with a cluster.
    state = stack.plane.state
    state.projects.clear()
    state.departments = {id_: d for id_, d in state.departments.items() if d["name"] == "default"}
    assert backup(["restore", NAME, str(folder)], stack.project) == 0
    told = capsys.readouterr().out
    assert "made: project local/by-hand\n" in told
    assert "made: project local/team-a\n" in told
    assert look(client).tree == before
    # The stack finds its own by name again, and leaves the others.
    stack.pulumi("up", "--refresh", "--yes", "--skip-preview")
    assert look(client).tree == before
    for path, key in ((PROJECTS, "projects"), (DEPARTMENTS, "departments")):
        for item in list(client.pages(path, key)):
            if item["name"] == "by-hand":
                client.delete(f"{path}/{item['id']}")


@pytest.mark.req("I6", "I13")
def test_before_an_upgrade_the_database_is_saved_lost_and_brought_back(
    stack: FullStack, capsys: pytest.CaptureFixture[str]
) -> None:
    before = set(folder_of(stack.project, NAME).glob("*"))
    with own_database.running(stack.cluster) as database, watched_arguments() as arguments:
        database.sql("create table projects as select 'team-a' as name, 2 as gpus")
        assert backup(["save", NAME], stack.project) == 0
        told = capsys.readouterr()
        (folder,) = set(folder_of(stack.project, NAME).glob("*")) - before
        dump = folder / DUMP
        digest = hashlib.sha256(dump.read_bytes()).hexdigest()
        assert read(folder).database == Database(file=DUMP, bytes=dump.stat().st_size, sha256=digest)
        assert f"database: {DUMP}, {dump.stat().st_size} bytes" in told.out
        assert dump.stat().st_mode & 0o777 == 0o600
        database.sql("drop table projects")
        database.restore(dump)
        assert database.sql("select name, gpus from projects") == "team-a|2"
    said = (told.out + told.err).encode() + (folder / FILE).read_bytes() + b"".join(arguments)
    assert leaks(said, database.secret) == []


@pytest.mark.req("I6", "I14")
def test_another_version_of_the_control_plane_waits_for_a_backup(stack: FullStack, kubectl: Kubectl) -> None:
    saved = folder_of(stack.project, NAME)
    aside = saved.with_name("aside")
    newer = next_release.take(stack)
    saved.rename(aside)
    try:
        assert "`pulumi up` will refuse" in stack.pulumi("preview")
        refused = stack.pulumi("up", "--yes", "--skip-preview", fails=True)
    finally:
        aside.rename(saved)
    assert f"found {next_release.OLD} installed, and no backup" in refused
    assert "Nothing was changed." in refused
    assert next_release.installed() == {f"{part}-{next_release.OLD}" for part in next_release.PARTS}
    stand_in(rendered(stack, newer), nodes(kubectl))
    stack.pulumi("up", "--yes", "--skip-preview")
    assert next_release.installed() == {f"{part}-{next_release.NEW}" for part in next_release.PARTS}
    # Still the same cluster to the control plane.
    assert len(stack.plane.state.clusters) == 1
    stack.pulumi("preview", "--expect-no-changes")


def _ca(stack: FullStack) -> str:
    return (stack.folder / "certificates" / "ca.pem").read_text()


@pytest.mark.req("I14")
def test_an_upgrade_by_one_version_of_the_catalog(stack: FullStack, kubectl: Kubectl) -> None:
    stack.changes["grove"] = {"enabled": True, "version": "0.1.0-alpha.17"}
    said = stack.pulumi("up", "--yes", "--skip-preview", "--diff")
    assert "grove" in said
    pods = kubectl("get", "pods", "-n", "grove-system")["items"]
    named = {container["image"] for pod in pods for container in pod["spec"]["containers"]}
    assert any(image.endswith(":v0.1.0-alpha.17") for image in named)
    stack.pulumi("preview", "--expect-no-changes")


@pytest.mark.req("I13")
def test_the_planted_password_is_in_secrets_only(stack: FullStack, kubectl: Kubectl) -> None:
    """Everything that an `up` and its neighbours said, were started with, wrote and made."""
    exported = stack.pulumi("stack", "export")
    assert NAME in exported
    assert leaks("".join(stack.said).encode()) == []
    assert [line for line in stack.arguments if leaks(line)] == []
    backend = Path(os.environ["PULUMI_BACKEND_URL"].removeprefix("file://"))
    assert list(backend.rglob(f"{NAME}.json"))
    assert [leak for place in (backend, stack.file.parent, stack.temporary) for leak in leaking(place)] == []
    for kind in ("events", "configmaps", "pods", "deployments"):
        assert leaks(json.dumps(kubectl("get", kind, "-A")).encode()) == [], kind
    # It was there to be found: the chart is told the password, and Helm keeps what it was told.
    plane = kubectl("get", "secrets", "-n", "runai-backend", "-l", "owner=helm,name=runai-backend")
    record = gzip.decompress(base64.b64decode(base64.b64decode(plane["items"][-1]["data"]["release"])))
    assert leaks(record)


@pytest.mark.req("I13")
def test_the_planted_password_is_in_no_bundle(stack: FullStack, tmp_path: Path) -> None:
    target = tmp_path / "bundle.tar.gz"
    bundle(Options(NAME, stack.project, target, tmp_path / "report"))
    with tarfile.open(target) as archive:
        archive.extractall(tmp_path / "opened", filter="data")
    assert list((tmp_path / "opened").rglob("*runai-backend*"))
    assert leaking(tmp_path / "opened") == []


@pytest.mark.req("I14")
def test_destroy_leaves_nothing_but_definitions(stack: FullStack, kubectl: Kubectl) -> None:
    stack.pulumi("destroy", "--yes", "--skip-preview")
    left = {item["metadata"]["name"] for item in kubectl("get", "namespaces")["items"]}
    assert left & (OWN | SPACES) == set()
    assert kubectl("get", "secrets", "-A", "-l", "owner=helm")["items"] == []
    assert stack.plane.state.clusters == {}
    # Helm and this kit leave definitions of kinds: other people's objects may be of them.
    for kind in ("validatingwebhookconfigurations", "mutatingwebhookconfigurations"):
        names = {item["metadata"]["name"] for item in kubectl("get", kind)["items"]}
        assert not {name for name in names if "knative" in name}
