"""Where upstream images come from: a mirror, their registries, or nowhere.

RUNAI_KIT_MIRROR=http://<address>:<port> names a registry that holds all of them under their own
paths; RUNAI_KIT_IMAGES=packages|upstream decides without asking the registries.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from functools import cache

from local import engine, images, paths, shell

# The 1.34 image of kind v0.33.0's release notes.
NODE_IMAGE = "docker.io/kindest/node:v1.34.11"
NODE_DIGEST = "sha256:44e222ee2132dab25ff87301682f89eb82c7880ea3a1bf543bfe9708fd08d67d"


def address() -> str:
    """Return the mirror's address, or an empty text where none is set."""
    return os.environ.get("RUNAI_KIT_MIRROR", "").rstrip("/")


def registries() -> list[str]:
    """Return the registries that the local environment's images come from, without the kit's own name."""
    names = {row["name"].split("/")[0] for kind in images.KINDS for row in images.table(kind)}
    return sorted(names - {"kind.local"})


def upstream() -> bool:
    """Return whether upstream images are used: where a mirror is set, or where every registry answers."""
    choice = os.environ.get("RUNAI_KIT_IMAGES", "upstream" if address() else "auto")
    if choice not in ("auto", "packages", "upstream"):
        raise ValueError(
            f"RUNAI_KIT_IMAGES: found {choice!r}, expected auto, packages or upstream; correct or unset it"
        )
    return all(answers(name) for name in registries()) if choice == "auto" else choice == "upstream"


@cache
def answers(registry: str) -> bool:
    """Return whether a registry's API answers within three seconds, be it with a demand to log in."""
    host = {"docker.io": "registry-1.docker.io"}.get(registry, registry)
    try:
        urllib.request.urlopen(f"https://{host}/v2/", timeout=3)
    except urllib.error.HTTPError as error:
        return error.code == 401
    except OSError:
        return False
    return True


def write_hosts() -> None:
    """Write containerd's hosts.toml for every registry, so that the nodes ask the mirror instead."""
    if not address():
        return
    for registry in [*registries(), "kind.local"]:
        folder = paths.STATE / "certs.d" / registry
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f'server = "{address()}"', f'[host."{address()}"]', '  capabilities = ["pull", "resolve"]']
        (folder / "hosts.toml").write_text("\n".join(lines) + "\n")


def node_image() -> str:
    """Pull kind's node image, through the mirror where one is set, and return its name."""
    env = engine.environment()
    if not address():
        shell.run(["podman", "pull", f"{NODE_IMAGE.rsplit(':', 1)[0]}@{NODE_DIGEST}"], env=env)
        return f"{NODE_IMAGE.rsplit(':', 1)[0]}@{NODE_DIGEST}"
    host = address().removeprefix("http://").removeprefix("https://")
    verify = str(not address().startswith("http://")).lower()
    source = f"docker://{NODE_IMAGE.replace('docker.io', host, 1)}"
    shell.run(
        ["skopeo", "copy", f"--src-tls-verify={verify}", source, f"containers-storage:{NODE_IMAGE}"], env=env
    )
    return NODE_IMAGE
