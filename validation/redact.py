"""Takes secrets out of what a run writes down: evidence, records, reasons. Rather too much than too little.

What is recognised: private keys in PEM (also base64 of it), Authorization headers and cookies, JSON web
tokens, user and password in a URL, values of fields, variables and options that are named like a secret, and
the data of Secrets. A certificate, a Secret's name and a count of tokens are no secrets and stay.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from validation.files import write_atomically

GONE = "[redacted]"
# Pictures and archives hold no text; everything else below the report is read.
BINARY = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".gz", ".zip", ".pdf"}
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

# The end of a field's name says what it holds: jupyterToken, AWS_SECRET_ACCESS_KEY, registry.password.
_NAMED = (
    r"(?:passwd|password|passphrase|token|bearer|api[-_]?key|access[-_]?key|private[-_]?key|"
    r"client[-_]?secret|secret[-_]?key|credentials?|dockerconfigjson|x-amz-signature)"
)
SECRET_NAME = re.compile(rf"{_NAMED}$", re.IGNORECASE)
# A field that is empty, a switch or a small number holds no secret; a long number may be one.
_HARMLESS = re.compile(r"^(?:|true|false|null|none|-?\d{1,5}(?:\.\d{1,4})?|\[redacted\])$", re.IGNORECASE)
# Only from the start of a word: else long lines of base64 are tried from each of their letters.
_FIELD = rf"(?P<key>(?<![\w.-])[\w.-]*{_NAMED}"

_PATTERNS = tuple(
    (re.compile(pattern, re.DOTALL), replacement)
    for pattern, replacement in (
        # A key that was cut off (the tail of a log) has no END line: then all up to the text's end goes.
        (
            r"-----BEGIN (?P<kind>[A-Z0-9 ]*PRIVATE KEY)-----(?:(?!-----BEGIN ).)*?"
            r"(?:-----END (?P=kind)-----|(?=\Z|\"|-----BEGIN ))",
            f"{GONE} (private key)",
        ),
        # The same in base64, as a Secret or a kubeconfig holds it.
        (r"LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFURS|BFQyBQUklWQVRF|BFTkNSWVBURUQ)[\w+/=-]*", GONE),
        (
            r"(?i)(?P<key>\bauthorization\\?[\"']?\s*[:=]\s*\\?[\"']?)(?:[a-z]+[ \t]+)?[^\s\"',}\\]+",
            rf"\g<key>{GONE}",
        ),
        (r"(?i)(?P<key>\bcookie\\?[\"']?\s*[:=]\s*\\?[\"']?)[^\r\n\"'\\]+", rf"\g<key>{GONE}"),
        (
            r"\b(?P<how>(?i:bearer|basic|opstoken)) +(?=\S*[0-9=]|\S*[a-z][A-Z])[\w.~+/=-]{12,}",
            rf"\g<how> {GONE}",
        ),
        (r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*", GONE),
        (r"(?P<scheme>\b[A-Za-z][\w+.-]{0,20}://)[^\s/@:\"']+:[^\s/@\"']+@", rf"\g<scheme>{GONE}@"),
        # password: "x", {"token": "x"}, also JSON within JSON: {\"token\": \"x\"}.
        (rf"(?i){_FIELD}\\?[\"']?\s*[:=]\s*)(?P<quote>\\?[\"'])(?P<value>[^\"'\\\r\n]*)", ""),
        # token: x, --token=x, ?token=x&…
        (rf"(?i){_FIELD}[\"']?[ \t]*[:=][ \t]*)(?P<quote>)(?P<value>[^\s\"'&,;{{}}\[\]\\]+)", ""),
        (
            rf"(?i)(?P<key>(?<![\w.-])--[\w.-]*{_NAMED}[ \t]+)(?P<quote>[\"']?)(?P<value>[^\s\"'-][^\s\"']*)",
            "",
        ),
    )
)
_YAML_SECRET = re.compile(r"^\s*(?:- )?kind: Secret\s*$", re.MULTILINE)
_YAML_DATA = re.compile(r"^(?P<indent>\s*)(?:data|stringData):\s*$")
_YAML_ENTRY = re.compile(r"^(?P<indent>\s*)(?P<key>[\w.-]+:)")


def text(value: str) -> str:
    """A text without what looks like a secret; the rest stays byte for byte."""
    if _YAML_SECRET.search(value):
        value = "\n".join(_yaml_secrets(value.split("\n")))
    for pattern, replacement in _PATTERNS:
        value = pattern.sub(replacement or _keep_harmless, value)
    return value


def _keep_harmless(match: re.Match[str]) -> str:
    return match[0] if _HARMLESS.match(match["value"]) else f"{match['key']}{match['quote']}{GONE}"


def _yaml_secrets(lines: list[str]) -> list[str]:
    """Values below `data:` and `stringData:`, lines of a block included."""
    found: list[str] = []
    block: int | None = None
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if block is not None and line.strip() and depth <= block:
            block = None
        if block is None:
            found.append(line)
            if opened := _YAML_DATA.match(line):
                block = len(opened["indent"])
        elif entry := _YAML_ENTRY.match(line):
            found.append(f"{entry['indent']}{entry['key']} {GONE}")
        elif not line.strip():
            found.append(line)
    return found


def data(value: Any, name: str = "") -> Any:
    """JSON data, redacted by structure (Secrets, variables, named fields), and each string as a text."""
    if isinstance(value, dict):
        return _mapping(value)
    if isinstance(value, list | tuple):
        return _sequence(list(value), name)
    if not isinstance(value, str):
        return value
    if name == LAST_APPLIED:
        return document(value)
    if SECRET_NAME.search(name) and not _HARMLESS.match(value):
        return GONE
    return text(value)


def _mapping(value: dict[str, Any]) -> dict[str, Any]:
    found = {key: data(item, str(key)) for key, item in value.items()}
    if value.get("kind") == "Secret":
        for key in ("data", "stringData"):
            if isinstance(value.get(key), dict):
                found[key] = dict.fromkeys(value[key], GONE)
    # {"name": "JUPYTER_TOKEN", "value": "…"}: an environment variable, a header, a Helm value.
    name, content = value.get("name"), value.get("value")
    if isinstance(name, str) and isinstance(content, str) and SECRET_NAME.search(name):
        found["value"] = data(content, name)
    return found


def _sequence(value: list[Any], name: str) -> list[Any]:
    """Items of a list; what follows an option like --token is its value."""
    options = ["", *(item if isinstance(item, str) and item.startswith("--") else "" for item in value)]
    return [
        data(item, option if option and "=" not in option else name)
        for item, option in zip(value, options, strict=False)
    ]


def document(content: str) -> str:
    """A file's text: JSON by structure, anything else as a text; unchanged when nothing was found."""
    try:
        parsed = json.loads(content)
    except ValueError:
        return text(content)
    clean = data(parsed)
    if clean == parsed:
        return content
    body = json.dumps(clean, indent=1 if "\n" in content.strip() else None)
    return body + ("\n" if content.endswith("\n") else "")


def file(path: Path) -> bool:
    """Redact a file in place; True when something was taken out. Pictures and links are left alone."""
    if path.suffix.lower() in BINARY or path.is_symlink():
        return False
    content = path.read_text(encoding="utf-8", errors="surrogateescape")
    parts = content.split("\n") if path.suffix == ".jsonl" else [content]
    clean = "\n".join(map(document, parts))
    if clean == content:
        return False
    write_atomically(path, clean.encode("utf-8", "replace").decode())
    return True
