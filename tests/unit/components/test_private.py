"""A run's own temp folder: private, gone afterwards, and swept when its run was killed."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from components import private

pytestmark = pytest.mark.req("I14")
ROOT = Path(__file__).parents[3]
WRITER = "import pathlib, tempfile; pathlib.Path(tempfile.mkstemp()[1]).write_text('key')"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_a_command_gets_a_folder_that_goes_with_it(
    temporary: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = f"{WRITER}; import os; print(os.environ['TMPDIR'], oct(os.stat(os.environ['TMPDIR']).st_mode))"
    assert private.main([sys.executable, "-c", script]) == 0
    where, mode = capfd.readouterr().out.split()
    assert Path(where).parent == temporary
    assert mode == "0o40700"
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "status", "words"),
    [
        ([], 2, "usage:"),
        (["no-such-command"], 127, "no-such-command: No such file or directory; expected a command on PATH"),
        (["sh", "-c", "exit 7"], 7, ""),
    ],
)
def test_its_status_is_the_commands(
    command: list[str], status: int, words: str, temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert private.main(command) == status
    assert words in capsys.readouterr().err
    assert list(temporary.iterdir()) == []


def test_ending_it_ends_the_command_first(temporary: Path) -> None:
    script = f"{WRITER}; print('ready', flush=True); import time; time.sleep(60)"
    command = [sys.executable, "-m", "components.private", sys.executable, "-c", script]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.terminate()
        assert process.wait(20) != 0
    assert list(temporary.iterdir()) == []


def test_a_killed_runs_folder_is_swept_and_a_living_ones_is_not(temporary: Path) -> None:
    script = "from components import private; import time; print(private.use(), flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        path = Path(process.stdout.readline().decode().strip())
        (path / "key").write_text("secret")
        assert private.sweep() == []
        process.kill()
        process.wait()
    assert path.exists()
    with private.folder() as other:
        assert not path.exists()
        assert [item.name for item in temporary.iterdir()] == [other.name]
    assert list(temporary.iterdir()) == []


def test_what_is_no_runs_folder_stays(temporary: Path) -> None:
    (temporary / f"{private.PREFIX}x").mkdir()
    (temporary / f"{private.PREFIX}y").symlink_to(temporary / "elsewhere")
    assert private.sweep() == []


def test_a_process_uses_one_folder_also_in_its_forks(temporary: Path) -> None:
    script = (
        "import os, tempfile\nfrom components import private\n"
        "path = private.use()\nassert private.use() == path\n"
        "open(path / 'a', 'w').close()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    assert private.use() == path and tempfile.gettempdir() == str(path)\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0 and (path / 'a').exists()"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
    assert list(temporary.iterdir()) == []
