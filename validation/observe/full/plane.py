"""What the control plane says over REST: who issues logins, is the cluster connected, may projects run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from components.runai.access import Access
from components.runai.client import Client
from components.runai.dependencies import optional, reasons, state
from components.runai.errors import ApiError, NotFoundError
from components.runai.transport import Patience, Transport
from validation.observe.snapshot import Snapshot
from validation.runai.driver import connect
from validation.settings import Department, OutputsError, Project

Json = dict[str, Any]
_REALM = "/auth/realms/runai"
_DISCOVERY = f"{_REALM}/.well-known/openid-configuration"
# Preflight asks a control plane that should answer; it is no gate of an installation.
_PATIENCE = Patience(retries=1)


def login(at: Snapshot) -> Json:
    """The issuer of logins: tokens are refused where it is not the address that everybody uses."""
    place = at.outputs.controlPlane
    try:
        # Asked without credentials; the words are never sent.
        transport = Transport(Access(place.url, place.ca, client_id="nobody", client_secret="-"), _PATIENCE)  # noqa: S106
        told = transport.send("GET", _DISCOVERY)
    except ApiError as error:
        return {"error": str(error)}
    issuer = told.get("issuer") if isinstance(told, dict) else None
    return {"issuer": issuer, "why": [f"{place.url}{_DISCOVERY} tells it"]}


def connection(at: Snapshot) -> Json:
    """State and reasons of the cluster; what it lacks and can do without is information."""

    def look(cluster: Json) -> Json:
        return {"state": state(cluster), "reasons": reasons(cluster), "optional": optional(cluster)}

    return _of_cluster(at, look)


def version(at: Snapshot) -> Json:
    """The agents' version, as the control plane knows it."""
    return _of_cluster(at, lambda cluster: {"agents": cluster.get("version") or "not told"})


def teams(at: Snapshot) -> Json:
    """The stack's projects and departments that are missing, that have no node pool, and no quota."""

    def look(client: Client) -> Json:
        mine = [("filterBy", f"clusterId=={at.outputs.controlPlane.clusterId}")]
        projects = list(client.pages("/api/v1/org-unit/projects", "projects", mine))
        departments = list(client.pages("/api/v1/org-unit/departments", "departments", mine))
        return {
            "withoutPools": without_pools(projects),
            "withoutQuota": without_quota(departments, projects),
            "missing": [
                *_missing("department", at.outputs.departments, departments),
                *_missing("project", at.outputs.projects, projects),
            ],
        }

    return _asked(at, look)


def _missing(kind: str, wanted: Iterable[Department | Project], found: list[Json]) -> list[str]:
    """Of an account that sees nothing, or another cluster's, nothing else could be told."""
    known = {item["name"] for item in found}
    return [f"{kind} {one.name}" for one in wanted if one.name not in known]


def without_pools(projects: list[Json]) -> list[str]:
    """Names of projects whose workloads would be pending for ever."""
    return sorted(
        str(p["name"])
        for p in projects
        if not ((p.get("effective") or {}).get("defaultNodePools") or p.get("defaultNodePools"))
    )


def without_quota(departments: list[Json], projects: list[Json]) -> list[str]:
    """Departments, by node pool, that guarantee nothing while their projects were promised GPUs there.

    Promises that are more than the department's own are a choice; with none at all nothing is scheduled.
    """
    found = []
    for department in departments:
        has = _deserved(department)
        promised: dict[str, float] = {}
        for project in projects:
            if project.get("parentId") == department["id"]:
                for pool, gpus in _deserved(project).items():
                    promised[pool] = promised.get(pool, 0) + gpus
        for pool, gpus in sorted(promised.items()):
            if gpus > 0 and not has.get(pool):
                found.append(
                    f"department {department['name']}, node pool {pool}: no quota, its "
                    f"projects were promised {gpus:g}"
                )
    return found


def _deserved(unit: Json) -> dict[str, float]:
    """Node pool -> guaranteed GPUs."""
    told = {}
    for quota in unit.get("resources") or []:
        pool = quota.get("nodePool") or {}
        told[str(pool.get("name") or pool.get("id"))] = float((quota.get("gpu") or {}).get("deserved") or 0)
    return told


def _of_cluster(at: Snapshot, look: Callable[[Json], Json]) -> Json:
    uuid = at.outputs.controlPlane.clusterId

    def ask(client: Client) -> Json:
        try:
            return look(client.get(f"/api/v1/clusters/{uuid}"))
        except NotFoundError:
            return {"state": f"cluster {uuid} is not registered", "why": ["run `pulumi up --refresh`"]}

    return _asked(at, ask)


def _asked(at: Snapshot, look: Callable[[Client], Json]) -> Json:
    try:
        return look(connect(at.outputs, _PATIENCE))
    except (OutputsError, ApiError) as error:
        return {"error": str(error)}
