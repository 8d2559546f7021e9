"""Secrets by value: what counts as one, and in which forms it is found."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from day2.bundle.archive import LARGEST, write
from day2.bundle.piece import Gathered
from day2.bundle.scrub import SHORTEST, Scrubber, values
from validation.redact import GONE

pytestmark = pytest.mark.req("I14")


def secret(kind: str = "Opaque", **data: str) -> dict[str, Any]:
    return {"type": kind, "data": {k: base64.b64encode(v.encode()).decode() for k, v in data.items()}}


@given(st.text(min_size=SHORTEST, max_size=40).filter(lambda t: len(t.strip()) >= SHORTEST))
def test_a_known_value_is_found_in_every_form(value: str) -> None:
    scrubber = Scrubber(values([secret(word=value)]))
    for form in (
        value,
        json.dumps({"a": value}),
        f"https://h/?q={quote(value, safe='')}",
        base64.b64encode(value.encode()).decode(),
    ):
        clean = scrubber.clean(f"before {form} after" if not form.startswith("{") else form)
        assert form not in clean or form in GONE
        assert GONE in clean


def test_short_and_public_values_stay() -> None:
    found = values([secret(user="admin"), secret("kubernetes.io/tls", **{"tls.crt": "certificate text"})])
    assert found == set()


def test_a_helm_release_and_bytes_that_are_no_text_are_left_alone() -> None:
    blob = {"type": "Opaque", "data": {"key": base64.b64encode(b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8").decode()}}
    assert values([secret("helm.sh/release.v1", release="a long text"), blob]) == set()


def test_a_docker_configuration_gives_its_passwords_and_not_its_host() -> None:
    config = {
        "auths": {
            "harbor.example.com": {"username": "robot", "password": "p4ssw0rd-long", "auth": "cm9ib3Q6cA=="}
        }
    }
    found = values([secret(**{".dockerconfigjson": json.dumps(config)})])
    assert {"p4ssw0rd-long", "cm9ib3Q6cA=="} <= found
    assert "harbor.example.com" not in found


def test_lines_of_a_key_are_known_one_by_one() -> None:
    line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7"
    found = values(
        [secret(**{"tls.key": f"-----BEGIN PRIVATE KEY-----\n{line}\n-----END PRIVATE KEY-----\n"})]
    )
    assert line in found
    assert Scrubber(found).clean(f"half of it: {line}") == f"half of it: {GONE}"


def test_what_does_not_fit_is_named_and_logs_go_first(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("day2.bundle.archive.LARGEST", 100)
    gathered = Gathered()
    for path, size in (("a.log", 90), ("z.json", 80), ("empty.json", 0)):
        gathered.texts[path], gathered.what[path] = "x" * size, "text"
    index = write(tmp_path / "b.tar.gz", gathered, Scrubber([]), {})
    assert list(index["files"]) == ["z.json"]  # type: ignore[call-overload]
    assert "more than the bundle may hold" in index["missing"]["a.log"]  # type: ignore[index]
    assert index["empty"] == ["empty.json"]
    assert LARGEST > 100
