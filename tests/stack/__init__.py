"""A stack for tests: settings, files, a cluster that answers without a network, and the program on them."""

from __future__ import annotations

from tests.stack.cluster import GPU_NODE, FakeCluster, kai_config, knative_deployments, nodes
from tests.stack.examples import EVERYTHING, LOCAL
from tests.stack.files import write_bundle, write_certificates, write_knative
from tests.stack.given import CATALOG, changed, engine_env, settings
from tests.stack.run import kept_secrets, plain, run_platform

__all__ = [
    "CATALOG",
    "EVERYTHING",
    "GPU_NODE",
    "LOCAL",
    "FakeCluster",
    "changed",
    "engine_env",
    "kai_config",
    "kept_secrets",
    "knative_deployments",
    "nodes",
    "plain",
    "run_platform",
    "settings",
    "write_bundle",
    "write_certificates",
    "write_knative",
]
