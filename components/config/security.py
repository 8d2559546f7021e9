"""Controls of namespaces whose Pod Security level is relaxed, and of the projects' namespaces."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from components.config.types import Cidr, Port, Section


class Security(Section):
    """What is applied; docs/security.md says to which namespaces, and what each control does.

    Admission is on: it refuses only what nothing of the kit does. Network policies and quotas are off until
    somebody asks for them: they depend on the network plugin, and on what the teams' own workloads reach.

    `egress_ports`: TCP ports outside of the cluster that projects may reach; `api_servers`: address ranges of
    the API server, empty where they are not known; `pods`: the most that one namespace may hold.
    """

    admission: bool = True
    network_policies: bool = False
    egress_ports: tuple[Port, ...] = (80, 443)
    api_servers: tuple[Cidr, ...] = ()
    quotas: bool = False
    pods: Annotated[int, Field(ge=1)] = 500
