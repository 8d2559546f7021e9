"""The suite passes unmodified on clusters of other shapes; the stack file says how many GPUs a node has."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.acceptance.commands import YES, pulumi
from tests.acceptance.conftest import ROOT
from tests.acceptance.test_wrong_on_purpose import failed, prove
from validation.outputs import from_stack, resolved
from validation.settings import StackOutputs, load

pytestmark = pytest.mark.scratch
NOT_COPIED = {".git", "stacks"}
# What is planned from the number of GPUs; the others need two nodes, or do not care.
PLANNED = "V1,V2,V3,V4,gang"


@pytest.fixture
def reshape(tmp_path: Path) -> Iterator[Callable[[dict[str, int]], StackOutputs]]:
    """Gives the nodes other GPU counts through a copy of the stack file, and the old ones back."""
    project = tmp_path / "project"
    (project / "stacks").mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.name not in NOT_COPIED:
            (project / path.name).symlink_to(path)

    def change(counts: dict[str, int]) -> StackOutputs:
        stack: dict[str, Any] = yaml.safe_load((ROOT / "stacks" / "Pulumi.local.yaml").read_text())
        stack["config"]["runai-kit:fakeGpus"]["nodes"] = {
            node: {"count": count} for node, count in counts.items()
        }
        (project / "stacks" / "Pulumi.local.yaml").write_text(yaml.safe_dump(stack))
        pulumi("up", *YES, folder=project).well()
        return load(resolved(from_stack("local", ROOT), ROOT))

    try:
        yield change
    finally:
        pulumi("up", *YES).well()


@pytest.mark.req("V2", "V3", "V4", "V9")
@pytest.mark.parametrize("gpus", [8, 4])
def test_the_suite_passes_on_one_gpu_node(
    gpus: int,
    outputs: StackOutputs,
    reshape: Callable[[dict[str, int]], StackOutputs],
    tmp_path: Path,
) -> None:
    if os.environ.get("KIT_OUTPUTS_FILE"):
        pytest.fail("KIT_OUTPUTS_FILE is set: shapes need the stack itself; unset it")
    first, *others = sorted(outputs.expectedGpus)
    shaped = reshape({first: gpus} | dict.fromkeys(others, 0))
    assert shaped.capacityGpus == gpus
    code, checks = prove("site", shaped, tmp_path / "report", PLANNED)
    assert failed(checks) == set()
    assert code == 0
    for check in ("over_quota.borrow", "reclaim.victims", "gang.starts"):
        assert checks[check]["verdict"] == "pass"
