"""Files that a stack needs beside its settings: bundles, releases, certificates."""

from __future__ import annotations

from pathlib import Path

from components.tls.generate import make
from components.tls.material import Certificates
from tests.stack.given import CATALOG

FIXTURES = Path(__file__).parents[1] / "fixtures"


def write_bundle(root: Path, directory: str = "charts") -> Path:
    """A bundle like the Prometheus Operator's, with one tiny CRD."""
    path = root / directory / "prometheus-operator-0.85.0" / "bundle.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((FIXTURES / "bundle.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    return path


def write_knative(root: Path, directory: str = "charts") -> None:
    """Release files in the shapes of Knative's, under every name that the catalog knows."""
    for key, part in CATALOG.parts.items():
        if key.startswith("knative-serving") or key == "net-kourier":
            assert part.chart is not None
            path = root / directory / part.chart.file
            path.parent.mkdir(parents=True, exist_ok=True)
            fixture = FIXTURES / f"{part.name}.yaml"
            path.write_text(fixture.read_text(encoding="utf-8"), encoding="utf-8")


def write_certificates(root: Path, domains: dict[str, str], directory: str = "certificates") -> Certificates:
    """Certificate files under the names of EVERYTHING, for these domains."""
    made = make(domains, 90, "")
    folder = root / directory
    folder.mkdir(exist_ok=True)
    (folder / "ca.pem").write_text(made.ca)
    for use, pair in made.pairs.items():
        (folder / f"{use}.pem").write_text(pair.chain)
        (folder / f"{use}.key").write_text(pair.key)
    return made
