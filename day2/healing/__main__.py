"""`python -m day2.healing <stack>`: make a stack ready for the next run after one that was killed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from components import private
from components.config.errors import NAMESPACE
from components.config.local import renamed
from day2.healing.command import HealError, Pulumi, say
from day2.healing.heal import heal
from validation.cluster import Cluster

ROOT = Path(__file__).resolve().parents[2]


def main(arguments: Sequence[str]) -> int:
    """0 when the stack is ready, 1 with a message when it is not."""
    if len(arguments) != 1:
        print("usage: python -m day2.healing <stack>", file=sys.stderr)
        return 1
    # A refresh begins the provider, which copies the kubeconfig into the temp folder.
    private.use()
    pulumi = Pulumi(arguments[0], ROOT)
    try:
        done = heal(pulumi, pulumi.named(), lambda: cluster(pulumi, os.environ))
    except HealError as error:
        print(f"make heal: {error}", file=sys.stderr)
        return 1
    say(f"stack {pulumi.stack}: {'ready for the next run' if done else 'nothing to put right'}")
    return 0


def cluster(pulumi: Pulumi, env: Mapping[str, str]) -> Cluster:
    """The cluster that the stack file names."""
    values = renamed({"cluster": pulumi.settings().get(f"{NAMESPACE}:cluster")}, env)["cluster"]
    if not isinstance(values, dict):
        raise HealError(f"{NAMESPACE}:cluster: found none in the stack file, expected a context; add it")
    kubeconfig = values.get("kubeconfig") or ""
    return Cluster(str(ROOT / Path(kubeconfig).expanduser()) if kubeconfig else "", str(values["context"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
