"""Rules of the inference test's settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from components.config.errors import Problem

if TYPE_CHECKING:
    from components.config.model import Settings


def inference_problems(settings: Settings) -> Iterator[Problem]:
    """What no server could be started with."""
    wanted = settings.validation.inference
    if wanted.load_format != "auto" and wanted.server != "vllm":
        yield Problem(
            "validation.inference.loadFormat",
            f'"{wanted.load_format}" with server "{wanted.server}"',
            '"auto"',
            "only vLLM has a streaming loader: set server to vllm or leave loadFormat out",
        )
    if wanted.model.startswith("/") and not wanted.model.startswith("/models/"):
        yield Problem(
            "validation.inference.model",
            f'"{wanted.model}"',
            "a path below /models or a model's name",
            "the claim of validation.inference.pvc is mounted at /models",
        )
    if wanted.pvc and not wanted.model.startswith("/models/"):
        yield Problem(
            "validation.inference.model",
            f'"{wanted.model}" beside the claim "{wanted.pvc}"',
            "a path below /models",
            "name the model's folder in the claim, or leave pvc out",
        )
