"""I11: does VCF Operations see this cluster? Asked over its API, nothing is changed there."""

from __future__ import annotations

import os
import time
from typing import Any

from validation.settings import StackOutputs, VcfOperations
from validation.suite_api import inventory
from validation.suite_api.client import Access, SuiteApi
from validation.suite_api.errors import SuiteError

Json = dict[str, Any]
PASSWORD = "KIT_VCF_OPERATIONS_PASSWORD"  # noqa: S105 (a variable's name)
CHECKS = (
    "vcf_operations.adapter",
    "vcf_operations.cluster",
    "vcf_operations.data",
    "vcf_operations.pods",
)


def observe(outputs: StackOutputs) -> Json:
    """Observations by check id; the reason instead where nobody answers."""
    asked = outputs.vcfOperations
    if not asked.url:
        return {check: {"url": ""} for check in CHECKS}
    try:
        with SuiteApi(access(asked)) as api:
            return _observe(api, asked, time.time())
    except SuiteError as error:
        return {check: {"error": str(error)} for check in CHECKS}


def access(asked: VcfOperations) -> Access:
    """Where and who; SuiteError without a password."""
    password = os.environ.get(PASSWORD, "")
    if not password:
        raise SuiteError(
            f"environment variable {PASSWORD}",
            "nothing",
            f"the password of {asked.username}, who may read VCF Operations",
            "export it for this run; it is written nowhere",
        )
    return Access(asked.url, asked.username, password, asked.authSource, asked.ca)


def _observe(api: SuiteApi, asked: VcfOperations, now: float) -> Json:
    found = inventory.clusters(api, asked.clusterName, asked.resourceKind)
    cluster = found[0] if len(found) == 1 else None
    missing = {"why": f"{len(found)} objects are called {asked.clusterName}"}
    return {
        "vcf_operations.adapter": _adapter(api, now),
        "vcf_operations.cluster": _cluster(found),
        "vcf_operations.data": _data(api, cluster, now) if cluster else missing,
        "vcf_operations.pods": {"receiving": inventory.pods(api, cluster["identifier"])}
        if cluster
        else missing,
    }


def _adapter(api: SuiteApi, now: float) -> Json:
    instances = inventory.supervisors(api)
    newest = max((int(i.get("lastCollected") or 0) for i in instances), default=0)
    return {
        "instances": len(instances),
        "minutesSinceCollection": _minutes(newest, now),
        "why": sorted({str(i.get("messageFromAdapterInstance") or "") for i in instances} - {""}),
    }


def _cluster(found: list[Json]) -> Json:
    kinds = sorted(f"{i['resourceKey'].get('adapterKindKey')}/{inventory.kind_of(i)}" for i in found)
    several = "set vcfOperations.resourceKind to one of these kinds" if len(found) > 1 else ""
    return {"objects": len(found), "kinds": kinds, "why": several}


def _data(api: SuiteApi, cluster: Json, now: float) -> Json:
    told = inventory.state(cluster)
    newest = inventory.newest_sample(api, str(cluster["identifier"]))
    return {
        "status": told["status"],
        "state": told["state"],
        "minutesOld": _minutes(newest, now),
        "why": told["message"],
    }


def _minutes(milliseconds: int, now: float) -> float | None:
    """Age of a time; None for no time at all, which meets no bound."""
    return round((now - milliseconds / 1000) / 60, 1) if milliseconds else None
