"""Waits for the control plane to answer and for a cluster to be connected, and tells why it takes long."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import pulumi

from components.polling import until
from components.runai.client import Client, Json
from components.runai.dependencies import optional, reasons
from components.runai.errors import ApiError


class PlatformError(pulumi.RunError):
    """Run:ai is installed and does not work; a RunError, so that it is shown without a traceback."""


@dataclass(frozen=True)
class ApiGate:
    """Seconds in all, between looks, and how to speak. `asking` makes a client for `{url, ca}`."""

    asking: Callable[[Json], Client]
    timeout: float = 900
    pause: float = 5
    say: Callable[[str], None] = pulumi.log.info
    clock: Callable[[], float] = time.monotonic

    async def answers(self, at: Json) -> Json:
        """`at`, once a login works there: pods, ingress and DNS follow the release with some delay."""

        def wrong() -> list[str]:
            try:
                self.asking(at).get("/api/v1/clusters")
            except ApiError as error:
                return [str(error)]
            return []

        def late(reason: str) -> PlatformError:
            return PlatformError(
                f"control plane {at['url']}: found {reason} after {self.timeout:g} s; expected an answer; "
                "look at the pods of namespace runai-backend and at the ingress"
            )

        await self._until(wrong, "the control plane", late)
        return at

    async def connected(self, at: Json, uuid: str) -> str:
        """The cluster's uuid, once its agents have reported and nothing required is missing."""
        client = self.asking(at)
        seen: list[Json] = []

        def wrong() -> list[str]:
            try:
                seen[:] = [client.get(f"/api/v1/clusters/{uuid}")]
            except ApiError as error:
                return [str(error)]
            return reasons(seen[0])

        def late(reason: str) -> PlatformError:
            return PlatformError(
                f"cluster {uuid}: found {reason} after {self.timeout:g} s; expected state Connected; "
                "WaitingToConnect: see that the control plane's name resolves in the cluster and that both "
                "charts have the CA; MissingPrerequisites: install what is named; stale ServiceIssues: "
                "restart deployment runai-operator in namespace runai"
            )

        await self._until(wrong, "the cluster's agents", late)
        for line in optional(seen[0]):
            self.say(f"Run:ai can do without, and lacks {line}")
        return uuid

    async def _until(
        self, wrong: Callable[[], list[str]], subject: str, late: Callable[[str], PlatformError]
    ) -> None:
        await until(wrong, subject, late, self.timeout, self.pause, self.say, self.clock)
