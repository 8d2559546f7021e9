"""The report of the last run against the live cluster and in a real browser; a secret planted in a pod."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.acceptance.conftest import ROOT, Kubectl
from validation import declared, evidence, names
from validation.cluster import Cluster
from validation.report import conformance
from validation.report.model import load
from validation.settings import StackOutputs

pytestmark = pytest.mark.req("V12")
Json = dict[str, Any]
CANARY = "c4nary0Fla5hes9Xq7"


@pytest.fixture(scope="module")
def folder() -> Path:
    return ROOT / os.environ.get("KIT_REPORT_DIR", "build/report")


@pytest.fixture(scope="module")
def browser_page(folder: Path) -> Iterator[Page]:
    """The report in Chromium; a request to anywhere but its own folder fails the test that asks."""
    chromium = shutil.which("chromium")
    assert chromium, "chromium is not on PATH: install what local/packages.txt names"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        asked: list[str] = []
        said: list[str] = []
        page.goto(f"file://{folder}/index.html")
        outside = [url for url in asked if not url.startswith((f"file://{folder}/", "data:"))]
        assert (outside, said) == ([], [])
        yield page
        browser.close()


def test_every_form_of_the_report_says_the_same(folder: Path, report: Json) -> None:
    read = load(report)
    ctrf = json.loads((folder / "ctrf.json").read_text())["results"]["summary"]
    counts = read.summary
    assert (ctrf["passed"], ctrf["failed"], ctrf["skipped"], ctrf["other"]) == (
        counts.passed,
        counts.failed,
        counts.skipped,
        counts.na,
    )
    assert {check.id for check in read.checks} == set(declared.checks())
    digest = hashlib.sha256((folder / "report.json").read_bytes()).hexdigest()
    assert digest in (folder / "index.html").read_text()
    missing = [name for check in read.checks for name in check.evidence if not (folder / name).is_file()]
    assert missing == []


def test_versions_on_the_first_page_are_the_clusters(report: Json, kubectl: Kubectl) -> None:
    cluster = report["installation"]["cluster"]
    assert cluster["kubernetes"] == kubectl("get", "--raw", "/version")["gitVersion"].removeprefix("v")
    assert cluster["nodes"] == len(kubectl("get", "nodes")["items"])


def test_conformance_files_are_marked_by_the_gpus_they_were_made_with(folder: Path, report: Json) -> None:
    read = load(report)
    for item in conformance.requirements(read):
        text = (folder / item.file).read_text()
        assert ("Sample, not evidence" in text) is read.fake_gpus
        assert f"Verdict: **{item.verdict}**" in text


def test_the_page_is_whole_in_a_browser(browser_page: Page, report: Json) -> None:
    assert " ".join(load(report).line.split()) == browser_page.title()
    for test in declared.tests():
        assert browser_page.locator(f"section#{test} h2").is_visible()
    broken = browser_page.evaluate("[...document.images].filter(i => !i.naturalWidth).map(i => i.alt)")
    assert broken == []
    wide = browser_page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert wide <= 0


def test_the_first_sheet_is_for_signing_or_tells_what_failed(browser_page: Page, report: Json) -> None:
    # A4 without its margins at 96 points an inch, in which Chromium lays out for print.
    browser_page.emulate_media(media="print")
    browser_page.set_viewport_size({"width": 695, "height": 1032})
    wanted = ".failed tbody tr:first-child" if load(report).summary.failed else ".signatures"
    box = browser_page.locator(wanted).bounding_box()
    browser_page.emulate_media(media="screen")
    assert box
    assert box["y"] + box["height"] <= 1032


@pytest.fixture
def talkative(outputs: StackOutputs, kubectl: Kubectl) -> Iterator[str]:
    """A pod of a test that has a secret in its environment and says it in its log."""
    namespace, name = outputs.projects[0].namespace, f"{names.WORKLOAD_PREFIX}-canary"
    cluster = Cluster(outputs.kubeconfig, outputs.context)
    pods = names.in_namespace(names.PODS, namespace)
    say = f"echo 'Authorization: Bearer {CANARY}'; echo 'http://host/lab?token={CANARY}'"
    cluster.create(
        pods,
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "labels": {
                    names.PART_OF_LABEL: names.PART_OF,
                    names.TEST_LABEL: "canary",
                    outputs.queueLabelKey: outputs.projects[0].queue,
                },
            },
            "spec": {
                "restartPolicy": "Never",
                "schedulerName": "default-scheduler",
                "containers": [
                    {
                        "name": "c",
                        "image": outputs.images["cuda"],
                        "command": ["sh", "-c", say],
                        "env": [{"name": "REGISTRY_PASSWORD", "value": CANARY}],
                    }
                ],
            },
        },
    )
    try:
        ended = "--for=jsonpath={.status.phase}=Succeeded"
        kubectl("wait", f"pod/{name}", "-n", namespace, ended, "--timeout=60s", "-o", "json")
        assert CANARY in cluster.logs(namespace, name, 10)
        yield "canary"
    finally:
        cluster.delete(f"{pods}/{name}", 0)


def test_a_secret_of_a_live_pod_does_not_reach_the_evidence(
    talkative: str, outputs: StackOutputs, tmp_path: Path
) -> None:
    cluster = Cluster(outputs.kubeconfig, outputs.context)
    files = evidence.gather(cluster, tmp_path, talkative, outputs.reservationNamespace, False)
    text = "".join(path.read_text() for path in files)
    assert "REGISTRY_PASSWORD" in text
    assert "http://host/lab?token=[redacted]" in text
    assert CANARY not in text
