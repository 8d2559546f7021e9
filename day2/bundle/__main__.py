"""`python -m day2.bundle <environment>`: exit 0 written (also when something was missing), 1 not written."""

from __future__ import annotations

import argparse
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from day2.bundle.make import Options, make

ROOT = Path(__file__).resolve().parents[2]
SHOWN = 12


def main(arguments: list[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m day2.bundle", description="A redacted support bundle.")
    parser.add_argument("environment", help="the stack's name")
    parser.add_argument("--out", type=Path, help="file to write; build/bundles/<environment>-<time>.tar.gz")
    parser.add_argument("--seconds", type=float, default=120.0, help="bound for everything together")
    parser.add_argument("--workload-logs", action="store_true", help="logs of the projects' pods, too")
    given = parser.parse_args(arguments)
    if not (ROOT / "stacks" / f"Pulumi.{given.environment}.yaml").is_file():
        known = sorted(path.name.split(".")[1] for path in (ROOT / "stacks").glob("Pulumi.*.yaml"))
        print(
            f"environment: found {given.environment!r}, expected one of {', '.join(known)}; correct it",
            file=sys.stderr,
        )
        return 1
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    target = given.out or ROOT / "build" / "bundles" / f"{given.environment}-{stamp}.tar.gz"
    options = Options(
        given.environment,
        ROOT,
        target,
        ROOT / os.environ.get("KIT_REPORT_DIR", "build/report"),
        given.seconds,
        given.workload_logs,
        os.environ.get("KIT_OUTPUTS_FILE", ""),
    )
    try:
        index = make(options)
    except OSError as error:
        print(f"{target}: the bundle cannot be written: {error}", file=sys.stderr)
        return 1
    missing = list(index["missing"].items())
    for path, why in missing[:SHOWN]:
        print(f"missing: {path}: {why}")
    if len(missing) > SHOWN:
        print(f"missing: {len(missing) - SHOWN} more, see index.json")
    size = target.stat().st_size / 1e6
    told = f"{len(index['files'])} files, {size:.1f} MB, {index['seconds']} s"
    print(f"{target}: {told}; read it before you send it")
    return 0


if __name__ == "__main__":
    # Requests that were given up may still hang in their threads.
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
