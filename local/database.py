"""The image of a real PostgreSQL from Debian's packages: the tests' stand-in for the control plane's own.

No image of images.toml: its root is not set up, so that it has no cluster of Debian's making, but neither a
user's entry nor the socket's folder. It wants a volume at VOLUME.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from local import bare, paths, rootfs

# Debian 12's. The vendor's is 16; 17 is known to break the product.
MAJOR = "15"
IMAGE = f"kind.local/postgresql:{MAJOR}-{rootfs.SUITE}"
KIND, ROOT = "database", "database"
UID = 999
SERVE = paths.ROOT / "local" / "images" / "postgresql.sh"
VOLUME = "/var/lib/postgresql"
_SOCKET = "/var/run/postgresql"


def archive() -> Path:
    """Return the cached archive of the image, named by everything that goes into it."""
    return bare.archive(KIND, ROOT, Path(__file__), SERVE)


def build() -> None:
    """Build the image and save it."""
    bare.build(IMAGE, KIND, archive(), _context)


def _context(work: Path) -> None:
    """What is put over the root: PostgreSQL asks who it is, and Debian's wants its socket's folder."""
    root = work / "root"
    for folder in ("etc", "usr/local/bin", _SOCKET.lstrip("/")):
        (root / folder).mkdir(parents=True)
    (root / _SOCKET.lstrip("/")).chmod(0o1777)
    (root / "etc" / "passwd").write_text(f"postgres:x:{UID}:{UID}::{VOLUME}:/bin/sh\n")
    (root / "etc" / "group").write_text(f"postgres:x:{UID}:\n")
    serve = root / "usr" / "local" / "bin" / "serve"
    shutil.copyfile(SERVE, serve)
    serve.chmod(0o755)
    (work / "Containerfile").write_text(
        f"FROM {rootfs.image(ROOT)}\n"
        "COPY root/ /\n"
        # Debian's own names are wrappers in Perl; a shell of `kubectl exec` finds the programs themselves.
        f'ENV PATH="/usr/lib/postgresql/{MAJOR}/bin:/usr/bin:/bin" PGDATA="{VOLUME}/data"\n'
        f"USER {UID}:{UID}\n"
        # Its fast shutdown: SIGTERM waits for clients.
        "STOPSIGNAL SIGINT\n"
        'ENTRYPOINT ["/usr/local/bin/serve"]\n'
    )
