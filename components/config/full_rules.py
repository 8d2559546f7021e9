"""Rules of the full profile, and of what belongs to one profile only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from components.catalog import Catalog
from components.config.errors import Problem
from components.config.org import Department, Project
from components.config.versions import unlisted
from components.tls import given
from components.tls.material import load

if TYPE_CHECKING:
    from components.config.model import Settings

_FULL_ONLY = ("ngc", "control_plane", "cluster_agents", "service_accounts", "access_rules")
# Vendor's rule on the first user's password.
_PASSWORD = (r".{8,}", r"[0-9]", r"[a-z]", r"[A-Z]", r"[^0-9A-Za-z]")


def full_problems(settings: Settings, catalog: Catalog, root: Path) -> Iterator[Problem]:
    """Every broken rule."""
    if settings.profile == "modular":
        yield from _modular(settings)
        return
    if "given_scheduler" in settings.model_fields_set:
        yield Problem(
            "scheduler",
            "a section",
            'nothing with profile "full"',
            "remove it: Run:ai brings its own scheduler, and two must never share a cluster",
        )
    yield from _license(settings)
    yield from _control_plane(settings, catalog)
    yield from _agents(settings)
    yield from _people(settings)
    yield from _quotas(settings)
    yield from _files(settings, root)


def _modular(settings: Settings) -> Iterator[Problem]:
    if settings.given_scheduler is None:
        yield Problem("scheduler", "nothing", "a value", "set it")
    for field in _FULL_ONLY:
        if field in settings.model_fields_set:
            name = str(type(settings).model_fields[field].alias)
            yield Problem(
                name, "a section", 'nothing with profile "modular"', "remove it, or set profile to full"
            )


def unlicensed(settings: Settings) -> Iterator[Problem]:
    """The problem of a stack that would use NGC without the user's word on its terms."""
    installs = settings.control_plane.source == "install" or settings.cluster_agents.enabled
    if installs and not settings.ngc.accept_license:
        yield Problem(
            "ngc.acceptLicense",
            "false",
            "true",
            "read the NVIDIA Software License Agreement and the Product-Specific Terms for NVIDIA AI "
            "Products, and set it if you accept them; nothing of NGC is used without it",
        )


def _license(settings: Settings) -> Iterator[Problem]:
    yield from unlicensed(settings)
    ngc = settings.ngc
    key = bool(ngc.api_key.get_secret_value())
    if ngc.support_entitled != key:
        yield Problem(
            "ngc.apiKey",
            "a key" if key else "nothing",
            "a key exactly where ngc.supportEntitled is true",
            "pulumi config set --secret --path runai-kit:ngc.apiKey"
            if ngc.support_entitled
            else "remove it: the open release needs none",
        )


def _control_plane(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    plane = settings.control_plane
    yield from unlisted(catalog, "control-plane", "controlPlane.version", plane.version)
    if bool(plane.stack) != (plane.source == "stack"):
        yield Problem(
            "controlPlane.stack",
            f'"{plane.stack}"' if plane.stack else "nothing",
            'a stack\'s name exactly with source "stack"',
            "remove it" if plane.stack else "name the stack that installed the control plane",
        )
    if plane.source == "given" and not plane.domain:
        yield Problem("controlPlane.domain", "nothing", "the control plane's DNS name", "set it")
    if plane.source == "install" and plane.certificate is None:
        yield Problem(
            "controlPlane.certificate",
            "nothing",
            f"certificate and key for {settings.control_plane_domain()}",
            "name the files",
        )
    yield from _credentials(settings)


def _credentials(settings: Settings) -> Iterator[Problem]:
    plane = settings.control_plane
    password = plane.admin.password.get_secret_value()
    account = plane.access.client_secret.get_secret_value()
    if plane.source == "install" and not password:
        yield Problem(
            "controlPlane.admin.password",
            "nothing",
            "the first user's password",
            "pulumi config set --secret --path runai-kit:controlPlane.admin.password",
        )
    elif not (password or account):
        yield Problem(
            "controlPlane.access.clientSecret",
            "nothing",
            "a service account's secret, or admin.password",
            "pulumi config set --secret --path runai-kit:controlPlane.access.clientSecret",
        )
    if password and plane.source == "install" and not all(re.search(rule, password) for rule in _PASSWORD):
        yield Problem(
            "controlPlane.admin.password",
            "one that the product refuses",
            "8 characters or more, with a digit, a lower-case, an upper-case and a special character",
            "choose another",
        )
    if bool(plane.access.client_id) != bool(account):
        yield Problem(
            "controlPlane.access.clientId",
            f'"{plane.access.client_id}"',
            "the id exactly beside clientSecret",
            "set both or neither",
        )
    database = plane.postgresql.password.get_secret_value() if plane.postgresql else ""
    if plane.postgresql and not database:
        yield Problem(
            "controlPlane.postgresql.password",
            "nothing",
            f'the password of user "{plane.postgresql.username}"',
            "pulumi config set --secret --path runai-kit:controlPlane.postgresql.password",
        )


def _agents(settings: Settings) -> Iterator[Problem]:
    agents, plane = settings.cluster_agents, settings.control_plane
    if not agents.enabled:
        if plane.source != "install":
            yield Problem(
                "clusterAgents.enabled",
                "false",
                f'true with controlPlane.source "{plane.source}"',
                "turn it on, or this stack would install nothing",
            )
        if settings.departments:
            yield Problem(
                "departments",
                "a list",
                "nothing while clusterAgents.enabled is false",
                "departments belong to a cluster: move them to the stack with its agents",
            )
        return
    if plane.source != "install" and not agents.domain:
        yield Problem(
            "clusterAgents.domain",
            "nothing",
            "this cluster's own DNS name",
            "set it: the control plane answers on another cluster",
        )
    if agents.domain and agents.certificate is None:
        yield Problem(
            "clusterAgents.certificate",
            "nothing",
            f"certificate and key for {agents.domain}",
            "name the files",
        )


def _files(settings: Settings, root: Path) -> Iterator[Problem]:
    """Certificates by name, and the CA."""
    plane, agents = settings.control_plane, settings.cluster_agents
    if plane.certificate is not None and plane.source == "install":
        host = settings.control_plane_domain()
        yield from given.host_problems("controlPlane.certificate", plane.certificate, host, root)
    if agents.certificate is not None and agents.enabled:
        host = settings.cluster_domain()
        yield from given.host_problems("clusterAgents.certificate", agents.certificate, host, root)
    try:
        load(given.text(plane.ca, root)) if plane.ca else None
    except (OSError, ValueError):
        yield Problem(
            "controlPlane.ca",
            f'"{plane.ca}"',
            "a PEM file with the CA's certificate",
            "correct the path or the file",
        )


def _people(settings: Settings) -> Iterator[Problem]:
    known = {f"department/{item.name}" for item in settings.departments}
    known |= {f"project/{project.name}" for _, project in settings.projects()}
    uses = [
        (f"serviceAccounts[{i}].grants[{j}].scope", grant.scope)
        for i, account in enumerate(settings.service_accounts)
        for j, grant in enumerate(account.grants)
    ]
    uses += [(f"accessRules[{i}].scope", rule.scope) for i, rule in enumerate(settings.access_rules)]
    for path, scope in uses:
        if "/" in scope and scope not in known:
            yield Problem(path, f'"{scope}"', "a department or project of this stack", "correct the name")


def _quotas(settings: Settings) -> Iterator[Problem]:
    for i, department in enumerate(settings.departments):
        units: list[tuple[str, Department | Project]] = [
            (f"departments[{i}].projects[{j}]", project) for j, project in enumerate(department.projects)
        ]
        for path, unit in units:
            if unit.gpu.deserved.unlimited:
                yield Problem(
                    f"{path}.gpu.deserved",
                    "-1",
                    'a number or a share with profile "full"',
                    "the API knows no unlimited quota; limit -1 lets a project borrow without bound",
                )
