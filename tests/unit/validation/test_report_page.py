"""index.html: what a person signs, and that nothing in it runs, leaks or asks for anything."""

from __future__ import annotations

import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.unit.validation import runs
from validation import declared
from validation.records import Records
from validation.report import attachments
from validation.report.aggregate import aggregate, moment
from validation.report.axis import LEFT, RIGHT, WIDTH, Axis, clock
from validation.report.bands import bands
from validation.report.gantt import gantt
from validation.report.model import TestRun, load
from validation.report.values import rows
from validation.report.writer import write

pytestmark = pytest.mark.req("V12")
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
CANARY = "c4nary0Fla5hes9Xq7"


class Page(HTMLParser):
    """Tags with their attributes, and the text by the heading it stands under."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: dict[str, str] = {}
        self._heading: str | None = ""
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag in ("h1", "h2"):
            self._heading = None

    def handle_data(self, data: str) -> None:
        if self._heading is None and data.strip():
            self._heading = data.strip()
        if self._heading and self._open not in ("style", "script"):
            self.words[self._heading] = self.words.get(self._heading, "") + " " + data.strip()

    def all(self, tag: str, name: str) -> list[str]:
        return [
            str(attributes[name]) for found, attributes in self.tags if found == tag and name in attributes
        ]


def page(records: Records, root: Path) -> Page:
    write(records, root, {})
    return Page((records.root / "index.html").read_text())


@pytest.fixture
def records(tmp_path: Path) -> Records:
    made = runs.started(tmp_path)
    runs.everything(made)
    return made


def test_the_first_page_has_what_a_manager_signs(records: Records, tmp_path: Path) -> None:
    words = page(records, tmp_path).words
    first = " ".join(words.values())
    for said in ("kind-runai-kit", "1.34.11", "8 fake", "NVIDIA-A100", "modular", "PASS"):
        assert said in first, said
    for test in declared.tests().values():
        assert test.title in words["Verdict per test"]
    assert "kai-scheduler 0.12.0" in " ".join(words["Installed"].split())
    assert "0.18.x" in words["Deviations from the vendor's matrix"]
    assert "GPUs are fake" in words["What was not real"]
    assert "Repeat this run" in words["Manual steps left"]
    for role in ("Installed by", "Validated by", "Accepted by"):
        assert role in words["Signatures"]
    digest = hashlib.sha256((records.root / "report.json").read_bytes()).hexdigest()
    assert digest in words["Signatures"]
    assert "Not ready to be accepted" not in first


@pytest.mark.parametrize(("state", "why"), [("fail", "read the failed checks"), ("skip", "not carried out")])
def test_a_run_that_did_not_pass_says_so_before_the_signatures(
    records: Records, tmp_path: Path, state: str, why: str
) -> None:
    runs.everything(records, but={"reclaim": state})
    words = page(records, tmp_path).words
    assert why in words["Environment local"]
    assert ("Failed checks" in words) is (state == "fail")
    if state == "fail":
        # One reason for all checks of a test is told once, each check named.
        assert words["Failed checks"].count("because") == 1
        assert all(c.id in words["Failed checks"] for c in declared.tests()["reclaim"].checks)


def test_nothing_in_the_page_runs_or_asks_for_anything(records: Records, tmp_path: Path) -> None:
    odd = '<script>alert(1)</script><img src=x onerror="alert(2)">'
    name = runs.evidence(records, "reclaim", "<img src=y onerror=z>.txt", f"{odd}\n</pre>{odd}")
    records.record("reclaim.fill", "fail", 1, {odd: odd}, {"a": [odd]}, odd, [name])
    found = page(records, tmp_path)
    names = [tag for tag, _ in found.tags]
    assert "script" not in names
    assert "iframe" not in names
    assert names.count("link") == 0
    assert not any(key.startswith("on") for _, attributes in found.tags for key in attributes)
    assert all(s.startswith("data:") or not re.match(r"[a-z]+:|//", s) for s in found.all("img", "src"))
    assert all(not re.match(r"[a-z]+:|//", href) for href in found.all("a", "href"))
    (policy,) = [a["content"] for t, a in found.tags if t == "meta" and "http-equiv" in a]
    assert str(policy).startswith("default-src 'none'")
    # Every link within the page leads somewhere.
    ids = {value for _, attributes in found.tags if (value := attributes.get("id"))}
    assert {href[1:] for href in found.all("a", "href") if href.startswith("#")} <= ids


def test_pictures_are_shown_as_images_and_an_svg_cannot_run(records: Records, tmp_path: Path) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    listed = [
        runs.evidence(records, "reclaim", "the_page.png", PNG),
        runs.evidence(records, "reclaim", "loss.svg", svg),
        runs.evidence(records, "reclaim", "lie.png", b"<script>alert(1)</script>"),
    ]
    big = runs.evidence(records, "reclaim", "big.png", PNG + b"\0" * attachments.PICTURE_BYTES)
    records.record("reclaim.fill", "pass", 1, {"a": 1}, {"a": 1}, evidence=[*listed, big])
    found = page(records, tmp_path)
    sources = found.all("img", "src")
    assert [s.split(";")[0] for s in sources] == ["data:image/png", "data:image/svg+xml", big]
    assert found.all("img", "alt") == ["the page", "loss", "big"]
    assert "script" not in [tag for tag, _ in found.tags]


def test_evidence_is_shown_once_also_what_no_check_names(records: Records, tmp_path: Path) -> None:
    shared = runs.evidence(records, "reclaim", "shared.txt", "shared-content")
    runs.evidence(records, "reclaim", "left.txt", "left-by-a-crash")
    long = runs.evidence(records, "reclaim", "long.txt", "x" * (attachments.TEXT_BYTES + 1))
    records.record("reclaim.fill", "pass", 1, 1, 1, evidence=[shared, shared, "../../etc/passwd", "gone.txt"])
    records.record("reclaim.victims", "pass", 1, 1, 1, evidence=[shared, long])
    found = page(records, tmp_path)
    text = (records.root / "index.html").read_text()
    assert text.count("shared-content") == text.count("left-by-a-crash") == 1
    assert "x" * 100 not in text
    assert "../../etc/passwd: missing" in text
    assert "gone.txt: missing" in text
    assert {shared, long} <= set(found.all("a", "href"))


def test_secrets_are_out_before_the_page_is_written(records: Records, tmp_path: Path) -> None:
    name = runs.evidence(records, "reclaim", "log.txt", f"Authorization: Bearer {CANARY}\n")
    records.record("reclaim.fill", "pass", 1, 1, 1, evidence=[name])
    first, second = write(records, tmp_path, {}), write(records, tmp_path, {})
    assert [path.name for path in first.redacted] == ["log.txt"]
    assert (second.redacted, second.changed) == ([], False)
    for path in records.root.rglob("*"):
        assert not path.is_file() or CANARY.encode() not in path.read_bytes(), path


def test_the_picture_shows_tests_and_gpus_on_one_axis(records: Records, tmp_path: Path) -> None:
    runs.samples(records, *[{"team-a": 2.0 * (n > 3), "idle": 0} for n in range(10)])
    words = page(records, tmp_path).words["The run"]
    assert "team-a" in words
    assert "idle" not in words
    assert "Reclaim" in words
    assert "GPUs that each queue held" in words


def test_bars_stand_where_tests_ran(records: Records) -> None:
    report = aggregate(records, {})
    began = moment(report.started)
    tests = [
        TestRun("preflight", "V1", "Preflight", "", began, began + 20),
        TestRun("reclaim", "V4", "Reclaim", "gpu", began + 50, began + 100),
        TestRun("over_quota", "V3", "Over-quota", "gpu", began + 20, began + 50),
        TestRun("fractional_gpu", "V2", "Fractional", "cpu", began + 20, began + 90),
    ]
    drawn = gantt(type(report)(**{**report.__dict__, "tests": tests}), began, Axis(100))
    assert [bar.name for bar in drawn.bars] == ["preflight", "over_quota", "reclaim", "fractional_gpu"]
    assert [chain for chain, _ in drawn.chains] == ["chain gpu", "chain cpu"]
    last = drawn.bars[2]
    assert (last.x + last.width, last.words_left) == (WIDTH - RIGHT, True)
    assert drawn.bars[0].x == LEFT


def test_bands_are_stacked_steps() -> None:
    drawn = bands([0, 5, 10], {"a": [2, 2, 0], "b": [0, 1, 1]}, Axis(10), 4)
    assert [(band.name, band.peak, band.gpu_seconds) for band in drawn] == [("a", 2, 20), ("b", 1, 5)]
    # Its name stands where there is room for it: in the middle of the five seconds and more that it held 2.
    assert drawn[0].x == Axis(10).x(5)
    assert drawn[0].y == 142.5
    # From 2 GPUs down to none at its end, and back along the bottom; what does not change is no point.
    right, points = float(WIDTH - RIGHT), drawn[0].path.strip("MZ").split("L")
    assert points[:3] == [f"{float(LEFT)} 95.0", f"{right} 95.0", f"{right} 190.0"]
    assert points[-1] == f"{float(LEFT)} 190.0"


def test_clock() -> None:
    assert [clock(s) for s in (0, 59.6, 95, 3605)] == ["0:00", "1:00", "1:35", "1:00:05"]


def test_rows_put_both_sides_beside_each_other() -> None:
    found = rows({"a": 1, "b": {"atLeast": 2}, "c": 1}, {"a": 1, "b": 1, "extra": [1, 2]})
    assert [(r.key, r.expected, r.observed, r.differs) for r in found] == [
        ("a", "1", "1", False),
        ("b", "at least 2", "1", True),
        ("c", "1", "not observed", True),
        ("extra", "–", "1, 2", False),
    ]
    assert rows(None, None) == []
    assert not any(row.differs for row in rows({"a": 1}, {"a": 2}, judged=False))
    (single,) = rows({"atLeast": 1}, 0)
    assert (single.expected, single.observed, single.differs) == ("at least 1", "0", True)
    (crashed,) = rows(None, {"error": "gone"})
    assert (crashed.expected, crashed.differs) == ("nothing", False)


def test_what_changed_since_an_earlier_report_has_a_section(records: Records, tmp_path: Path) -> None:
    write(records, tmp_path, {})
    earlier = tmp_path / "earlier.json"
    data = json.loads((records.root / "report.json").read_text())
    assert 'id="changes"' not in (records.root / "index.html").read_text()
    data["components"][0]["version"] = "0.0.<1>"
    data["environment"] = "elsewhere"
    earlier.write_text(json.dumps(data))
    shown = write(records, tmp_path, {}, earlier).report
    html = (records.root / "index.html").read_text()
    assert shown.against is not None
    assert 'id="changes"' in html
    assert "0.0.&lt;1&gt;" in html
    assert "another environment: elsewhere then" in html
    assert load(json.loads((records.root / "report.json").read_text())).against == shown.against
