"""The kit's next release, as far as an upgrade needs it: the same but for Run:ai's version in its catalog."""

from __future__ import annotations

import json
import shutil

from components.catalog import Catalog, load_catalog
from tests.acceptance.commands import run
from tests.acceptance.conftest import ROOT
from tests.acceptance.full_stack import FullStack, publish
from tests.contract.doubles import HELM, pack
from tests.stack import CATALOG

PARTS = ("control-plane", "runai-cluster")
OLD = CATALOG.parts[PARTS[0]].version
NEW = f"{OLD.rpartition('.')[0]}.{int(OLD.rpartition('.')[2]) + 1}"


def take(stack: FullStack) -> Catalog:
    """Let the stack's project be that release and want its version; both charts are where the others are."""
    home = stack.project / "components"
    home.unlink()
    shutil.copytree(ROOT / "components", home, ignore=shutil.ignore_patterns("__pycache__"))
    file = home / "catalog.yaml"
    file.write_text(file.read_text().replace(OLD, NEW))
    catalog = load_catalog(file)
    for part in PARTS:
        chart = catalog.parts[part].chart
        assert chart is not None
        archive = pack(chart.name, NEW, stack.folder / "packed")
        shutil.copyfile(archive, stack.folder / "charts" / chart.file)
        publish(stack.charts, archive, chart)
    stack.change("controlPlane", version=NEW)
    return catalog


def installed() -> set[str]:
    """Charts of Run:ai with their versions, as Helm has them."""
    listed = json.loads(run(str(HELM), "list", "--all-namespaces", "--output", "json").well().out)
    return {item["chart"] for item in listed if item["chart"].startswith(PARTS)}
