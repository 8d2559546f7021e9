"""A healthy cluster of the full profile in memory, and the outputs of its stack."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from tests.unit.validation.double import OUTPUTS, Double, node, pod, thing
from tests.unit.validation.tls import Authority
from validation import names
from validation.observe.full import ground, serving
from validation.observe.full.ground import AGENTS, BACKEND
from validation.observe.snapshot import Snapshot

Json = dict[str, Any]
PLANE = "runai.apps.test"
LEASE_TIME = "2026-11-30T23:32:47Z"
PRIVILEGED = {names.PSA_ENFORCE_LABEL: "privileged"}


class Bed:
    """Cluster and outputs; tests spoil either."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority("a CA")
        self.folder = folder
        self.cluster = Double()
        spaces = (BACKEND, AGENTS, "runai-reservation")
        self.outputs: Json = {
            **OUTPUTS,
            "profile": "full",
            "driver": "runai",
            "schedulerName": "runai-scheduler",
            "reservationNamespace": "runai-reservation",
            "namespaces": [{"name": name, "psa": "privileged"} for name in spaces],
            "workspaces": {"enabled": True, "domain": PLANE, "tlsSecret": "star"},
            "controlPlane": {
                "url": f"https://{PLANE}",
                "ca": self.authority.pem,
                "version": "3.0.24",
                "clusterId": "c1",
                "clusterDomain": PLANE,
            },
        }
        self._ground(spaces)
        self._running()
        ca = {"runai-ca.pem": base64.b64encode(self.authority.pem.encode()).decode()}
        wide = {"run.ai/cluster-wide": "true"}
        self.cluster.add(names.SECRETS, thing("runai-ca-cert", BACKEND, data=ca))
        self.cluster.add(names.SECRETS, thing("runai-ca-cert", AGENTS, wide, data=dict(ca)))
        self.certificate(BACKEND, "runai-backend-tls", PLANE)
        self.certificate(AGENTS, "runai-cluster-domain-tls-secret", PLANE)
        self.certificate(AGENTS, "star", f"*.{PLANE}")

    def _ground(self, spaces: tuple[str, ...]) -> None:
        self.cluster.add(names.NODES, node("w1"), node("w2"))
        for name in spaces:
            self.cluster.add(names.NAMESPACES, thing(name, labels=dict(PRIVILEGED)))
        for project in self.outputs["projects"]:
            labels = {**PRIVILEGED, ground.PROJECT_LABEL: project["name"]}
            self.cluster.add(names.NAMESPACES, thing(project["namespace"], labels=labels))
        for name in ("w1", "w2"):
            lease = thing(name, "kube-node-lease", spec={"renewTime": "2026-11-30T23:32:47.527408Z"})
            lease["metadata"]["managedFields"] = [{"manager": "kubelet", "time": LEASE_TIME}]
            self.cluster.add("/apis/coordination.k8s.io/v1/leases", lease)
        features = dict.fromkeys(serving.FEATURES, "enabled")
        self.cluster.add(names.CONFIG_MAPS, thing("config-features", "knative-serving", data=features))
        scheme = {"default-external-scheme": "https"}
        self.cluster.add(names.CONFIG_MAPS, thing("config-network", "knative-serving", data=scheme))

    def _running(self) -> None:
        mpi = {"template": {"spec": {"containers": [{"image": "mpi:1"}]}}}
        args = ["--enable-scheme=pytorchjob", "--enable-scheme=tfjob"]
        training = {"template": {"spec": {"containers": [{"image": "t:1", "args": args}]}}}
        self.cluster.add(names.DEPLOYMENTS, thing("mpi-operator", "mpi-operator", spec=mpi))
        self.cluster.add(names.DEPLOYMENTS, thing("training-operator", "kubeflow", spec=training))
        versions = [{"name": "v2beta1", "served": True}]
        self.cluster.add(names.CRDS, thing(ground.MPI, spec={"versions": versions}))
        for name, namespace in (("keycloak-0", BACKEND), ("runai-agent", AGENTS)):
            self.cluster.add(names.PODS, pod(name, namespace))
        self.release(BACKEND, "runai-backend", 1, "deployed")
        self.release(AGENTS, "runai-cluster", 1, "superseded")
        self.release(AGENTS, "runai-cluster", 2, "deployed")

    def release(self, namespace: str, name: str, revision: int, status: str) -> None:
        """A revision of a Helm release, as Helm's Secret tells it."""
        labels = {"owner": "helm", "name": name, "version": str(revision), "status": status}
        self.cluster.add(names.SECRETS, thing(f"sh.helm.release.v1.{name}.v{revision}", namespace, labels))

    def certificate(self, namespace: str, secret: str, name: str, days: int = 90) -> None:
        """A TLS Secret for that name, in place of an older one."""
        text = self.authority.issue(name, self.folder, days=days).read_text()
        chain = text[text.index("-----BEGIN CERTIFICATE-----") :]
        data = {"tls.crt": base64.b64encode(chain.encode()).decode()}
        secrets = self.cluster.objects[names.SECRETS]
        wanted = (namespace, secret)
        secrets[:] = [s for s in secrets if (s["metadata"]["namespace"], s["metadata"]["name"]) != wanted]
        secrets.append(thing(secret, namespace, data=data))

    def at(self) -> Snapshot:
        """A moment of it."""
        return self.cluster.at(**self.outputs)

    def named(self, path: str, name: str, namespace: str = "") -> Json:
        """One of its objects, to be spoilt."""
        found = self.cluster.objects[path]
        return next(
            o
            for o in found
            if o["metadata"]["name"] == name and o["metadata"].get("namespace", "") == namespace
        )
