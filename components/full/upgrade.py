"""Before another version of the control plane comes, what it knows has to be saved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pulumi

from components.cluster import Cluster
from components.config.model import Settings
from components.control_plane import RELEASE
from components.full.saved import age

NAMESPACE = "runai-backend"


class UnsavedError(pulumi.RunError):
    """An upgrade without a backup: the vendor knows no way back without one."""


@dataclass(frozen=True)
class Upgrade:
    """What is installed on the cluster against what the settings want; `root` is where backups lie."""

    cluster: Cluster
    settings: Settings
    root: Path

    def refuse_unsaved(self, stack: str) -> None:
        """Raises UnsavedError; a preview only warns, so that people see the change before the backup."""
        wanted, hours = self.settings.control_plane.version, self.settings.control_plane.backup_hours
        installed = self.cluster.chart_version(NAMESPACE, RELEASE)
        if installed in {"", wanted} or not hours:
            return
        newest = age(self.root, stack, f"https://{self.settings.control_plane_domain()}")
        if newest is not None and newest <= timedelta(hours=hours):
            return
        told = (
            "no backup" if newest is None else f"a newest backup of {newest.total_seconds() / 3600:.0f} h ago"
        )
        text = (
            f"runai-kit:controlPlane.version: found {installed} installed, and {told}; expected one of the "
            f"last {hours} h before {wanted} replaces it; run `make backup ENV={stack}`, or set "
            "runai-kit:controlPlane.backupHours to 0 if you save it in another way"
        )
        if pulumi.runtime.is_dry_run():
            pulumi.log.warn(f"{text}. `pulumi up` will refuse.")
        else:
            raise UnsavedError(f"{text}. Nothing was changed.")
