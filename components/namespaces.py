"""Namespaces with their Pod Security labels, there before anything is put into them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi
from pulumi_kubernetes.core.v1 import Namespace, NamespacePatch, Secret

from components import logins
from components.catalog import Catalog, Psa
from components.cluster import NamespaceFacts
from components.config.model import Settings
from components.config.sections import Registry
from components.labels import LEVELS, PROJECT_KEY, SCHEDULED, metadata, ours, pod_security, project_labels

PULL_SECRET = "runai-kit-registry"  # noqa: S105 (a name, not a secret)


class NamespaceError(pulumi.RunError):
    """A namespace that somebody else set up in a way the part cannot run in."""


@dataclass(frozen=True)
class Wanted:
    """A namespace the stack needs; `labels` besides those of Pod Security."""

    name: str
    psa: Psa
    labels: Mapping[str, str] = field(default_factory=dict)

    def is_project(self) -> bool:
        """Whether it belongs to a project, not to a part."""
        return PROJECT_KEY in self.labels


def wanted_namespaces(settings: Settings, catalog: Catalog, parts: list[str]) -> list[Wanted]:
    """Namespaces of the parts and of the projects; where parts share one, the laxest level wins."""
    levels: dict[str, Psa] = {}
    for part in parts:
        for name, entry in catalog.parts[part].namespaces.items():
            levels[name] = max(levels.get(name, "restricted"), entry.psa, key=LEVELS.index)
    project, full = catalog.project_namespace, settings.profile == "full"
    psa = catalog.full_project_namespace.psa if full else project.psa
    return [Wanted(name, psa) for name, psa in levels.items()] + [
        Wanted(
            f"{project.prefix}{item.name}",
            psa,
            {PROJECT_KEY: item.name} | (project_labels(item.name) if full else SCHEDULED),
        )
        for _, item in settings.projects()
    ]


class Namespaces(pulumi.ComponentResource):
    """One Namespace for each that is ours, one patch for each that was there before.

    A namespace made by somebody else only gets labels, under our own field manager: destroying the stack
    takes these labels back and leaves the namespace, which was never ours.
    `before` are those of the parts. Projects' come last, by `projects`: a destroy then removes workloads
    while what they need to end (Knative's and KAI's controllers) still runs.
    """

    def __init__(
        self,
        name: str,
        wanted: list[Wanted],
        existing: Mapping[str, NamespaceFacts],
        registry: Registry,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("runai-kit:components:Namespaces", name, None, opts)
        self.foreign = {item.name for item in wanted if is_foreign(existing.get(item.name))}
        self._existing, self._registry = existing, registry
        going = {name for name, facts in existing.items() if facts.deleting}
        _refuse_leaving([item.name for item in wanted if item.name in going])
        for item in wanted:
            if item.name in self.foreign:
                _refuse_conflict(item, existing[item.name])
        self._projects = [item for item in wanted if item.is_project()]
        self.before = self._declare([item for item in wanted if not item.is_project()], [])

    def projects(self, after: list[pulumi.Resource]) -> list[pulumi.Resource]:
        """Declare the projects' namespaces, once everything else is there."""
        made = self._declare(self._projects, after)
        self.register_outputs({})
        return made

    def _declare(self, wanted: list[Wanted], after: list[pulumi.Resource]) -> list[pulumi.Resource]:
        options = pulumi.ResourceOptions(parent=self, depends_on=after)
        made: list[pulumi.Resource] = []
        for item in wanted:
            labels = pod_security(item.psa) | dict(item.labels)
            resource: pulumi.Resource
            if item.name in self.foreign:
                patch = {"name": item.name, "labels": labels}
                resource = NamespacePatch(item.name, metadata=patch, opts=options)
            else:
                resource = Namespace(item.name, metadata=metadata(item.name, labels=labels), opts=options)
            made.append(resource)
            if self._registry.username:
                made.append(self._pull_secret(item.name, resource))
        return made

    def _pull_secret(self, namespace: str, resource: pulumi.Resource) -> Secret:
        return logins.pull_secret(
            f"{namespace}-{PULL_SECRET}",
            PULL_SECRET,
            namespace,
            docker_config(self._registry),
            pulumi.ResourceOptions(parent=self, depends_on=[resource]),
        )


def is_foreign(found: NamespaceFacts | None) -> bool:
    """Whether the namespace exists without being ours; ours keep their label, so this stays as it was."""
    return found is not None and not ours(found.labels)


def _refuse_leaving(leaving: list[str]) -> None:
    if leaving:
        raise NamespaceError(
            f"namespaces {', '.join(leaving)}: found being deleted, nothing was changed; expected active or "
            f"gone; wait until `kubectl get namespace {' '.join(leaving)}` finds none (`make heal` waits, "
            f"too), or see in their status what holds them"
        )


def docker_config(registry: Registry) -> str:
    """Credentials for the mirror, in the form that kubelets read."""
    host = registry.prefix.split("/")[0]
    return logins.docker_config(host, registry.username, registry.password.get_secret_value())


def _refuse_conflict(item: Wanted, found: NamespaceFacts) -> None:
    """Somebody else's level is not overwritten: other pods there may rely on it."""
    for key, level in pod_security(item.psa).items():
        present = found.labels.get(key)
        if present not in {None, level} and key not in found.written_by_kit:
            raise NamespaceError(
                f"namespace {item.name}: found {key}={present}, set by somebody else; expected {level} or no "
                "such label; relabel it if nothing else relies on it. Nothing was changed."
            )
