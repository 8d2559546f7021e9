"""The strictest Pod Security level that admits a pod, and what keeps it from a stricter one.

Follows the Pod Security Standards of Kubernetes for Linux pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from components.catalog import Psa

Object = dict[str, Any]

_BASELINE_CAPABILITIES = {
    *("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE"),
    *("SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"),
}
_SAFE_SYSCTLS = {
    *("kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start"),
    *("net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports"),
    *("net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl"),
    *("net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"),
}
_SELINUX_TYPES = {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
_RESTRICTED_VOLUMES = {
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected"),
    "secret",
}
_SECCOMP = {"RuntimeDefault", "Localhost"}


def required_level(pod: Object) -> tuple[Psa, list[str]]:
    """The level, with the reasons why the next stricter one refuses the pod spec (empty if restricted)."""
    if reasons := sorted(set(_not_baseline(pod))):
        return "privileged", reasons
    if reasons := sorted(set(_not_restricted(pod))):
        return "baseline", reasons
    return "restricted", []


def containers(pod: Object) -> list[Object]:
    """All containers of a pod spec, initial and ephemeral ones too."""
    return [c for key in ("initContainers", "containers", "ephemeralContainers") for c in pod.get(key) or []]


def _contexts(pod: Object) -> Iterator[tuple[str, Object]]:
    yield "pod", pod.get("securityContext") or {}
    for container in containers(pod):
        yield f"container {container.get('name', '')}", container.get("securityContext") or {}


def _not_baseline(pod: Object) -> Iterator[str]:
    for key in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(key):
            yield key
    for volume in pod.get("volumes") or []:
        if "hostPath" in volume:
            yield f"hostPath {volume['hostPath'].get('path', '')}"
    for container in containers(pod):
        for port in container.get("ports") or []:
            if port.get("hostPort"):
                yield f"hostPort {port['hostPort']}"
    for place, context in _contexts(pod):
        yield from (f"{reason} of {place}" for reason in _baseline_context(context))


def _baseline_context(context: Object) -> Iterator[str]:
    if context.get("privileged"):
        yield "privileged"
    if added := set((context.get("capabilities") or {}).get("add") or []) - _BASELINE_CAPABILITIES:
        yield f"capabilities {', '.join(sorted(added))}"
    if (context.get("seccompProfile") or {}).get("type") == "Unconfined":
        yield "seccomp Unconfined"
    if (context.get("appArmorProfile") or {}).get("type") == "Unconfined":
        yield "AppArmor Unconfined"
    if context.get("procMount", "Default") != "Default":
        yield "procMount"
    selinux = context.get("seLinuxOptions") or {}
    if selinux.get("type", "") not in _SELINUX_TYPES or selinux.get("user") or selinux.get("role"):
        yield "SELinux options"
    if unsafe := [s["name"] for s in context.get("sysctls") or [] if s["name"] not in _SAFE_SYSCTLS]:
        yield f"sysctls {', '.join(unsafe)}"
    if (context.get("windowsOptions") or {}).get("hostProcess"):
        yield "hostProcess"


def _not_restricted(pod: Object) -> Iterator[str]:
    for volume in pod.get("volumes") or []:
        if kinds := set(volume) - {"name"} - _RESTRICTED_VOLUMES:
            yield f"volume type {', '.join(sorted(kinds))}"
    outer = pod.get("securityContext") or {}
    if outer.get("runAsUser") == 0:
        yield "runAsUser 0 of pod"
    for container in containers(pod):
        name, context = container.get("name", ""), container.get("securityContext") or {}
        yield from (f"{reason} of container {name}" for reason in _restricted_context(context, outer))


def _restricted_context(context: Object, outer: Object) -> Iterator[str]:
    if context.get("allowPrivilegeEscalation") is not False:
        yield "allowPrivilegeEscalation not false"
    if context.get("runAsNonRoot", outer.get("runAsNonRoot")) is not True:
        yield "runAsNonRoot not true"
    if context.get("runAsUser") == 0:
        yield "runAsUser 0"
    profile = context.get("seccompProfile") or outer.get("seccompProfile") or {}
    if profile.get("type") not in _SECCOMP:
        yield "no seccomp profile"
    capabilities = context.get("capabilities") or {}
    # The standard compares letter by letter: "all" does not count.
    if "ALL" not in (capabilities.get("drop") or []):
        yield "capabilities ALL not dropped"
    if set(capabilities.get("add") or []) - {"NET_BIND_SERVICE"}:
        yield "added capabilities"
