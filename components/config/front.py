"""Rules on what answers requests: Knative, the ingress, and the certificates of both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from components.catalog import Catalog
from components.config.errors import Problem
from components.config.serving import Certificate
from components.config.versions import unlisted
from components.tls import given

if TYPE_CHECKING:
    from components.config.model import Settings

_TRIAL_KINDS = {"local", "kind"}


def front_problems(settings: Settings, catalog: Catalog, root: Path) -> Iterator[Problem]:
    """Every broken rule; files of certificates are looked at only when the settings name the right ones."""
    yield from _knative(settings, catalog)
    yield from _ingress(settings)
    yield from _projects(settings, catalog)
    named = [*_source(settings), *_keys(settings)]
    yield from named
    if not named and settings.tls.source == "files":
        yield from given.problems(settings.tls, domains(settings), root)


def domains(settings: Settings) -> dict[str, str]:
    """Use → domain of every certificate that the stack needs."""
    if not settings.ingress.enabled:
        return {}
    inference = {"inference": settings.inference_domain()} if settings.knative.enabled else {}
    return inference | {"workspaces": settings.workspaces_domain()}


def _knative(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    knative = settings.knative
    yield from unlisted(catalog, "knative-serving", "knative.version", knative.version)
    if knative.enabled and not settings.ingress.enabled:
        yield Problem(
            "knative.enabled",
            "true",
            "false while ingress.enabled is false",
            "turn the ingress on: without it no request reaches a model",
        )


def _ingress(settings: Settings) -> Iterator[Problem]:
    ingress, kind = settings.ingress, settings.cluster.kind
    if not ingress.enabled:
        return
    if ingress.source == "rendered" and kind not in _TRIAL_KINDS:
        yield Problem(
            "ingress.source",
            '"rendered"',
            f'"controller" or "existing" on a cluster of kind "{kind}"',
            "the rendered configuration is for the kinds local and kind only",
        )
    for name in ("namespace", "service"):
        value = getattr(ingress, name)
        if bool(value) != (ingress.source == "existing"):
            yield Problem(
                f"ingress.{name}",
                f'"{value}"' if value else "nothing",
                "nothing" if value else f"the {name} of the controller's Service",
                f'{"remove it" if value else "set it"}: it belongs to ingress.source "existing"',
            )
    if settings.knative.enabled and settings.inference_domain() == settings.workspaces_domain():
        yield Problem(
            "ingress.workspacesDomain",
            f'"{settings.workspaces_domain()}"',
            "another domain than that of inference",
            "give each a domain of its own: names below them could not be told apart",
        )


def _projects(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    """`<name>-runai-<project>` has one reading only if no project's namespace ends in another's."""
    if not settings.ingress.enabled:
        return
    prefix = catalog.project_namespace.prefix
    names = [
        (f"departments[{i}].projects[{j}].name", project.name)
        for i, department in enumerate(settings.departments)
        for j, project in enumerate(department.projects)
    ]
    for path, name in names:
        for _, other in names:
            if name.endswith(f"-{prefix}{other}"):
                yield Problem(
                    path,
                    f'"{name}"',
                    f"a name that does not end in -{prefix}{other}",
                    f"rename it: hosts of its workspaces could also be of project {other}",
                )


def _source(settings: Settings) -> Iterator[Problem]:
    """Where certificates come from, and that each is named where it is needed."""
    tls, kind = settings.tls, settings.cluster.kind
    needed = domains(settings)
    if tls.source == "generated" and needed and kind not in _TRIAL_KINDS:
        yield Problem(
            "tls.source",
            '"generated"',
            f'"files" on a cluster of kind "{kind}"',
            "certificates of the kit's own CA are for the kinds local and kind only",
        )
    if tls.source == "generated" and tls.renew_before_days >= tls.days:
        yield Problem(
            "tls.renewBeforeDays",
            str(tls.renew_before_days),
            f"less than tls.days ({tls.days})",
            "lower it, or every run would make new certificates",
        )
    given_too = [name for name in ("ca", "inference", "workspaces") if getattr(tls, name)]
    if tls.source == "generated" and given_too:
        yield Problem(f"tls.{given_too[0]}", "a file", 'nothing while tls.source is "generated"', "remove it")
    for use in needed if tls.source == "files" else ():
        if getattr(tls, use) is None:
            yield Problem(
                f"tls.{use}",
                "nothing",
                f"certificate and key for *.{needed[use]}",
                "name the files, or turn off what needs it",
            )


def _keys(settings: Settings) -> Iterator[Problem]:
    """Each certificate has one key, which is a file or a secret setting."""
    for use in ("inference", "workspaces"):
        item: Certificate | None = getattr(settings.tls, use)
        if item is None:
            continue
        text = bool(item.key.get_secret_value())
        if text == bool(item.key_file):
            yield Problem(
                f"tls.{use}.keyFile",
                "a file and a key" if text else "nothing",
                "either keyFile or key",
                "remove one" if text else "set one of them",
            )
