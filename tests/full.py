"""Stacks of the full profile for tests: settings, and the files that they name."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from components.tls.generate import make
from tests.stack import changed

PASSWORD = "Pass-word1"
SECRETS = ["registry", "tls", "ngc", "controlPlane"]
_PAIR = {"certificate": "certificates/plane.pem", "keyFile": "certificates/plane.key"}

# Control plane and agents on one cluster.
FULL: dict[str, Any] = {
    "profile": "full",
    "domain": "apps.example.test",
    "cluster": {"kind": "vks", "context": "vks"},
    "ngc": {"acceptLicense": True},
    "capacity": {"source": "setting", "gpus": 8},
    "controlPlane": {
        "certificate": dict(_PAIR),
        "ca": "certificates/ca.pem",
        "admin": {"username": "admin@example.test", "password": PASSWORD},
    },
    "clusterAgents": {"name": "gpu-1"},
    "departments": [
        {
            "name": "engineering",
            "gpu": {"deserved": "25%", "limit": "50%"},
            "projects": [{"name": "team-a", "gpu": {"deserved": "25%", "limit": "50%"}}],
        },
        {"name": "default", "gpu": {"deserved": -1}, "projects": [{"name": "test", "gpu": {"deserved": 1}}]},
    ],
    "ingress": {"enabled": True, "source": "controller"},
    "tls": {
        "source": "files",
        "ca": "certificates/ca.pem",
        "workspaces": {"certificate": "certificates/star.pem", "keyFile": "certificates/star.key"},
    },
    "monitoring": {"source": "chart"},
}

# Agents of another cluster than the control plane's.
AGENTS: dict[str, Any] = changed(
    changed(
        FULL,
        "controlPlane",
        {
            "source": "given",
            "domain": "runai.other.test",
            "ca": "certificates/ca.pem",
            "access": {"clientId": "kit", "clientSecret": "account secret"},
        },
    ),
    "clusterAgents",
    {"name": "gpu-2", "domain": "gpu-2.example.test", "certificate": dict(_PAIR)},
)

# Every key that only the full profile has, each with a value that is right.
EVERYTHING_FULL: dict[str, Any] = copy.deepcopy(FULL) | {
    "ngc": {"acceptLicense": True, "supportEntitled": True, "apiKey": "key"},
    "nodePools": {"pools": [{"name": "h100", "gpus": 4}]},
    "controlPlane": {
        "source": "install",
        "version": "3.0.24",
        "domain": "runai.example.test",
        "certificate": dict(_PAIR),
        "ca": "certificates/ca.pem",
        "admin": {"username": "admin@example.test", "password": PASSWORD},
        "access": {"clientId": "kit", "clientSecret": "account secret"},
        "postgresql": {
            "host": "db.example.test",
            "port": 5433,
            "username": "runai",
            "password": "database",
            "sslMode": "verify-full",
            "version": "16",
        },
        "storageClass": "fast",
        "ingressClass": "haproxy",
        "backupHours": 48,
        "nodes": {
            "labels": {"node-role.kubernetes.io/runai-system": ""},
            "tolerations": [{"key": "system", "operator": "Equal", "value": "runai", "effect": "NoSchedule"}],
        },
        "values": {"global": {"replicaCount": 2}},
    },
    "clusterAgents": {
        "enabled": True,
        "name": "gpu-1",
        "domain": "gpu-1.example.test",
        "certificate": dict(_PAIR),
        "createNamespaces": True,
        "hostBasedRouting": True,
        "nodes": {"labels": {"role": "system"}, "tolerations": []},
        "connectSeconds": 60,
        "values": {"clusterConfig": {"global": {"core": {"dynamicFractions": {"enabled": True}}}}},
    },
    "serviceAccounts": [{"name": "kit", "grants": [{"role": "L1 researcher", "scope": "project/team-a"}]}],
    "accessRules": [
        {
            "subject": "alice@example.test",
            "subjectType": "user",
            "role": "Department administrator",
            "scope": "department/engineering",
        }
    ],
}


def write_files(root: Path, star: str = "runai.apps.example.test") -> None:
    """Certificates for the control plane's and the clusters' names, and one for all names below `star`."""
    folder = root / "certificates"
    folder.mkdir(exist_ok=True)
    made = make({"plane": "example.test", "star": star}, 90, "")
    apps = make({"plane": "apps.example.test"}, 90, "")
    for name, pair in made.pairs.items():
        (folder / f"{name}.pem").write_text(pair.chain)
        (folder / f"{name}.key").write_text(pair.key)
    if star.endswith("apps.example.test"):
        (folder / "plane.pem").write_text(apps.pairs["plane"].chain)
        (folder / "plane.key").write_text(apps.pairs["plane"].key)
    (folder / "ca.pem").write_text(made.ca)
