"""The installer's config.yaml from the same settings: documented keys, no secret, and what it cannot do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from installer.__main__ import main
from installer.config import InstallerError, config
from tests.full import AGENTS, FULL, PASSWORD
from tests.stack import LOCAL, changed, settings

STACKS = Path(__file__).parents[3] / "stacks"


def made(values: dict[str, Any], **changes: Any) -> dict[str, Any]:
    for path, value in changes.items():
        values = changed(values, path.replace("__", "."), value)
    return config(settings(values))


@pytest.mark.req("I8", "I9")
@pytest.mark.parametrize(
    ("values", "mode"),
    [
        (FULL, "full_installation"),
        (AGENTS, "runai_cluster_only"),
        (
            changed(changed(FULL, "clusterAgents.enabled", False), "departments", []),
            "runai_control_plane_only",
        ),
    ],
)
def test_the_mode_is_the_topology(values: dict[str, Any], mode: str) -> None:
    assert made(values)["install"] == {"mode": mode, "connectivity": "connected"}


@pytest.mark.req("I8")
def test_the_control_plane_is_the_stacks_own() -> None:
    plane = made(FULL, controlPlane__storageClass="fast")["controlPlane"]
    assert (plane["enabled"], plane["version"], plane["domain"]) == (
        True,
        "3.0.24",
        "runai.apps.example.test",
    )
    assert plane["tls"] == {"certPath": "certificates/plane.pem", "keyPath": "certificates/plane.key"}
    assert plane["customHelmValues"]["global"] == {
        "ingress": {"ingressClass": "haproxy"},
        "customCA": {"enabled": True},
        "storageClass": "fast",
    }


@pytest.mark.req("I8", "I9")
def test_own_values_are_laid_over_the_stacks_as_the_program_lays_them() -> None:
    ours = {"global": {"customCA": {"enabled": True}, "more": 1}}
    theirs = {"clusterConfig": {"global": {"subdomainSupport": True, "more": 2}}}
    found = made(FULL, controlPlane__values=ours, clusterAgents__values=theirs)
    assert found["controlPlane"]["customHelmValues"]["global"] == {
        "ingress": {"ingressClass": "haproxy"},
        "customCA": {"enabled": True},
        "more": 1,
    }
    assert found["cluster"]["customHelmValues"]["clusterConfig"] == {
        "global": {"ingress": {"ingressClass": "haproxy"}, "subdomainSupport": True, "more": 2},
        "project-controller": {"createNamespaces": False},
    }


@pytest.mark.req("I13")
def test_secrets_are_paths() -> None:
    text = yaml.safe_dump(
        made(
            FULL,
            ngc={"acceptLicense": True, "supportEntitled": True, "apiKey": "the key"},
            controlPlane__postgresql={"host": "db", "username": "runai", "password": "the database's"},
        )
    )
    assert "tokenPath: secrets/ngc-token" in text
    for secret in (PASSWORD, "the key", "the database's"):
        assert secret not in text


@pytest.mark.req("I13")
def test_a_closed_network_gets_no_prerequisites_from_it() -> None:
    closed = made(
        FULL,
        registry={"prefix": "harbor.test/m", "username": "robot", "password": "word"},
        gpuOperator={"source": "install"},
        leaderWorkerSet={"enabled": True},
    )
    assert closed["install"]["connectivity"] == "air_gapped"
    assert closed["registry"] == {
        "host": "harbor.test/m",
        "username": "robot",
        "passwordPath": "secrets/registry-password",
    }
    modes = [item["mode"] for block in ("prerequisites", "features") for item in closed[block].values()]
    assert set(modes) == {"skip"}


@pytest.mark.req("I6", "I12")
def test_in_the_open_it_installs_what_the_stack_would() -> None:
    found = made(
        FULL,
        gpuOperator={"source": "install", "driver": {"version": "615.10"}},
        leaderWorkerSet={"enabled": True},
        mpiOperator={"enabled": True},
    )
    assert found["prerequisites"]["gpuOperator"]["version"] == "v26.7.1"
    assert found["prerequisites"]["gpuOperator"]["customHelmValues"]["driver"]["version"] == "615.10"
    on = {name for name, item in found["features"].items() if item["mode"] == "install"}
    assert on == {"lws", "mpiOperator"}


def test_the_modular_profile_is_not_for_it() -> None:
    with pytest.raises(InstallerError, match='found "modular"'):
        made(LOCAL)


@pytest.mark.parametrize(("name", "code"), [("vks-full", 0), ("vks-airgap", 0), ("vks-modular", 2)])
def test_the_projects_own_stacks(name: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--stack", str(STACKS / f"Pulumi.{name}.yaml")]) == code
    told = capsys.readouterr()
    if code:
        assert 'expected "full"' in told.err
    else:
        assert "not verified" in told.out
        assert yaml.safe_load(told.out)["controlPlane"]["version"] == "3.0.24"
