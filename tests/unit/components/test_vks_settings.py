"""Settings of the VKS packages and of VCF Operations that cannot work together."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.config.vks_rules import vks_problems
from tests.stack import CATALOG, LOCAL, changed, settings
from tests.unit.components.test_settings_rules import STACKS, root

__all__ = ["root"]  # a fixture

Changes = dict[str, Any]
ON: Changes = {
    "cluster.kind": "vks",
    "fakeGpus.enabled": False,
    "vksMonitoring": {"packages": "detect"},
}
OPS: Changes = {
    "vcfOperations": {"url": "https://ops.example.test", "username": "kit", "clusterName": "vks-gpu"}
}
# A file that is there, and counts nothing.
OWN: Changes = {
    "gpuOperator": {"source": "install", "counters": "charts/prometheus-operator-0.85.0/bundle.yaml"}
}

# A section in a stack file that is there as a comment.
OFFERED = re.compile(r"^  # runai-kit:v(?:ks|cf)[A-Z].*\n(?:  #   .*\n)+", re.MULTILINE)

# Changes to LOCAL, the setting that is wrong, words of the line.
BROKEN: list[tuple[str, Changes, str, str]] = [
    ("no vks", ON | {"cluster.kind": "other"}, "vksMonitoring.packages", 'a cluster of kind "other"'),
    (
        "no such telegraf",
        ON | {"vksMonitoring.telegrafVersion": "1"},
        "vksMonitoring.telegrafVersion",
        "one of 1.38.4",
    ),
    (
        "no such prometheus",
        ON | {"vksMonitoring.prometheusVersion": "2"},
        "vksMonitoring.prometheusVersion",
        "one of 3.5.3",
    ),
    (
        "no exporter",
        ON | {"monitoring.dcgmNamespace": ""},
        "monitoring.dcgmNamespace",
        "DCGM exporter runs",
    ),
    (
        "counters without what telegraf passes",
        ON | OWN,
        "gpuOperator.counters",
        "without DCGM_FI_DEV_GPU_UTIL, DCGM_FI_DEV_MEM_COPY_UTIL, DCGM_FI_DEV_VGPU_MEMORY_USAGE; expected",
    ),
    ("nobody asks", OPS | {"vcfOperations.username": ""}, "vcfOperations.username", "found nothing"),
    ("about what", OPS | {"vcfOperations.clusterName": ""}, "vcfOperations.clusterName", "found nothing"),
    ("a user of nothing", {"vcfOperations": {"username": "kit"}}, "vcfOperations.username", "or remove it"),
    ("a CA that is none", OPS | {"vcfOperations.ca": "nowhere.pem"}, "vcfOperations.ca", "a PEM file"),
]


def stack(changes: Changes) -> dict[str, Any]:
    values = LOCAL
    for key, value in changes.items():
        values = changed(values, key, value)
    return values


@pytest.mark.req("I10", "I11")
@pytest.mark.parametrize(
    ("changes", "path", "words"), [item[1:] for item in BROKEN], ids=[item[0] for item in BROKEN]
)
def test_each_rule_is_one_line(changes: Changes, path: str, words: str, root: Path) -> None:
    lines = [str(problem) for problem in vks_problems(settings(stack(changes)), CATALOG, root)]
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"runai-kit:{path}: found ")
    assert words in lines[0]


@pytest.mark.req("I10", "I11")
@pytest.mark.parametrize(
    "changes",
    [
        {},
        ON,
        OPS,
        # The operator's own list is not this stack's.
        ON | OWN | {"gpuOperator.source": "existing"},
        ON | OWN | {"vksMonitoring.dcgm": False},
        # Versions of packages that somebody else installed are theirs.
        ON | {"vksMonitoring.packages": "existing", "vksMonitoring.telegrafVersion": "1"},
    ],
)
def test_what_can_work_is_let_through(changes: Changes, root: Path) -> None:
    assert list(vks_problems(settings(stack(changes)), CATALOG, root)) == []


@pytest.mark.req("I11", "I13")
@pytest.mark.parametrize("name", ["vks-modular", "vks-full", "vks-airgap"])
def test_the_sections_that_stack_files_offer_as_comments_are_right(name: str, root: Path) -> None:
    whole = (STACKS / f"Pulumi.{name}.yaml").read_text()
    commented = "".join(match[0] for match in OFFERED.finditer(whole))
    sections = yaml.safe_load(re.sub(r"^  # ", "", commented, flags=re.MULTILINE))
    changes = {key.removeprefix("runai-kit:"): value for key, value in sections.items()}
    assert set(changes) == {"vksMonitoring", "vcfOperations"}
    assert list(vks_problems(settings(stack(ON | changes)), CATALOG, root)) == []
