"""Objects of the control plane as Pulumi resources: previewed, compared, refreshed and removed."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

import pulumi
from pulumi.dynamic import (
    ConfigureRequest,
    CreateResult,
    DiffResult,
    ReadResult,
    Resource,
    ResourceProvider,
    UpdateResult,
)

from components.runai.client import Client, Json
from components.runai.credentials import access, section
from components.runai.objects import KINDS

# Where to ask; no part of the object itself.
AT = "at"
_PLUMBING = {AT, "__provider"}


class RemoteProvider(ResourceProvider):
    """Turns the engine's calls into those of a kind.

    Only the kind's name goes into the state; credentials come from the configuration of each run.
    """

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind

    def configure(self, req: ConfigureRequest) -> None:
        """Keep the stack's configuration for when a client is needed."""
        self._config = req.config
        # The engine shows what a call raises as it is: one sentence, not the way to it.
        sys.tracebacklimit = 0

    def diff(self, _id: str, _olds: Json, _news: Json) -> DiffResult:
        """Compare what is wanted with the last known state; what only the API knows plays no part."""
        changed = changes(_olds, _news)
        replaced = [
            key for key in changed if key in KINDS[self._kind].replaced_by and not _unknown(_news.get(key))
        ]
        if _url(_olds) != _url(_news) and not _unknown(_news.get(AT)):
            replaced.append(AT)
        # The other of the same name would be taken over, and then removed.
        return DiffResult(bool(changed) or _olds.get(AT) != _news.get(AT), replaced, [], True)

    def create(self, props: Json) -> CreateResult:
        """Make the object."""
        id_, state = KINDS[self._kind].create(self._client(props), _wanted(props))
        return CreateResult(id_, {**state, AT: props[AT]})

    def read(self, id_: str, props: Json) -> ReadResult:
        """The object as it is; gone objects leave the state."""
        state = KINDS[self._kind].read(self._client(props), id_, _wanted(props))
        return ReadResult("", {}) if state is None else ReadResult(id_, {**state, AT: props[AT]})

    def update(self, _id: str, _olds: Json, _news: Json) -> UpdateResult:
        """Change the object."""
        client = self._client(_news)
        wanted, state = _wanted(_news), _wanted(_olds)
        # Only the address or the CA is another: nothing to ask for.
        if changes(_olds, _news):
            state = KINDS[self._kind].update(client, _id, wanted, state)
        return UpdateResult({**state, AT: _news[AT]})

    def delete(self, _id: str, _props: Json) -> None:
        """Remove the object, or put back what was there before."""
        KINDS[self._kind].delete(self._client(_props), _id, _wanted(_props))

    def _client(self, props: Json) -> Client:
        return Client(access(section(self._config.get), props[AT]))


class Remote(Resource, module="runai", name="Remote"):
    """One object; its outputs are the state that the kind tells, secrets among them encrypted."""

    kind: ClassVar[str]
    # Outputs that only the API knows.
    told: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        name: str,
        at: pulumi.Input[Json],
        wanted: dict[str, pulumi.Input[Any]],
        opts: pulumi.ResourceOptions,
    ) -> None:
        """`at` is `{url, ca}` of the control plane, `wanted` what the kind documents."""
        props: dict[str, Any] = {AT: at, **wanted, **dict.fromkeys(self.told)}
        hidden = [key for key in self.told if key.endswith("Secret")]
        secret = pulumi.ResourceOptions(additional_secret_outputs=hidden)
        super().__init__(RemoteProvider(self.kind), name, props, pulumi.ResourceOptions.merge(opts, secret))


class Registration(Remote, module="runai", name="Registration"):
    """A cluster that the control plane knows."""

    kind = "Registration"
    told = ("uuid", "tenantId", "clientSecret")
    uuid: pulumi.Output[str]
    tenantId: pulumi.Output[int]  # noqa: N815 (the API's name)
    clientSecret: pulumi.Output[str]  # noqa: N815 (the API's name)


class NodePool(Remote, module="runai", name="NodePool"):
    """A named group of nodes."""

    kind = "NodePool"


class Department(Remote, module="runai", name="Department"):
    """A department with its quotas."""

    kind = "Department"


class Project(Remote, module="runai", name="Project"):
    """A project with its quotas."""

    kind = "Project"


class ServiceAccount(Remote, module="runai", name="ServiceAccount"):
    """A machine's identity."""

    kind = "ServiceAccount"
    told = ("clientId", "clientSecret")
    clientId: pulumi.Output[str]  # noqa: N815 (the API's name)
    clientSecret: pulumi.Output[str]  # noqa: N815 (the API's name)


class AccessRule(Remote, module="runai", name="AccessRule"):
    """A role of somebody somewhere."""

    kind = "AccessRule"


def changes(olds: Json, news: Json) -> list[str]:
    """Keys of what is wanted that differ from the state."""
    return sorted(key for key, value in _wanted(news).items() if olds.get(key) != value)


def _wanted(props: Json) -> Json:
    return {key: value for key, value in props.items() if key not in _PLUMBING and value is not None}


def _url(props: Json) -> str:
    at = props.get(AT)
    return str(at.get("url")) if isinstance(at, dict) else ""


def _unknown(value: object) -> bool:
    return value == pulumi.runtime.rpc.UNKNOWN
