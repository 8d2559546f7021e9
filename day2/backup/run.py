"""The two commands: save everything, and bring back what is missing."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from components.full.saved import FORMAT, folder_of
from components.runai.client import Client
from day2.backup import document
from day2.backup.compare import Findings, compare
from day2.backup.database import Postgres
from day2.backup.document import BackupError, Database, Document, Saved
from day2.backup.live import Live, look
from day2.backup.restore import Restore
from day2.backup.source import Source
from day2.reach import answering

LEFT_OUT = "left out on demand (DATABASE=no)"


def save(source: Source, root: Path, database: bool = True) -> tuple[Path, Document]:
    """A new folder with everything in it, or none. Raises BackupError, ApiError, ClusterError, OSError."""
    made = datetime.now(UTC)
    folder = folder_of(root, source.stack) / made.strftime("%Y%m%d-%H%M%S")
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    unfinished.mkdir(parents=True, mode=0o700)
    try:
        live = look(Client(source.access), source.cluster)
        saved = Document(
            format=FORMAT,
            made=made,
            stack=source.stack,
            controlPlane=source.plane,
            clusters=sorted(live.clusters),
            objects=[Saved(**key.model_dump(), fields=fields) for key, fields in live.tree.items()],
            database=_database(source, unfinished, database),
        )
        document.write(saved, unfinished)
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return folder, saved


def _database(source: Source, folder: Path, wanted: bool) -> Database:
    if source.elsewhere or not wanted:
        return Database(reason=source.elsewhere or LEFT_OUT)
    cluster = answering(source.kubeconfig, source.context)
    return Postgres(source.kubeconfig, source.context).dump(cluster, folder)


@dataclass(frozen=True)
class Restored:
    """What was missing and was made, and lines on what is not as in the backup."""

    made: tuple[str, ...]
    left: tuple[str, ...]
    more: tuple[str, ...]


def restore(source: Source, saved: Document, any_version: bool = False) -> Restored:
    """Make what is missing. Raises BackupError for a backup of something else, ApiError."""
    client = Client(source.access)
    _refuse_foreign(source, saved, any_version)
    live = look(client, source.cluster)
    _refuse_unknown_clusters(saved, live)
    found: Findings = compare(saved.tree(), live.tree)
    work = Restore(client, live, source.accounts)
    work.make(found.missing, saved.tree())
    return Restored(tuple(work.made), (*work.left, *found.different), found.more)


def _refuse_foreign(source: Source, saved: Document, any_version: bool) -> None:
    if saved.controlPlane.url != source.plane.url:
        raise BackupError(
            f"the backup: found one of {saved.controlPlane.url}; expected one of {source.plane.url}, the "
            f"control plane of stack {source.stack}; take another folder by FROM="
        )
    if saved.controlPlane.version != source.plane.version and not any_version:
        raise BackupError(
            f"the backup: found version {saved.controlPlane.version}; expected {source.plane.version}, which "
            "is installed; bring the control plane to the backup's version, or say VERSION=any"
        )


def _refuse_unknown_clusters(saved: Document, live: Live) -> None:
    if unknown := sorted({key.cluster for key in saved.tree()} - set(live.clusters) - {""}):
        raise BackupError(
            f"the backup: found objects of cluster {', '.join(unknown)}; expected only clusters that the "
            f"control plane knows ({', '.join(sorted(live.clusters)) or 'none'}); `pulumi up --refresh` of "
            "each cluster's stack registers it"
        )
