"""Grafana dashboards: JSON files below components/dashboards, as ConfigMaps for its sidecar."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "dashboards"
LABEL = {"grafana_dashboard": "1"}
ALWAYS = ("cluster", "gpus", "queues", "workloads")


def chosen(serving: bool, ingress: bool, vllm: bool) -> tuple[str, ...]:
    """Names of the dashboards that a stack gets: an empty one for what does not run would only mislead."""
    optional = {"serving": serving, "ingress": ingress, "vllm": serving and vllm}
    return (*ALWAYS, *(name for name, wanted in optional.items() if wanted))


def object_name(name: str) -> str:
    """Name of the ConfigMap."""
    return f"dashboard-{name}"


def data(name: str) -> dict[str, str]:
    """The ConfigMap's data: one file; compact, because people read the dashboard and not the ConfigMap."""
    board = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return {f"runai-kit-{name}.json": json.dumps(board, separators=(",", ":"), sort_keys=True)}
