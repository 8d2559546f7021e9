"""Another version of the control plane wants a backup that is not old; a preview only says so."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest
import yaml

from components.cluster import LiveCluster
from components.full.saved import folder_of
from components.full.upgrade import UnsavedError, Upgrade
from tests.full import AGENTS, FULL, write_files
from tests.stack import FakeCluster, changed, run_platform, settings

pytestmark = pytest.mark.req("I6", "I14")
URL = "https://runai.apps.example.test"
OLDER = {("runai-backend", "runai-backend"): "3.0.23"}


def saved(root: Path, hours: float, url: str = URL) -> None:
    """A backup of so many hours ago."""
    made = datetime.now(UTC) - timedelta(hours=hours)
    folder = folder_of(root, "site") / f"{hours}"
    folder.mkdir(parents=True)
    data = {"format": 1, "made": made.isoformat(), "controlPlane": {"url": url, "version": "3.0.23"}}
    (folder / "backup.yaml").write_text(yaml.safe_dump(data))


def upgrade(root: Path, charts: Any = None, values: Any = FULL) -> None:
    cluster = FakeCluster(charts=OLDER if charts is None else charts)
    Upgrade(cluster, settings(values), root).refuse_unsaved("site")


def test_without_a_backup_it_is_refused_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(UnsavedError) as caught:
        upgrade(tmp_path)
    assert str(caught.value) == (
        "runai-kit:controlPlane.version: found 3.0.23 installed, and no backup; expected one of the last "
        "24 h before 3.0.24 replaces it; run `make backup ENV=site`, or set "
        "runai-kit:controlPlane.backupHours to 0 if you save it in another way. Nothing was changed."
    )


def test_an_old_one_and_one_of_another_control_plane_do_not_count(tmp_path: Path) -> None:
    saved(tmp_path, 30)
    saved(tmp_path, 1, "https://other.test")
    with pytest.raises(UnsavedError, match="a newest backup of 30 h ago"):
        upgrade(tmp_path)


def test_a_new_one_is_enough(tmp_path: Path) -> None:
    saved(tmp_path, 30)
    saved(tmp_path, 23)
    upgrade(tmp_path)


def test_the_setting_decides_how_old(tmp_path: Path) -> None:
    saved(tmp_path, 30)
    upgrade(tmp_path, values=changed(FULL, "controlPlane.backupHours", 48))
    upgrade(tmp_path / "nothing", values=changed(FULL, "controlPlane.backupHours", 0))


@pytest.mark.parametrize("installed", ["3.0.24", ""])
def test_the_first_installation_and_the_same_version_need_none(installed: str, tmp_path: Path) -> None:
    upgrade(tmp_path, {("runai-backend", "runai-backend"): installed})


def test_a_preview_warns_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", told.append)
    write_files(tmp_path, "runai.apps.example.test")
    run = run_platform(tmp_path, FULL, FakeCluster(charts=OLDER), preview=True)
    assert run.one("Release", "runai-backend")
    assert ["make backup ENV=" in text and "will refuse" in text for text in told] == [True]


def test_the_program_refuses_before_its_first_resource(tmp_path: Path) -> None:
    write_files(tmp_path, "runai.apps.example.test")
    with pytest.raises(UnsavedError):
        run_platform(tmp_path, FULL, FakeCluster(charts=OLDER))


def test_a_control_plane_of_others_is_their_matter(tmp_path: Path) -> None:
    write_files(tmp_path)
    run_platform(tmp_path, AGENTS, FakeCluster(charts=OLDER), preview=True)


def test_the_installed_version_is_that_of_helms_record() -> None:
    record = {"chart": {"metadata": {"name": "control-plane", "version": "3.0.23"}}}
    text = base64.b64encode(base64.b64encode(gzip.compress(json.dumps(record).encode()))).decode()
    asked: list[str] = []

    def listed(namespace: str, label_selector: str, **_: Any) -> Any:
        asked.append(f"{namespace} {label_selector}")
        return SimpleNamespace(items=[SimpleNamespace(data={"release": text})] if len(asked) == 1 else [])

    cluster = object.__new__(LiveCluster)
    cluster._core = SimpleNamespace(list_namespaced_secret=listed)  # type: ignore[assignment]
    assert cluster.chart_version("runai-backend", "runai-backend") == "3.0.23"
    assert cluster.chart_version("runai-backend", "runai-backend") == ""
    assert asked[0] == "runai-backend owner=helm,status=deployed,name=runai-backend"
