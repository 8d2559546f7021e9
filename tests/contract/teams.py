"""The stack's departments and projects, made in the control plane's double as the engine would make them."""

from __future__ import annotations

from components.runai.client import Client
from components.runai.objects import KINDS
from validation.settings import StackOutputs

QUOTA = [{"nodePool": "default", "deserved": 2, "limit": -1, "overQuotaWeight": 1}]


def make(client: Client, cluster: str, outputs: StackOutputs) -> None:
    """Each with the same quota in the default node pool; `cluster` is the id it is registered under."""
    above = {
        item.name: KINDS["Department"].create(
            client, {"clusterId": cluster, "name": item.name, "quotas": QUOTA}
        )[0]
        for item in outputs.departments
    }
    for project in outputs.projects:
        wanted = {
            "clusterId": cluster,
            "name": project.name,
            "departmentId": above[project.department],
            "namespace": project.namespace,
            "quotas": QUOTA,
        }
        KINDS["Project"].create(client, wanted)
