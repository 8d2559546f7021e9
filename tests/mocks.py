"""Runs component code against Pulumi's mocks, and records what Pulumi's own mocks do not show."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi.runtime.mocks as pulumi_mocks
from pulumi.runtime import rpc


@dataclass(frozen=True)
class Registered:
    """One resource as the program asked the engine for it; `depends_on` and `parent` are names."""

    type: str
    name: str
    inputs: dict[str, Any]
    parent: str
    depends_on: frozenset[str]
    provider: str
    retain_on_delete: bool
    ignore_changes: tuple[str, ...]


class Mocks(pulumi_mocks.Mocks):
    """Creates everything, with an id and what the code reads back from a Helm release."""

    def new_resource(self, args: pulumi_mocks.MockResourceArgs) -> tuple[str, dict[Any, Any]]:
        state = dict(args.inputs)
        if args.typ == "kubernetes:helm.sh/v3:Release":
            state["status"] = {"revision": 3, "name": args.name, "namespace": "", "status": "deployed"}
        # What only the control plane knows.
        if args.typ == "pulumi-python:dynamic/runai:Registration":
            state |= {"uuid": "cluster-uuid", "tenantId": 1001, "clientSecret": "client secret"}
        if args.typ == "pulumi-python:dynamic/runai:ServiceAccount":
            state |= {"clientId": args.inputs["name"], "clientSecret": "account secret"}
        if args.typ == "pulumi:pulumi:StackReference":
            state["outputs"] = {"controlPlane": {"url": f"https://{args.name}.test", "ca": "their CA"}}
        return f"{args.name}-id", state

    def call(self, args: pulumi_mocks.MockCallArgs) -> tuple[dict[Any, Any], None]:
        raise AssertionError(f"the program called {args.token}, which needs a cluster")


class Monitor(pulumi_mocks.MockMonitor):
    """Keeps each registration request: parents, dependencies and options are nowhere else."""

    def __init__(self) -> None:
        super().__init__(Mocks())
        self.requests: list[Any] = []

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 (the engine's name)
        self.requests.append(request)
        return super().RegisterResource(request)  # type: ignore[no-untyped-call]


@dataclass
class Run:
    """What a program registered, and what it returned or raised."""

    resources: list[Registered] = field(default_factory=list)
    value: Any = None

    def of_type(self, suffix: str) -> list[Registered]:
        """Resources whose type ends in `:suffix`."""
        return [item for item in self.resources if item.type.endswith(f":{suffix}")]

    def one(self, suffix: str, name: str) -> Registered:
        """The single resource of that type and Pulumi name."""
        found = [item for item in self.of_type(suffix) if item.name == name]
        assert len(found) == 1, (
            f"{suffix} {name}: {len(found)} of {[item.name for item in self.of_type(suffix)]}"
        )
        return found[0]

    def reached(self, names: frozenset[str]) -> set[str]:
        """These resources and, over any number of steps, what they depend on."""
        known: dict[str, set[str]] = {}
        for item in self.resources:
            known.setdefault(item.name, set()).update(item.depends_on)
        found: set[str] = set()
        left = set(names)
        while left:
            name = left.pop()
            found.add(name)
            left |= known.get(name, set()) - found
        return found

    def children_of(self, name: str) -> set[str]:
        """Names of the resources whose parent has that name."""
        return {item.name for item in self.resources if item.parent == name}


def _last(urn: str) -> str:
    return urn.split("::")[-1]


def run_program(program: Callable[[], Any], preview: bool = False, run: Run | None = None) -> Run:
    """Run code that declares resources; returns when all of it, outputs included, has resolved.

    What the program raises is raised here; a `run` given by the caller then still holds what was registered.
    """
    # Pulumi's mocks take the thread's current loop; other tests may have closed theirs.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    monitor = Monitor()
    pulumi_mocks.set_mocks(monitor.mocks, "runai-kit", "test", preview, monitor=monitor)
    run = run or Run()

    def resolved() -> Any:
        return pulumi.Output.from_input(program()).apply(lambda value: setattr(run, "value", value))

    try:
        pulumi.runtime.test(resolved)()  # type: ignore[no-untyped-call]
    finally:
        loop.close()
        run.resources = [_registered(item) for item in monitor.requests if item.type != "pulumi:pulumi:Stack"]
    return run


def _registered(request: Any) -> Registered:
    return Registered(
        type=request.type,
        name=request.name,
        inputs=rpc.deserialize_properties(request.object),
        parent=_last(request.parent) if request.parent else "",
        depends_on=frozenset(map(_last, request.dependencies)),
        provider=_last(request.provider.rsplit("::", 1)[0]) if request.provider else "",
        retain_on_delete=bool(request.retainOnDelete),
        ignore_changes=tuple(request.ignoreChanges),
    )
