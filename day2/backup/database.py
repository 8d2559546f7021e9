"""The control plane's own PostgreSQL: its dump by `pg_dump` in its pod, and a look whether it can be read.

Names, user, database and where the password stands are those of the vendor's page Backup and Restore
(2.2x; the page of 3.0 could be read in part). The password goes in by standard input: process lists on both
sides show commands only.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from components.merging import merged
from day2.backup.document import BackupError, Database
from validation import names
from validation.cluster import Cluster

Json = dict[str, Any]
NAMESPACE, RELEASE = "runai-backend", "runai-backend"
STATEFUL_SET = f"{RELEASE}-postgresql"
FILE = "database.dump"
DUMP = "IFS= read -r PGPASSWORD; export PGPASSWORD; exec pg_dump --username=postgres --format=custom backend"
LIST = "exec pg_restore --list"
_PASSWORD = ("global", "postgresql", "auth", "postgresPassword")
_SECONDS = 1800


@dataclass(frozen=True)
class Postgres:
    """The pod, through kubectl with the stack's kubeconfig and context."""

    kubeconfig: str
    context: str
    kubectl: str = "kubectl"

    def dump(self, cluster: Cluster, folder: Path) -> Database:
        """The dump in `folder`, readable by its owner only. Raises BackupError, ClusterError."""
        _ready(cluster)
        secret = password(cluster)
        path = folder / FILE
        with path.open("xb") as out:
            path.chmod(0o600)
            self._run(DUMP, f"{secret}\n".encode(), out)
        with path.open("rb") as dumped:
            self._run(LIST, dumped, subprocess.DEVNULL)
        with path.open("rb") as dumped:
            digest = hashlib.file_digest(dumped, "sha256").hexdigest()
        return Database(file=FILE, bytes=path.stat().st_size, sha256=digest)

    def _run(self, script: str, given: bytes | IO[bytes], out: IO[bytes] | int) -> None:
        where = ["--kubeconfig", self.kubeconfig] if self.kubeconfig else []
        pod = ["--namespace", NAMESPACE, f"{STATEFUL_SET}-0"]
        command = [
            self.kubectl,
            *where,
            "--context",
            self.context,
            "exec",
            "--stdin",
            *pod,
            "--",
            "sh",
            "-c",
            script,
        ]
        stdin: Mapping[str, Any] = {"input": given} if isinstance(given, bytes) else {"stdin": given}
        try:
            done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, timeout=_SECONDS, **stdin)
        except FileNotFoundError:
            raise BackupError(f"{self.kubectl}: not on PATH; expected kubectl; install it") from None
        except subprocess.TimeoutExpired:
            raise BackupError(
                f"pod {STATEFUL_SET}-0: found no end after {_SECONDS} s; expected a dump; see the pod's log"
            ) from None
        if done.returncode:
            said = " ".join(done.stderr.decode(errors="replace").split())[-400:]
            tool = script.rpartition("exec ")[2].split()[0]
            raise BackupError(
                f"{tool} in pod {NAMESPACE}/{STATEFUL_SET}-0: found status {done.returncode}: {said}; "
                "expected 0; see the pod's log, or save the volume and use DATABASE=no"
            )


def password(cluster: Cluster) -> str:
    """What Helm's newest revision gave the database. Raises BackupError."""
    found = cluster.items(
        names.in_namespace(names.SECRETS, NAMESPACE),
        labelSelector=f"owner=helm,name={RELEASE},status=deployed",
    )
    values: Any = computed(found[-1]["data"]["release"]) if found else {}
    for key in _PASSWORD:
        values = values.get(key) if isinstance(values, dict) else None
    if not values:
        raise BackupError(
            f"Helm release {NAMESPACE}/{RELEASE}: found no value {'.'.join(_PASSWORD)}; expected the "
            "database's password there; save it as the vendor's page Backup and Restore says, then use "
            "DATABASE=no"
        )
    return str(values)


def computed(text: str) -> Json:
    """`helm get values --all` of a release's record: the chart's own values, and the given ones over them."""
    data = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(text))))
    return merged(data["chart"].get("values") or {}, data.get("config") or {})


def _ready(cluster: Cluster) -> None:
    found = cluster.find(f"{names.in_namespace(names.STATEFUL_SETS, NAMESPACE)}/{STATEFUL_SET}")
    have = ((found or {}).get("status") or {}).get("readyReplicas", 0)
    if not have:
        told = "no such StatefulSet" if found is None else "no ready pod"
        raise BackupError(
            f"StatefulSet {NAMESPACE}/{STATEFUL_SET}: found {told}; expected the chart's own database; look "
            "at the namespace's pods. For another database set controlPlane.postgresql, or use DATABASE=no"
        )
