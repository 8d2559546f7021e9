"""What the list of a closed network may fetch."""

from __future__ import annotations

from pathlib import Path

import pytest

from mirror.listing import listing
from policy.render import RenderError, read_stack
from tests.stack import CATALOG

STACK = Path(__file__).parents[2] / "stacks" / "Pulumi.vks-airgap.yaml"


@pytest.mark.req("I13")
def test_without_the_licence_nothing_of_ngc_is_fetched(tmp_path: Path) -> None:
    settings = read_stack(STACK)
    with pytest.raises(RenderError, match=r"runai-kit:ngc\.acceptLicense: found false; expected true"):
        listing(settings, CATALOG, tmp_path / "charts", tmp_path / "no-helm", fetch=True)
    accepted = settings.model_copy(update={"ngc": settings.ngc.model_copy(update={"accept_license": True})})
    with pytest.raises(FileNotFoundError, match="no-helm"):
        listing(accepted, CATALOG, tmp_path / "charts", tmp_path / "no-helm", fetch=True)
