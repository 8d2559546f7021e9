"""Settings of the full profile: every key with a wrong type, and combinations that cannot work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.config.errors import SettingsError
from components.config.model import Settings
from components.settings import load
from tests.full import AGENTS, EVERYTHING_FULL, FULL, PASSWORD, SECRETS, write_files
from tests.stack import CATALOG, LOCAL, changed, engine_env
from tests.unit.components.test_settings_corpus import places, shown, wrong

OWN = ("ngc", "controlPlane", "clusterAgents", "serviceAccounts", "accessRules")
FREE = ("controlPlane.values", "clusterAgents.values", "nodes.labels")
PLACES = [
    (path, value)
    for path, value in places(EVERYTHING_FULL)
    if path.startswith(OWN) and not any(f"{free}." in path for free in FREE)
]


def lines(values: dict[str, Any], root: Path, secret: list[str] | None = None) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load(engine_env(values, SECRETS if secret is None else secret), CATALOG, root)
    return [str(problem) for problem in caught.value.problems]


def loaded(values: dict[str, Any], root: Path) -> Settings:
    return load(engine_env(values, SECRETS), CATALOG, root)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_files(tmp_path)
    return tmp_path


@pytest.mark.req("I13")
def test_the_examples_are_accepted(root: Path) -> None:
    settings = loaded(FULL, root)
    assert settings.control_plane_domain() == settings.cluster_domain() == "runai.apps.example.test"
    assert settings.fractions()
    with pytest.raises(ValueError, match="no scheduler of its own"):
        _ = settings.scheduler
    write_files(root, "gpu-1.example.test")
    assert loaded(EVERYTHING_FULL, root).cluster_domain() == "gpu-1.example.test"
    write_files(root, "gpu-2.example.test")
    assert loaded(AGENTS, root).control_plane_domain() == "runai.other.test"


@pytest.mark.req("I13")
@pytest.mark.parametrize(("path", "value"), PLACES, ids=[path for path, _ in PLACES])
def test_a_wrong_type_is_one_line_with_the_key(path: str, value: Any, tmp_path: Path) -> None:
    found = lines(changed(EVERYTHING_FULL, path, wrong(value)), tmp_path)
    assert len(found) == 1, found
    assert found[0].startswith(shown(path)), found[0]
    assert "; expected " in found[0]


SECTIONS = [
    path
    for path, value in PLACES
    if isinstance(value, dict) and not any(path.endswith(free) for free in FREE)
]


@pytest.mark.req("I13")
@pytest.mark.parametrize("section", SECTIONS)
def test_an_unknown_key_is_refused(section: str, tmp_path: Path) -> None:
    found = lines(changed(EVERYTHING_FULL, f"{section}.colour", "red"), tmp_path)
    assert len(found) == 1, found
    assert found[0].startswith(shown(f"{section}.colour"))


REFUSED: list[tuple[dict[str, Any], str, Any, str]] = [
    (FULL, "ngc", {}, "ngc.acceptLicense: found false; expected true; read the NVIDIA"),
    (FULL, "ngc.supportEntitled", True, "ngc.apiKey: found nothing; expected a key exactly where"),
    (FULL, "ngc.apiKey", "key", "ngc.apiKey: found a key; expected a key exactly where"),
    (
        FULL,
        "scheduler",
        {"version": "0.18.6"},
        "scheduler: found a section; expected nothing with profile",
    ),
    (
        FULL,
        "controlPlane.version",
        "2.25.1",
        'controlPlane.version: found "2.25.1"; expected one of',
    ),
    (FULL, "controlPlane.stack", "other", "controlPlane.stack: found"),
    (FULL, "controlPlane.source", "stack", "controlPlane.stack: found nothing; expected a stack's name"),
    (
        FULL,
        "controlPlane.certificate",
        ...,
        "controlPlane.certificate: found nothing; expected",
    ),
    (FULL, "controlPlane.admin", ..., "controlPlane.admin.password: found nothing; expected the first"),
    (FULL, "controlPlane.admin.password", "Password1", "controlPlane.admin.password: found one that the"),
    (FULL, "controlPlane.admin.password", "Pass-w1", "controlPlane.admin.password: found one that the"),
    (FULL, "controlPlane.access", {"clientId": "kit"}, 'controlPlane.access.clientId: found "kit"'),
    (
        FULL,
        "controlPlane.postgresql",
        {"host": "db", "username": "runai"},
        "controlPlane.postgresql.password: found nothing; expected the password of user",
    ),
    (
        FULL,
        "controlPlane.postgresql",
        {"host": "db", "username": "runai", "password": "x", "version": "17"},
        "controlPlane.postgresql.version: found a secret; expected '16'",
    ),
    (FULL, "clusterAgents.enabled", False, "departments: found a list; expected nothing while"),
    (FULL, "clusterAgents.domain", "x.example.test", "clusterAgents.certificate: found nothing"),
    (AGENTS, "controlPlane.domain", ..., "controlPlane.domain: found nothing"),
    (AGENTS, "controlPlane.access", ..., "controlPlane.access.clientSecret: found nothing"),
    (AGENTS, "clusterAgents.domain", ..., "clusterAgents.domain: found nothing; expected this cluster's"),
    (AGENTS, "clusterAgents.enabled", False, "clusterAgents.enabled: found false; expected true with"),
    (
        FULL,
        "serviceAccounts",
        [{"name": "kit", "grants": [{"role": "r", "scope": "project/none"}]}],
        'serviceAccounts[0].grants[0].scope: found "project/none"; expected a department or project',
    ),
    (
        FULL,
        "departments.0.projects.0.gpu",
        {"deserved": -1},
        "departments[0].projects[0].gpu.deserved: found -1; expected a number or a share",
    ),
    (FULL, "controlPlane.domain", "runai.elsewhere.test", "controlPlane.certificate.certificate: found"),
    (FULL, "controlPlane.ca", "certificates/plane.key", "controlPlane.ca: found"),
    (
        LOCAL,
        "clusterAgents",
        {"name": "x"},
        "clusterAgents: found a section; expected nothing with profile",
    ),
    (LOCAL, "scheduler", ..., "scheduler: found nothing; expected a value; set it"),
]


@pytest.mark.req("I13")
@pytest.mark.parametrize(("base", "path", "value", "line"), REFUSED)
def test_what_cannot_work_is_told_before_anything(
    base: dict[str, Any], path: str, value: Any, line: str, root: Path
) -> None:
    found = lines(changed(base, path, value), root)
    assert any(item.startswith(f"runai-kit:{line}") for item in found), found


@pytest.mark.req("I13")
@pytest.mark.parametrize("key", ["ngc", "controlPlane"])
def test_secrets_in_the_clear_are_refused_and_never_shown(key: str, root: Path) -> None:
    secret = [name for name in SECRETS if name != key]
    found = lines(EVERYTHING_FULL, root, secret)
    told = [item for item in found if item.startswith(f"runai-kit:{key}.") and "plain text" in item]
    assert len(told) == {"ngc": 1, "controlPlane": 3}[key]
    assert PASSWORD not in "".join(found)
