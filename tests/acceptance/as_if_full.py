"""A cluster that looks as Run:ai leaves it, where preflight looks: namespaces, Secrets, operators, names.

Nothing of the product runs; the API server, Knative, DNS and the kubelets that are asked are real, and so is
HTTP to the control plane's double. Everything goes with `Broken`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from components.runai.access import Access
from components.runai.client import Client
from components.runai.objects import KINDS
from tests.acceptance import things
from tests.acceptance.broken import Broken, until
from tests.contract import teams
from tests.contract.control_plane.serving import Running
from tests.unit.validation.tls import Authority
from validation import names
from validation.observe.full.ground import AGENTS, BACKEND, MPI, PROJECT_LABEL
from validation.runai import driver

Json = dict[str, Any]
RESERVATION = "runai-reservation"
VERSION = "3.0.24"
# A zone in which any name can be made: that of Services.
ZONE = "default.svc.cluster.local"
BELOW = "runai-kit-preflight"
# The product's login service is not here, and no certificate of the ingress is for the zone of Services.
NOT_HERE = {"preflight.runai_login", "preflight.tls"}


@dataclass
class Product:
    """What was made, and how preflight is told of it."""

    wrong: Broken
    plane: Running
    authority: Authority
    folder: Path
    uuid: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def install(self, access: Access) -> None:
        """Everything preflight looks for, as it should be."""
        self._registered(Client(access))
        for name in (BACKEND, AGENTS, RESERVATION):
            labels = {names.PSA_ENFORCE_LABEL: "privileged"}
            meta = {"name": name, "labels": labels}
            self.wrong.made(names.NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
        for project in self.wrong.outputs.projects:
            labels = {names.PSA_ENFORCE_LABEL: "privileged", PROJECT_LABEL: project.name}
            self.wrong.patched(f"{names.NAMESPACES}/{project.namespace}", {"metadata": {"labels": labels}})
        for namespace in (BACKEND, AGENTS):
            self.authority_in(namespace, self.authority)
        self.certificate(BACKEND, "runai-backend-tls", "localhost")
        self.certificate(AGENTS, "runai-cluster-domain-tls-secret", "localhost")
        self.certificate(AGENTS, "star", f"*.{ZONE}")
        self._operators()
        port = {"port": 443}
        body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": BELOW}, "spec": {"ports": [port]}}
        self.wrong.made(names.in_namespace(names.SERVICES, "default"), body)

    def outputs(self) -> Json:
        """Outputs of a stack with profile full on this cluster."""
        projects = {p.namespace for p in self.wrong.outputs.projects}
        known = [n.model_dump() for n in self.wrong.outputs.namespaces]
        spaces = [{**n, "psa": "privileged"} if n["name"] in projects else n for n in known]
        spaces += [{"name": name, "psa": "privileged"} for name in (BACKEND, AGENTS, RESERVATION)]
        inference = self.wrong.outputs.inference.model_dump() | {"domain": ZONE}
        return {
            "profile": "full",
            "reservationNamespace": RESERVATION,
            "namespaces": spaces,
            "inference": inference,
            "workspaces": {"enabled": True, "domain": ZONE, "tlsSecret": "star"},
            "controlPlane": {
                "url": self.plane.url,
                "ca": self.authority.pem,
                "version": VERSION,
                "clusterId": self.uuid,
                "clusterDomain": "localhost",
            },
        }

    def authority_in(self, namespace: str, authority: Authority) -> None:
        """The private CA as both charts want it."""
        body = _secret("runai-ca-cert", {"runai-ca.pem": authority.pem})
        body["metadata"]["labels"] = {"run.ai/cluster-wide": "true"}
        self.wrong.made(names.in_namespace(names.SECRETS, namespace), body)

    def certificate(self, namespace: str, secret: str, name: str) -> None:
        """A TLS Secret; only what everybody is shown of it."""
        text = self.authority.issue(name, self.folder, days=90).read_text()
        chain = text[text.index("-----BEGIN CERTIFICATE-----") :]
        self.wrong.made(names.in_namespace(names.SECRETS, namespace), _secret(secret, {"tls.crt": chain}))

    def _registered(self, client: Client) -> None:
        """A cluster that reported, a department and a project, and an account that may look."""
        wanted = {"name": "gpu", "domain": "https://localhost", "version": VERSION}
        self.uuid, _ = KINDS["Registration"].create(client, wanted)
        told = self.plane.state.clusters[self.uuid]
        until(
            lambda: client.get(f"/api/v1/clusters/{self.uuid}")["status"]["state"] == "Connected", "connected"
        )
        told["version"] = VERSION
        teams.make(client, self.uuid, self.wrong.outputs)
        department = {"clusterId": self.uuid, "name": "research", "quotas": teams.QUOTA}
        id_, _ = KINDS["Department"].create(client, department)
        project = {"clusterId": self.uuid, "name": "team", "departmentId": id_, "namespace": "runai-team"}
        KINDS["Project"].create(client, {**project, "quotas": teams.QUOTA})
        account = client.post("/api/v1/service-accounts", {"name": "preflight"})
        rule = {"subject": account["id"], "subjectType": "service-account", "role": "System administrator"}
        scope = {"scopeType": "tenant", "scopeId": str(told["tenantId"]), "clusterId": self.uuid}
        KINDS["AccessRule"].create(client, rule | scope)
        self.environment = {
            driver.CLIENT_ID: account["clientId"],
            driver.CLIENT_SECRET: account["clientSecret"],
        }

    def _operators(self) -> None:
        crd = things.crd("mpijobs", "kubeflow.org", "MPIJob")
        crd["spec"]["versions"][0]["name"] = "v2beta1"
        assert crd["metadata"]["name"] == MPI
        self.wrong.made(names.CRDS, crd)
        self.operator("mpi-operator", [])
        self.operator("training-operator", ["--enable-scheme=pytorchjob"])

    def operator(self, name: str, args: list[str]) -> None:
        """An operator of Kubeflow's that has no pods: preflight reads what it would watch."""
        image = self.wrong.outputs.images["cuda"]
        pod = {"containers": [{"name": "main", "image": image, "args": args}]}
        labels = {"app": name}
        spec = {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        }
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}
        self.wrong.made(names.in_namespace(names.DEPLOYMENTS, BACKEND), body)


def _secret(name: str, texts: dict[str, str]) -> Json:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": texts}
