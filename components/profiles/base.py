"""What a profile has to do; the platform calls it in this order."""

from __future__ import annotations

from typing import Any, Protocol

import pulumi


class Profile(Protocol):
    """One way to run Run:ai on the ground: namespaces, GPUs, monitoring, Knative and the ingress."""

    def declare(self) -> None:
        """Declare all of the profile's parts, and the projects' namespaces where they belong."""
        ...

    def outputs(self) -> dict[str, pulumi.Input[Any]]:
        """The profile's own stack outputs: scheduler, capacity, departments and projects."""
        ...
