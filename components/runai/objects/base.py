"""What every kind of object can do, and the rules on objects that were there before."""

from __future__ import annotations

from typing import Protocol

from components.runai.client import Client, Json
from components.runai.errors import NotFoundError

# Written into descriptions: how a run knows an object as the kit's own after its state was lost.
OURS = "Managed by runai-kit"
# Seconds for an object to become ready or to go; the control plane hands both to agents in the cluster.
PATIENCE = 300.0


class Kind(Protocol):
    """`wanted` is what the stack asks for, the state the same keys as they are, and what only the API knows.

    `replaced_by` are the keys of `wanted` that no request can change. All raise ApiError's kinds.
    """

    replaced_by: frozenset[str]

    def create(self, client: Client, wanted: Json) -> tuple[str, Json]:
        """Make the object, or take over the one of that name; returns its id and state."""
        ...

    def read(self, client: Client, id_: str, state: Json) -> Json | None:
        """The state now; None when the object is gone."""
        ...

    def update(self, client: Client, id_: str, wanted: Json, state: Json) -> Json:
        """Change the object to what is wanted."""
        ...

    def delete(self, client: Client, id_: str, state: Json) -> None:
        """Remove the object; one that was there before gets its old content back instead."""
        ...


def present(client: Client, path: str) -> Json | None:
    """The object at `path`, None when there is none."""
    try:
        found: Json = client.get(path)
    except NotFoundError:
        return None
    return found


def only_name(name: str, cluster: str = "") -> list[tuple[str, str]]:
    """The filter for one name, within a cluster if one is given."""
    filters = [("filterBy", f"name=={name}")]
    return [*filters, ("filterBy", f"clusterId=={cluster}")] if cluster else filters
