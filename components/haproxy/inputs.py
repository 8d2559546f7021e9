"""What HAProxy is configured from, whichever way it runs."""

from __future__ import annotations

from dataclasses import dataclass

from components.catalog import Catalog
from components.config.model import Settings

NAMESPACE = "haproxy-controller"
SERVICE = "haproxy"
# A cold start may keep a request waiting that long; the guide's own bound is 600 seconds.
_LEAST_SECONDS = 900
_MARGIN_SECONDS = 60


@dataclass(frozen=True)
class Routes:
    """Domains and what lies behind them; `inference` is empty without Knative. Time in seconds."""

    inference: str
    workspaces: str
    namespaces: tuple[str, ...]
    wait_seconds: int


def routes(settings: Settings, catalog: Catalog) -> Routes:
    """Namespaces are those of the stack's projects: nothing else is reached from outside."""
    prefix = catalog.project_namespace.prefix
    start = settings.validation.inference.initialization_timeout_seconds
    return Routes(
        inference=settings.inference_domain() if settings.knative.enabled else "",
        workspaces=settings.workspaces_domain(),
        namespaces=tuple(f"{prefix}{project.name}" for _, project in settings.projects()),
        wait_seconds=max(_LEAST_SECONDS, start + _MARGIN_SECONDS),
    )
