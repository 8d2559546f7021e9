"""V7: what the guide's training has to show."""

from __future__ import annotations

from typing import Any

from validation.expect.witness import WITNESS
from validation.settings import StackOutputs

EPOCHS = 3
IMAGES = {"train": 60000, "test": 10000}
# "Above 98 %" of the test images, in images.
CORRECT = IMAGES["test"] * 98 // 100 + 1
# What a container gets without a volume of its own.
USUAL_SHM_MIB = 64
LAST_LINE = "MNIST training completed successfully"


def expected(outputs: StackOutputs, queue: str, volume: str, origins: list[str]) -> dict[str, Any]:
    """Expectations by check id; volume: claim with the data set, "" = fetched from one of the origins."""
    return {
        "mnist_training.running": {
            "running": 1,
            "gpus": 1,
            "scheduler": outputs.schedulerName,
            "queue": queue,
            "podGroupGpus": 1,
            "queueAllocated": 1,
            "uuidsInPod": 1,
            "sameAsKubelet": True,
            "uuidsBy": WITNESS,
        },
        "mnist_training.shm": {
            "medium": "Memory",
            "filesystem": "tmpfs",
            "mebibytes": {"atLeast": USUAL_SHM_MIB + 1},
        },
        "mnist_training.completed": {
            "phase": "Succeeded",
            "problem": "",
            "queueAllocated": 0,
            # What object Run:ai makes of a training is its own affair; what it tells is a check of its own.
            **({} if outputs.driver == "runai" else {"job": "Complete"}),
        },
        # With real GPUs a training on the processor proves nothing of them.
        "mnist_training.device": {"device": "cpu" if outputs.fakeGpus.enabled else "cuda"},
        "mnist_training.dataset": {
            **IMAGES,
            "origin": {"matches": "^file:"} if volume else {"oneOf": origins},
        },
        # A network that learns more than halves its loss; one that only jitters does not.
        "mnist_training.loss": {"epochs": EPOCHS, "falls": True, "lastToFirst": {"atMost": 0.5}},
        "mnist_training.accuracy": {"images": IMAGES["test"], "correct": {"atLeast": CORRECT}},
        "mnist_training.last_line": {"line": LAST_LINE},
    }
