"""The database's dump: what runs in the pod, what does not show, and what goes wrong."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from components.config.full import ControlPlane
from day2.backup.database import FILE, Postgres, computed, password
from day2.backup.document import BackupError
from day2.backup.source import elsewhere
from tests.unit.day2.postgres import running, server
from validation.cluster import Cluster

pytestmark = pytest.mark.req("I6")
Json = dict[str, Any]
SECRET = "of-the-database-1"
# As kubectl exec, in whose place it stands: everything behind `--` is run, with the caller's standard input.
KUBECTL = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""
DUMP = f"""#!/bin/sh
[ "$PGPASSWORD" = {SECRET} ] || {{ echo "no password" >&2; exit 1; }}
printf "PGDMP %s" "$*"
"""
LIST = """#!/bin/sh
read -r head rest
[ "$head" = PGDMP ] || { echo "no archive" >&2; exit 1; }
"""


class Answers:
    """A cluster with the release's record and the StatefulSet."""

    def __init__(self, values: Json, ready: int | None = 1) -> None:
        own = {"global": {"postgresql": {"auth": {"username": "postgres", "postgresPassword": "default"}}}}
        record = {"chart": {"values": own}, "config": values}
        self.text = base64.b64encode(base64.b64encode(gzip.compress(json.dumps(record).encode()))).decode()
        self.ready = ready

    def find(self, path: str, **_: Any) -> Json | None:
        assert path == "/apis/apps/v1/namespaces/runai-backend/statefulsets/runai-backend-postgresql"
        return None if self.ready is None else {"status": {"readyReplicas": self.ready}}

    def items(self, path: str, **params: Any) -> list[Json]:
        assert path == "/api/v1/namespaces/runai-backend/secrets"
        assert params == {"labelSelector": "owner=helm,name=runai-backend,status=deployed"}
        return [{"data": {"release": self.text}}] if self.text else []


def cluster(secret: str = SECRET, ready: int | None = 1) -> Cluster:
    return cast(Cluster, Answers({"global": {"postgresql": {"auth": {"postgresPassword": secret}}}}, ready))


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs of the pod, and kubectl's way into it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("kubectl", KUBECTL), ("pg_dump", DUMP), ("pg_restore", LIST)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def test_the_dump_is_the_owners_and_the_password_shows_nowhere(tools: Path, tmp_path: Path) -> None:
    told = Postgres("/k", "vks").dump(cluster(), tmp_path)
    path = tmp_path / FILE
    assert path.read_text() == "PGDMP --username=postgres --format=custom backend"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (told.bytes, told.sha256) == (49, hashlib.sha256(path.read_bytes()).hexdigest())
    asked = (tools / "asked").read_text()
    pod = "--namespace runai-backend runai-backend-postgresql-0"
    where = f"--kubeconfig /k --context vks exec --stdin {pod} -- sh -c"
    assert [line.startswith(where) for line in asked.splitlines()] == [True, True]
    assert SECRET not in asked


def test_a_wrong_password_is_told_without_it(tools: Path, tmp_path: Path) -> None:
    with pytest.raises(
        BackupError, match=r"pg_dump in pod .*-0: found status 1: no password; expected 0"
    ) as caught:
        Postgres("", "vks").dump(cluster("another"), tmp_path)
    assert "another" not in str(caught.value)


def test_a_dump_that_cannot_be_read_is_none(tools: Path, tmp_path: Path) -> None:
    (tools / "pg_dump").write_text("#!/bin/sh\necho cut off\n")
    with pytest.raises(BackupError, match=r"pg_restore in pod .*: found status 1: no archive"):
        Postgres("", "vks").dump(cluster(), tmp_path)


def test_no_kubectl_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="nowhere: not on PATH; expected kubectl; install it"):
        Postgres("", "vks", "nowhere").dump(cluster(), tmp_path)


@pytest.mark.parametrize(("ready", "told"), [(None, "no such StatefulSet"), (0, "no ready pod")])
def test_a_database_that_does_not_run(ready: int | None, told: str, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match=f"found {told}; expected the chart's own database; .*DATABASE=no"):
        Postgres("", "vks").dump(cluster(ready=ready), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_given_values_lie_over_the_charts_own() -> None:
    assert password(cast(Cluster, Answers({}))) == "default"
    assert password(cluster()) == SECRET
    assert computed(Answers({"a": 1}).text)["global"]["postgresql"]["auth"]["username"] == "postgres"


def test_a_release_without_the_value_says_what_to_do() -> None:
    empty = Answers({})
    empty.text = ""
    with pytest.raises(BackupError, match=r"found no value global.postgresql.auth.postgresPassword"):
        password(cast(Cluster, empty))


def test_whose_matter_a_database_is() -> None:
    external: Json = {"host": "db.example.test", "username": "runai"}
    assert elsewhere(ControlPlane()) == ""
    given = ControlPlane.model_validate({"source": "given", "domain": "runai.example.test"})
    assert "another stack" in elsewhere(given)
    told = elsewhere(ControlPlane.model_validate({"postgresql": external}))
    assert told == "external PostgreSQL at db.example.test: its owner saves it"
    custom = ControlPlane.model_validate({"values": {"postgresql": {"enabled": False}}})
    assert "its owner saves it" in elsewhere(custom)


@pytest.mark.skipif(server() is None, reason="no PostgreSQL server on this machine, or not root")
def test_a_real_database_comes_back_from_its_dump(
    tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = server()
    assert programs is not None
    for name in ("pg_dump", "pg_restore"):
        (tools / name).unlink()
    with running(programs, SECRET) as reach:
        monkeypatch.setenv("PGHOST", reach["PGHOST"])
        monkeypatch.setenv("PATH", f"{tools}:{reach['PATH']}")

        def sql(text: str, database: str) -> str:
            command = [
                "psql",
                "--username=postgres",
                "--no-align",
                "--tuples-only",
                "--command",
                text,
                database,
            ]
            secret = {**os.environ, "PGPASSWORD": SECRET}
            return subprocess.run(
                command, env=secret, capture_output=True, text=True, check=True
            ).stdout.strip()

        sql("create database backend", "postgres")
        sql("create table projects as select 'team-a' as name, 2 as gpus", "backend")
        told = Postgres("", "vks").dump(cluster(), tmp_path)
        assert told.bytes > 1000
        sql("drop database backend", "postgres")
        sql("create database backend", "postgres")
        page = (Path(__file__).parents[3] / "docs" / "day2.md").read_text()
        command = page[page.index("{ printf") :].partition("```")[0]
        command = command.replace("build/backups/site/<time>/database.dump", str(tmp_path / FILE))
        secret = {**os.environ, "PGPASSWORD": SECRET}
        subprocess.run(["bash", "-c", command], env=secret, check=True, capture_output=True, timeout=60)
        assert sql("select name, gpus from projects", "backend") == "team-a|2"
        again = tmp_path / "again"
        again.mkdir()
        with pytest.raises(BackupError, match="password authentication failed"):
            Postgres("", "vks").dump(cluster("another"), again)
