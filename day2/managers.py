"""Who wrote an object: the names in its managedFields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

# What the provider applies is by `pulumi-kubernetes-<hash>`, Helm's records in it are by `pulumi-kubernetes`,
# what its Helm renders is by its binary, `pulumi-resource-kubernetes`.
_PROVIDER = "pulumi"


def managers(metadata: Mapping[str, Any]) -> frozenset[str]:
    """Names of everybody who wrote a field of the object with this metadata."""
    return frozenset(entry.get("manager", "") for entry in metadata.get("managedFields") or ())


def provider(names: Iterable[str]) -> bool:
    """Whether this kit's provider is among them."""
    return any(name.startswith(_PROVIDER) for name in names)
