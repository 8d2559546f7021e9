"""What an add-on's values are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from components.catalog import Catalog, Part
from components.config.model import Settings
from components.config.sections import Registry


@dataclass(frozen=True)
class AddonInputs:
    """Settings and catalog with the entry that is installed; `pull_secret` is empty without credentials."""

    settings: Settings
    catalog: Catalog
    key: str
    pull_secret: str = ""

    @property
    def part(self) -> Part:
        """The catalog entry."""
        return self.catalog.parts[self.key]

    @property
    def registry(self) -> Registry:
        """The mirror."""
        return self.settings.registry

    def image(self, name: str) -> str:
        """The image's reference, from the mirror if there is one."""
        return self.part.image(name, self.registry.prefix)

    def repository_and_tag(self, name: str) -> tuple[str, str]:
        """`ghcr.io/a/b:v1` as charts take it, in two."""
        repository, _, tag = self.image(name).rpartition(":")
        return repository, tag

    def split(self, name: str) -> dict[str, str]:
        """`nvcr.io/nvidia/gpu-operator:v1` as NVIDIA's charts take it, in three."""
        repository, tag = self.repository_and_tag(name)
        home, _, image = repository.rpartition("/")
        return {"repository": home, "image": image, "version": tag}

    def pull_secrets(self) -> list[dict[str, str]]:
        """The list that charts and pods take: always stated, so that it is never somebody else's."""
        return [{"name": name} for name in self.pull_secret_names()]

    def pull_secret_names(self) -> list[str]:
        """The same as names alone."""
        return [self.pull_secret] if self.pull_secret else []


RESTRICTED_POD: dict[str, Any] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
RESTRICTED_CONTAINER: dict[str, Any] = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
}
