"""KAI Scheduler: the chart as a real Helm release, then its Config and shards, until they are ready."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.helm.v3 import Release

from components.catalog import Part
from components.charts import ChartSource
from components.config.sections import NodePools
from components.kai import v0_12, v0_18
from components.kai.gate import WAIT_FOR, KaiGate
from components.kai.inputs import CONFIG, NAME, Generation, KaiInputs
from components.kai.reservation import reservation_account
from components.kai.shard import shard
from components.labels import metadata

GENERATIONS: Mapping[str, Generation] = {"0.12": v0_12, "0.18": v0_18}


def generation(part: Part) -> Generation:
    """The values builder for the catalog entry's version. Raises KeyError for a version without one."""
    return GENERATIONS[".".join(part.version.split(".")[:2])]


class Scheduler(pulumi.ComponentResource):
    """The reservation pods' account, where the chart is not to make it → Helm release → Config → shards.

    Each depends on the one before, so that a destroy takes them away in reverse: the operator is still
    there when Config goes, and Config's webhooks are gone before anything else is.
    `ready` resolves when KAI runs with its newest Config.
    """

    ready: pulumi.Output[bool]

    def __init__(
        self,
        name: str,
        kai: KaiInputs,
        part: Part,
        source: ChartSource,
        pools: NodePools,
        gate: KaiGate,
        fingerprint: pulumi.Input[str] = "",
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """`fingerprint` changes when the operator has to look at the nodes again."""
        super().__init__("runai-kit:components:Scheduler", name, None, opts)
        builder = generation(part)
        child = pulumi.ResourceOptions(parent=self)
        before = [reservation_account(kai.pull_secret, child)] if builder.OWN_ACCOUNT else []
        release = Release(
            NAME,
            name=NAME,
            namespace=kai.namespace,
            values=builder.values(kai),
            timeout=300,
            **source.arguments(part),
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=before, ignore_changes=list(builder.INSTALL_ONLY)
            ),
        )
        config = self._config(builder.config(kai), release, fingerprint)
        specs = {"default": shard(kai, "", kai.placement)}
        specs |= {pool.name: shard(kai, pool.name, pool.placement) for pool in pools.pools}
        shards = [self._shard(shard_name, spec, config) for shard_name, spec in specs.items()]
        self.ready = pulumi.Output.all(config.id, *(resource.id for resource in shards)).apply(
            lambda _: gate.ready(list(specs), preview=pulumi.runtime.is_dry_run())
        )
        self.register_outputs({})

    def _config(
        self, spec: dict[str, Any], release: Release, fingerprint: pulumi.Input[str]
    ) -> CustomResource:
        # The chart makes kai-config anew at each upgrade (a hook in 0.12): an annotation with the revision
        # makes this resource differ then, so that its fields are applied again.
        revision = release.status.apply(lambda status: str(status.revision if status else 0))
        return CustomResource(
            CONFIG,
            api_version="kai.scheduler/v1",
            kind="Config",
            metadata=metadata(
                CONFIG,
                annotations={
                    "runai-kit.io/release-revision": revision,
                    "runai-kit.io/nodes": fingerprint,
                    "pulumi.com/waitFor": WAIT_FOR,
                    "pulumi.com/timeoutSeconds": "300",
                    "pulumi.com/patchForce": "true",
                },
            ),
            spec=spec,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[release]),
        )

    def _shard(self, name: str, spec: dict[str, Any], config: CustomResource) -> CustomResource:
        return CustomResource(
            f"shard-{name}",
            api_version="kai.scheduler/v1",
            kind="SchedulingShard",
            metadata=metadata(
                name,
                annotations={
                    "pulumi.com/waitFor": WAIT_FOR,
                    "pulumi.com/timeoutSeconds": "300",
                    "pulumi.com/patchForce": "true",
                },
            ),
            spec=spec,
            opts=pulumi.ResourceOptions(parent=self, depends_on=[config]),
        )


def fingerprint(data: object) -> str:
    """A short stable hash of JSON-like data, for annotations that make a change visible."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
