"""Sections of the settings for what VKS and VCF Operations know of a cluster."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from components.config.types import Domain, Duration, HttpsUrl, NameOrNone, Section, Text


class VksMonitoring(Section):
    """Prometheus and Telegraf of the VKS standard packages: they carry metrics to VCF Operations.

    `packages`: off; existing: VCF or somebody else installed them, nothing is changed; install: this stack
    does; detect: those that are there are adopted, the others installed. Versions are the repository's.
    `metricProxy`: metrics go through the Supervisor Management Proxy; `serviceDomain`: the cluster's own, as
    in its `clusterNetwork.serviceDomain`; `dcgm`: GPU metrics, too; `storageClass` empty is the default one.
    """

    packages: Literal["off", "existing", "detect", "install"] = "off"
    prometheus_version: Text = "3.5.3+vmware.1-vks.1"
    telegraf_version: Text = "1.38.4+vmware.1-vks.1"
    metric_proxy: bool = True
    service_domain: Domain = "cluster.local"
    interval: Duration = "300s"
    dcgm: bool = True
    storage_class: NameOrNone = ""


class VcfOperations(Section):
    """VCF Operations, which validation asks whether the cluster's data arrives; nothing is changed there.

    `url` empty is none. `ca` is a PEM file below the project, empty for the public CAs. `clusterName` is the
    VKS cluster's name in the inventory; `resourceKind` tells objects of that name apart where there are
    several; `dataMinutes` is how old the newest data may be. The user's password is read from the
    environment when validation runs.
    """

    url: HttpsUrl = ""
    ca: str = ""
    username: str = ""
    auth_source: Text = "LOCAL"
    cluster_name: str = ""
    resource_kind: str = ""
    data_minutes: Annotated[int, Field(ge=1, le=1440)] = 15
