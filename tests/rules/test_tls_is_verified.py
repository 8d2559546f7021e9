"""TLS verification is never off: not in the code, not in roles and templates, not in a rendered object."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stack import EVERYTHING, LOCAL, changed, run_platform

pytestmark = pytest.mark.req("I13")
ROOT = Path(__file__).parents[2]
# What refuses it, and what tells of that, has to name it.
ABOUT_IT = {
    "components/connect.py",
    "validation/cluster.py",
    "docs/security-credentials.md",
}
TEXT = re.compile(
    r"insecure[-_]?skip[-_]?(?:tls[-_]?)?verify|verify_ssl\s*=\s*False|validate_certs:\s*(?:false|no)\b|"
    r"curl\b[^\n|;&]*\s(?:-[a-zA-Z]*k\b|--insecure)|wget\b[^\n]*--no-check-certificate|--insecure-skip-tls|"
    r"GIT_SSL_NO_VERIFY|NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY|verify\s+none\b|"
    r"ignore[-_]?https[-_]?errors|--ignore-certificate-errors|sslmode=(?:disable|allow|prefer)\b",
    re.IGNORECASE,
)
OFF = {"CERT_NONE", "_create_unverified_context", "disable_warnings"}


def files(*suffixes: str) -> Iterator[Path]:
    """The project's own files, as version control knows them, without tests."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if name.endswith(suffixes) and not name.startswith("tests/"):
            yield ROOT / name


def switched_off(tree: ast.AST) -> list[int]:
    """Lines of Python that turn a verification off."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            if name in OFF:
                found.append(node.lineno)
        if (
            isinstance(node, ast.keyword)
            and isinstance(node.value, ast.Constant)
            and node.value.value is False
            and node.arg in {"verify", "verify_ssl", "check_hostname", "assert_hostname", "ssl_verify"}
        ):
            found.append(node.value.lineno)
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and node.value.value is False
        ):
            targets = [target.attr for target in node.targets if isinstance(target, ast.Attribute)]
            if {"check_hostname", "verify_ssl", "verify"} & set(targets):
                found.append(node.lineno)
    return found


def test_no_code_turns_verification_off() -> None:
    looked = 0
    for path in files(".py"):
        looked += 1
        assert switched_off(ast.parse(path.read_text(encoding="utf-8"))) == [], path
    assert looked > 150


def test_no_role_template_script_or_setting_turns_verification_off() -> None:
    looked = 0
    for path in files(
        ".py", ".yml", ".yaml", ".j2", ".sh", ".go", ".toml", "Makefile", "Containerfile", ".cfg", ".md"
    ):
        looked += 1
        if str(path.relative_to(ROOT)) in ABOUT_IT:
            continue
        text = path.read_text(encoding="utf-8")
        assert [found[0] for found in TEXT.finditer(text)] == [], path
    assert looked > 400


@pytest.mark.parametrize(
    "line",
    [
        "requests.get(url, verify=False)",
        "ssl._create_unverified_context()",
        "context.check_hostname = False",
        "context.verify_mode = ssl.CERT_NONE",
        "urllib3.disable_warnings()",
    ],
)
def test_the_search_in_code_finds_it(line: str) -> None:
    assert switched_off(ast.parse(line)) == [1]


@pytest.mark.parametrize(
    "line",
    [
        "curl -sk https://a",
        "curl --insecure a",
        "validate_certs: false",
        "insecureSkipVerify: true",
        "ssl verify none",
    ],
)
def test_the_search_in_texts_finds_it(line: str) -> None:
    assert TEXT.search(line)


@pytest.mark.parametrize("source", ["rendered", "controller", "chart"])
def test_no_rendered_object_turns_verification_off(source: str, tmp_path: Path) -> None:
    values: dict[str, Any] = LOCAL
    if source == "controller":
        values = changed(changed(LOCAL, "ingress.source", "controller"), "tls.source", "generated")
    if source == "chart":
        values = changed(LOCAL, "monitoring.source", "chart")
    run = run_platform(tmp_path, values)
    assert len(run.resources) > 20
    for item in run.resources:
        assert not TEXT.search(repr(item.inputs)), item.name


def test_the_example_of_every_setting_has_no_switch_for_it() -> None:
    assert not TEXT.search(repr(EVERYTHING))
