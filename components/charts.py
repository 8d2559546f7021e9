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
        """`chart`, with `version` and `repository_opts` where these do not lie in the address itself.

        Paths stay relative to the project: state must not know where somebody checked it out.
        Raises ValueError for a part without a chart.
        """
        chart = part.chart
        if chart is None:
            raise ValueError(f"{part.name} has no chart in the catalog")
        # Manifests of a release are files wherever charts come from.
        if self.charts.source == "directory" or not chart.published:
            return {"chart": f"{self.charts.directory.rstrip('/')}/{chart.file}"}
        if self.charts.source == "mirror":
            return {"chart": f"oci://{self.charts.prefix}/{chart.path()}", "version": chart.published}
        if chart.oci:
            return {"chart": chart.oci, "version": chart.published}
        return {
            "chart": chart.name,
            "version": chart.published,
            "repository_opts": {"repo": chart.repository},
        }
