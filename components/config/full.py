"""Sections of the full profile: where NVIDIA's artefacts come from, the control plane, and cluster agents."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr

from components.config.serving import Certificate
from components.config.types import DnsLabel, DomainOrNone, Section, Text
from components.runai.credentials import ADMIN


class Ngc(Section):
    """Charts and images of NVIDIA's catalogue.

    `acceptLicense` says that you accept the NVIDIA Software License Agreement and the Product-Specific
    Terms for NVIDIA AI Products; without it nothing of NGC is asked for. `supportEntitled` takes the
    release with support, which needs `apiKey`.
    """

    accept_license: bool = False
    support_entitled: bool = False
    api_key: SecretStr = SecretStr("")


class Admin(Section):
    """The first user; the vendor's rule: 8 characters, among them a digit, both cases and a special one."""

    username: Text = ADMIN
    password: SecretStr = SecretStr("")


class AccessKey(Section):
    """A service account of the control plane, for stacks that must not know the first user's password."""

    client_id: str = ""
    client_secret: SecretStr = SecretStr("")


class Postgresql(Section):
    """An external PostgreSQL 16 (17 breaks the product); the database of that user must exist."""

    host: Text
    port: Annotated[int, Field(ge=1, le=65535)] = 5432
    username: Text
    password: SecretStr = SecretStr("")
    ssl_mode: Literal["require", "verify-ca", "verify-full"] = "require"
    version: Literal["16"] = "16"


class Toleration(Section):
    """As in a pod's spec."""

    key: Text
    operator: Literal["Exists", "Equal"] = "Exists"
    value: str = ""
    effect: Literal["", "NoSchedule", "PreferNoSchedule", "NoExecute"] = ""


class Nodes(Section):
    """Which nodes run the system's pods: those with all of `labels`, taints tolerated."""

    labels: dict[str, str] = Field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()


class ControlPlane(Section):
    """Run:ai's control plane.

    `source`: install puts it on this cluster; given is one that is there, at `domain`; stack is the one
    that another stack of this kit installed, whose outputs `stack` names (`<stack>` or
    `<organization>/<project>/<stack>`). `domain` empty is `runai.<domain>`. `certificate` and `ca` are for
    `install`; a `given` one needs `ca` if private. `admin` or `access` is who registers clusters and makes
    org units. `values` are merged over the chart's last. An upgrade wants a backup of the last
    `backupHours`; 0 wants none.
    """

    source: Literal["install", "given", "stack"] = "install"
    version: Text = "3.0.24"
    domain: DomainOrNone = ""
    stack: str = ""
    certificate: Certificate | None = None
    ca: str = ""
    admin: Admin = Admin()
    access: AccessKey = AccessKey()
    postgresql: Postgresql | None = None
    storage_class: str = ""
    ingress_class: str = ""
    nodes: Nodes = Nodes()
    backup_hours: Annotated[int, Field(ge=0, le=8760)] = 24
    values: dict[str, Any] = Field(default_factory=dict)


class ClusterAgents(Section):
    """Run:ai on this cluster, registered under `name` without the user interface.

    `domain` empty is the control plane's, right only on the same cluster. `certificate` is for that domain
    where it is another. `createNamespaces` lets the product make namespaces of projects that somebody makes
    by hand: they come without Pod Security labels. `connectSeconds` is how long to wait for the cluster to
    report.
    """

    enabled: bool = True
    name: DnsLabel = "gpu"
    domain: DomainOrNone = ""
    certificate: Certificate | None = None
    create_namespaces: bool = False
    host_based_routing: bool = True
    nodes: Nodes = Nodes()
    connect_seconds: Annotated[int, Field(ge=10, le=7200)] = 900
    values: dict[str, Any] = Field(default_factory=dict)
