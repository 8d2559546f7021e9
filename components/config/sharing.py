"""Rules on how a GPU is shared: what each way needs of the scheduler, the driver and the GPU Operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from components.config.addons import DEVICE_PARTS
from components.config.errors import Problem
from components.versions import at_least, numbers

if TYPE_CHECKING:
    from components.config.model import Settings

# Run:ai 3.0, page migrate-gpu-fractions: CUDA 13.4's driver branch and the operator that knows it.
DRIVER_BRANCH = 615
GPU_OPERATOR = "26.7.1"
# KAI's chart knows only "on" and "off" before it.
_MODES_SINCE = "0.18"


def sharing_problems(settings: Settings) -> Iterator[Problem]:
    """Every reason why this way of sharing cannot work with the rest of the settings."""
    sharing = settings.sharing
    if sharing in {"fractioning", "hami"}:
        yield from _scheduler(settings)
    if sharing == "fractioning":
        yield from _fractioning(settings)
    if sharing in DEVICE_PARTS and settings.gpu_operator.source != "install":
        yield Problem(
            "sharing",
            f'"{sharing}"',
            'another word while gpuOperator.source is "existing"',
            "the device plugin divides GPUs: install the operator by this stack, or set its plugin yourself "
            'and sharing to "none"',
        )


def _scheduler(settings: Settings) -> Iterator[Problem]:
    if settings.profile == "full":
        if settings.sharing == "hami":
            yield Problem(
                "sharing", '"hami"', 'another word while profile is "full"', "Run:ai does not offer it"
            )
        return
    if not at_least(settings.scheduler.version, _MODES_SINCE):
        yield Problem(
            "sharing",
            f'"{settings.sharing}"',
            f'"reservation" or "none" with KAI Scheduler {settings.scheduler.version}',
            f"raise scheduler.version to {_MODES_SINCE} or later, or share by reservation",
        )


def _fractioning(settings: Settings) -> Iterator[Problem]:
    """The driver enforces what pods asked for; with an older one they would only wait."""
    gpus = settings.gpu_operator
    if settings.fake_gpus.enabled:
        yield Problem(
            "sharing",
            '"fractioning"',
            '"reservation" with fakeGpus.enabled',
            "no driver is there to keep memory apart: share by reservation",
        )
    if gpus.source == "existing":
        return
    if not at_least(gpus.version, GPU_OPERATOR):
        yield Problem(
            "gpuOperator.version",
            f'"{gpus.version}"',
            f'{GPU_OPERATOR} or later with sharing "fractioning"',
            "raise it, or share by reservation",
        )
    if gpus.driver.source == "host":
        return
    branch = numbers(gpus.driver.version)
    if not branch or branch[0] < DRIVER_BRANCH:
        yield Problem(
            "gpuOperator.driver.version",
            f'"{gpus.driver.version}"' if branch else "nothing",
            f'a release of branch r{DRIVER_BRANCH} or later with sharing "fractioning"',
            "set it: the operator's own default is an older branch; or share by reservation",
        )
