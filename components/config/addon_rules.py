"""Rules on add-ons: versions that do not go together, and owners of which there may be only one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from components.catalog import Catalog
from components.config.addon_parts import part_name, wanted
from components.config.errors import Problem
from components.config.sharing import sharing_problems
from components.config.versions import unlisted
from components.versions import at_least

if TYPE_CHECKING:
    from components.config.model import Settings

_TRIAL_KINDS = {"local", "kind"}


def addon_problems(settings: Settings, catalog: Catalog, root: Path) -> Iterator[Problem]:
    """Every broken rule; versions are compared only when the catalog has them."""
    if settings.profile == "modular" and settings.given_scheduler is None:
        return  # told elsewhere; nothing here can be compared without it
    unknown = list(_versions(settings, catalog))
    yield from unknown
    yield from _owners(settings, catalog)
    yield from _gpu_operator(settings, root)
    yield from sharing_problems(settings)
    if not unknown:
        yield from _floors(settings, catalog)


def _versions(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    for role, version in wanted(settings).items():
        yield from unlisted(catalog, part_name(role), f"{role}.version", version)


def _owners(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    """KAI comes from one place: its own chart, KRM's, or Run:ai's."""
    if not settings.resource_management.enabled:
        return
    if settings.profile == "full":
        yield Problem(
            "resourceManagement.enabled",
            "true",
            'false while profile is "full"',
            "remove it: Run:ai's cluster chart brings KAI Resource Management itself",
        )
        return
    part = catalog.generations(part_name("resourceManagement")).get(settings.resource_management.version)
    brought = [
        catalog.parts[key].version
        for key in (catalog.parts[part].requires if part else ())
        if catalog.parts[key].name == "kai-scheduler"
    ]
    if brought and settings.scheduler.version not in brought:
        yield Problem(
            "scheduler.version",
            f'"{settings.scheduler.version}"',
            f'"{brought[0]}" while resourceManagement.enabled is true',
            "set it: KAI Scheduler comes inside that chart",
        )
    if settings.scheduler.time_based_fair_share.enabled:
        yield Problem(
            "scheduler.timeBasedFairShare.enabled",
            "true",
            "false while resourceManagement.enabled is true",
            "turn it off: shards are KRM's then, and this kit does not set past use on its node pools",
        )


def _gpu_operator(settings: Settings, root: Path) -> Iterator[Problem]:
    gpus = settings.gpu_operator
    login = bool(gpus.driver.password.get_secret_value())
    if gpus.counters and not (root / gpus.counters).is_file():
        yield Problem(
            "gpuOperator.counters",
            f'"{gpus.counters}"',
            "a CSV file of DCGM counters",
            "create it, or leave the setting out for the kit's own list",
        )
    if gpus.source == "existing":
        given = (("licence", "a licence", gpus.licence is not None), ("driver.password", "a secret", login))
        for key, found, there in given:
            if there:
                yield Problem(
                    f"gpuOperator.{key}",
                    found,
                    'nothing while gpuOperator.source is "existing"',
                    "give it to the operator that is there",
                )
        return
    if settings.fake_gpus.enabled:
        yield Problem(
            "gpuOperator.source",
            '"install"',
            '"existing" with fakeGpus.enabled',
            "choose real GPUs or pretended ones: both would answer in namespace gpu-operator",
        )
    if login and gpus.driver.source == "host":
        yield Problem(
            "gpuOperator.driver.password",
            "a secret",
            'nothing with driver.source "host"',
            "remove it: no driver image is pulled",
        )
    elif login and settings.registry.prefix and not gpus.driver.repository:
        # The mirror would be sent a key that is NVIDIA's.
        yield Problem(
            "gpuOperator.driver.password",
            "a secret",
            "nothing while the driver's image comes from registry.prefix",
            "remove it: the login of the mirror is registry.username with registry.password",
        )
    if gpus.guest_driver():
        yield from _vgpu(settings)
    elif gpus.licence is not None:
        yield Problem(
            "gpuOperator.licence",
            "a licence",
            f'nothing with mode "{gpus.mode}" and driver.source "{gpus.driver.source}"',
            "remove it: only a vGPU guest driver of the operator's asks for one",
        )


def _vgpu(settings: Settings) -> Iterator[Problem]:
    """A guest driver has to fit the host's, computes only with a licence, and is not published to all."""
    gpus = settings.gpu_operator
    if not gpus.driver.version:
        yield Problem(
            "gpuOperator.driver.version",
            "nothing",
            'a version with mode "vgpu"',
            "set the guest driver's version of the bundle that the hosts run",
        )
    if gpus.licence is None:
        yield Problem(
            "gpuOperator.licence",
            "nothing",
            'a licence with mode "vgpu"',
            "pulumi config set --secret --path runai-kit:gpuOperator.licence.token, from NVIDIA's portal",
        )
    # A mirror or a repository of one's own may be open to all; NVIDIA's is not.
    elsewhere = settings.registry.prefix or gpus.driver.repository
    if not elsewhere and not gpus.driver.password.get_secret_value():
        yield Problem(
            "gpuOperator.driver.password",
            "nothing",
            'an NGC API key with mode "vgpu" and NVIDIA\'s own registry',
            "pulumi config set --secret --path runai-kit:gpuOperator.driver.password, or set registry.prefix "
            "or gpuOperator.driver.repository",
        )


def _floors(settings: Settings, catalog: Catalog) -> Iterator[Problem]:
    """What an add-on needs of another part that this stack installs too."""
    installed = {part_name(role): version for role, version in wanted(settings).items()}
    places = {"gpu-operator": "gpuOperator.version"}
    if settings.profile == "modular":
        installed["kai-scheduler"] = settings.scheduler.version
        places["kai-scheduler"] = "scheduler.version"
    for role, version in wanted(settings).items():
        part = catalog.parts[catalog.generations(part_name(role))[version]]
        for name, floor in part.needs.items():
            if name in installed and not at_least(installed[name], floor):
                yield Problem(
                    places[name],
                    f'"{installed[name]}"',
                    f"{floor} or later with {part.name} {part.version}",
                    f"choose a later version, or leave {role} out",
                )
