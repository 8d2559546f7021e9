"""A task's process that its playbook leaves behind ends, also in a session of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest

from validation import parent

PROGRAM = """
import multiprocessing, os, sys, time
from validation import parent
def work():
    os.setsid()
    parent.follow()
    print(os.getpid(), flush=True)
    time.sleep(60)
multiprocessing.get_context("fork").Process(target=work).start()
time.sleep(60)
"""


@pytest.mark.req("V11")
def test_a_forked_process_ends_with_the_one_that_forked_it() -> None:
    words = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as playbook:
        assert playbook.stdout is not None
        worker = psutil.Process(int(playbook.stdout.readline()))
        os.killpg(playbook.pid, signal.SIGKILL)
        assert psutil.wait_procs([worker], timeout=5)[1] == []


@pytest.mark.req("V11")
def test_a_process_that_nobody_forked_watches_nobody() -> None:
    assert parent.follow() is None
