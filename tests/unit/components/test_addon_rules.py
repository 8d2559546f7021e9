"""Add-ons that cannot work together, each with its key path; and what they look like when they can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.versions import at_least
from tests.stack import CATALOG, LOCAL, changed
from tests.unit.components.test_settings_rules import lines, loaded, root

__all__ = ["root"]  # a fixture

INSTALL: dict[str, Any] = {"gpuOperator": {"source": "install"}, "fakeGpus": {}}
VGPU: dict[str, Any] = INSTALL | {
    "gpuOperator.mode": "vgpu",
    "gpuOperator.driver": {"version": "570.172.08", "password": "ngc key"},
    "gpuOperator.licence": {"token": "tok"},
}
NEW: dict[str, Any] = {"scheduler.version": "0.18.6"}
KRM: dict[str, Any] = NEW | {"resourceManagement": {"enabled": True}}


def stack(changes: dict[str, Any]) -> dict[str, Any]:
    values = LOCAL
    for path, value in changes.items():
        values = changed(values, path, value)
    return values


BROKEN: list[tuple[str, dict[str, Any], str, str]] = [
    ("unknown version", {"grove": {"enabled": True, "version": "9"}}, "grove.version", "0.1.0-alpha.17"),
    ("Grove on an old KAI", {"grove": {"enabled": True}}, "scheduler.version", "0.17 or later with grove"),
    ("KRM with another KAI", KRM | {"scheduler.version": "0.12.0"}, "scheduler.version", "comes inside"),
    (
        "KRM and past use",
        KRM | {"scheduler.timeBasedFairShare.enabled": True, "monitoring.retention": "168h"},
        "scheduler.timeBasedFairShare.enabled",
        "false while resourceManagement",
    ),
    ("HAMi on an old KAI", {"sharing": "hami"}, "sharing", "0.18 or later"),
    (
        "fractioning on an old KAI",
        INSTALL | {"sharing": "fractioning", "gpuOperator.driver": {"version": "615.1"}},
        "sharing",
        '"reservation" or "none"',
    ),
    (
        "fractioning without a driver of its branch",
        NEW | INSTALL | {"sharing": "fractioning"},
        "gpuOperator.driver.version",
        "r615 or later",
    ),
    (
        "fractioning with an older driver",
        NEW | INSTALL | {"sharing": "fractioning", "gpuOperator.driver": {"version": "580.173.02"}},
        "gpuOperator.driver.version",
        'found "580.173.02"',
    ),
    ("fractioning on pretended GPUs", NEW | {"sharing": "fractioning"}, "sharing", "no driver is there"),
    ("MPS by somebody else's operator", {"sharing": "mps"}, "sharing", "install the operator"),
    (
        "an operator over pretended GPUs",
        {"gpuOperator": {"source": "install"}},
        "gpuOperator.source",
        "pretended",
    ),
    (
        "vGPU without a licence",
        VGPU | {"gpuOperator.licence": None},
        "gpuOperator.licence",
        "NVIDIA's portal",
    ),
    (
        "vGPU without a driver version",
        VGPU | {"gpuOperator.driver": {"password": "ngc key"}},
        "gpuOperator.driver.version",
        "bundle that the hosts run",
    ),
    (
        "NVIDIA's vGPU driver without a login",
        VGPU | {"gpuOperator.driver": {"version": "570.172.08"}},
        "gpuOperator.driver.password",
        "an NGC API key",
    ),
    (
        "a login for a driver that nobody pulls",
        INSTALL | {"gpuOperator.driver": {"source": "host", "password": "word"}},
        "gpuOperator.driver.password",
        "no driver image is pulled",
    ),
    (
        "NVIDIA's key for a mirror",
        VGPU | {"registry": {"prefix": "harbor.test/m"}},
        "gpuOperator.driver.password",
        "the login of the mirror is registry.username",
    ),
    (
        "a login for somebody else's driver",
        {"gpuOperator": {"driver": {"password": "word"}}},
        "gpuOperator.driver.password",
        "operator that is there",
    ),
    (
        "a licence for a whole card",
        VGPU | {"gpuOperator.mode": "passthrough"},
        "gpuOperator.licence",
        "only a vGPU guest driver",
    ),
    (
        "a licence for somebody else's operator",
        {"gpuOperator": {"licence": {"token": "tok"}}},
        "gpuOperator.licence",
        "operator that is there",
    ),
    (
        "no such counters",
        INSTALL | {"gpuOperator.counters": "none.csv"},
        "gpuOperator.counters",
        "kit's own list",
    ),
    ("a prefix without a mirror", {"charts.prefix": "harbor.test/c"}, "charts.prefix", "both or neither"),
]


@pytest.mark.req("I4", "I5", "I6", "I12")
@pytest.mark.parametrize(("changes", "path", "text"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN])
def test_one_line_names_the_key(changes: dict[str, Any], path: str, text: str, root: Path) -> None:
    (line,) = lines(stack(changes), root, ["gpuOperator"])
    assert line.startswith(f"runai-kit:{path}: found ")
    assert text in line


@pytest.mark.req("I6", "I13")
def test_a_licence_in_plain_text_is_refused_and_not_shown(root: Path) -> None:
    found = lines(
        stack(
            VGPU
            | {"gpuOperator.licence.token": "in the clear", "gpuOperator.driver.password": "in the clear"}
        ),
        root,
    )
    assert [line.partition(";")[0] for line in found] == [
        f"runai-kit:gpuOperator.{key}: found plain text" for key in ("driver.password", "licence.token")
    ]
    assert "in the clear" not in "".join(found)


@pytest.mark.req("I4", "I5", "I6", "I12")
@pytest.mark.parametrize(
    "changes",
    [
        INSTALL,
        VGPU,
        INSTALL | {"gpuOperator.mode": "vgpu", "gpuOperator.driver": {"source": "host"}},
        # The login of a repository of one's own is the site's business.
        VGPU | {"gpuOperator.driver": {"version": "570.172.08", "repository": "own.test/nvidia"}},
        VGPU
        | {
            "gpuOperator.driver": {"version": "570.172.08"},
            "registry": {"prefix": "harbor.test/m"},
        },
        KRM,
        NEW | INSTALL | {"sharing": "fractioning", "gpuOperator.driver": {"version": "615.10"}},
        NEW | INSTALL | {"sharing": "fractioning", "gpuOperator.driver": {"source": "host"}},
        INSTALL | {"sharing": "mig"},
        NEW
        | {
            "grove": {"enabled": True},
            "workloadMap": {"enabled": True},
            "leaderWorkerSet": {"enabled": True},
        },
        {"trainingOperator": {"enabled": True}, "mpiOperator": {"enabled": True}},
    ],
)
def test_what_goes_together_is_accepted(changes: dict[str, Any], root: Path) -> None:
    loaded(stack(changes), root, ["gpuOperator"])


@pytest.mark.req("I12")
@pytest.mark.parametrize("source", ["registry", "mirror"])
def test_manifests_are_files_wherever_charts_come_from(source: str, tmp_path: Path) -> None:
    prefix = {"charts.prefix": "harbor.test/c"} if source == "mirror" else {}
    changes = {
        "charts": {"source": source},
        "monitoring": {},
        "knative": {},
        "ingress": {},
        "mpiOperator": {"enabled": True},
    }
    (line,) = lines(stack(changes | prefix), tmp_path)
    assert line == (
        'runai-kit:charts.directory: found "build/charts" without mpi-operator-0.8.0.yaml; expected that '
        "file in it; put the release's manifests there: "
        "kubeflow/mpi-operator deploy/v2beta1/mpi-operator.yaml of the release"
    )


@pytest.mark.parametrize(
    ("version", "floor", "enough"),
    [("0.18.6", "0.17", True), ("0.9", "0.17", False), ("26.7", "26.7.1", False), ("v615.1", "615", True)],
)
def test_versions_are_compared_by_their_numbers(version: str, floor: str, enough: bool) -> None:
    assert at_least(version, floor) is enough


def test_every_floor_is_a_number() -> None:
    for part in CATALOG.parts.values():
        assert all(at_least("9999", floor) and not at_least("0", floor) for floor in part.needs.values())
