"""Where images come from, which stages that makes, and what is said about wrong settings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local import demo, paths, plan, shell, storage, tools
from local.cluster import mirror, network

DATABASE = {"root-database", "image-database", "load-database"}


@pytest.fixture(autouse=True)
def no_registries(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RUNAI_KIT_MIRROR", "RUNAI_KIT_IMAGES", "RUNAI_KIT_NO_BUILD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(mirror, "answers", lambda registry: False)


@pytest.mark.req("E2")
def test_images_are_built_where_one_registry_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not mirror.upstream()
    assert {"images-node", "images-platform", "node-image"} <= {stage.name for stage in plan.stages()}
    monkeypatch.setattr(mirror, "answers", lambda registry: registry != "quay.io")
    assert not mirror.upstream()


@pytest.mark.req("E2")
def test_nothing_of_the_cluster_is_built_where_all_registries_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "answers", lambda registry: True)
    names = {stage.name for stage in plan.stages()}
    assert not names & {"images-node", "node-image", "root-node", "tools-kubernetes", "tools-prometheus"}
    # No registry has the kit's own images.
    assert {"images-own", "load-own", "images-lab", "load-lab"} <= names


@pytest.mark.req("E2")
def test_a_mirror_serves_every_registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RUNAI_KIT_MIRROR", "http://10.1.2.3:5000/")
    monkeypatch.setattr(paths, "STATE", tmp_path)
    mirror.write_hosts()
    hosts = {path.parent.name: path.read_text() for path in tmp_path.rglob("hosts.toml")}
    assert set(hosts) == {*mirror.registries(), "kind.local"}
    assert all('[host."http://10.1.2.3:5000"]' in text for text in hosts.values())
    assert not {"images-own", "load-own", "load-lab"} & {stage.name for stage in plan.stages()}


@pytest.mark.req("E1")
def test_a_wrong_source_of_images_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RUNAI_KIT_IMAGES", "docker")
    assert demo.main([]) == 1
    message = capsys.readouterr().err
    assert "RUNAI_KIT_IMAGES: found 'docker', expected auto, packages or upstream" in message
    assert len(message.splitlines()) == 1


@pytest.mark.req("E1")
def test_until_keeps_a_stage_and_what_it_needs() -> None:
    assert [stage.name for stage in plan.until(plan.stages(), "engine")] == ["packages", "engine"]
    with pytest.raises(SystemExit, match="found 'typo', expected one of"):
        plan.until(plan.stages(), "typo")


@pytest.mark.req("E1", "E3")
def test_large_images_are_loaded_beside_the_stack_and_before_the_tests() -> None:
    needs = {stage.name: set(stage.needs) for stage in plan.stages()}
    assert "load-lab" in needs["validate"]
    assert "load-lab" not in needs["up"]
    assert needs["load-lab"] == {"cluster", "images-lab"}


@pytest.mark.req("E1", "I1")
def test_what_enforces_policies_is_no_part_of_the_demo() -> None:
    demo_stages, beside = plan.stages(), plan.optional()
    needs = {stage.name: set(stage.needs) for stage in beside}
    enforcing = {"tools-kube-router", "root-firewall", "image-enforcer", "enforce"}
    assert set(needs) == enforcing | DATABASE
    assert not set(needs) & {name for stage in demo_stages for name in (stage.name, *stage.needs)}
    wanted = {stage.name for stage in plan.until([*demo_stages, *beside], "enforce")}
    assert {"cluster", "tools-kubernetes", *enforcing} <= wanted
    assert not wanted & {"up", *DATABASE}


@pytest.mark.req("E1", "I6")
def test_a_database_is_loaded_for_tests_that_ask_for_it() -> None:
    wanted = {stage.name for stage in plan.until([*plan.stages(), *plan.optional()], "load-database")}
    assert wanted >= {"cluster", *DATABASE}
    assert not wanted & {"up", "image-enforcer"}


@pytest.mark.req("E2")
def test_kinds_own_network_plugin_needs_no_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirror, "answers", lambda registry: True)
    assert {stage.name for stage in plan.optional()} == {"enforce", *DATABASE}


@pytest.mark.req("E2")
def test_forbidden_building_names_the_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNAI_KIT_NO_BUILD", "1")
    with pytest.raises(RuntimeError, match=r"tools kind: .*building is forbidden"):
        tools.groups()["kind"].build()


@pytest.mark.req("E1")
def test_the_storage_manifest_is_refused_when_upstream_changed_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy" / "local-path-storage.yaml").write_text("kind: Something\n")
    monkeypatch.setattr(tools.Group, "module", lambda self, path: tmp_path)
    with pytest.raises(ValueError, match=r"expected one match .* found 0"):
        storage.manifest()


@pytest.mark.req("E1")
def test_every_node_gets_a_route_to_every_other(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [
        {
            "metadata": {"name": name},
            "spec": {"podCIDR": f"10.244.{number}.0/24"},
            "status": {"addresses": [{"type": "InternalIP", "address": f"10.0.0.{number}"}]},
        }
        for number, name in enumerate(("a", "b", "c"))
    ]
    # The kubelets of a busy machine register one after the other.
    registered = iter([nodes[:1], nodes[:2], nodes])
    monkeypatch.setattr("local.shell.read", lambda command: json.dumps({"items": next(registered)}))
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr("local.shell.succeeds", lambda command: True)
    scripts: dict[str, str] = {}

    def run(command: list[str], *, env: dict[str, str], stdin: str) -> None:
        scripts[command[3]] = f"{command[-1]}\n{stdin}"

    monkeypatch.setattr("local.shell.run", run)
    network.connect(["kubectl"])
    assert set(scripts) == {"a", "b", "c"}
    assert "ip route replace 10.244.1.0/24 via 10.0.0.1" in scripts["a"]
    assert "ip route replace 10.244.2.0/24 via 10.0.0.2" in scripts["a"]
    assert "10.244.0.0/24 via" not in scripts["a"]
    assert '"subnet": "10.244.0.0/24"' in scripts["a"]


@pytest.mark.req("E1")
def test_a_node_that_never_registers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.shell.read", lambda command: '{"items": [{"spec": {}}]}')
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(network, "REGISTERED_SECONDS", -1)
    with pytest.raises(shell.CommandError, match=r"found 0 with a pod range .* expected 3"):
        network.connect(["kubectl"])


@pytest.mark.req("E1")
def test_a_wrong_number_of_workers_is_said_before_any_stage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RUNAI_KIT_GPU_NODES", "0")
    assert demo.main([]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "RUNAI_KIT_GPU_NODES: found '0'" in printed.err
