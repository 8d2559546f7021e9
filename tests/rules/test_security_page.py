"""docs/security.md is what the catalog and the charts say; a wide right is recognised as one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policy.page import PageError, main, namespaces, put, rights
from policy.rights import Role, own, rendered, wide
from tests.stack import CATALOG, LOCAL, run_platform, settings, write_bundle

PAGE = Path(__file__).parents[2] / "docs" / "security.md"


@pytest.mark.req("I1")
def test_the_page_is_fresh() -> None:
    assert main([str(PAGE), "--check"]) == 0, (
        "run python -m policy.page docs/security.md --charts build/charts"
    )


@pytest.mark.req("I1")
def test_a_change_of_the_catalog_makes_the_page_stale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = CATALOG.project_namespace.model_copy(update={"psa": "privileged"})
    changed = CATALOG.model_copy(update={"project_namespace": entry})
    monkeypatch.setattr("policy.page.load_catalog", lambda: changed)
    page = tmp_path / "security.md"
    page.write_text(PAGE.read_text())
    assert main([str(page), "--check"]) == 1
    assert "stale" in capsys.readouterr().out
    assert main([str(page)]) == 0
    assert "| `runai-<project>` | privileged |" in page.read_text()
    assert main([str(page), "--check"]) == 0


def test_every_relaxed_namespace_is_on_the_page_with_its_reason() -> None:
    table = namespaces(CATALOG)
    for key, part in CATALOG.parts.items():
        for name, entry in part.namespaces.items():
            row = f"| `{name}` | {entry.psa} | {key} | {entry.why} |"
            assert (row in table) is (entry.psa != "restricted"), row


@pytest.mark.parametrize("text", ["", "<!-- rights:begin -->", "<!-- rights:end --> <!-- rights:begin -->"])
def test_a_page_without_markers_is_refused(text: str) -> None:
    with pytest.raises(PageError, match="<!-- rights:begin -->"):
        put(text, "rights", "table")


def test_without_helm_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "security.md"
    page.write_text(PAGE.read_text())
    assert main([str(page), "--charts", str(tmp_path), "--helm", "no-such-program"]) == 2
    assert "no program no-such-program" in capsys.readouterr().err
    assert page.read_text() == PAGE.read_text()


def role(rule: dict[str, Any]) -> Role:
    return Role("part", "name", ({"apiGroups": [""], "verbs": ["get"], **rule},), ("ns/account",))


WIDE = [
    {"resources": ["secrets"]},
    {"resources": ["nodes/proxy"]},
    {"resources": ["*"]},
    {"resources": ["*/exec"]},
    {"resources": ["pods/exec"], "verbs": ["create"]},
    {"resources": ["serviceaccounts/token"], "verbs": ["create"]},
    {"apiGroups": ["*"], "resources": ["clusterroles"], "verbs": ["escalate"]},
    {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "verbs": ["*"]},
]
NARROW = [
    {"resources": ["pods"]},
    {"resources": ["nodes"]},
    {"resources": ["secrets"], "apiGroups": ["example.com"]},
    {"resources": ["pods/exec"], "verbs": ["list"]},
    {"nonResourceURLs": ["/metrics"], "apiGroups": []},
]


@pytest.mark.parametrize("rule", WIDE)
def test_a_wide_right_is_told(rule: dict[str, Any]) -> None:
    assert list(wide(role(rule)))
    assert "| part | `name` | `ns/account` |" in rights([role(rule)])


@pytest.mark.parametrize("rule", NARROW)
def test_a_narrow_right_is_not(rule: dict[str, Any]) -> None:
    assert list(wide(role(rule))) == []
    assert "`name`" not in rights([role(rule)])


def test_a_right_on_named_objects_says_so() -> None:
    ((right, _),) = wide(role({"resources": ["secrets"], "resourceNames": ["one"]}))
    assert right == "get secrets (one only)"


def test_an_aggregated_role_has_the_rules_of_those_that_it_selects() -> None:
    labels = {"aggregate": "yes"}
    core = {"name": "core", "labels": labels}
    objects: list[dict[str, Any]] = [
        {
            "kind": "ClusterRole",
            "metadata": {"name": "admin"},
            "aggregationRule": {"clusterRoleSelectors": [{"matchLabels": labels}]},
        },
        {"kind": "ClusterRole", "metadata": core, "rules": [{"verbs": ["get"]}]},
        {"kind": "ClusterRole", "metadata": {"name": "other"}, "rules": [{"verbs": ["list"]}]},
        {
            "kind": "ClusterRoleBinding",
            "roleRef": {"name": "admin"},
            "subjects": [{"kind": "ServiceAccount", "namespace": "a", "name": "b"}],
        },
    ]
    admin = next(found for found in rendered("part", objects) if found.name == "admin")
    assert admin.rules == ({"verbs": ["get"]},)
    assert admin.accounts == ("a/b",)


@pytest.mark.req("I1")
def test_the_components_own_roles_are_those_that_the_program_declares(tmp_path: Path) -> None:
    run = run_platform(tmp_path)
    write_bundle(tmp_path)
    declared = {item.name: item.inputs.get("rules") for item in run.of_type("ClusterRole")}
    known = {item.name: list(item.rules) for item in own(settings(LOCAL), CATALOG, tmp_path / "charts")}
    assert known
    for name, rules in known.items():
        assert rules == declared[name], name
    # What is left comes from release files, which are read as they are.
    assert all(name.startswith(("knative-", "net-kourier")) for name in declared.keys() - known.keys())
