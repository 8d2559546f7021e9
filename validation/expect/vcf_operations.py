"""I11: what a cluster that VCF Operations monitors looks like, from both sides."""

from __future__ import annotations

from typing import Any

from validation.settings import StackOutputs

Json = dict[str, Any]


def expected(outputs: StackOutputs) -> Json:
    """Expectations by check id; the clean-up's is its own."""
    vks, asked = outputs.vksMonitoring, outputs.vcfOperations
    newest = {"atMost": asked.dataMinutes}
    return {
        "vcf_operations.packages": {
            package.name: {"owners": 1, "reconciled": ["True"]} for package in vks.packages
        }
        or {"packages": {"atLeast": 1}},
        "vcf_operations.proxy": {"missing": []},
        "vcf_operations.telegraf": {"pods": {"atLeast": 1}, "waiting": {"exactly": {}}, "refused": []},
        "vcf_operations.input": {"dcgm": vks.dcgm, "metricProxy": vks.metricProxy},
        "vcf_operations.counters": {"exporters": {"atLeast": 1}, "missing": {"exactly": {}}},
        "vcf_operations.adapter": {"instances": {"atLeast": 1}, "minutesSinceCollection": newest},
        "vcf_operations.cluster": {"objects": 1},
        "vcf_operations.data": {"status": "DATA_RECEIVING", "state": "STARTED", "minutesOld": newest},
        "vcf_operations.pods": {"receiving": {"atLeast": 1}},
    }
