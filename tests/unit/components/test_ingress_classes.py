"""One default IngressClass: what is there, and what the stack would add."""

from __future__ import annotations

from typing import Any

import pytest

from components.config.serving import Ingress
from components.connect import ClusterError
from components.ingress_classes import refuse_second_default
from tests.stack import FakeCluster


def ingress(**fields: Any) -> Ingress:
    return Ingress.model_validate({"enabled": True, **fields})


@pytest.mark.req("I7")
@pytest.mark.parametrize(
    ("there", "wanted"),
    [
        ((), ingress()),
        (("haproxy",), ingress()),
        (("nsx",), ingress(defaultClass=False)),
        (("nsx",), ingress(source="existing", className="nsx")),
        (("nsx", "contour"), Ingress()),
    ],
)
def test_one_default_or_none_is_right(there: tuple[str, ...], wanted: Ingress) -> None:
    refuse_second_default(FakeCluster(default_classes=there), wanted)


@pytest.mark.req("I7")
def test_a_second_default_is_refused_with_what_to_do() -> None:
    with pytest.raises(ClusterError) as caught:
        refuse_second_default(FakeCluster(default_classes=("nsx",)), ingress())
    assert "IngressClasses nsx there and ingress.defaultClass true for haproxy" in str(caught.value)
    assert "expected one default at most; set ingress.defaultClass: false" in str(caught.value)
    with pytest.raises(ClusterError, match="IngressClasses contour, nsx there; expected one default at most"):
        refuse_second_default(FakeCluster(default_classes=("nsx", "contour")), ingress(defaultClass=False))
