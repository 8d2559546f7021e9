"""`pulumi up --stack vks-full` on the local cluster, against doubles of what NVIDIA publishes.

Changed from the stack file is only what this cluster is not: its name, no GPUs and no load balancer,
monitoring and Knative from the kit's own bundles, and where charts and the control plane's API are.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from components.catalog import Catalog, Chart
from policy.objects import images
from tests.acceptance import commands
from tests.acceptance.canary import CANARY, watched_arguments
from tests.acceptance.conftest import ROOT
from tests.contract.control_plane.options import Options
from tests.contract.control_plane.serving import Running, running
from tests.contract.doubles import HELM, pack_all
from tests.contract.registry import Registry, registry
from tests.unit.validation.tls import Authority

NAME = "vks-full"
PLANE = "localhost"
INFERENCE = "inference.full.local.test"
PAUSE = "registry.k8s.io/pause:3.10.1"
# The first user's password: whoever writes it down anywhere is found out.
PASSWORD = CANARY
ADMIN = "admin@example.test"


@dataclass
class FullStack:
    """The stack with its file; `changes` are sections of the settings that tests change between runs.

    `said` is all that Pulumi said, `arguments` what all processes were started with while it ran.
    """

    folder: Path
    charts: Registry
    plane: Running
    cluster: dict[str, str]
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    arguments: set[bytes] = field(default_factory=set)

    def pulumi(self, *words: str, text: str = "", fails: bool = False) -> str:
        """What pulumi said, with `text` as its input. Fails the test when it ends otherwise than expected."""
        self._write()
        self.temporary.mkdir(exist_ok=True)
        own = {"RUNAI_KIT_STACK": NAME, "TMPDIR": str(self.temporary)}
        with watched_arguments() as arguments:
            done = commands.pulumi(
                *words,
                stack=NAME,
                folder=self.project,
                env=self.charts.environment() | own,
                text=text,
                timeout=900,
            )
        self.arguments |= arguments
        self.said.append(done.text)
        assert bool(done.code) == fails, done.text[-6000:]
        return done.text

    @property
    def project(self) -> Path:
        """The project with stack files of its own: making a stack writes into its file."""
        return self.folder / "project"

    @property
    def temporary(self) -> Path:
        """What runs take for the machine's temp folder."""
        return self.folder / "tmp"

    @property
    def file(self) -> Path:
        """The stack file in use."""
        return self.project / "stacks" / f"Pulumi.{NAME}.yaml"

    def _write(self) -> None:
        """The project's own stack file with this cluster's sections; secrets once encrypted stay."""
        whole = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{NAME}.yaml").read_text())
        config = whole["config"]
        for section, values in (_sections(self) | self.changes).items():
            config[f"runai-kit:{section}"] = values
        kept = yaml.safe_load(self.file.read_text()) if self.file.exists() else {}
        whole |= {key: kept[key] for key in ("encryptionsalt",) if key in kept}
        secret = (kept.get("config") or {}).get("runai-kit:controlPlane", {}).get("admin")
        if secret:
            config["runai-kit:controlPlane"]["admin"] = secret
        self.file.write_text(yaml.safe_dump(whole, sort_keys=False))

    def change(self, section: str, **values: Any) -> None:
        """Other values of a section that this stack has, until a test takes them from `changes`."""
        self.changes[section] = {**_sections(self)[section], **values}

    def begin(self) -> None:
        """Make the stack, and encrypt the first user's password."""
        self.file.parent.mkdir(parents=True)
        for name in ("Pulumi.yaml", "__main__.py", "components"):
            (self.project / name).symlink_to(ROOT / name)
        # A local cluster's kubeconfig is told by a path below the project.
        here = Path(self.cluster["kubeconfig"]).parent
        link = self.project / here.relative_to(ROOT)
        link.parent.mkdir()
        link.symlink_to(here)
        self.pulumi("stack", "select", "--create")
        key = "runai-kit:controlPlane.admin.password"
        self.pulumi("config", "set", "--secret", "--path", key, text=PASSWORD)

    def end(self) -> None:
        """Forget the stack; its resources have to be gone."""
        self.pulumi("stack", "rm", "--yes", "--preserve-config")


@contextmanager
def doubles(folder: Path, catalog: Catalog) -> Iterator[tuple[Registry, Running]]:
    """A registry with every double under the address that a mirror gives it, and the control plane's API."""
    authority = Authority("full profile")
    pem = authority.issue(PLANE, folder)
    _certificates(authority, pem, folder)
    options = Options(username=ADMIN, password=PASSWORD, ready_after=0.5, connect_after=2)
    with registry(folder / "registry") as charts, running(options, pem, PLANE, 443) as plane:
        for key, archive in pack_all(catalog, folder / "packed").items():
            chart = catalog.parts[key].chart
            assert chart is not None
            publish(charts, archive, chart)
        yield charts, plane


def publish(charts: Registry, archive: Path, chart: Chart) -> None:
    """A chart under the address that a mirror gives it."""
    home = chart.path().rpartition("/")[0]
    charts.run(str(HELM), "push", str(archive), f"oci://{charts.address}/doubles/{home}")


def stand_in(objects: list[dict[str, Any]], nodes: list[str]) -> None:
    """Give the pause program of the nodes every image that these objects name."""
    names = sorted({image for obj in objects for image in images(obj)})
    for node in nodes:
        tag = ["podman", "exec", node, "ctr", "-n", "k8s.io", "images", "tag", "--force", PAUSE]
        for name in names:
            subprocess.run([*tag, name], check=True, capture_output=True, timeout=60, env=os.environ)


def _sections(stack: FullStack) -> dict[str, dict[str, Any]]:
    where = stack.folder / "certificates"
    names = {"certificate": str(where / "plane.pem"), "keyFile": str(where / "plane.key")}

    def pair(use: str) -> dict[str, str]:
        return {"certificate": str(where / f"{use}.pem"), "keyFile": str(where / f"{use}.key")}

    return {
        "cluster": {"kind": "local", **stack.cluster},
        "ngc": {"acceptLicense": True},
        "charts": {
            "source": "mirror",
            "prefix": f"{stack.charts.address}/doubles",
            "directory": str(stack.folder / "charts"),
        },
        "controlPlane": {
            "domain": PLANE,
            "certificate": names,
            "ca": str(where / "ca.pem"),
            "admin": {"username": ADMIN},
        },
        "clusterAgents": {"name": "local", "connectSeconds": 60},
        "gpuOperator": {"source": "install", "driver": {"version": "615.10"}},
        "capacity": {"source": "setting", "gpus": 8},
        "knative": {"enabled": True, "source": "bundle", "domain": INFERENCE},
        "ingress": {"enabled": True, "source": "rendered"},
        "monitoring": {"enabled": True, "source": "bundle"},
        "grove": {"enabled": True, "version": "0.1.0-alpha.13"},
        "workloadMap": {"enabled": True},
        "tls": {
            "source": "files",
            "ca": str(where / "ca.pem"),
            "inference": pair("inference"),
            "workspaces": pair("workspaces"),
        },
    }


def _certificates(authority: Authority, plane: Path, folder: Path) -> None:
    where = folder / "certificates"
    where.mkdir(exist_ok=True)
    (where / "ca.pem").write_text(authority.pem)
    for use, name in (("inference", f"*.{INFERENCE}"), ("workspaces", f"*.{PLANE}"), ("plane", "")):
        both = (authority.issue(name, folder, days=90) if name else plane).read_text()
        start = both.index("-----BEGIN CERTIFICATE-----")
        (where / f"{use}.key").write_text(both[:start])
        (where / f"{use}.pem").write_text(both[start:])
