"""The container engine: Podman with settings of the kit's own, so that the machine's stay untouched."""

from __future__ import annotations

import resource
from pathlib import Path

from local import paths

CONFIG = paths.STATE / "containers.conf"


def configure() -> None:
    """Write containers.conf for this machine.

    runc and cgroupfs also work where crun or a systemd session do not; limits above the
    shell's own hard limits would be refused where CAP_SYS_RESOURCE is missing.
    """
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    processes = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    most = int(Path("/proc/sys/kernel/pid_max").read_text())  # Podman lowers its own limit to it
    processes = most if processes == resource.RLIM_INFINITY else min(processes, most)
    limits = [f'"nofile={files}:{files}"', f'"nproc={processes}:{processes}"']
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text(
        "[containers]\n"
        f"default_ulimits = [{', '.join(limits)}]\n"
        "[engine]\n"
        'runtime = "runc"\n'
        'cgroup_manager = "cgroupfs"\n'
        'events_logger = "file"\n'
    )


def environment() -> dict[str, str]:
    """Return the variables that make podman and kind use the kit's settings."""
    return {
        "CONTAINERS_CONF": str(CONFIG),
        "KIND_EXPERIMENTAL_PROVIDER": "podman",
        "KIND_EXPERIMENTAL_PODMAN_NETWORK": paths.CLUSTER,
    }
