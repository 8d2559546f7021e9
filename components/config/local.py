"""The local cluster by another name: a second one beside it, for tests that destroy what they find."""

from __future__ import annotations

from collections.abc import Mapping

NAME = "RUNAI_KIT_CLUSTER"
DEFAULT = "runai-kit"


def renamed(values: Mapping[str, object], env: Mapping[str, str]) -> dict[str, object]:
    """`values` with the context and kubeconfig of the cluster that NAME in `env` names.

    Only for stacks of cluster kind `local`: no environment variable moves another stack to another cluster.
    """
    cluster, name = values.get("cluster"), env.get(NAME) or DEFAULT
    if not isinstance(cluster, dict) or cluster.get("kind") != "local" or name == DEFAULT:
        return dict(values)
    own = {"context": f"kind-{name}", "kubeconfig": f"build/local-{name}/kubeconfig"}
    return {**values, "cluster": {**cluster, **own}}
