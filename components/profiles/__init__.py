"""What each profile adds to the ground that both stand on, and which parts it installs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.addons import addon_parts
from components.catalog import Catalog
from components.config.model import Settings
from components.front import front_parts
from components.profiles.base import Profile
from components.profiles.full import Full, full_parts
from components.profiles.modular import Modular, modular_parts

if TYPE_CHECKING:
    from components.platform import Platform


def profile_of(platform: Platform) -> Profile:
    """The profile that the settings name."""
    return Full(platform) if platform.settings.profile == "full" else Modular(platform)


def parts(settings: Settings, catalog: Catalog) -> dict[str, str]:
    """Role → catalog key of every part that this stack installs."""
    own = full_parts if settings.profile == "full" else modular_parts
    return (
        own(settings, catalog)
        | _ground_parts(settings)
        | addon_parts(settings, catalog)
        | front_parts(settings, catalog)
    )


def _ground_parts(settings: Settings) -> dict[str, str]:
    chosen: dict[str, str] = {}
    if settings.monitoring.enabled and settings.monitoring.source == "bundle":
        chosen |= {"monitoring": "prometheus-operator", "prometheus": "prometheus"}
        chosen["stateMetrics"] = "kube-state-metrics"
    elif settings.monitoring.enabled:
        chosen["monitoring"] = "kube-prometheus-stack"
    if settings.fake_gpus.enabled:
        chosen["fakeGpus"] = "fake-gpu"
    return chosen
