"""What the double knows: adapters, objects in a tree, samples, tokens."""

from __future__ import annotations

import secrets
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from tests.contract.control_plane.failures import Journal

Json = dict[str, Any]
# Invented: the real keys are documented nowhere.
SUPERVISOR, CLUSTER, NAMESPACE, POD = "SupervisorAdapter", "VksCluster", "K8sNamespace", "K8sPod"


@dataclass
class State:
    """`page` is the most that a page holds, whatever is asked for; tokens live `token_seconds`."""

    username: str = "kit"
    password: str = field(default="", repr=False)
    source: str = "LOCAL"
    token_seconds: float = 21600
    page: int = 2
    journal: Journal = field(default_factory=Journal)
    tokens: dict[str, float] = field(default_factory=dict)
    # Who asked how: Authorization headers as they came, passwords are not among them.
    schemes: set[str] = field(default_factory=set)
    kinds: dict[str, str] = field(
        default_factory=lambda: {"VMWARE": "vCenter Adapter", SUPERVISOR: "vSphere Supervisor"}
    )
    adapters: list[Json] = field(default_factory=list)
    resources: dict[str, Json] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    samples: dict[str, int] = field(default_factory=dict)

    def token(self) -> Json:
        """A new token, as the API tells it."""
        made = f"{uuid.uuid4()}::{secrets.token_hex(8)}"
        self.tokens[made] = time.monotonic() + self.token_seconds
        return {"token": made, "validity": int(time.time() + self.token_seconds) * 1000, "roles": []}

    def adapter(self, kind: str, minutes: float = 1, message: str = "") -> Json:
        """An adapter instance that collected so many minutes ago."""
        made = {
            "resourceKey": {
                "name": f"{kind} of a vCenter",
                "adapterKindKey": kind,
                "resourceKindKey": f"{kind} Instance",
                "resourceIdentifiers": [],
            },
            "id": str(uuid.uuid4()),
            "collectorId": 1,
            "lastCollected": _ago(minutes),
            "lastHeartbeat": _ago(minutes),
            "messageFromAdapterInstance": message,
        }
        self.adapters.append(made)
        return made

    def resource(
        self,
        name: str,
        kind: str,
        parent: str = "",
        status: str = "DATA_RECEIVING",
        minutes: float | None = None,
    ) -> str:
        """An object below `parent`; with `minutes` it has a sample of that age. Returns its id."""
        made = str(uuid.uuid4())
        self.resources[made] = {
            "identifier": made,
            "resourceKey": {"name": name, "adapterKindKey": SUPERVISOR, "resourceKindKey": kind},
            "resourceStatusStates": [
                {
                    "resourceStatus": status,
                    "resourceState": "STARTED",
                    "statusMessage": "" if status == "DATA_RECEIVING" else "because",
                }
            ],
        }
        if parent:
            self.parents[made] = parent
        if minutes is not None:
            self.samples[made] = _ago(minutes)
        return made


def _ago(minutes: float) -> int:
    return int((time.time() - minutes * 60) * 1000)
