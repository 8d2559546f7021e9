"""Knative's manifests: version and images stamped, what needs metrics-server left out, surprises refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from local import bundles, tools

pytestmark = pytest.mark.req("E1", "I7")

DEPLOYMENT = """\
# Licence

---
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    app.kubernetes.io/version: devel
spec:
  image: ko://knative.dev/net-kourier/cmd/kourier
  gateway: docker.io/envoyproxy/envoy:v1.36-latest
---
# nothing but words
---
kind: HorizontalPodAutoscaler
metadata:
  name: gateway
"""


@pytest.fixture
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    monkeypatch.setattr(tools.Group, "module", lambda self, path: tmp_path)
    return tmp_path / "config"


KOURIER = next(bundle for bundle in bundles.BUNDLES if bundle.name == "net-kourier")


def test_objects_are_stamped_and_in_the_order_of_their_files(config: Path) -> None:
    (config / "b.yaml").write_text(DEPLOYMENT)
    (config / "a.yaml").write_text("kind: Namespace\n")
    first, second = KOURIER.text().split("---\n")
    assert first == "kind: Namespace\n"
    assert second.splitlines()[:2] == ["apiVersion: apps/v1", "kind: Deployment"]
    assert f'version: "{KOURIER.version}"' in second
    image = f"gcr.io/knative-releases/knative.dev/net-kourier/cmd/kourier:v{KOURIER.version}"
    assert f"image: {image}\n" in second
    assert f"gateway: {bundles.ENVOY}\n" in second


def test_a_new_way_to_name_an_image_is_refused(config: Path) -> None:
    (config / "a.yaml").write_text("kind: Deployment\nimage: 'xko://knative.dev/x'\n")
    with pytest.raises(ValueError, match="expected no such line"):
        KOURIER.text()


def test_both_releases_have_every_crd_that_their_objects_need() -> None:
    for bundle in bundles.BUNDLES[:2]:
        text = bundle.text()
        for kind in ("images.caching", "certificates.networking", "ingresses.networking"):
            assert f"  name: {kind}.internal.knative.dev\n" in text
        assert "HorizontalPodAutoscaler" not in text
