"""A release between two states stops the program before the first resource, and names the command."""

from __future__ import annotations

import pytest

from components.unfinished import UnfinishedError, refuse_unfinished
from tests.stack import CATALOG, FakeCluster

pytestmark = pytest.mark.req("I14")
PARTS = [CATALOG.parts[key] for key in CATALOG.parts if key.startswith(("kai-scheduler", "prometheus-op"))]


@pytest.mark.parametrize("release", ["prometheus-operator", "prometheus-operator-crds"])
def test_a_pending_release_of_the_kit_is_told_with_the_command(release: str) -> None:
    cluster = FakeCluster(pending=(("monitoring", release, "pending-upgrade"),))
    with pytest.raises(UnfinishedError, match=rf"{release} in namespace monitoring.*make heal ENV=vks"):
        refuse_unfinished(cluster, PARTS, "vks-modular")


@pytest.mark.parametrize(
    "pending", [("shop", "kai-scheduler", "pending-install"), ("monitoring", "theirs", "pending-install")]
)
def test_other_peoples_releases_stop_nothing(pending: tuple[str, str, str]) -> None:
    refuse_unfinished(FakeCluster(pending=(pending,)), PARTS, "vks-modular")
