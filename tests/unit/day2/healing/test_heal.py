"""What is done about a dead run, and in which order; nothing at all where no run died."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from components.cluster import PENDING
from components.labels import PROJECT_KEY
from day2.healing import applied, releases
from day2.healing.command import HealError, Pulumi
from day2.healing.heal import heal
from day2.healing.releases import NAMESPACE_TYPE
from tests.unit.day2.healing.test_locks import message
from tests.unit.day2.healing.told import RELEASE, Api, Json, Told, job, operation, pulumi, record

pytestmark = pytest.mark.req("I14")
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
PATH = "/apis/apps/v1/namespaces/kai-scheduler/daemonsets/fake-gpu"


@pytest.fixture
def dead() -> str:
    """What Pulumi says about the lock of a process of this machine that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return message(process.pid, socket.gethostname())


def test_after_a_run_that_ended_well_nothing_is_done(tmp_path: Path) -> None:
    told, api = pulumi(tmp_path, {"resources": []}), Api(down=True)
    assert not heal(told, "runai-kit", api.cluster)
    assert told.changes == []


def test_before_the_first_checkpoint_only_the_lock_goes(tmp_path: Path, dead: str) -> None:
    told, api = pulumi(tmp_path, None, dead), Api(down=True)
    assert heal(told, "runai-kit", api.cluster)
    assert told.changes == ["cancel"]


def test_the_lock_goes_after_what_it_tells_and_before_the_refresh(tmp_path: Path, dead: str) -> None:
    state = {"pending_operations": [operation(RELEASE, "kai-scheduler")]}
    told, api = pulumi(tmp_path, state, dead), Api([record("kai-scheduler", "pending-install")])
    assert heal(told, "runai-kit", api.cluster)
    assert api.deleted == ["sh.helm.release.v1.kai-scheduler.v1"]
    assert told.changes == ["cancel", "refresh"]
    assert "--clear-pending-creates" in told.called[-2]


def test_without_a_cluster_lock_and_operations_stay(tmp_path: Path, dead: str) -> None:
    told = pulumi(tmp_path, {"pending_operations": [operation(RELEASE, "kai-scheduler")]}, dead)
    with pytest.raises(HealError, match="does not answer"):
        heal(told, "runai-kit", Api(down=True).cluster)
    assert told.changes == []


def test_a_living_run_is_not_disturbed(tmp_path: Path) -> None:
    state = {"pending_operations": [operation(RELEASE, "kai-scheduler")]}
    told = pulumi(tmp_path, state, message(1, "another-machine"))
    with pytest.raises(HealError, match="expected no other run"):
        heal(told, "runai-kit", Api(down=True).cluster)
    assert told.changes == []


@dataclass(frozen=True)
class Meanwhile(Told):
    """Its `changed` answers count once what begins with `at` was asked `times`."""

    at: str = "refresh --yes --skip-preview --target"
    times: int = 1
    changed: Mapping[str, str] = field(default_factory=dict)

    def _call(self, *words: str) -> subprocess.CompletedProcess[str]:
        asked = sum(" ".join(before).startswith(self.at) for before in self.called)
        line = " ".join(words)
        for begin, text in self.changed.items() if asked >= self.times else ():
            if line.startswith(begin):
                self.called.append(words)
                failed = begin.startswith("refresh")
                return subprocess.CompletedProcess(words, int(failed), "" if failed else text, text)
        return super()._call(*words)


def meanwhile(told: Told, changed: Mapping[str, str]) -> Meanwhile:
    return Meanwhile("local", told.project, answers=told.answers, failing=told.failing, changed=changed)


def test_a_lock_that_somebody_took_meanwhile_is_left_to_them(tmp_path: Path, dead: str) -> None:
    """As when the dead run's lock was taken back by hand and a colleague began."""
    theirs = message(7, "another-machine")
    told = meanwhile(pulumi(tmp_path, None, dead), {"refresh --yes --skip-preview --target": theirs})
    with pytest.raises(HealError, match=r"held by process 7 of root on another-machine.*run this again"):
        heal(told, "runai-kit", Api(down=True).cluster)
    assert told.changes == []


def exported(state: Json) -> Mapping[str, str]:
    return {"stack export": json.dumps({"version": 3, "deployment": state})}


def test_what_a_run_had_begun_that_ended_before_the_lock_was_asked_for_is_left_alone(tmp_path: Path) -> None:
    begun = operation(RELEASE, "kai-scheduler")
    told = meanwhile(
        pulumi(tmp_path, {"pending_operations": [begun]}), exported({"resources": [begun["resource"]]})
    )
    api = Api([record("kai-scheduler", "deployed"), record("kai-scheduler", "pending-upgrade", version=2)])
    assert not heal(told, "runai-kit", api.cluster)
    assert api.deleted == []
    assert told.changes == []


def test_an_uninstall_is_ended_although_the_question_for_the_lock_forgot_it(tmp_path: Path) -> None:
    """Refreshing the root alone takes every operation but creations out of the state."""
    begun = operation(RELEASE, "kai-scheduler", "deleting")
    resources = [begun["resource"]]
    state = {"pending_operations": [begun], "resources": resources}
    told = meanwhile(pulumi(tmp_path, state), exported({"resources": resources}))
    assert heal(told, "runai-kit", Api([record("kai-scheduler", "uninstalling")]).cluster)
    assert told.changes == ["refresh", "destroy"]


def test_nothing_is_done_where_the_lock_cannot_be_asked_for(tmp_path: Path) -> None:
    begun = operation(RELEASE, "kai-scheduler", "updating")
    state = {"pending_operations": [begun], "resources": [begun["resource"]]}
    told = pulumi(tmp_path, state, "error: incorrect passphrase")
    api = Api([record("kai-scheduler", "pending-upgrade")])
    with pytest.raises(HealError, match="incorrect passphrase"):
        heal(told, "runai-kit", api.cluster)
    assert api.deleted == []
    assert told.changes == []


JOBS = {"kai-scheduler": [job("crd-upgrader", "pre-install"), job("theirs")]}


def stack(folder: Path, locked: str, pending: bool) -> Told:
    """A stack with a release in its own namespace, installed or still being created."""
    release = operation(RELEASE, "kai-scheduler")
    urn = f"urn:pulumi:local::runai-kit::{NAMESPACE_TYPE}::kai-scheduler"
    resources = [{"urn": urn, "type": NAMESPACE_TYPE, "inputs": {"metadata": {"name": "kai-scheduler"}}}]
    resources += [] if pending else [release["resource"]]
    return pulumi(
        folder, {"resources": resources, "pending_operations": [release] if pending else []}, locked
    )


@pytest.mark.parametrize("pending", [False, True], ids=["no operations", "operations"])
@pytest.mark.parametrize("locked", [False, True], ids=["no lock", "a dead lock"])
def test_the_job_of_a_hook_goes_whatever_else_is_left(
    tmp_path: Path, dead: str, locked: bool, pending: bool
) -> None:
    told, api = stack(tmp_path, dead if locked else "", pending), Api(jobs=JOBS)
    assert heal(told, "runai-kit", api.cluster)
    assert api.deleted == ["crd-upgrader"]


def test_the_job_of_a_hook_goes_before_the_lock(tmp_path: Path, dead: str) -> None:
    """Without the lock another run could begin, whose own hook would be taken for a left-over."""
    told, api = stack(tmp_path, dead, pending=False), Api(jobs=JOBS)
    cut = replace(told, failing={**told.failing, "cancel": "no such update"})
    with pytest.raises(HealError, match="no such update"):
        heal(cut, "runai-kit", api.cluster)
    assert api.deleted == ["crd-upgrader"]


def test_a_lock_goes_also_where_jobs_cannot_be_looked_for(tmp_path: Path, dead: str) -> None:
    told = stack(tmp_path, dead, pending=False)
    assert heal(told, "runai-kit", Api(down=True).cluster)
    assert told.changes == ["cancel"]


def test_an_uninstall_that_was_cut_short_is_ended(tmp_path: Path, dead: str) -> None:
    begun = operation(RELEASE, "kai-scheduler", "deleting")
    told = pulumi(tmp_path, {"pending_operations": [begun], "resources": [begun["resource"]]}, dead)
    assert heal(told, "runai-kit", Api([record("kai-scheduler", "uninstalling")]).cluster)
    assert told.changes == ["cancel", "refresh", "destroy"]
    assert begun["resource"]["urn"] in told.called[-1]


@pytest.mark.parametrize("status", PENDING)
def test_a_stuck_revision_of_a_known_release_is_forgotten(status: str) -> None:
    known = {"resources": [operation(RELEASE, "kai-scheduler")["resource"]]}
    api = Api([record("kai-scheduler", "deployed"), record("kai-scheduler", status, version=2)])
    releases.free(api.cluster(), known, None)
    assert api.deleted == ["sh.helm.release.v1.kai-scheduler.v2"]


def test_other_peoples_releases_are_left_alone() -> None:
    known = {"resources": [operation(RELEASE, "kai-scheduler")["resource"]]}
    api = Api([record("theirs", "pending-upgrade", "their-namespace")])
    releases.free(api.cluster(), known, None)
    assert api.deleted == []


def test_of_unknown_releases_only_the_kits_own_are_forgotten_and_none_of_a_project() -> None:
    spaces = [
        {"type": NAMESPACE_TYPE, "inputs": {"metadata": {"name": "kai-scheduler"}}},
        {
            "type": NAMESPACE_TYPE,
            "inputs": {"metadata": {"name": "runai-a", "labels": {PROJECT_KEY: "a"}}},
        },
    ]
    api = Api(
        [
            record("killed", "pending-install"),
            record("theirs", "pending-upgrade", by="helm"),
            record("users", "pending-install", "runai-a", by="helm"),
            record("users-pulumi", "pending-install", "runai-a"),
        ]
    )
    releases.free(api.cluster(), {"resources": spaces}, None)
    assert api.deleted == ["sh.helm.release.v1.killed.v1"]


def test_an_install_that_ended_after_its_run_is_forgotten_but_not_an_older_one() -> None:
    """A provider outlives its engine by minutes; a release from before the run is somebody else's."""
    state = {"pending_operations": [operation(RELEASE, "kai-scheduler")]}
    since = datetime(2026, 11, 30, 22, 23, 23, tzinfo=UTC)
    new, old = "2026-11-30T22:23:40.123456789Z", "2026-11-30T20:00:00Z"
    for first, gone in ((new, 1), (old, 0)):
        api = Api([record("kai-scheduler", "deployed", first=first)])
        releases.free(api.cluster(), state, since)
        assert len(api.deleted) == gone


def managed(*managers: str) -> dict[str, object]:
    """An object with entries of these managers, all of 22:30."""
    when = "2026-11-30T22:30:00Z"
    entries = [{"manager": name, "operation": "Apply", "time": when} for name in managers]
    return {"metadata": {"managedFields": entries}}


def test_fields_of_a_dead_manager_belong_to_nobody() -> None:
    state = {"pending_operations": [operation(DAEMON_SET, "fake-gpu")]}
    api = Api(objects={PATH: managed("pulumi-kubernetes-f64a9e0d", "kubectl")})
    applied.disown(api.cluster(), state, datetime(2026, 11, 30, 22, 29, tzinfo=UTC))
    ((path, change),) = api.patched.items()
    assert path == PATH
    assert [entry["manager"] for entry in change["metadata"]["managedFields"]] == ["kubectl"]


@pytest.mark.parametrize("managers", [(), ("pulumi-kubernetes-f64a9e0d",)], ids=["none", "the dead one"])
def test_an_object_never_is_without_any_entry(managers: tuple[str, ...]) -> None:
    """Else the API server makes up a manager of all its fields, with which the next run conflicts."""
    api = Api(objects={PATH: managed(*managers)})
    begun = {"pending_operations": [operation(DAEMON_SET, "fake-gpu")]}
    applied.disown(api.cluster(), begun, datetime(2026, 11, 30, 22, 29, tzinfo=UTC))
    (entry,) = api.patched[PATH]["metadata"]["managedFields"]
    assert (entry["manager"], entry["apiVersion"]) == ("runai-kit", "apps/v1")
    # Itself, not what is below it.
    assert entry["fieldsV1"] == {"f:metadata": {}}


@pytest.mark.parametrize(
    ("begun", "since"),
    [
        (operation(DAEMON_SET, "fake-gpu", "updating"), 29),
        (operation(f"{DAEMON_SET}Patch", "fake-gpu"), 50),
        (operation(DAEMON_SET, "fake-gpu"), 50),
        (operation(DAEMON_SET, "missing"), 29),
    ],
    ids=["known to the state", "a patch of before", "applied before the run", "never applied"],
)
def test_other_managers_stay(begun: dict[str, object], since: int) -> None:
    api = Api(objects={PATH: managed("pulumi-kubernetes-f64a9e0d")})
    applied.disown(
        api.cluster(), {"pending_operations": [begun]}, datetime(2026, 11, 30, 22, since, tzinfo=UTC)
    )
    assert api.patched == {}
    assert api.withdrawn == []


def test_what_a_dead_manager_put_on_somebody_elses_object_is_taken_back() -> None:
    """Left there, a destroy would not get it off: two managers would hold it."""
    state = {"pending_operations": [operation(f"{DAEMON_SET}Patch", "fake-gpu")]}
    api = Api(objects={PATH: managed("pulumi-kubernetes-f64a9e0d", "kubectl")})
    applied.disown(api.cluster(), state, datetime(2026, 11, 30, 22, 29, tzinfo=UTC))
    ((path, thing, manager),) = api.withdrawn
    assert (path, manager) == (PATH, "pulumi-kubernetes-f64a9e0d")
    meta = {"name": "fake-gpu", "namespace": "kai-scheduler"}
    assert thing == {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta}
    assert api.patched == {}


def test_a_checkpoint_that_does_not_read_is_replaced_by_the_one_before(tmp_path: Path) -> None:
    """By a program that reads the file as Pulumi does."""
    (tmp_path / "Pulumi.yaml").write_text("name: runai-kit\n")
    file = tmp_path / ".pulumi" / "stacks" / "runai-kit" / "local.json"
    file.parent.mkdir(parents=True)
    program = tmp_path / "pulumi"
    program.write_text(
        '#!/bin/sh\ncase "$1" in\n'
        f'whoami) echo \'{{"url": "file://{tmp_path}"}}\' ;;\n'
        f"stack) python3 -m json.tool {file} ;;\nesac\n"
    )
    program.chmod(0o755)
    told = Pulumi("local", tmp_path, str(program))
    file.write_text('{"deployment": {"resou')
    with pytest.raises(HealError, match="stack --stack local ended with"):
        heal(told, "runai-kit", Api(down=True).cluster)
    (file.parent / "local.json.bak").write_text('{"deployment": {"resources": []}}')
    assert not heal(told, "runai-kit", Api(down=True).cluster)
    assert file.read_text() == '{"deployment": {"resources": []}}'
    assert (file.parent / "local.json.broken").exists()
