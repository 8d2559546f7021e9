"""Shared by all tests."""

from __future__ import annotations

import hypothesis
import pytest
from kubernetes.config import kube_config

# A machine that is busy with something else is no counterexample.
hypothesis.settings.register_profile("kit", deadline=None)
hypothesis.settings.load_profile("kit")


@pytest.fixture(autouse=True)
def no_ambient_cluster(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Whatever kubectl points at on this machine is out of reach, unless a test is about a live cluster."""
    if "acceptance" in request.path.parts:
        return
    nowhere = str(tmp_path_factory.mktemp("no-cluster") / "config")
    monkeypatch.setenv("KUBECONFIG", nowhere)
    monkeypatch.delenv("RUNAI_KIT_CLUSTER", raising=False)
    # The client reads the variable once, when it is imported.
    monkeypatch.setattr(kube_config, "KUBE_CONFIG_DEFAULT_LOCATION", nowhere)
