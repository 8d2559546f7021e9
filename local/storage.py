"""The manifest of the default StorageClass: upstream's local-path provisioner, adjusted for kind."""

from __future__ import annotations

import re

from local import tools

MODULE = "github.com/rancher/local-path-provisioner"


def manifest() -> str:
    """Return upstream's manifest with the class as default and its namespace open to helper pods.

    Helper pods mount a path of the host, so the namespace has to be privileged where
    Pod Security is restricted by default. Raises ValueError when upstream's text is not as expected.
    """
    text = (tools.groups()["kubernetes"].module(MODULE) / "deploy" / "local-path-storage.yaml").read_text()
    text = _once(text, r"(kind: Namespace\nmetadata:\n  name: local-path-storage\n)", r"\1" + _LABELS)
    return _once(
        text, r"(kind: StorageClass\nmetadata:\n)  name: local-path\n", r"\1  name: standard\n" + _DEFAULT
    )


_LABELS = "  labels:\n    pod-security.kubernetes.io/enforce: privileged\n"
_DEFAULT = '  annotations:\n    storageclass.kubernetes.io/is-default-class: "true"\n'


def _once(text: str, pattern: str, replacement: str) -> str:
    changed, count = re.subn(pattern, replacement, text)
    if count != 1:
        raise ValueError(f"{MODULE}: expected one match of {pattern!r} in its manifest, found {count}")
    return changed
