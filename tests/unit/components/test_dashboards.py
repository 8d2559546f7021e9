"""Dashboards: shape, layout, words, and no query that hides missing data."""

from __future__ import annotations

import json
import re
from itertools import combinations
from typing import Any

import pytest

from components.prometheus import dashboards
from validation.dashboards import panels, queries, variables

pytestmark = pytest.mark.req("I10")

Json = dict[str, Any]
FILES = sorted(dashboards.FOLDER.glob("*.json"))
BOARDS: dict[str, Json] = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FILES}
EACH = pytest.mark.parametrize("name", BOARDS)
# Metrics of NVIDIA's exporter that guests with a vGPU do not have.
PASSTHROUGH_ONLY = (
    "GPU_TEMP",
    "MEMORY_TEMP",
    "POWER_USAGE",
    "TOTAL_ENERGY",
    "PROF_",
    "XID",
    "PCIE",
    "NVLINK",
)


def expressions(board: Json) -> list[str]:
    return [target["expr"] for panel in panels(board) for target in panel["targets"]]


def test_every_file_belongs_to_some_stack() -> None:
    everything = dashboards.chosen(serving=True, ingress=True, vllm=True)
    assert set(BOARDS) == set(everything)
    assert dashboards.chosen(serving=False, ingress=False, vllm=True) == dashboards.ALWAYS


@EACH
def test_a_board_can_be_told_from_others_and_put_onto_any_data_source(name: str) -> None:
    board = BOARDS[name]
    assert board["uid"] == f"runai-kit-{name}"
    assert board["title"].startswith("Run:ai kit / ")
    assert board["description"]
    assert "runai-kit" in board["tags"]
    first = board["templating"]["list"][0]
    assert (first["name"], first["type"], first["query"]) == ("datasource", "datasource", "prometheus")
    wanted = {"type": "prometheus", "uid": "${datasource}"}
    for entry in [*variables(board), *panels(board), *(t for p in panels(board) for t in p["targets"])]:
        assert entry["datasource"] == wanted


@EACH
def test_panels_lie_side_by_side_below_a_row(name: str) -> None:
    everything = BOARDS[name]["panels"]
    assert everything[0]["type"] == "row"
    assert len({panel["id"] for panel in everything}) == len(everything)
    for panel in everything:
        place = panel["gridPos"]
        assert place["x"] >= 0
        assert place["x"] + place["w"] <= 24
    for one, other in combinations((panel["gridPos"] for panel in everything), 2):
        apart = (
            one["x"] + one["w"] <= other["x"]
            or other["x"] + other["w"] <= one["x"]
            or one["y"] + one["h"] <= other["y"]
            or other["y"] + other["h"] <= one["y"]
        )
        assert apart, (one, other)


@EACH
def test_panels_say_what_they_show_and_in_which_unit(name: str) -> None:
    for panel in panels(BOARDS[name]):
        assert panel["title"], panel
        assert panel["fieldConfig"]["defaults"].get("unit") or panel["type"] == "table", panel["title"]
        assert panel["fieldConfig"]["defaults"]["thresholds"]["steps"], panel["title"]
        if panel["type"] in ("stat", "gauge", "table"):
            assert panel["description"] or "per second" in panel["title"], panel["title"]
        for target in panel["targets"]:
            assert target["instant"] is not target["range"], panel["title"]


@EACH
def test_no_query_turns_missing_data_into_a_number(name: str) -> None:
    for expression in expressions(BOARDS[name]):
        assert "vector(" not in expression, expression
        assert "absent" not in expression, expression


@EACH
def test_metrics_that_a_vgpu_lacks_have_something_in_their_place(name: str) -> None:
    for expression in expressions(BOARDS[name]):
        if any(
            f"DCGM_FI_DEV_{word}" in expression or f"DCGM_FI_{word}" in expression
            for word in PASSTHROUGH_ONLY
        ):
            assert re.search(r"GPU_TEMP.* or .*VGPU_LICENSE_STATUS", expression), expression


@EACH
def test_variables_used_are_defined(name: str) -> None:
    board = BOARDS[name]
    defined = {entry["name"] for entry in board["templating"]["list"]} | {
        "__rate_interval",
        "__range",
        "__all",
    }
    used = set(
        re.findall(r"\$\{?(\w+)\}?", json.dumps([expressions(board), [p["title"] for p in panels(board)]]))
    )
    assert used <= defined
    for entry in variables(board):
        assert entry["includeAll"] is entry["multi"] is True
        # A choice of several is a regular expression.
        assert f'=~"${entry["name"]}"' in json.dumps(expressions(board)).replace('\\"', '"'), entry["name"]


@EACH
def test_a_rate_of_what_kubelets_tell_looks_back_far_enough(name: str) -> None:
    """They are asked every 15 seconds or less often, whatever the others' interval is."""
    board = BOARDS[name]
    chosen = {entry["name"]: ".*" for entry in variables(board)}
    for query in queries(board, chosen, scrape_seconds=5):
        if "cpu_usage_seconds_total" in query.expression:
            (window,) = set(re.findall(r"\[(\d+)s\]", query.expression))
            assert int(window) >= 60, query.expression


def test_the_config_map_holds_the_file() -> None:
    for name, board in BOARDS.items():
        ((file, text),) = dashboards.data(name).items()
        assert file == f"runai-kit-{name}.json"
        assert json.loads(text) == board
        assert len(text) < 200_000
