"""Rules between settings: combinations that cannot work, each as a problem with its key path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from components.catalog import Catalog
from components.config.addon_rules import addon_problems
from components.config.errors import Problem
from components.config.files import missing_charts
from components.config.front import front_problems
from components.config.full_rules import full_problems
from components.config.inference import inference_problems
from components.config.quotas import quota_problems
from components.config.secrets import plain_texts
from components.config.sections import Scheduler
from components.config.types import seconds
from components.config.versions import unlisted
from components.config.vks_rules import vks_problems

if TYPE_CHECKING:
    from components.config.model import Settings


def check(settings: Settings, catalog: Catalog, root: Path, secret: frozenset[str]) -> Iterator[Problem]:
    """Every broken rule; `secret` are the top-level keys that the stack file stores encrypted.

    Secrets in the clear come alone: they have to be replaced, and no other rule looks at them before.
    """
    plain = list(plain_texts(settings, secret))
    yield from plain
    if plain:
        return
    yield from full_problems(settings, catalog, root)
    yield from _names(settings)
    yield from _pools(settings)
    if settings.given_scheduler is not None:
        yield from _scheduler(settings, settings.given_scheduler, catalog)
    yield from _capacity(settings)
    yield from _fake_gpus(settings)
    yield from _registry(settings)
    yield from _monitoring(settings)
    yield from vks_problems(settings, catalog, root)
    yield from inference_problems(settings)
    yield from quota_problems(settings)
    yield from addon_problems(settings, catalog, root)
    yield from front_problems(settings, catalog, root)
    yield from missing_charts(settings, catalog, root)


def _names(settings: Settings) -> Iterator[Problem]:
    """Queues are cluster-wide, so departments and projects share one space of names."""
    departments = [(f"departments[{i}].name", item.name) for i, item in enumerate(settings.departments)]
    projects = [
        (f"departments[{i}].projects[{j}].name", project.name)
        for i, department in enumerate(settings.departments)
        for j, project in enumerate(department.projects)
    ]
    pools = [(f"nodePools.pools[{i}].name", item.name) for i, item in enumerate(settings.node_pools.pools)]
    for group in (departments + projects, pools):
        uses = Counter(name for _, name in group)
        seen: set[str] = set()
        for path, name in group:
            if uses[name] > 1 and name in seen:
                yield Problem(
                    path,
                    f'"{name}" a second time',
                    "a name used once",
                    "rename one: each becomes a queue" if group is not pools else "rename or merge the pools",
                )
            seen.add(name)


def _pools(settings: Settings) -> Iterator[Problem]:
    known = [pool.name for pool in settings.node_pools.pools]
    expected = f"empty or one of nodePools.pools ({', '.join(known) or 'none defined'})"
    uses = [(f"departments[{i}].nodePool", item.node_pool) for i, item in enumerate(settings.departments)]
    for path, name in [*uses, ("validation.nodePool", settings.validation.node_pool)]:
        if name and name not in known:
            yield Problem(path, f'"{name}"', expected, "define the pool or correct the name")
    if "default" in known:
        path = f"nodePools.pools[{known.index('default')}].name"
        yield Problem(path, '"default"', "another name", "default is the pool of unlabelled nodes")


def _scheduler(settings: Settings, scheduler: Scheduler, catalog: Catalog) -> Iterator[Problem]:
    yield from unlisted(catalog, "kai-scheduler", "scheduler.version", scheduler.version)
    if scheduler.replicas > 1 and not scheduler.leader_election:
        yield Problem(
            "scheduler.leaderElection",
            "false",
            f"true with {scheduler.replicas} replicas",
            "turn it on, or two schedulers would bind the same pod",
        )
    yield from _past_use(settings)


def _past_use(settings: Settings) -> Iterator[Problem]:
    """Time-based fair share is as good as what Prometheus remembers."""
    share, monitoring = settings.scheduler.time_based_fair_share, settings.monitoring
    if not share.enabled:
        return
    if not monitoring.enabled:
        yield Problem(
            "scheduler.timeBasedFairShare.enabled",
            "true",
            "false while monitoring.enabled is false",
            "past use is read from Prometheus: turn monitoring on",
        )
    elif seconds(monitoring.retention) < seconds(share.window_size):
        yield Problem(
            "monitoring.retention",
            f'"{monitoring.retention}"',
            f"at least scheduler.timeBasedFairShare.windowSize ({share.window_size})",
            "raise it, or shorten the window: Prometheus forgets use that the scheduler counts",
        )
    if seconds(share.fetch_interval) >= seconds(share.window_size):
        yield Problem(
            "scheduler.timeBasedFairShare.fetchInterval",
            f'"{share.fetch_interval}"',
            f"less than windowSize ({share.window_size})",
            "lower it, or use would be read once per window or not at all",
        )


def _capacity(settings: Settings) -> Iterator[Problem]:
    capacity = settings.capacity
    if capacity.source == "setting" and capacity.gpus is None:
        yield Problem(
            "capacity.gpus", "nothing", "a whole number", 'set it, or set capacity.source to "live"'
        )
    if capacity.source == "live" and capacity.gpus is not None:
        yield Problem(
            "capacity.gpus",
            str(capacity.gpus),
            'nothing while capacity.source is "live"',
            'remove it, or set capacity.source to "setting"',
        )
    for index, pool in enumerate(settings.node_pools.pools):
        if (pool.gpus is None) == (capacity.source == "setting"):
            wanted = "a whole number" if capacity.source == "setting" else "nothing"
            yield Problem(
                f"nodePools.pools[{index}].gpus",
                "nothing" if pool.gpus is None else str(pool.gpus),
                f'{wanted} while capacity.source is "{capacity.source}"',
                "set both the same way",
            )


def _fake_gpus(settings: Settings) -> Iterator[Problem]:
    if not settings.fake_gpus.enabled:
        return
    if settings.cluster.kind not in {"local", "kind"}:
        yield Problem(
            "fakeGpus.enabled",
            "true",
            f'false on a cluster of kind "{settings.cluster.kind}"',
            "fake GPUs are for the kinds local and kind only",
        )
    if settings.expected_gpus:
        yield Problem(
            "expectedGpus", "a table", "nothing with fakeGpus.enabled", "fakeGpus already says what to expect"
        )
    if not settings.fake_gpus.node_selector:
        yield Problem("fakeGpus.nodeSelector", "{}", "at least one label", "name the nodes that get GPUs")


def _registry(settings: Settings) -> Iterator[Problem]:
    registry = settings.registry
    password = registry.password.get_secret_value()
    if registry.username and not password:
        yield Problem(
            "registry.password",
            "nothing",
            f'a secret for user "{registry.username}"',
            "pulumi config set --secret --path runai-kit:registry.password",
        )
    if password and not registry.username:
        yield Problem("registry.username", "nothing", "the user of registry.password", "set it")
    if registry.username and not registry.prefix:
        yield Problem("registry.prefix", "nothing", "the registry of registry.username", "set it")


def _monitoring(settings: Settings) -> Iterator[Problem]:
    monitoring = settings.monitoring
    if monitoring.grafana and monitoring.source == "bundle":
        yield Problem(
            "monitoring.grafana",
            "true with source bundle",
            "false",
            "Grafana comes with kube-prometheus-stack: set monitoring.source to chart",
        )
    if monitoring.operator == "existing" and monitoring.source == "bundle":
        yield Problem(
            "monitoring.operator",
            '"existing" with source bundle',
            '"own"',
            "the bundle is the operator: set monitoring.source to chart",
        )
