"""Labels that a test puts on nodes: found again by their values, which begin with runai-kit-<test>.

A node that was in a pool before is put back into it: its annotation POOL_BEFORE_ANNOTATION says which.
"""

from __future__ import annotations

from typing import Any

from validation import names
from validation.cluster import Cluster
from validation.observe import pods

Json = dict[str, Any]


def mark(test: str) -> str:
    """What names and label values of a test begin with, of any test without one."""
    return names.WORKLOAD_PREFIX + test.replace("_", "-")


def found(cluster: Cluster, test: str = "") -> list[tuple[str, str, str]]:
    """(node, key, value) of labels of a test, or of all."""
    return [
        (node["metadata"]["name"], key, value)
        for node in cluster.items(names.NODES)
        for key, value in (node["metadata"].get("labels") or {}).items()
        if str(value).startswith(mark(test)) and not _own_name(key)
    ]


def _own_name(key: str) -> bool:
    """The local cluster's nodes are called runai-kit-…, too; that label is not a test's."""
    return key.startswith("kubernetes.io/")


def remove(cluster: Cluster, test: str = "") -> list[str]:
    """Take them back; returns what was taken back, in words."""
    gone = found(cluster, test)
    for node, key, _ in gone:
        cluster.patch(f"{names.NODES}/{node}", {"metadata": _before(cluster, node, key, test)})
    return [word(*label) for label in gone]


def _before(cluster: Cluster, node: str, key: str, test: str) -> Json:
    """The change that gives a node its former label back; where all tests are meant, none of a test's."""
    pool = pods.annotation(cluster.get(f"{names.NODES}/{node}"), names.POOL_BEFORE_ANNOTATION)
    if pool is None or key in (names.BLOCK_LABEL, names.RACK_LABEL):
        return {"labels": {key: None}}
    former = None if pool.startswith(mark(test)) else pool
    return {"labels": {key: former}, "annotations": {names.POOL_BEFORE_ANNOTATION: None}}


def left(cluster: Cluster, test: str = "") -> list[str]:
    """What is still there, in words."""
    return [word(*label) for label in found(cluster, test)]


def word(node: str, key: str, value: str) -> str:
    """One label as the clean-up names it."""
    return f"label {key}={value} of node {node}"
