"""Alert rules: files below components/alerts in Prometheus' own form, which promtool reads as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

Json = dict[str, Any]

FOLDER = Path(__file__).parents[1] / "alerts"
ALWAYS = ("gpus", "queues", "monitoring")


def chosen(serving: bool, ingress: bool) -> tuple[str, ...]:
    """Names of the files that a stack gets: those about Knative and the ingress only with these."""
    return (*ALWAYS, *(("serving",) if serving else ()), *(("ingress",) if ingress else ()))


def spec(name: str) -> Json:
    """A PrometheusRule's spec."""
    data: Json = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return data


def alerts(names: tuple[str, ...]) -> list[str]:
    """Names of all alerts in these files."""
    return [rule["alert"] for name in names for group in spec(name)["groups"] for rule in group["rules"]]
