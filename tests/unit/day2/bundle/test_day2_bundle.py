"""A whole bundle against an API server: complete, half broken, hanging, gone; and never a secret in it."""

from __future__ import annotations

import json
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest

from day2.bundle.__main__ import main
from day2.bundle.make import Options, make
from tests.unit.day2.bundle.api import CANARY, SHAPED, known, kubeconfig, serving
from tests.unit.validation.double import OUTPUTS

pytestmark = pytest.mark.req("I14")
ROOT = Path(__file__).parents[4]
SPACES = ["kai-scheduler", "runai-team-a", "runai-team-b", "runai-test"]
Json = dict[str, Any]


def options(folder: Path, url: str, **more: Any) -> Options:
    outputs = {**OUTPUTS, "kubeconfig": str(kubeconfig(folder, url)), "environment": "local"}
    file = folder / "outputs.json"
    file.write_text(json.dumps(outputs))
    report = folder / "report"
    report.mkdir(exist_ok=True)
    told = {
        "checks": [
            {"id": "preflight.dns", "observed": {"url": f"https://x:{SHAPED}@y/"}},
            {"id": "gang.foreign"},
        ]
    }
    (report / "report.json").write_text(json.dumps(told))
    chosen = {"seconds": 60.0, **more}
    return Options("local", ROOT, folder / "b.tar.gz", report, outputs_file=str(file), **chosen)


def unpacked(target: Path) -> dict[str, str]:
    with tarfile.open(target) as archive:
        found = {m.name.partition("/")[2]: archive.extractfile(m) for m in archive.getmembers()}
        return {name: stream.read().decode() for name, stream in found.items() if stream}


def test_a_bundle_holds_the_parts_and_none_of_the_secrets(tmp_path: Path) -> None:
    with serving(known(SPACES), set(), set()) as url:
        index = make(options(tmp_path, url, workload_logs=True))
    files = unpacked(tmp_path / "b.tar.gz")
    assert json.loads(files["index.json"])["files"] == index["files"]
    for path in ("kit/settings.yaml", "kit/values.json", "kit/outputs.json", "cluster/version.json"):
        assert path in files, path
    assert [c["id"] for c in json.loads(files["report/preflight.json"])] == ["preflight.dns"]
    assert "start\n" in files["namespaces/kai-scheduler/logs/app.c.log"]
    assert "namespaces/kai-scheduler/logs/app.c.previous.log" in files
    (secret,) = json.loads(files["namespaces/kai-scheduler/secrets.json"])
    assert secret["name"] == "s"
    assert list(secret["keys"]) == ["word"]
    for name, text in files.items():
        for word in (CANARY, SHAPED, json.dumps(CANARY)[1:-1]):
            assert word not in text, name
    assert "managedFields" not in files["namespaces/kai-scheduler/pods.json"]


def test_logs_of_workloads_come_only_when_asked_for(tmp_path: Path) -> None:
    with serving(known(SPACES), set(), set()) as url:
        make(options(tmp_path, url))
    logs = [name for name in unpacked(tmp_path / "b.tar.gz") if name.endswith(".log")]
    assert logs
    assert all(name.startswith("namespaces/kai-scheduler/") for name in logs)


def test_half_a_cluster_gives_half_a_bundle_and_says_so(tmp_path: Path) -> None:
    with serving(known(SPACES), {"/nodes", "/proxy/"}, set()) as url:
        index = make(options(tmp_path, url))
    assert "500" in index["missing"]["cluster/nodes.json"]
    assert "prometheus/targets.json" in index["missing"]
    assert "namespaces/kai-scheduler/pods.json" in index["files"]


def test_a_cluster_that_hangs_does_not_hold_the_bundle_up(tmp_path: Path) -> None:
    with serving(known(SPACES), set(), {"/events", "/deployments"}) as url:
        begun = time.monotonic()
        index = make(options(tmp_path, url, seconds=2.5))
        took = time.monotonic() - begun
    assert took < 15
    late = [path for path, why in index["missing"].items() if "time for the bundle was over" in why]
    assert late
    assert "kit/outputs.json" in index["files"]


def test_without_a_cluster_the_rest_is_there(tmp_path: Path) -> None:
    index = make(options(tmp_path, "http://127.0.0.1:9"))
    assert "does not answer" in index["missing"]["cluster/"]
    assert "kit/settings.yaml" in index["files"]


def test_without_the_right_to_read_secrets_nothing_of_the_cluster_is_taken(tmp_path: Path) -> None:
    with serving(known(SPACES), {"/secrets"}, set()) as url:
        index = make(options(tmp_path, url))
    assert "Secrets cannot be read" in index["missing"]["cluster/"]
    assert not any(path.startswith("namespaces/") for path in index["files"])


def test_without_outputs_it_says_what_to_run(tmp_path: Path) -> None:
    chosen = options(tmp_path, "http://127.0.0.1:9")
    Path(chosen.outputs_file).unlink()
    index = make(chosen)
    assert "pulumi stack output" in index["missing"]["kit/outputs.json"]


def test_the_file_is_for_its_owner_only(tmp_path: Path) -> None:
    make(options(tmp_path, "http://127.0.0.1:9"))
    assert (tmp_path / "b.tar.gz").stat().st_mode & 0o777 == 0o600


def test_an_unknown_environment_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nowhere"]) == 1
    said = capsys.readouterr().err
    assert "found 'nowhere', expected one of " in said
    assert ", local, " in said
    assert said.count("\n") == 1


def test_a_place_that_cannot_be_written_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = options(tmp_path, "http://127.0.0.1:9")
    monkeypatch.setenv("KIT_OUTPUTS_FILE", chosen.outputs_file)
    (tmp_path / "file").write_text("")
    assert main(["local", "--out", str(tmp_path / "file" / "b.tar.gz")]) == 1
    assert "cannot be written" in capsys.readouterr().err
