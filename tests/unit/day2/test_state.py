"""A stack's state, as `pulumi stack export --show-secrets` prints it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from day2 import state

Json = dict[str, Any]
MARK = "4dabf18193072939515e22adb298388d"


def exported(*resources: Json, pending: int = 0) -> Json:
    return {"deployment": {"resources": list(resources), "pending_operations": [{}] * pending}}


def provider(context: str) -> Json:
    return {
        "type": "pulumi:providers:kubernetes",
        "inputs": {"context": context, "kubeconfig": "build/kubeconfig"},
    }


def namespace(name: str, kind: str = "Namespace", **labels: str) -> Json:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}
    return {"type": f"kubernetes:core/v1:{kind}", "inputs": body | {"__fieldManager": "x"}}


def test_objects_releases_and_whose_the_namespaces_are(tmp_path: Path) -> None:
    release = {"type": "kubernetes:helm.sh/v3:Release", "inputs": {"name": "kai", "namespace": "home"}}
    mine = namespace("runai-a", **{"runai-kit.io/project": "a"})
    resources = [provider("c"), mine, namespace("theirs", "NamespacePatch"), release]
    found = state.parse("s", exported(*resources, {"type": "pulumi:pulumi:Stack"}, pending=2), tmp_path)
    assert found.context == "c"
    assert found.kubeconfig == str(tmp_path / "build/kubeconfig")
    assert found.namespaces() == {"runai-a": False, "theirs": True}
    assert [item.is_project() for item in found.objects] == [True, False]
    assert "__fieldManager" not in found.objects[0].body
    assert found.releases == (state.ReleaseName("kai", "home"),)
    assert found.pending == 2
    assert not found.empty()


def test_secrets_are_opened_at_any_depth() -> None:
    secret = {MARK: "1b47061264138c4ac30d75fd1eb44270", "plaintext": json.dumps({"key": "dGV4dA=="})}
    assert state.opened([{"data": secret}]) == [{"data": {"key": "dGV4dA=="}}]


def test_what_is_being_replaced_counts_once(tmp_path: Path) -> None:
    old = namespace("a") | {"delete": True}
    assert len(state.parse("s", exported(provider("c"), old, namespace("a")), tmp_path).objects) == 1


def test_two_clusters_in_one_state_are_refused(tmp_path: Path) -> None:
    with pytest.raises(state.StateError, match="found 2 clusters"):
        state.parse("s", exported(provider("a"), provider("b")), tmp_path)


def test_an_empty_stack_knows_its_cluster_from_its_settings(tmp_path: Path) -> None:
    found = state.parse("s", {"deployment": {}}, tmp_path, ("c", ""))
    assert found.empty()
    assert (found.context, found.kubeconfig) == ("c", "")


def pulumi(folder: Path, script: str) -> str:
    """PATH with a program called pulumi."""
    program = folder / "pulumi"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_a_state_that_cannot_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", pulumi(tmp_path, "echo no such stack >&2; exit 255"))
    with pytest.raises(state.StateError, match="cannot be read: no such stack"):
        state.read("s", tmp_path)
    monkeypatch.setenv("PATH", pulumi(tmp_path, "sleep 5"))
    with pytest.raises(state.StateError, match="no answer within"):
        state.ask(["stack", "export"], "s", tmp_path, timeout=0.3)
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    with pytest.raises(state.StateError, match="not on PATH"):
        state.read("s", tmp_path)


def test_the_settings_of_the_local_stack_follow_the_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = {"kind": "local", "context": "kind-runai-kit", "kubeconfig": "build/local/kubeconfig"}
    text = json.dumps({"runai-kit:cluster": {"value": "…", "objectValue": cluster}})
    monkeypatch.setenv("PATH", pulumi(tmp_path, f"echo '{text}'"))
    monkeypatch.delenv("RUNAI_KIT_CLUSTER", raising=False)
    assert state.cluster_setting("s", tmp_path) == ("kind-runai-kit", "build/local/kubeconfig")
    monkeypatch.setenv("RUNAI_KIT_CLUSTER", "other")
    assert state.cluster_setting("s", tmp_path) == ("kind-other", "build/local-other/kubeconfig")
