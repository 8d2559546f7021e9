"""`make demo`: from a machine with nothing to a validated local cluster and its report."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence

from local import paths, plan
from local.cluster import config
from local.stages import Runner


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo; returns 0 when every stage ended well, else 1."""
    parser = argparse.ArgumentParser(prog="python3 -m local.demo", description=__doc__)
    parser.add_argument("--until", metavar="STAGE[,STAGE]", help="stop after these stages and what they need")
    parser.add_argument("--no-build", action="store_true", help="fail instead of compiling or building")
    options = parser.parse_args(arguments)
    if options.no_build:
        os.environ["RUNAI_KIT_NO_BUILD"] = "1"
    try:
        config.gpu_nodes()  # a wrong number is said now, not after the compile
        every = plan.stages()
        beside = plan.optional()
    except ValueError as error:
        print(f"make demo: {error}", file=sys.stderr)
        return 1
    wanted = plan.until([*every, *beside], *options.until.split(",")) if options.until else every
    runner = Runner(wanted, paths.LOGS)
    good = runner.run()
    print(f"\n{runner.table()}\n")
    if options.until is None:
        print(_verdict(runner.results["validate"].state))
    return 0 if good else 1


def _verdict(validated: str) -> str:
    path = paths.REPORT / "report.json"
    if validated == "not reached":
        return "no report: the demo did not come to the validation"
    if not path.exists():
        return f"no report: {path.relative_to(paths.ROOT)} was not written"
    counts = json.loads(path.read_text())["summary"]
    words = ", ".join(f"{counts[name]} {name}" for name in ("pass", "fail", "skip", "na"))
    return f"report: {path.parent.relative_to(paths.ROOT)}/index.html: {words}"


if __name__ == "__main__":
    sys.exit(main())
