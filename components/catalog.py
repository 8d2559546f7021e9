"""The catalog: versions, charts, images, namespaces and Pod Security levels of every part."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

Psa = Literal["privileged", "baseline", "restricted"]
Provenance = Literal["upstream", "built-from-packages", "fake", "double"]


class Entry(BaseModel):
    """Frozen, camelCase in the file, no unknown key."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)


class NamespaceEntry(Entry):
    """A namespace's Pod Security level; a relaxed one has to say why.

    `demanded`: the vendor supports no stricter level, whatever its pods would pass.
    `accounts`: the ServiceAccounts of the pods that it is for; `webhooks`, `metrics`: TCP ports of its pods
    that the API server and Prometheus ask. The controls of relaxed namespaces are made of these.
    """

    psa: Psa
    why: str = ""
    demanded: bool = False
    accounts: tuple[str, ...] = ()
    webhooks: tuple[int, ...] = ()
    metrics: tuple[int, ...] = ()

    @model_validator(mode="after")
    def relaxed_needs_a_reason(self) -> NamespaceEntry:
        """Raises ValueError for a level below `restricted` without `why`."""
        if self.psa != "restricted" and not self.why:
            raise ValueError(f"level {self.psa} without `why`")
        return self


class ProjectNamespace(NamespaceEntry):
    """What every project's namespace is like: its name is `prefix` and the project's."""

    prefix: str


class Chart(Entry):
    """`file` below a chart directory, and where it is published, if it is, under the `published` version.

    `oci` is the chart's whole address; in a Helm repository it is `name` at the address `repository`.
    """

    file: str
    oci: str = ""
    repository: str = ""
    name: str = ""
    published: str = ""

    @model_validator(mode="after")
    def one_address(self) -> Chart:
        """Raises ValueError for half an address, two of them, or one without a version."""
        if self.oci and self.repository:
            raise ValueError("oci and repository are two addresses of one chart")
        if bool(self.repository) != bool(self.name):
            raise ValueError("repository and name belong together")
        if bool(self.oci or self.repository) != bool(self.published):
            raise ValueError("an address and the published version belong together")
        return self

    def path(self) -> str:
        """Registry and path without a scheme, as a mirror keeps it; empty for what only exists as a file."""
        address = self.oci or (f"{self.repository}/{self.name}" if self.repository else "")
        return address.partition("://")[2]


class Evidence(Entry):
    """How an entry's statement is known, and from whom."""

    standing: Literal["verified", "documented", "assumed"]
    source: str


class Part(Entry):
    """One version of one part; `namespaces` starts with the one it runs in itself.

    `needs`: the least version of another part, by the part's name, where it is installed beside this one.
    """

    name: str
    version: str
    provenance: Provenance
    chart: Chart | None = None
    images: dict[str, Annotated[str, Field(pattern=r"^[a-z0-9.-]+(:[0-9]+)?/[a-z0-9/._-]+:[\w.-]+$")]]
    namespaces: dict[str, NamespaceEntry]
    requires: tuple[str, ...] = ()
    needs: dict[str, str] = Field(default_factory=dict)
    evidence: dict[Literal["chart", "values", "images", "psa"], Evidence] = Field(default_factory=dict)

    def image(self, name: str, mirror: str) -> str:
        """The image's reference, below `mirror` when that is set."""
        return mirrored(self.images[name], mirror)

    def namespace(self) -> str:
        """The namespace the part itself runs in: the first one listed."""
        return next(iter(self.namespaces))


class Support(Entry):
    """What the vendor states about a version or a fact; compared by validation, to the digits given."""

    min: str = ""
    max: str = ""
    one_of: tuple[str, ...] = ()
    words: str = ""
    level: Literal["supported", "recommended"] = "supported"
    source: str
    mark: Literal["D", "P", "S", "R", "E", "U"]

    @model_validator(mode="after")
    def states_something(self) -> Support:
        """Raises ValueError for a statement without a bound."""
        if not (self.min or self.max or self.one_of):
            raise ValueError("one of min, max, oneOf is needed")
        return self


class Catalog(Entry):
    """All parts by key, what project namespaces are like, images of tests, and what the vendor supports."""

    project_namespace: ProjectNamespace
    full_project_namespace: NamespaceEntry
    images: dict[str, str]
    parts: dict[str, Part]
    support: dict[str, Support] = Field(default_factory=dict)

    @model_validator(mode="after")
    def consistent(self) -> Catalog:
        """Raises ValueError for a requirement that no part meets."""
        for key, part in self.parts.items():
            if missing := [name for name in part.requires if name not in self.parts]:
                raise ValueError(f"{key} requires {', '.join(missing)}, not in the catalog")
            if missing := [name for name in part.needs if not self.generations(name)]:
                raise ValueError(f"{key} needs {', '.join(missing)}, not in the catalog")
        return self

    def generations(self, name: str) -> dict[str, str]:
        """Version → key of every entry of the part called `name`."""
        return {part.version: key for key, part in self.parts.items() if part.name == name}


def mirrored(reference: str, mirror: str) -> str:
    """`quay.io/x/y:1` below `harbor.example.com/m` is `harbor.example.com/m/quay.io/x/y:1`."""
    return f"{mirror}/{reference}" if mirror else reference


def load_catalog(path: Path | None = None) -> Catalog:
    """Read the catalog that lies beside this file, or another one.

    Raises pydantic.ValidationError for a catalog that contradicts itself.
    """
    path = path or Path(__file__).with_name("catalog.yaml")
    return Catalog.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
