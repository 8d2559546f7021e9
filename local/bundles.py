"""Knative's and Kourier's manifests as one file each, made from the modules that are compiled here.

The modules hold what upstream's release files are made of, but for three things: links to the CRDs
of two other modules, the version in the labels (`devel`) and the images' names (`ko://<package>`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from local import tools

RELEASES = "gcr.io/knative-releases"
ENVOY = "docker.io/envoyproxy/envoy:v1.40.0"
# Links in serving's config/core, which a module's archive leaves out: their places and targets.
LINKS = {
    "300-imagecache.yaml": ("knative.dev/caching", "config/image.yaml"),
    "300-resources/certificate.yaml": ("knative.dev/networking", "config/certificate.yaml"),
    "300-resources/domain-claim.yaml": ("knative.dev/networking", "config/domain-claim.yaml"),
    "300-resources/ingress.yaml": ("knative.dev/networking", "config/ingress.yaml"),
    "300-resources/serverlessservice.yaml": ("knative.dev/networking", "config/serverlessservice.yaml"),
    "configmaps/network.yaml": ("knative.dev/networking", "config/config-network.yaml"),
}
# They need metrics-server, which is no part of the kit; without it they only report errors.
LEFT_OUT = re.compile(r"^kind: HorizontalPodAutoscaler$", re.MULTILINE)
_SEPARATOR = re.compile(r"^---\s*$", re.MULTILINE)
_OBJECT = re.compile(r"^kind: \w+", re.MULTILINE)
_VERSION = re.compile(
    r"^( +(?:app\.kubernetes\.io/version|serving\.knative\.dev/release): )\"?devel\"?$", re.MULTILINE
)
_PACKAGE = re.compile(r"\bko://(\S+)")


@dataclass(frozen=True)
class Bundle:
    """One file below build/charts: `group` of tools.toml, `module` in it and its `config` folder.

    version: the release, which the module's own number does not tell.
    """

    name: str
    version: str
    group: str
    module: str
    config: str

    @property
    def file(self) -> str:
        return f"{self.name}-{self.version}.yaml"

    def text(self) -> str:
        """Return the objects in the order of upstream's file names.

        Raises ValueError for text that is not as known.
        """
        group = tools.groups()[self.group]
        sources = _sources(group.module(self.module) / self.config)
        if self.name == "knative-serving":
            sources |= {name: group.module(module) / path for name, (module, path) in LINKS.items()}
        objects = [item for name in sorted(sources) for item in _objects(sources[name].read_text())]
        text = "---\n".join(objects)
        text = _VERSION.sub(rf'\g<1>"{self.version}"', text)
        text = _PACKAGE.sub(rf"{RELEASES}/\1:v{self.version}", text)
        text = re.sub(r"docker\.io/envoyproxy/envoy:\S+", ENVOY, text)
        if left := re.findall(r"^.*(?:version: \"?devel|ko://).*$", text, re.MULTILINE):
            raise ValueError(
                f"{self.module}: found {left[:3]} in its manifests, expected no such line; mend bundles.py"
            )
        return text


BUNDLES = (
    Bundle("knative-serving", "1.21.1", "knative", "knative.dev/serving", "config/core"),
    Bundle("knative-serving", "1.20.1", "knative-previous", "knative.dev/serving", "config/core"),
    Bundle("net-kourier", "1.21.0", "knative", "knative.dev/net-kourier", "config"),
)


def write(folder: Path) -> None:
    """Write every bundle into `folder`."""
    for bundle in BUNDLES:
        (folder / bundle.file).write_text(bundle.text())


def _sources(folder: Path) -> dict[str, Path]:
    return {str(path.relative_to(folder)): path for path in folder.rglob("*.yaml")}


def _objects(text: str) -> Iterator[str]:
    """Yield a file's objects without the licence above them; documents of comments only are dropped."""
    for document in _SEPARATOR.split(text):
        if _OBJECT.search(document) and not LEFT_OUT.search(document):
            lines = document.strip("\n").split("\n")
            start = next(number for number, line in enumerate(lines) if line and not line.startswith("#"))
            yield "\n".join(lines[start:]) + "\n"
