"""`make demo-mirrored`: the demo with upstream images from a registry, and building forbidden."""

from __future__ import annotations

import os
import sys

from local import demo, images, node, paths, plan, registry, shell
from local.stages import Runner


def main() -> int:
    """Fill a registry, run the demo on it, and check that the nodes pulled from it."""
    wanted = [*(f"images-{kind}" for kind in (*node.ALL, "own", "lab")), "root-node", "place-tools"]
    prepare = [stage for name in wanted for stage in plan.until(plan.stages(), name)]
    unique = list({stage.name: stage for stage in prepare}.values())
    if not Runner(unique, paths.LOGS).run():
        return 1
    try:
        os.environ["RUNAI_KIT_MIRROR"] = registry.start()
        print(f"registry: {os.environ['RUNAI_KIT_MIRROR']} holds the images under their upstream names")
        return demo.main(["--no-build"]) or _check_pulls()
    except shell.CommandError as error:
        print(f"make demo-mirrored: {error}", file=sys.stderr)
        return 1
    finally:
        registry.stop()


def _check_pulls() -> int:
    """Return 1 unless the registry saw a pull of every image that the stack and the tests use."""
    log = registry.requests()
    names = [row["name"] for kind in ("platform", "serving", "own", "lab") for row in images.table(kind)]
    missing = [name for name in names if f'"GET /v2/{_repository(name)}/blobs/' not in log]
    print(f"pulled from the registry: {len(names) - len(missing)} of {len(names)} images")
    if missing:
        print(f"not pulled: {', '.join(missing)}; expected each to come from the registry", file=sys.stderr)
    return 1 if missing else 0


def _repository(image: str) -> str:
    return image.split("/", 1)[1].rsplit(":", 1)[0]


if __name__ == "__main__":
    sys.exit(main())
