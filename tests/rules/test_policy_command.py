"""The command `python -m policy`: what it renders, and its exit codes."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
import yaml

from policy.__main__ import main
from policy.render import read_stack
from tests.rules.test_policy_rules import deployment
from tests.stack import LOCAL, changed, write_bundle, write_knative


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    """A stack file, the chart directory beside it, and every chart that the stack needs."""
    return write_stack(tmp_path, LOCAL)


def write_stack(root: Path, values: dict[str, Any]) -> Path:
    path = root / "Pulumi.test.yaml"
    path.write_text(yaml.safe_dump({"config": {f"runai-kit:{key}": value for key, value in values.items()}}))
    write_bundle(root)
    write_knative(root)
    (root / "charts" / "kai-scheduler-0.12.0.tgz").write_text("")
    return path


def helm(root: Path, objects: list[dict[str, Any]], code: int = 0) -> str:
    """A program that answers as `helm template` would, and keeps what it was asked."""
    (root / "rendered.yaml").write_text(yaml.safe_dump_all(objects))
    program = root / "helm"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {root}/arguments\ncat > {root}/values\n'
        f"echo 'no such template' >&2\ncat {root}/rendered.yaml\nexit {code}\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


def operator(**pod: Any) -> dict[str, Any]:
    """KAI's operator as chart 0.12 makes it: without any security context."""
    spec: dict[str, Any] = {"containers": [{"name": "operator"}], "securityContext": {}} | pod
    return deployment("kai-scheduler", **spec)


def run(root: Path, stack: Path, program: str) -> int:
    return main([str(root / "charts"), "--stack", str(stack), "--helm", program])


@pytest.mark.req("I1")
def test_kept_rules_exit_0(tmp_path: Path, stack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, stack, helm(tmp_path, [operator()])) == 0
    assert capsys.readouterr().out.splitlines() == [
        "policy: kai-scheduler-0.12: 1 objects, 0 violations",
        "policy: prometheus-operator: 1 objects, 0 violations",
        "policy: kube-state-metrics: 1 objects, 0 violations",
        "policy: knative-serving-1.21: 16 objects, 0 violations",
        "policy: haproxy: 1 objects, 0 violations",
    ]


@pytest.mark.req("I2")
def test_the_chart_is_rendered_with_the_stacks_own_values(tmp_path: Path) -> None:
    stack = write_stack(tmp_path, changed(LOCAL, "sharing", "none"))
    run(tmp_path, stack, helm(tmp_path, [operator()]))
    values = json.loads((tmp_path / "values").read_text())
    assert values["global"]["gpuSharing"] is False
    assert (tmp_path / "arguments").read_text().split() == [
        *("template", "kai-scheduler", str(tmp_path / "charts" / "kai-scheduler-0.12.0.tgz")),
        *("--namespace", "kai-scheduler", "--values", "-", "--kube-version", "1.34.0"),
    ]


@pytest.mark.req("I1")
def test_a_broken_rule_exits_1_and_is_told(
    tmp_path: Path, stack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, stack, helm(tmp_path, [operator(hostNetwork=True)])) == 1
    assert "  pod-security: Deployment kai-scheduler/d: found hostNetwork;" in capsys.readouterr().out


@pytest.mark.req("I1")
def test_a_chart_that_does_not_render_exits_2(
    tmp_path: Path, stack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, stack, helm(tmp_path, [], code=1)) == 2
    assert "kai-scheduler 0.12.0: no such template" in capsys.readouterr().err


def test_a_missing_chart_exits_2(tmp_path: Path, stack: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "charts" / "kai-scheduler-0.12.0.tgz").unlink()
    assert run(tmp_path, stack, helm(tmp_path, [])) == 2
    assert "no such file; kai-scheduler 0.12.0 cannot be checked" in capsys.readouterr().err


def test_without_helm_nothing_counts_as_checked(
    tmp_path: Path, stack: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, stack, str(tmp_path / "nowhere" / "helm")) == 2
    assert "nothing was checked" in capsys.readouterr().err


def test_the_monitoring_chart_is_rendered_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stack = write_stack(tmp_path, changed(LOCAL, "monitoring.source", "chart"))
    (tmp_path / "charts" / "kube-prometheus-stack-78.5.0.tgz").write_text("")
    run(tmp_path, stack, helm(tmp_path, [operator()]))
    assert "policy: kube-prometheus-stack: 1 objects" in capsys.readouterr().out
    assert json.loads((tmp_path / "values").read_text())["grafana"] == {"enabled": False}


def test_the_projects_stack_file_is_read_by_default() -> None:
    assert (
        read_stack(Path(__file__).parents[2] / "stacks" / "Pulumi.local.yaml").cluster.context
        == "kind-runai-kit"
    )


@pytest.mark.req("I13")
def test_a_wrong_setting_is_told_as_pulumi_tells_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = tmp_path / "Pulumi.wrong.yaml"
    stack.write_text("config:\n  runai-kit:scheduler:\n    replicas: many\n", encoding="utf-8")
    assert main([str(tmp_path), "--stack", str(stack), "--helm", "true"]) == 2
    message = capsys.readouterr().err
    assert 'runai-kit:scheduler.replicas: found "many"; expected a whole number; correct it' in message
    assert "Traceback" not in message
