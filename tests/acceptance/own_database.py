"""A real PostgreSQL in the place of the vendor's chart's own: the image of local/database.py as StatefulSet.

It holds to Pod Security `restricted`, though the namespace would let it do more.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from day2.backup.database import NAMESPACE, RELEASE, STATEFUL_SET
from local import database
from tests.acceptance.broken import until
from tests.acceptance.commands import run
from tests.acceptance.conftest import ROOT
from tests.contract.doubles import HELM
from validation import names
from validation.cluster import Cluster

Json = dict[str, Any]
POD = f"{STATEFUL_SET}-0"
SECONDS = 180
LOAD = f"; its image {database.IMAGE} comes by `python3 -m local.demo --until load-database`"
_LABELS = {"app.kubernetes.io/name": "postgresql", "app.kubernetes.io/instance": RELEASE}
_KEY, _PLACE = "postgres-password", "/run/database"
_SETS, _PODS, _SECRETS = (
    names.in_namespace(path, NAMESPACE) for path in (names.STATEFUL_SETS, names.PODS, names.SECRETS)
)


@dataclass(frozen=True)
class OwnDatabase:
    """The running server, through kubectl with this kubeconfig and context; `secret` is its password."""

    kubeconfig: str
    context: str
    secret: str

    def sql(self, text: str) -> str:
        """What database `backend` answers, a row a line. The password goes in by standard input."""
        query = ["psql", "--username=postgres", "--no-align", "--tuples-only", f"--command={text}", "backend"]
        script = f"IFS= read -r PGPASSWORD; export PGPASSWORD; exec {shlex.join(query)}"
        pod = ["--namespace", NAMESPACE, "exec", "--stdin", POD]
        done = run(*self._kubectl(), *pod, "--", "sh", "-c", script, text=f"{self.secret}\n")
        return done.well().out.strip()

    def restore(self, dump: Path) -> None:
        """The command of docs/day2.md, letter by letter, with `kubectl` of this cluster."""
        page = (ROOT / "docs" / "day2.md").read_text(encoding="utf-8")
        command = page[page.index("{ printf") :].partition("```")[0]
        written = "build/backups/site/<time>/database.dump"
        assert written in command
        here = f'kubectl() {{ command {shlex.join(self._kubectl())} "$@"; }}'
        words = f"set -o pipefail; {here}; {command.replace(written, shlex.quote(str(dump)))}"
        script = f"IFS= read -r PGPASSWORD; {words}"
        run("bash", "-c", script, text=f"{self.secret}\n").well()

    def _kubectl(self) -> list[str]:
        return ["kubectl", "--kubeconfig", self.kubeconfig, "--context", self.context]


@contextmanager
def running(cluster: dict[str, str]) -> Iterator[OwnDatabase]:
    """The database with the release's password, ready; afterwards nothing is left of it."""
    api = Cluster(cluster["kubeconfig"], cluster["context"])
    secret = told()
    # Admission of a namespace that asks for it says whether the pod holds to `restricted`.
    pod: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "database"}, "spec": _spec()}
    api.create(names.in_namespace(names.PODS, "lws-system"), pod, dry_run=True)
    try:
        api.create(_SECRETS, {"metadata": {"name": STATEFUL_SET}, "stringData": {_KEY: secret}})
        api.create(_SETS, _stateful_set())
        until(lambda: _ready(api), f"{_SETS}/{STATEFUL_SET} is ready{LOAD}", SECONDS)
        yield OwnDatabase(cluster["kubeconfig"], cluster["context"], secret)
    finally:
        api.delete(f"{_SETS}/{STATEFUL_SET}")
        api.delete(f"{_SECRETS}/{STATEFUL_SET}")
        until(lambda: api.find(f"{_PODS}/{POD}") is None, f"{_PODS}/{POD} is gone")


def told() -> str:
    """The password as the vendor's page Backup and Restore looks for it: in all values of the release."""
    values = run(str(HELM), "get", "values", RELEASE, "-n", NAMESPACE, "--all", "-o", "json").well().out
    return str(json.loads(values)["global"]["postgresql"]["auth"]["postgresPassword"])


def _ready(api: Cluster) -> bool:
    return bool(api.get(f"{_SETS}/{STATEFUL_SET}").get("status", {}).get("readyReplicas"))


def _stateful_set() -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": STATEFUL_SET, "labels": _LABELS},
        "spec": {
            "replicas": 1,
            "serviceName": STATEFUL_SET,
            "selector": {"matchLabels": _LABELS},
            "template": {"metadata": {"labels": _LABELS}, "spec": _spec()},
        },
    }


def _spec() -> Json:
    container: Json = {
        "name": "postgresql",
        "image": database.IMAGE,
        "imagePullPolicy": "IfNotPresent",
        "env": [
            {"name": "POSTGRES_DATABASE", "value": "backend"},
            {"name": "POSTGRES_PASSWORD_FILE", "value": f"{_PLACE}/{_KEY}"},
        ],
        "readinessProbe": {"exec": {"command": ["pg_isready"]}, "periodSeconds": 2, "timeoutSeconds": 5},
        "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [
            {"name": "data", "mountPath": database.VOLUME},
            {"name": "password", "mountPath": _PLACE, "readOnly": True},
        ],
    }
    return {
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 10,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": database.UID,
            "runAsGroup": database.UID,
            "fsGroup": database.UID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [
            {"name": "data", "emptyDir": {}},
            {"name": "password", "secret": {"secretName": STATEFUL_SET, "defaultMode": 0o440}},
        ],
    }
