"""Which Pod Security level a pod needs: each field that decides, one at a time."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from policy.pod_security import required_level

GOOD: dict[str, Any] = {
    "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    "containers": [
        {
            "name": "c",
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        }
    ],
    "volumes": [{"name": "v", "configMap": {"name": "x"}}],
}


def pod(where: str, **fields: Any) -> dict[str, Any]:
    """The good pod with fields set on it, on its context, its container or the container's context."""
    result = copy.deepcopy(GOOD)
    container = result["containers"][0]
    targets = {
        "pod": result,
        "pod context": result["securityContext"],
        "container": container,
        "container context": container["securityContext"],
    }
    targets[where].update(fields)
    return result


PRIVILEGED = [
    pod("pod", hostNetwork=True),
    pod("pod", hostPID=True),
    pod("pod", hostIPC=True),
    pod("pod", volumes=[{"name": "h", "hostPath": {"path": "/"}}]),
    pod("container", ports=[{"containerPort": 1, "hostPort": 1}]),
    pod("container context", privileged=True),
    pod("container context", capabilities={"drop": ["ALL"], "add": ["SYS_ADMIN"]}),
    pod("container context", seccompProfile={"type": "Unconfined"}),
    pod("container context", procMount="Unmasked"),
    pod("pod context", appArmorProfile={"type": "Unconfined"}),
    pod("pod context", seLinuxOptions={"type": "spc_t"}),
    pod("pod context", seLinuxOptions={"user": "root"}),
    pod("pod context", sysctls=[{"name": "kernel.msgmax", "value": "1"}]),
    pod("pod context", windowsOptions={"hostProcess": True}),
    pod("pod", initContainers=[{"name": "i", "securityContext": {"privileged": True}}]),
]
BASELINE = [
    pod("container", securityContext={}),
    pod("container context", allowPrivilegeEscalation=True),
    pod("container context", capabilities={"drop": ["all"]}),
    pod("container context", capabilities={"drop": ["ALL"], "add": ["CHOWN"]}),
    pod("container context", runAsNonRoot=False),
    pod("container context", runAsUser=0),
    pod("pod context", runAsUser=0),
    pod("pod", securityContext={"runAsNonRoot": True}),
    pod("pod", securityContext={"seccompProfile": {"type": "RuntimeDefault"}}),
    pod("pod", volumes=[{"name": "v", "nfs": {"server": "s", "path": "/"}}]),
    pod("pod", initContainers=[{"name": "i"}]),
]
RESTRICTED = [
    GOOD,
    pod("container context", capabilities={"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}),
    pod("container context", seccompProfile={"type": "Localhost"}, runAsUser=10000),
    pod("pod context", sysctls=[{"name": "net.ipv4.tcp_syncookies", "value": "1"}]),
    pod("pod", volumes=None, initContainers=None),
]


@pytest.mark.req("I1")
@pytest.mark.parametrize("spec", PRIVILEGED)
def test_what_only_privileged_admits(spec: dict[str, Any]) -> None:
    level, reasons = required_level(spec)
    assert level == "privileged"
    assert len(reasons) == 1


@pytest.mark.req("I1")
@pytest.mark.parametrize("spec", BASELINE)
def test_what_baseline_admits_and_restricted_refuses(spec: dict[str, Any]) -> None:
    level, reasons = required_level(spec)
    assert level == "baseline"
    assert reasons


@pytest.mark.req("I1")
@pytest.mark.parametrize("spec", RESTRICTED)
def test_what_restricted_admits(spec: dict[str, Any]) -> None:
    assert required_level(spec) == ("restricted", [])


def test_the_reasons_name_the_container() -> None:
    assert required_level({"containers": [{"name": "web"}]})[1] == [
        "allowPrivilegeEscalation not false of container web",
        "capabilities ALL not dropped of container web",
        "no seccomp profile of container web",
        "runAsNonRoot not true of container web",
    ]
