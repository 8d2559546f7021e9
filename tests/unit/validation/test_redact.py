"""No secret that a run meets is written down: a canary is planted in every form that evidence takes."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from validation import redact
from validation.records import Records

pytestmark = pytest.mark.req("V12")
CANARY = "c4nary0Fla5hes9Xq7"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c4nary0Fla5hes9Xq7"


@pytest.mark.parametrize(
    "line",
    [
        f"Authorization: Bearer {CANARY}",
        f"> authorization: token {CANARY}",
        f"headers={{'Authorization': 'Basic {CANARY}'}}",
        f'{{"Authorization":"OpsToken {CANARY}"}}',
        f"curl -H 'Proxy-Authorization: Basic {CANARY}=='",
        f"sent Bearer {CANARY}",
        f"Set-Cookie: _xsrf=2|{CANARY}; Path=/",
        f"http://127.0.0.1:8888/lab?token={CANARY}&reset",
        f"[I 12:00 ServerApp] http://host/lab?token={CANARY}",
        f"s3://user:{CANARY}@bucket/x and postgresql://a:{CANARY}@db:5432/runai",
        f"JUPYTER_TOKEN={CANARY}",
        f"AWS_SECRET_ACCESS_KEY: {CANARY}",
        f"  password: {CANARY}",
        f'  "clientSecret": "{CANARY}"',
        f"registry.password='{CANARY} with spaces'",
        f'{{"config": "{{\\"token\\": \\"{CANARY}\\"}}"}}',
        f"--IdentityProvider.token={CANARY} --port=1",
        f"--api-key {CANARY} --port 1",
        f"X-Amz-Signature={CANARY}",
        f"Error: token {JWT} is expired",
        f"apiVersion: v1\nkind: Secret\ndata:\n  whatever: {CANARY}\n  more: |\n    {CANARY}\n",
    ],
)
def test_a_canary_does_not_survive_in_a_text(line: str) -> None:
    clean = redact.document(line)
    assert CANARY not in clean
    assert redact.GONE in clean
    assert redact.document(clean) == clean


@pytest.mark.parametrize(
    "value",
    [
        {
            "kind": "Secret",
            "metadata": {"name": "n"},
            "data": {"tls.key": CANARY},
            "stringData": {"a": CANARY},
        },
        {"spec": {"containers": [{"env": [{"name": "JUPYTER_TOKEN", "value": CANARY}]}]}},
        {"args": ["serve", "--token", CANARY, "--port", "1"]},
        {"answer": {"access_token": CANARY, "expires": 10}},
        {"log": f"first\nAuthorization: Bearer {CANARY}\nlast"},
        {
            "metadata": {
                "annotations": {redact.LAST_APPLIED: json.dumps({"kind": "Secret", "data": {"k": CANARY}})}
            }
        },
        [[{"password": CANARY}]],
    ],
)
def test_a_canary_does_not_survive_in_json(value: Any) -> None:
    assert CANARY not in json.dumps(redact.data(value))
    assert CANARY not in redact.document(json.dumps(value, indent=1))


def test_private_keys_go_and_certificates_stay() -> None:
    key = generate_private_key(SECP256R1())
    for form in (PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL):
        pem = key.private_bytes(Encoding.PEM, form, NoEncryption()).decode()
        body = pem.splitlines()[1]
        certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
        for planted in (
            f"before\n{pem}after",
            f"{pem[:-40]}",
            json.dumps({"key": pem, "next": "stays"}),
            f"client-key-data: {base64.b64encode(pem.encode()).decode()}\n",
            f"{pem}{certificate}",
        ):
            clean = redact.document(planted)
            assert body not in clean
            assert base64.b64encode(pem.encode()).decode()[40:80] not in clean
        assert "after" in redact.text(f"{pem}after")
        assert "stays" in redact.document(json.dumps({"key": pem, "next": "stays"}))
        assert redact.text(f"{pem}{certificate}").endswith(certificate)


@pytest.mark.parametrize(
    "text",
    [
        '{"usage": {"prompt_tokens": 12, "max_tokens": 16}}',
        "usage.prompt_tokens: expected 12, found 11",
        "automountServiceAccountToken: false",
        '{"secretName": "tls-inference", "secretKeyRef": {"name": "jupyter-token", "key": "token"}}',
        "tokenizer.json loaded, token count 5; no token needed",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "https://half-runai-team-a.inference.local.test/v1/models",
        "basic authentication is off, bearer of news",
        "GPU 0: NVIDIA A100 (UUID: GPU-5a1c2b3d-0000-1111-2222-333344445555)",
        '{"kind": "ConfigMap", "data": {"visible": "value"}}',
    ],
)
def test_what_is_no_secret_stays_as_it_is(text: str) -> None:
    assert redact.document(text) == text


def test_files_are_cleaned_in_place_and_pictures_left_alone(tmp_path: Path) -> None:
    files = {
        "evidence/t/pods.json": json.dumps([{"env": [{"name": "API_KEY", "value": CANARY}]}]),
        "evidence/t/log.txt": f"fine\ntoken={CANARY}\n",
        "timeline.jsonl": f'{{"kind":"sample"}}\n{{"password":"{CANARY}"}}\n',
        "evidence/t/chart.svg": f"<svg><text>token={CANARY}</text></svg>",
        "evidence/t/clean.txt": "nothing here\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    picture = tmp_path / "evidence/t/page.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\ntoken=" + CANARY.encode())
    before = picture.read_bytes()
    changed = {name for name in files if redact.file(tmp_path / name)}
    assert set(files) - changed == {"evidence/t/clean.txt"}
    assert all(CANARY not in (tmp_path / name).read_text() for name in files)
    assert '{"kind":"sample"}' in (tmp_path / "timeline.jsonl").read_text()
    assert not redact.file(picture)
    assert picture.read_bytes() == before
    assert not any(redact.file(tmp_path / name) for name in files)


def test_a_record_holds_no_secret(tmp_path: Path) -> None:
    records = Records(tmp_path)
    records.start({"environment": "local", "tests": [], "components": []})
    records.record(
        "preflight.dns", "fail", 0, {"token": CANARY}, {"log": f"Bearer {CANARY}"}, f"password={CANARY}"
    )
    assert CANARY not in (records.checks / "preflight.dns.json").read_text()


def test_a_long_line_is_read_in_no_time() -> None:
    line = "A" * 400_000 + " " + "a.b-c+" * 60_000 + " x" * 100_000
    begun = time.monotonic()
    assert redact.text(line) == line
    assert time.monotonic() - begun < 5
