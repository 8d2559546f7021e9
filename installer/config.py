"""From a stack's settings to the `config.yaml` of `runai-installer` 3.0.

Blocks and the keys of `install`, `registry`, `airgap` and `controlPlane` are documented (Run:ai 3.0, pages
Configuration Reference and Configuration Templates). Names inside `cluster`, `prerequisites` and `features`
follow the same pages' words; their exact spelling could not be read: see ASSUMED.
"""

from __future__ import annotations

from typing import Any

from components.config.model import Settings
from components.config.serving import Certificate
from components.merging import merged

Json = dict[str, Any]
# Blocks whose keys are to be compared with the installer's own reference before they are used.
ASSUMED = ("cluster", "prerequisites", "features")
# Where the installer finds what must not stand in the file; the user writes these files.
_TOKEN = "secrets/ngc-token"  # noqa: S105 (a path)
_PASSWORD = "secrets/registry-password"  # noqa: S105 (a path)


class InstallerError(ValueError):
    """What the installer cannot do."""


def config(settings: Settings) -> Json:
    """The file's content; secrets are paths, never values. Raises InstallerError for another profile."""
    if settings.profile != "full":
        raise InstallerError(
            'profile: found "modular"; expected "full"; the installer knows only Run:ai as a whole'
        )
    closed = bool(settings.registry.prefix)
    return {
        "install": {"mode": _mode(settings), "connectivity": "air_gapped" if closed else "connected"},
        **_registry(settings),
        **(_airgap() if closed else {}),
        "controlPlane": _control_plane(settings),
        "cluster": _cluster(settings),
        # In a closed network the installer leaves these to whoever installs it: this kit did, or can.
        "prerequisites": _prerequisites(settings, closed),
        "features": _features(settings, closed),
    }


def _mode(settings: Settings) -> str:
    installs = settings.control_plane.source == "install"
    if installs and settings.cluster_agents.enabled:
        return "full_installation"
    return "runai_control_plane_only" if installs else "runai_cluster_only"


def _registry(settings: Settings) -> Json:
    if settings.registry.prefix:
        login = {"username": settings.registry.username, "passwordPath": _PASSWORD}
        return {
            "registry": {"host": settings.registry.prefix, **(login if settings.registry.username else {})}
        }
    if settings.ngc.support_entitled:
        return {"registry": {"type": "ngc", "tokenPath": _TOKEN}}
    return {}


def _airgap() -> Json:
    """The bundle of the vendor is unpacked there, and its images are pushed by its own set-up."""
    place = "/data/runai-airgap"
    return {"airgap": {"workingDir": place, "valuesDir": place, "skipPrepare": True}}


def _control_plane(settings: Settings) -> Json:
    plane = settings.control_plane
    if plane.source != "install":
        return {"enabled": False, "domain": settings.control_plane_domain()}
    values: Json = {
        "global": {
            "ingress": {"ingressClass": plane.ingress_class or settings.ingress.class_name},
            "customCA": {"enabled": bool(settings.control_plane_ca_file())},
        }
    }
    if settings.ngc.support_entitled:
        values["supportEntitled"] = True
    if plane.storage_class:
        values["global"]["storageClass"] = plane.storage_class
    if plane.postgresql is not None:
        database = plane.postgresql
        values["postgresql"] = {"enabled": False}
        values["global"]["postgresql"] = {
            "auth": {"host": database.host, "port": database.port, "username": database.username}
        }
    return {
        "enabled": True,
        "version": plane.version,
        "domain": settings.control_plane_domain(),
        **_tls(plane.certificate),
        "customHelmValues": merged(values, plane.values),
    }


def _cluster(settings: Settings) -> Json:
    agents = settings.cluster_agents
    if not agents.enabled:
        return {"enabled": False}
    ingress = settings.control_plane.ingress_class or settings.ingress.class_name
    values: Json = {
        "clusterConfig": {
            "global": {"ingress": {"ingressClass": ingress}, "subdomainSupport": agents.host_based_routing},
            "project-controller": {"createNamespaces": agents.create_namespaces},
        }
    }
    return {
        "enabled": True,
        "name": agents.name,
        "domain": settings.cluster_domain(),
        **_tls(agents.certificate),
        "customHelmValues": merged(values, agents.values),
    }


def _tls(certificate: Certificate | None) -> Json:
    if certificate is None:
        return {}
    key = certificate.key_file or "secrets/key.pem"
    return {"tls": {"certPath": certificate.certificate, "keyPath": key}}


def _prerequisites(settings: Settings, closed: bool) -> Json:
    gpus = settings.gpu_operator.source == "install" and not closed
    monitoring = settings.monitoring.enabled and not closed
    operator: Json = {"mode": "install" if gpus else "skip"}
    if gpus:
        driver = settings.gpu_operator.driver
        operator |= {
            "version": f"v{settings.gpu_operator.version}",
            "customHelmValues": {
                "cdi": {"nriPluginEnabled": False},
                "driver": {"enabled": driver.source == "operator", "version": driver.version},
            },
        }
    return {
        "gpuOperator": operator,
        "prometheus": {"mode": "install" if monitoring else "skip"},
        "networkOperator": {"mode": "skip"},
    }


def _features(settings: Settings, closed: bool) -> Json:
    wanted = {
        "knative": settings.knative.enabled,
        "lws": settings.leader_worker_set.enabled,
        "kubeflow": settings.training_operator.enabled,
        "mpiOperator": settings.mpi_operator.enabled,
        "grove": settings.grove.enabled,
        "nimOperator": False,
        "dynamo": False,
    }
    return {name: {"mode": "install" if on and not closed else "skip"} for name, on in wanted.items()}
