"""Connects to the cluster and turns each way this can fail into one sentence, before anything changes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pulumi
import urllib3
import yaml
from kubernetes import client
from kubernetes.config import ConfigException
from kubernetes.config import kube_config as _kube_config

from components import credentials
from components.cluster import TIMEOUT, ClusterFacts, LiveCluster
from components.config.sections import Cluster

# The client's stubs leave these functions untyped.
_files: Any = _kube_config
# Objects an installer makes that a mere namespace user may not.
_NEEDED = (("", "namespaces"), ("rbac.authorization.k8s.io", "clusterroles"))


class ClusterError(pulumi.RunError):
    """The cluster cannot be used as it is; says what was found, what is expected, and what to do."""

    def __init__(self, key: str, found: str, expected: str, advice: str) -> None:
        super().__init__(
            f"runai-kit:cluster.{key}: found {found}; expected {expected}; {advice}. Nothing was changed."
        )


def kubeconfig_path(settings: Cluster, root: Path) -> str:
    """The kubeconfig file: the setting below `root`, or the user's default (several files joined by `:`)."""
    if settings.kubeconfig:
        return str(root / Path(settings.kubeconfig).expanduser())
    return os.path.pathsep.join(
        str(Path(part).expanduser())
        for part in str(_files.KUBE_CONFIG_DEFAULT_LOCATION).split(os.path.pathsep)
    )


def connect(settings: Cluster, root: Path) -> tuple[LiveCluster, ClusterFacts]:
    """Check file, context, TLS, reachability and rights; return the cluster and its state.

    Takes two connection time-outs at most. Raises ClusterError.
    """
    path = kubeconfig_path(settings, root)
    api = _client(settings, path)
    try:
        cluster = LiveCluster(api)
        facts = cluster.facts()
        _check_rights(api, settings)
    except client.ApiException as error:
        if not error.status:
            # The client's own wrapping of what went wrong before any answer came, TLS among it.
            raise _transport_error(str(error.reason), api.configuration.host) from None
        raise _api_error(error, settings) from None
    except urllib3.exceptions.HTTPError as error:
        raise _transport_error(str(error), api.configuration.host) from None
    except ValueError:
        # A proxy's login page, or another service at that address.
        raise ClusterError(
            "context",
            f"answers of {api.configuration.host} that are not Kubernetes'",
            "the address of an API server",
            "correct the server in the kubeconfig; a proxy may have answered instead",
        ) from None
    return cluster, facts


def _client(settings: Cluster, path: str) -> client.ApiClient:
    shown = settings.kubeconfig or path
    if not any(Path(part).is_file() for part in path.split(os.path.pathsep)):
        raise ClusterError(
            "kubeconfig", f"no file {shown}", "a kubeconfig file", "create the cluster or correct the path"
        )
    try:
        # The kubeconfig's own current-context plays no part, and may be missing.
        names = [item["name"] for item in _files.KubeConfigMerger(path).config.value["contexts"] or []]
    except (yaml.YAMLError, ConfigException, OSError, AttributeError, KeyError, TypeError):
        raise ClusterError(
            "kubeconfig", f"{shown}, which is no kubeconfig", "a kubeconfig file", "replace it"
        ) from None
    if settings.context not in names:
        raise ClusterError(
            "context",
            f'"{settings.context}"',
            f"a context of {shown} ({', '.join(names) or 'none'})",
            "correct the name or the file",
        )
    try:
        configuration, tls = credentials.load(path, settings.context)
    except (ConfigException, OSError, ValueError) as error:
        raise ClusterError(
            "kubeconfig", f"unusable credentials ({error})", "a usable context", "renew the file"
        ) from None
    _refuse_plain_transport(configuration, settings)
    configuration.retries = False
    return credentials.api_client(configuration, tls)


def _refuse_plain_transport(configuration: Any, settings: Cluster) -> None:
    if not str(configuration.host).startswith("https://"):
        raise ClusterError(
            "context",
            f"server {configuration.host}",
            "an https address",
            "never send credentials in the clear",
        )
    if not configuration.verify_ssl:
        raise ClusterError(
            "context",
            f'"{settings.context}" with insecure-skip-tls-verify',
            "a verified certificate",
            "put the API server's CA into certificate-authority-data",
        )


def _check_rights(api: client.ApiClient, settings: Cluster) -> None:
    authorization = client.AuthorizationV1Api(api)
    for group, resource in _NEEDED:
        attributes = client.V1ResourceAttributes(group=group, resource=resource, verb="create")
        spec = client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes)
        review: Any = authorization.create_self_subject_access_review(
            client.V1SelfSubjectAccessReview(spec=spec), _request_timeout=TIMEOUT
        )
        if not review.status.allowed:
            raise ClusterError(
                "context",
                f'"{settings.context}", whose user may not create {resource}',
                "a user with cluster-admin rights",
                "use another context or ask for the rights",
            )


def _api_error(error: client.ApiException, settings: Cluster) -> ClusterError:
    found = f'"{settings.context}" answered {error.status} {error.reason}'
    if error.status == 401:
        return ClusterError("context", found, "valid credentials", "log in again; they may have expired")
    if error.status == 403:
        return ClusterError("context", found, "a user with cluster-admin rights", "use another context")
    return ClusterError("context", found, "a working API server", "look at the API server")


def _transport_error(reason: str, host: object) -> ClusterError:
    reason = " ".join(reason.split())
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return ClusterError(
            "context",
            f"a certificate of {host} that is not trusted ({reason})",
            "one signed by the context's CA",
            "put the right CA into certificate-authority-data",
        )
    return ClusterError(
        "context",
        f"no answer from {host} ({reason})",
        f"an API server that answers within {TIMEOUT[0]} s",
        "check that the cluster runs and that the network lets you through",
    )
