"""Looks at every object that the kit stated, and at what is beside them in its namespaces."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from day2.drift.compare import differences, written
from day2.drift.defaults import defaulted
from day2.drift.fields import Written, writer, written_fields
from day2.drift.findings import Finding, Findings, shown
from day2.drift.owned import owned
from day2.inventory import inventory
from day2.kinds import Kind, Kinds
from day2.releases import ReleaseError
from day2.state import Stack
from day2.stated import Stated, stated
from validation.cluster import Cluster, ClusterError

Json = dict[str, Any]
_WORKERS = 4
_SECRET_FIELDS = ("data", "stringData")
# Notes of whoever likes, which change nothing.
_NOTES = ("labels", "annotations", "finalizers")


def look(cluster: Cluster, stack: Stack) -> Findings:
    """Compare everything. What cannot be read is told, and never taken for right."""
    result = Findings()
    kinds = Kinds(cluster)
    try:
        everything = stated(cluster, kinds, stack)
    except (ClusterError, ReleaseError) as error:
        result.unread.append(str(error))
        return result
    result.objects = len(everything)
    with ThreadPoolExecutor(_WORKERS) as pool:
        for found in pool.map(lambda item: _object(cluster, kinds, item), everything):
            result.drift += found.drift
            result.unread += found.unread
            result.notes += found.notes
    _extras(cluster, stack, everything, result)
    return result


def _object(cluster: Cluster, kinds: Kinds, item: Stated) -> Findings:
    result = Findings()
    body = item.body
    try:
        kind = kinds.find(body["apiVersion"], body["kind"])
        live = cluster.find(kind.path(item.namespace, item.name)) if kind else None
    except ClusterError as error:
        result.unread.append(f"{item}: {error}")
        return result
    if kind is None:
        result.drift.append(Finding(str(item), "", "it to be there", f"no kind {body['kind']} in the API"))
    elif live is None:
        result.drift.append(Finding(str(item), "", "it to be there", "nothing"))
    else:
        _fields(cluster, kind, item, live, result)
    return result


def _fields(cluster: Cluster, kind: Kind, item: Stated, live: Json, result: Findings) -> None:
    secret = item.body["kind"] == "Secret"
    fields = written_fields(item.body, live)
    for found in differences(item.body, live):
        path, by = written(found.path), writer(found.path, fields)
        if owned().field(item.body["kind"], path, by) is None:
            hidden = secret and found.path[0] in _SECRET_FIELDS
            values = _told(found.expected, hidden), _told(found.found, hidden)
            result.drift.append(Finding(str(item), path, *values, by))
    if not item.patch:
        _added(cluster, kind, item, live, [field for field in fields if _stray(item, field)], result)


def _stray(item: Stated, field: Written) -> bool:
    """Whether nobody stated the field and nobody may write it."""
    known = owned().field(item.body["kind"], written(field.path), field.manager)
    return not field.stated and known is None


def _added(
    cluster: Cluster, kind: Kind, item: Stated, live: Json, strays: list[Written], result: Findings
) -> None:
    """Fields that somebody wrote and nobody stated; the server's own defaults are not among them."""
    usual = defaulted(cluster, kind, item.body, live) if strays else set()
    for field in strays:
        if field.path in usual:
            continue
        hidden = item.body["kind"] == "Secret" and field.path[0] in _SECRET_FIELDS
        value = _told(field.value, hidden)
        finding = Finding(str(item), written(field.path), "nothing", value, field.manager)
        if field.path[0] == "metadata" and len(field.path) > 1 and field.path[1] in _NOTES:
            result.notes.append(str(finding))
        else:
            result.drift.append(finding)


def _told(value: Any, secret: bool) -> str:
    return shown(value, secret and value is not None)


def _extras(cluster: Cluster, stack: Stack, everything: list[Stated], result: Findings) -> None:
    """Notes on objects in the parts' namespaces that nobody stated, owns, or is known to make."""
    homes = {
        item.name
        for item in stack.objects
        if item.body["kind"] == "Namespace" and not item.patch and not item.is_project()
    }
    known = {(item.body["kind"], item.namespace, item.name) for item in everything}
    try:
        found = inventory(cluster, lambda kind: kind.namespaced)
    except ClusterError as error:
        result.unread.append(f"objects beside the kit's: {error}")
        return
    for item in found:
        mine = (item.kind, item.namespace, item.name) in known or item.owned
        if item.namespace in homes and not mine and owned().object(item.kind, item.name) is None:
            result.notes.append(f"{item}: in a namespace of the kit, stated by nobody and owned by nothing")
