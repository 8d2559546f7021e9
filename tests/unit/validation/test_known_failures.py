"""The numbered failures of Run:ai: each in one class, each with what to do; the page made of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.validation.double import pod, thing
from tests.unit.validation.full_bed import Bed
from validation import declared, known_failures, troubleshooting
from validation.compare import differences
from validation.expect import full as expect
from validation.known_failures import KnownFailuresError, failures
from validation.names import EVENTS, PODS
from validation.observe.full import CHECKS
from validation.observe.full.ground import BACKEND

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs/troubleshooting.md"
CAPTURES = Path(__file__).parent / "data" / "captures"
pytestmark = pytest.mark.req("V1", "E3")
Json = dict[str, Any]
# Nothing that runs can show the first; the others need a driver, a registry, a database or a product.
DOCUMENTED = {8, 17, 19, 22, 23, 25}
REPLAYED = {5, 9, 10, 12, 15, 16, 20, 21, 24}


@pytest.mark.req("V12")
def test_every_number_is_in_exactly_one_class() -> None:
    known = {failure.number: failure.shown for failure in failures()}
    assert list(known) == list(range(1, 26))
    by_class = {shown: {n for n, s in known.items() if s == shown} for shown in known_failures.SHOWN}
    assert by_class["documented"] == DOCUMENTED
    assert by_class["replay"] == REPLAYED
    assert sum(map(len, by_class.values())) == len(known)


def test_what_is_seen_names_declared_checks_and_tests_that_exist() -> None:
    for failure in failures():
        assert set(failure.checks) <= set(declared.checks()), failure.number
        for test in failure.tests:
            file, _, name = test.partition("::")
            assert f"def {name}(" in (ROOT / file).read_text(), test


def test_every_check_of_the_full_profile_sees_a_known_failure_or_a_trap() -> None:
    seen = {check for failure in failures() for check in failure.checks}
    # Version skew and clocks are traps of any installation, with no number of their own.
    assert set(CHECKS) - seen == {"preflight.runai_version", "preflight.runai_clock"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"shown": "perhaps"}, "expected one of live, replay, documented"),
        ({"shown": "documented"}, "exactly where it is not documented only"),
        ({"checks": []}, "exactly where it is not documented only"),
        ({"colour": "red"}, "unexpected keyword argument 'colour'"),
        ({"checks": [], "shown": "documented"}, "nothing says what to do"),
    ],
)
def test_an_entry_that_is_not_whole_is_refused(
    change: Json, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = yaml.safe_load(known_failures.TABLE.read_text())
    table[1] |= change
    file = tmp_path / "known_failures.yml"
    file.write_text(yaml.safe_dump(table))
    monkeypatch.setattr(known_failures, "TABLE", file)
    with pytest.raises(KnownFailuresError, match=re.escape(words)):
        failures()


def test_the_page_is_fresh() -> None:
    assert troubleshooting.main([str(PAGE), "--check"]) == 0


def test_a_stale_page_is_found_and_made_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "troubleshooting.md"
    page.write_text(PAGE.read_text().replace("OutOfpods", "out of pods"))
    assert troubleshooting.main([str(page), "--check"]) == 1
    assert "is stale: run python -m validation.troubleshooting" in capsys.readouterr().out
    assert troubleshooting.main([str(page)]) == 0
    assert page.read_text() == PAGE.read_text()
    assert troubleshooting.main([str(tmp_path / "none.md"), "--check"]) == 2


def test_the_page_has_every_check_with_its_advice() -> None:
    rows = PAGE.read_text().splitlines()
    for check in declared.tests()["preflight"].checks:
        (row,) = [row for row in rows if row.startswith(f"| `{check.id}` |")]
        assert check.todo.replace("|", "\\|") in row
        assert ("**stops the tests**" in row) is check.blocking


@pytest.fixture
def bed(tmp_path: Path) -> Bed:
    return Bed(tmp_path)


def found(bed: Bed, check: str) -> str:
    at = bed.at()
    return "; ".join(differences(expect.expected(at.outputs, 30)[check], CHECKS[check](at)))


def test_9_a_newer_database_is_told_by_the_init_containers_own_words(bed: Bed) -> None:
    ended = {"exitCode": 1, "reason": "Error"}
    readiness = {
        "name": "check-postgres-readiness",
        "restartCount": 4,
        "state": {
            "waiting": {"reason": "CrashLoopBackOff", "message": "back-off 40s restarting failed container"}
        },
        "lastState": {"terminated": ended},
    }
    bed.cluster.add(PODS, pod("keycloak-1", BACKEND, phase="Pending", initContainerStatuses=[readiness]))
    bed.cluster.said["keycloak-1"] = (CAPTURES / "postgresql-17.log").read_text()
    told = found(bed, "preflight.runai_pods")
    assert "runai-backend/keycloak-1: CrashLoopBackOff" in told
    assert "check-postgres-readiness: psql: ERROR:  column d.daticulocale does not exist" in told
    assert "daticulocale" in declared.find("preflight.runai_pods").todo
    assert found(bed, "preflight.runai_images") == ""


def test_10_a_registry_that_refuses_is_told_by_its_own_words(bed: Bed) -> None:
    image = {
        "name": "main",
        "state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling"}},
    }
    bed.cluster.add(PODS, pod("audit-1", BACKEND, phase="Pending", containerStatuses=[image]))
    message = (CAPTURES / "ngc-403.event").read_text()
    event = thing("audit-1.1", BACKEND, reason="Failed", message=message, involvedObject={"name": "audit-1"})
    bed.cluster.add(EVENTS, event)
    told = found(bed, "preflight.runai_images")
    assert "runai-backend/audit-1: Failed to pull image" in told
    assert told.rstrip("']").endswith("403 Forbidden")
    assert "$oauthtoken" in declared.find("preflight.runai_images").todo
    # One fault, one check.
    assert found(bed, "preflight.runai_pods") == ""


def test_12_a_release_that_an_upgrade_left_failed_is_found(bed: Bed) -> None:
    bed.release(BACKEND, "runai-backend", 2, "failed")
    assert "release runai-backend/runai-backend: revision 2 is failed" in found(
        bed, "preflight.runai_releases"
    )
    bed.release(BACKEND, "runai-backend", 3, "deployed")
    assert found(bed, "preflight.runai_releases") == ""
