"""Chains: what may run beside each other, on which nodes, and what becomes of a run whose chain is ended."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validation import declared
from validation.chains.claims import CPU, GPU, Claim
from validation.chains.processes import Part, play, worth_telling
from validation.chains.schedule import POOL, ConflictError, Schedule, bounds, lendable, part, plan
from validation.expect.nodes import Bed, GpuNode
from validation.settings import StackOutputs, load

Json = dict[str, Any]
OUTPUTS: Json = json.loads((Path(__file__).parent / "data/outputs.json").read_text())
EVERY = list(declared.tests())
pytestmark = pytest.mark.req("V12")


def outputs(**limits: Any) -> StackOutputs:
    return load({**OUTPUTS, "validation": {**OUTPUTS["validation"], **limits}})


def bed(*gpus: int, used: int = 0, bound: int = 0) -> Bed:
    """Nodes of so many GPUs, `used` of the first taken by others."""
    nodes = [GpuNode(f"w{n}", f"host-{n}", count, count) for n, count in enumerate(gpus, 1)]
    if used:
        nodes[0] = GpuNode("w1", "host-1", gpus[0], gpus[0] - used, shared=True)
    return part(nodes, bound)


@st.composite
def situations(draw: st.DrawFn) -> tuple[Bed, StackOutputs, list[str]]:
    sizes = draw(st.lists(st.integers(1, 8), max_size=5))
    used = draw(st.integers(0, sizes[0])) if sizes else 0
    bound = draw(st.sampled_from([0, 0, 1, 2, 4, 8]))
    chosen = draw(st.sets(st.sampled_from(EVERY)))
    return bed(*sizes, used=used, bound=bound), outputs(maxGpus=bound), [t for t in EVERY if t in chosen]


@given(situations())
def test_every_test_runs_once_and_nothing_that_touches_runs_at_the_same_time(
    situation: tuple[Bed, StackOutputs, list[str]],
) -> None:
    found, stack, tests = situation
    made = plan(stack, found, tests)
    assert sorted([*made.alone, *made.beside]) == sorted(tests)
    for one, other in combinations(made.chains.values(), 2):
        assert not any(made.claim(a).touches(made.claim(b)) for a in one for b in other)
    if not made.chains:
        assert made.why
        assert not made.nodes
        return
    by_name = {node.name: node for node in found.nodes}
    assert all(by_name[n].free == by_name[n].gpus and not by_name[n].shared for n in made.nodes), "lent: idle"
    assert any(n.free for n in found.nodes if n.name not in made.nodes), "a GPU is left for chain cpu"
    assert all(len(made.nodes) >= declared.tests()[t].nodes for t in made.chains[GPU])
    if bound := stack.validation.maxGpus:
        assert sum(made.most.values()) <= bound


def test_tests_that_touch_are_refused_beside_each_other() -> None:
    with pytest.raises(ConflictError, match="over_quota and mnist_training"):
        Schedule((), {GPU: ("priority", "over_quota"), CPU: ("mnist_training",)})
    with pytest.raises(ConflictError, match="mnist_training and vllm_inference"):
        Schedule((), {GPU: ("mnist_training",), CPU: ("vllm_inference",)})


@given(
    st.tuples(*[st.builds(Claim, st.sampled_from([None, "", "a", "b"]), st.booleans(), st.booleans())] * 2)
)
def test_claims_touch_both_ways_or_not_at_all(claims: tuple[Claim, Claim]) -> None:
    one, other = claims
    assert one.touches(other) == other.touches(one)
    assert one.touches(one)
    if one.pool is None or one.pool == other.pool:
        assert one.touches(other)


def test_two_nodes_of_four_are_parted() -> None:
    made = plan(outputs(), bed(4, 4), EVERY)
    assert made.nodes == ("w2",)
    assert made.chains[CPU] == ("jupyter_workspace", "mnist_training", "vllm_inference", "model_streamer")
    assert set(made.chains[GPU]) == {
        "reclaim",
        "priority",
        "coexistence",
        "fair_share_over_time",
        "fallbacks",
    }
    assert {"preflight", "gang", "over_quota", "monitoring", "combined_state"} <= set(made.alone)


def test_with_a_third_node_gangs_run_beside_the_processor_too() -> None:
    made = plan(outputs(), bed(4, 4, 4), EVERY)
    assert len(made.nodes) == 2
    assert {"gang", "topology", "placement"} <= set(made.chains[GPU])


@pytest.mark.parametrize(
    ("found", "why"),
    [(bed(8), "found free GPUs w1: 8 of 8"), (bed(4, 4, bound=1), "more than validation.maxGpus = 1")],
)
def test_why_there_are_no_chains_is_told(found: Bed, why: str) -> None:
    made = plan(outputs(maxGpus=0 if found.scarce else 1), found, EVERY)
    assert why in made.why
    assert list(made.alone) == EVERY


def test_node_pools_of_a_control_plane_are_left_alone() -> None:
    made = plan(load({**OUTPUTS, "driver": "runai"}), bed(4, 4), EVERY)
    assert "driver runai" in made.why
    assert not made.chains


def test_a_node_that_others_use_is_kept_not_lent() -> None:
    assert [node.name for node in lendable(bed(4, 4, 4, used=2), 1, 5)] == ["w2", "w3"]
    assert lendable(bed(4, used=4), 1, 5) == []


def test_a_chain_sees_its_pool_and_its_bound_only() -> None:
    seen = bounds(outputs(), GPU, 3).validation
    assert (seen.nodePool, seen.maxGpus) == (POOL, 3)
    assert bounds(outputs(), CPU, 1).validation.nodePool == ""


def test_what_a_chain_tells_has_no_empty_plays() -> None:
    said = ["PLAY [a]\n", "\n", "PLAY [b]\n", "\n", "TASK [c]\n", "ok\n", "\n", "PLAY [d]\n"]
    assert list(worth_telling(said)) == ["PLAY [b]", "TASK [c]", "ok"]


SCRIPT = """#!{python}
import json, os, pathlib, sys, time
name = os.environ["PART"]
out = pathlib.Path(os.environ["OUT"])
(out / f"{{name}}.begun").write_text(str(os.getpid()))
for _ in range(200):
    if (out / "go").exists():
        break
    time.sleep(0.05)
print("TASK [work]")
(out / f"{{name}}.done").write_text("")
sys.exit(int(os.environ.get("STATUS", "0")))
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place whose ansible-playbook waits until it may go on."""
    script = tmp_path / "bin" / "ansible-playbook"
    script.parent.mkdir()
    script.write_text(SCRIPT.format(python=sys.executable))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    return tmp_path


def started(project: Path, *names: str, **more: str) -> list[Part]:
    return [
        Part(name, ("t",), {}, {**os.environ, "PART": name, "OUT": str(project), **more}) for name in names
    ]


def until(path: Path, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not path.exists() or not path.read_text():
        assert time.monotonic() < end, f"{path.name} did not come"
        time.sleep(0.02)


def test_two_chains_run_at_the_same_time(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def let_go() -> None:
        # Neither ends before both have begun: one after the other would wait in vain.
        until(project / "gpu.begun")
        until(project / "cpu.begun")
        (project / "go").touch()

    helper = threading.Thread(target=let_go)
    helper.start()
    assert play(started(project, "gpu", "cpu"), Path("inventory"), project) == {"gpu": 0, "cpu": 0}
    helper.join()
    told = capfd.readouterr().out
    assert " gpu | TASK [work]" in told
    assert " cpu | TASK [work]" in told


def test_a_killed_chain_is_told_and_leaves_the_other_alone(project: Path) -> None:
    def kill() -> None:
        until(project / "gpu.begun")
        until(project / "cpu.begun")
        os.kill(int((project / "cpu.begun").read_text()), signal.SIGKILL)
        (project / "go").touch()

    helper = threading.Thread(target=kill)
    helper.start()
    statuses = play(started(project, "gpu", "cpu"), Path("inventory"), project)
    helper.join()
    assert statuses == {"gpu": 0, "cpu": -signal.SIGKILL}
    assert (project / "gpu.done").exists()
    assert not (project / "cpu.done").exists()
