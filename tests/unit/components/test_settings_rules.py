"""Combinations that cannot work, each with its key path; and what they look like when they can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from components.config.errors import SettingsError
from components.config.model import Settings
from components.settings import load
from tests.stack import (
    CATALOG,
    EVERYTHING,
    LOCAL,
    changed,
    engine_env,
    write_bundle,
    write_certificates,
    write_knative,
)

# Certificates for LOCAL's domain, and for EVERYTHING's.
FILES: dict[str, Any] = {
    "source": "files",
    "ca": "local/ca.pem",
    "inference": {"certificate": "local/inference.pem", "keyFile": "local/inference.key"},
    "workspaces": {"certificate": "local/workspaces.pem", "keyFile": "local/workspaces.key"},
}
LOCAL_DOMAINS = {use: f"{use}.apps.example.test" for use in ("inference", "workspaces")}
DOMAINS = {"inference": "inference.example.test", "workspaces": "workspaces.example.test"}
STACKS = Path(__file__).parents[3] / "stacks"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with every chart file in place."""
    write_bundle(tmp_path)
    write_knative(tmp_path)
    write_certificates(tmp_path, DOMAINS)
    write_certificates(tmp_path, LOCAL_DOMAINS, "local")
    for part in CATALOG.parts.values():
        if part.chart is not None and not (tmp_path / "charts" / part.chart.file).exists():
            (tmp_path / "charts" / part.chart.file).write_text("")
    return tmp_path


def lines(values: dict[str, Any], root: Path, secret: list[str] | None = None) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load(engine_env(values, secret), CATALOG, root)
    return [str(problem) for problem in caught.value.problems]


def loaded(values: dict[str, Any], root: Path, secret: list[str] | None = None) -> Settings:
    return load(engine_env(values, secret), CATALOG, root)


def test_both_example_stacks_are_accepted(root: Path) -> None:
    assert loaded(LOCAL, root).profile == "modular"
    key = (root / "certificates" / "workspaces.key").read_text()
    everything = changed(EVERYTHING, "tls.workspaces.key", key)
    assert loaded(everything, root, ["registry", "tls"]).scheduler.replicas == 2


@pytest.mark.req("I13")
@pytest.mark.parametrize("name", ["kind", "vks-modular", "local"])
def test_the_stack_files_of_the_project_are_accepted(name: str, root: Path) -> None:
    config = yaml.safe_load((STACKS / f"Pulumi.{name}.yaml").read_text(encoding="utf-8"))["config"]
    values = {k.removeprefix("runai-kit:"): v for k, v in config.items() if k.startswith("runai-kit:")}
    if "charts" in values and values["charts"]["source"] == "directory":
        values["charts"]["directory"] = "charts"
    # The files that a user puts beside the stack.
    domains = {use: f"{use}.{values['domain']}" for use in ("inference", "workspaces")}
    write_certificates(root, domains)
    settings = loaded(values, root)
    assert [department.name for department in settings.departments] == ["engineering", "research", "default"]
    assert config["pulumi:disable-default-providers"] == ["kubernetes"]


BROKEN: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "fake GPUs on VKS",
        {"cluster.kind": "vks", "ingress": {}, "knative": {}},
        "fakeGpus.enabled",
        "kinds local and kind only",
    ),
    (
        "fake GPUs elsewhere",
        {"cluster.kind": "other", "ingress": {}, "knative": {}},
        "fakeGpus.enabled",
        "kinds local and kind only",
    ),
    ("fake GPUs on all nodes", {"fakeGpus.nodeSelector": {}}, "fakeGpus.nodeSelector", "at least one label"),
    ("two expectations", {"expectedGpus": {"n": 4}}, "expectedGpus", "fakeGpus already"),
    (
        "fair share without monitoring",
        {"scheduler.timeBasedFairShare.enabled": True, "monitoring.enabled": False},
        "scheduler.timeBasedFairShare.enabled",
        "turn monitoring on",
    ),
    (
        "past use is forgotten",
        {"scheduler.timeBasedFairShare.enabled": True},
        "monitoring.retention",
        "at least scheduler.timeBasedFairShare.windowSize (168h)",
    ),
    (
        "past use is read too seldom",
        {"scheduler.timeBasedFairShare": {"enabled": True, "windowSize": "1m"}},
        "scheduler.timeBasedFairShare.fetchInterval",
        "less than windowSize (1m)",
    ),
    ("Grafana with the bundle", {"monitoring.grafana": True}, "monitoring.grafana", "kube-prometheus-stack"),
    ("two schedulers, no leader", {"scheduler.replicas": 2}, "scheduler.leaderElection", "2 replicas"),
    ("unknown version", {"scheduler.version": "0.13.0"}, "scheduler.version", "0.12.0, 0.18.6"),
    ("same department twice", {"departments.1.name": "engineering"}, "departments[1].name", "a second time"),
    (
        "project named as a department",
        {"departments.1.projects.0.name": "engineering"},
        "departments[1].projects[0].name",
        "a second time",
    ),
    (
        "same project twice",
        {"departments.1.projects.0.name": "team-a"},
        "departments[1].projects[0].name",
        "a second time",
    ),
    (
        "deserved above limit",
        {"departments.0.gpu.deserved": "60%"},
        "departments[0].gpu.deserved",
        "at most the limit 50%",
    ),
    (
        "unlimited deserved, limit",
        {"departments.1.gpu.limit": 4},
        "departments[1].gpu.deserved",
        "at most the limit 4",
    ),
    (
        "project above department",
        {"departments.0.projects.0.gpu.limit": "75%"},
        "departments[0].projects[0].gpu.limit",
        "limit 50% of department engineering",
    ),
    (
        "half a GPU without sharing",
        {"departments.1.projects.0.gpu.deserved": 0.5, "sharing": "none"},
        "departments[1].projects[0].gpu.deserved",
        "whole GPUs while sharing is",
    ),
    ("capacity not given", {"capacity.source": "setting"}, "capacity.gpus", "found nothing"),
    ("capacity given and counted", {"capacity.gpus": 8}, "capacity.gpus", 'capacity.source is "live"'),
    (
        "unknown pool of a department",
        {"departments.0.nodePool": "a100"},
        "departments[0].nodePool",
        "none defined",
    ),
    ("unknown pool of the tests", {"validation.nodePool": "a100"}, "validation.nodePool", "none defined"),
    (
        "pool called default",
        {"nodePools.pools": [{"name": "default"}]},
        "nodePools.pools[0].name",
        "another name",
    ),
    (
        "same pool twice",
        {"nodePools.pools": [{"name": "a"}, {"name": "a"}]},
        "nodePools.pools[1].name",
        "a second time",
    ),
    (
        "pool size beside counting",
        {"nodePools.pools": [{"name": "a", "gpus": 4}]},
        "nodePools.pools[0].gpus",
        "set both the same way",
    ),
    (
        "user without password",
        {"registry": {"prefix": "h.test", "username": "u"}},
        "registry.password",
        "config set --secret",
    ),
    (
        "streaming loader without vLLM",
        {"validation.inference.server": "transformers", "validation.inference.loadFormat": "runai_streamer"},
        "validation.inference.loadFormat",
        "only vLLM has a streaming loader",
    ),
    (
        "model outside the claim",
        {"validation.inference.model": "/data/qwen3"},
        "validation.inference.model",
        "mounted at /models",
    ),
    (
        "claim and a name to fetch",
        {"validation.inference.pvc": "models", "validation.inference.model": "Qwen/Qwen3-0.6B"},
        "validation.inference.model",
        "name the model's folder in the claim",
    ),
    ("unknown Knative", {"knative.version": "1.19.0"}, "knative.version", "1.20.1, 1.21.1"),
    ("Knative behind nothing", {"ingress": {}}, "knative.enabled", "false while ingress.enabled is false"),
    (
        "own CA on a real cluster",
        {"cluster.kind": "vks", "fakeGpus": {}, "ingress.source": "controller"},
        "tls.source",
        "for the kinds local and kind only",
    ),
    (
        "rendered ingress on a real cluster",
        {"cluster.kind": "other", "fakeGpus": {}, "tls": FILES},
        "ingress.source",
        "for the kinds local and kind only",
    ),
    (
        "no certificate given",
        {"tls": {}, "knative": {}},
        "tls.workspaces",
        "certificate and key for *.workspaces.",
    ),
    (
        "certificates twice",
        {"tls.inference": {"certificate": "x", "keyFile": "y"}},
        "tls.inference",
        "remove it",
    ),
    ("a CA for generated ones", {"tls.ca": "x"}, "tls.ca", "remove it"),
    (
        "renewal at every run",
        {"tls.days": 30},
        "tls.renewBeforeDays",
        "or every run would make new certificates",
    ),
    ("no key", {"tls": changed(FILES, "workspaces.keyFile", "")}, "tls.workspaces.keyFile", "found nothing"),
    (
        "key and file",
        {"tls": changed(FILES, "workspaces.key", "text")},
        "tls.workspaces.keyFile",
        "found a file and a key",
    ),
    (
        "certificate of another domain",
        {"tls": FILES, "domain": "other.test", "knative": {}},
        "tls.workspaces.certificate",
        "expected the name *.workspaces.other.test",
    ),
    (
        "existing without a namespace",
        {"ingress.source": "existing", "ingress.service": "front"},
        "ingress.namespace",
        "the namespace of the controller's Service",
    ),
    (
        "service of nobody else's",
        {"ingress.service": "front"},
        "ingress.service",
        'belongs to ingress.source "existing"',
    ),
    (
        "one domain for both",
        {"ingress.workspacesDomain": "a.test", "knative.domain": "a.test"},
        "ingress.workspacesDomain",
        "could not be told apart",
    ),
    (
        "a project's name with two readings",
        {"departments.1.projects.0.name": "b-runai-team-a"},
        "departments[1].projects[0].name",
        "could also be of project team-a",
    ),
    (
        "the bundle with somebody else's operator",
        {"monitoring.operator": "existing"},
        "monitoring.operator",
        "set monitoring.source to chart",
    ),
    ("no such directory", {"charts.directory": "elsewhere"}, "charts.directory", "create it"),
]


@pytest.mark.req("I13")
@pytest.mark.parametrize(
    ("changes", "path", "words"), [item[1:] for item in BROKEN], ids=[item[0] for item in BROKEN]
)
def test_an_impossible_combination_is_one_line(
    changes: dict[str, Any], path: str, words: str, root: Path
) -> None:
    values = LOCAL
    for key, value in changes.items():
        values = changed(values, key, value)
    found = lines(values, root, ["registry", "tls"])
    assert len(found) == 1, found
    assert found[0].startswith(f"runai-kit:{path}: found ")
    assert words in found[0]


@pytest.mark.req("I13")
def test_a_key_in_the_clear_is_not_shown(root: Path) -> None:
    key = changed(changed(FILES, "workspaces.keyFile", ""), "workspaces.key", "canary-7f3a")
    assert "canary" not in "".join(lines(changed(LOCAL, "tls", key), root))
    encrypted = lines(changed(LOCAL, "tls", key), root, ["tls"])
    assert encrypted[0].startswith("runai-kit:tls.workspaces.key: found no PEM private key")
    assert "canary" not in "".join(encrypted)


@pytest.mark.req("I13")
def test_a_password_in_the_clear_is_refused_and_not_shown(root: Path) -> None:
    registry = {"prefix": "h.test", "username": "u", "password": "canary-7f3a"}
    found = lines(changed(LOCAL, "registry", registry), root)
    assert found[0].startswith("runai-kit:registry.password: found plain text; expected an encrypted value")
    assert "canary" not in "".join(found)
    assert loaded(changed(LOCAL, "registry", registry), root, ["registry"]).registry.username == "u"


@pytest.mark.req("I13")
@pytest.mark.parametrize("missing", ["kai-scheduler-0.12.0.tgz", "prometheus-operator-0.85.0/bundle.yaml"])
def test_a_missing_chart_file_is_named(missing: str, root: Path) -> None:
    (root / "charts" / missing).unlink()
    found = lines(LOCAL, root)
    assert len(found) == 1
    assert f"without {missing};" in found[0]


def test_a_chart_that_is_not_used_may_be_missing(root: Path) -> None:
    (root / "charts" / "kube-prometheus-stack-78.5.0.tgz").unlink()
    assert loaded(LOCAL, root).monitoring.source == "bundle"


def test_an_unlimited_project_is_cut_by_its_department(root: Path) -> None:
    assert (
        loaded(changed(LOCAL, "departments.0.projects.0.gpu.limit", -1), root)
        .departments[0]
        .projects[0]
        .gpu.limit.unlimited
    )


def test_keys_of_other_namespaces_are_not_ours(root: Path) -> None:
    env = engine_env(LOCAL)
    env["PULUMI_CONFIG"] = env["PULUMI_CONFIG"][:-1] + ', "aws:region": "x", "other:runai-kit:y": "z"}'
    assert load(env, CATALOG, root).domain == "apps.example.test"


def test_no_settings_at_all_is_an_error_and_no_crash(root: Path) -> None:
    with pytest.raises(SettingsError, match="runai-kit:cluster: found nothing"):
        load({}, CATALOG, root)
