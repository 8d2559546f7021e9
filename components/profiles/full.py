"""Profile `full`: Run:ai's control plane and/or its agents, and the org units in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from components.catalog import Catalog
from components.cluster_agents import AgentsInputs, ClusterAgents
from components.config.model import Settings
from components.control_plane import ControlPlane, ControlPlaneInputs
from components.full.gates import ApiGate
from components.full.rendered import around
from components.full.upgrade import Upgrade
from components.full.values import Around
from components.org_units import OrgUnits, Place, Tree
from components.profiles import quotas
from components.runai.client import Client, Json
from components.runai.credentials import access
from components.tls import given as files

if TYPE_CHECKING:
    from components.platform import Platform

SCHEDULER = "runai-scheduler"
QUEUE_LABEL = "runai/queue"
RESERVATION = "runai-reservation"


class Full:
    """Control plane → its API → this cluster's registration and agents → namespaces → org units."""

    def __init__(self, platform: Platform) -> None:
        self._on = platform
        settings, root = platform.settings, platform.root
        # Files are read here, before the first resource.
        self._ca = files.text(settings.control_plane_ca_file(), root)
        self._certificate = files.pair(settings.control_plane.certificate, root)
        if settings.control_plane.source == "install":
            Upgrade(platform.cluster, settings, root).refuse_unsaved(pulumi.get_stack())
        own = files.pair(settings.cluster_agents.certificate, root)
        self._agents_certificate = own or self._certificate

    def declare(self) -> None:
        """Declare what the settings ask for on this cluster."""
        on = self._on
        front = on.front()
        self._ready = on.after(*on.namespaces.before, *on.operators, *front)
        self.at = self._place()
        self.capacity = quotas.capacity(on)
        self.queues = self.capacity.apply(lambda gpus: quotas.resolve(on, gpus))
        self.uuid: pulumi.Output[str] = pulumi.Output.from_input("")
        self.secrets: pulumi.Output[dict[str, Any]] = pulumi.Output.from_input({})
        if on.settings.cluster_agents.enabled:
            self._agents()

    def outputs(self) -> dict[str, pulumi.Input[Any]]:
        """What the inventory reads, and what stacks with agents for this control plane do."""
        settings = self._on.settings
        return {
            "driver": "runai",
            "schedulerName": SCHEDULER,
            "queueLabelKey": QUEUE_LABEL,
            "reservationNamespace": RESERVATION,
            "gpuSharing": settings.fractions(),
            "sharing": settings.sharing,
            "placement": {"gpu": "binpack", "cpu": "binpack"},
            "capacityGpus": self.capacity.apply(lambda pools: sum(pools.values())),
            "departments": self.queues.apply(lambda known: quotas.departments(self._on, known)),
            "projects": self.queues.apply(lambda known: quotas.projects(self._on, known)),
            "projectNamespaceLabels": {},
            "controlPlane": pulumi.Output.all(self.at, self.uuid).apply(
                lambda known: {
                    "url": known[0]["url"],
                    "ca": known[0]["ca"],
                    "version": settings.control_plane.version,
                    "clusterName": settings.cluster_agents.name,
                    "clusterId": known[1],
                    "clusterDomain": settings.cluster_domain(),
                    "hostBasedRouting": settings.cluster_agents.host_based_routing,
                }
            ),
            "serviceAccounts": self.secrets,
        }

    def _place(self) -> pulumi.Output[Json]:
        """`{url, ca}` of the control plane, wherever it is."""
        on, plane = self._on, self._on.settings.control_plane
        if plane.source == "stack":
            told = pulumi.StackReference(plane.stack).require_output("controlPlane")
            return told.apply(lambda found: {"url": found["url"], "ca": found["ca"]})
        if plane.source == "given" or self._certificate is None:
            place: Json = {"url": f"https://{on.settings.control_plane_domain()}", "ca": self._ca}
            return pulumi.Output.from_input(place)
        inputs = ControlPlaneInputs(
            plane, on.settings.control_plane_domain(), self._certificate, self._around()
        )
        part = on.catalog.parts[on.parts["controlPlane"]]
        return ControlPlane("control-plane", inputs, part, on.source, self._gate(), self._ready).at

    def _agents(self) -> None:
        on, settings = self._on, self._on.settings
        if self._agents_certificate is None:
            raise ValueError("no certificate for the cluster's domain")
        inputs = AgentsInputs(
            settings.cluster_agents,
            settings.control_plane.version,
            settings.cluster_domain(),
            self._agents_certificate,
            on.certificates.pairs.get("workspaces") if settings.cluster_agents.host_based_routing else None,
            self._around(),
        )
        part = on.catalog.parts[on.parts["clusterAgents"]]
        agents = ClusterAgents("cluster-agents", inputs, self.at, part, on.source, self._gate(), self._ready)
        self.uuid = agents.connected
        on.addons.after(on.after(agents))
        namespaces = on.namespaces.projects([agents])
        tree = Tree(
            settings.departments,
            settings.node_pools,
            settings.service_accounts,
            settings.access_rules,
            on.catalog.project_namespace.prefix,
        )
        resolved = self.queues.apply(lambda known: known.quotas)
        units = OrgUnits(
            "org-units", tree, Place(self.at, self.uuid, agents.tenant), resolved, on.after(*namespaces)
        )
        self.secrets = pulumi.Output.secret(
            {
                name: {"clientId": account.clientId, "clientSecret": account.clientSecret}
                for name, account in units.accounts.items()
            }
        )

    def _around(self) -> Around:
        on = self._on
        return around(on.settings, on.catalog, self._ca, on.pull_secret, pulumi.Output.secret)

    def _gate(self) -> ApiGate:
        section = self._on.settings.control_plane
        known: Json = {
            "access": {
                "clientId": section.access.client_id,
                "clientSecret": section.access.client_secret.get_secret_value(),
            },
            "admin": {
                "username": section.admin.username,
                "password": section.admin.password.get_secret_value(),
            },
        }
        return ApiGate(
            lambda at: Client(access(known, at)), timeout=self._on.settings.cluster_agents.connect_seconds
        )


def full_parts(settings: Settings, catalog: Catalog) -> dict[str, str]:
    """Role → catalog key of what only this profile installs."""
    version = settings.control_plane.version
    chosen: dict[str, str] = {}
    if settings.control_plane.source == "install":
        chosen["controlPlane"] = catalog.generations("control-plane")[version]
    if settings.cluster_agents.enabled:
        chosen["clusterAgents"] = catalog.generations("runai-cluster")[version]
    return chosen
