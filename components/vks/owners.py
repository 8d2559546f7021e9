"""One owner for Prometheus and one for Telegraf: adopt what is there, install what is not, never both."""

from __future__ import annotations

from dataclasses import dataclass

from components.cluster import Cluster
from components.config.model import Settings
from components.connect import ClusterError
from components.vks.installed import Installed, installed, offered
from components.vks.values import HOMES, PROMETHEUS, TELEGRAF, unknown, values

# Set by the Supervisor Management Proxy; Telegraf mounts both.
PROXY_SECRETS = ("metrics-proxy-tls-config", "metrics-proxy-http-config")
PROXY_HOME = "kube-system"
# Where this stack's own PackageInstalls are.
NAMESPACE = "package-installs"
_DEPLOYMENTS = {PROMETHEUS: "prometheus-server", TELEGRAF: "telegraf"}


@dataclass(frozen=True)
class Plan:
    """Packages by name: those that this stack installs, and the owners of those that it leaves alone."""

    install: tuple[str, ...] = ()
    adopted: tuple[Installed, ...] = ()


def plan(cluster: Cluster, settings: Settings) -> Plan:
    """Who is to own what. Raises ClusterError, with both owners, where two would."""
    mode = settings.vks_monitoring.packages
    if mode == "off":
        return Plan()
    install: list[str] = []
    adopted: list[Installed] = []
    for package in (PROMETHEUS, TELEGRAF):
        there = installed(cluster, package)
        _refuse_two(package, there)
        foreign = [item for item in there if not item.ours]
        if foreign and mode == "install":
            raise _second_owner(package, foreign[0].owner)
        if foreign:
            adopted += foreign
        elif mode == "existing":
            raise ClusterError(
                "context",
                f"no PackageInstall of {package}",
                'one while vksMonitoring.packages is "existing"',
                'set it to "detect", and this stack installs the package',
            )
        else:
            _check_offer(cluster, settings, package, there)
            install.append(package)
    if TELEGRAF in install and settings.vks_monitoring.metric_proxy:
        _check_proxy(cluster)
    return Plan(tuple(install), tuple(adopted))


def _refuse_two(package: str, there: list[Installed]) -> None:
    if len(there) > 1:
        raise ClusterError(
            "context",
            f"{package} installed by {' and by '.join(item.owner for item in there)}",
            "one owner",
            "remove one of them; add-ons of the Supervisor are switched off by the Cluster's label "
            "addons.kubernetes.vmware.com/automated-monitoring=disabled",
        )


def _second_owner(package: str, owner: str) -> ClusterError:
    return ClusterError(
        "context",
        f"{package} owned by {owner}",
        f"none beside this stack's PackageInstall in namespace {NAMESPACE}",
        'set vksMonitoring.packages to "detect" or "existing" to adopt it, or remove it first',
    )


def _check_offer(cluster: Cluster, settings: Settings, package: str, there: list[Installed]) -> None:
    """The version can be had, its schema knows the values, and nobody else's workload is in its place."""
    wanted = version(settings, package)
    if not there and any(d.name == _DEPLOYMENTS[package] for d in cluster.deployments(HOMES[package])):
        raise _second_owner(package, f"Deployment {HOMES[package]}/{_DEPLOYMENTS[package]}, of no package")
    found = offered(cluster, package)
    fitting = [item for item in found if item.version == wanted]
    if not fitting:
        versions = ", ".join(sorted(item.version for item in found)) or "none"
        raise ClusterError(
            "context",
            f"no Package {package} {wanted} (offered: {versions})",
            "that version in a package repository",
            "add the VKS standard packages' PackageRepository to namespace tkg-system, or choose an offered "
            "version that components/catalog.yaml has",
        )
    if strange := list(unknown(values(package, settings), fitting[0].schema)):
        raise ClusterError(
            "context",
            f"a Package {package} {wanted} without the data values {', '.join(strange)}",
            "the values that this kit sets",
            f"compare with `kubectl get package {package}.{wanted} -n tkg-system -o yaml` (valuesSchema)",
        )


def _check_proxy(cluster: Cluster) -> None:
    missing = [name for name in PROXY_SECRETS if not cluster.secret(PROXY_HOME, name)]
    if missing:
        raise ClusterError(
            "context",
            f"no Secret {', '.join(missing)} in namespace {PROXY_HOME}",
            "both of the Supervisor Management Proxy while vksMonitoring.metricProxy is true",
            "install that Supervisor Service first (Telegraf's pods would hang in FailedMount), or set "
            "vksMonitoring.metricProxy: false",
        )


def version(settings: Settings, package: str) -> str:
    """The version of a package that the settings ask for."""
    chosen = settings.vks_monitoring
    return chosen.prometheus_version if package == PROMETHEUS else chosen.telegraf_version
