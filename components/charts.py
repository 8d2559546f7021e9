"""Where a chart is taken from: a file below the project, or its registry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from components.catalog import Part
from components.config.sections import Charts


@dataclass(frozen=True)
class ChartSource:
    """Chart address and version as Helm releases take them."""

    charts: Charts

    def arguments(self, part: Part) -> dict[str, Any]:
        """`chart`, and `version` where it does not lie in the file itself.

        Paths stay relative to the project: state must not know where somebody checked it out.
        Raises ValueError for a part without a chart.
        """
        if part.chart is None:
            raise ValueError(f"{part.name} has no chart in the catalog")
        if self.charts.source == "directory":
            return {"chart": f"{self.charts.directory.rstrip('/')}/{part.chart.file}"}
        if part.chart.oci:
            return {"chart": part.chart.oci, "version": part.chart.published}
        return {
            "chart": part.chart.name,
            "version": part.chart.published,
            "repository_opts": {"repo": part.chart.repository},
        }
