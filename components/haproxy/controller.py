"""HAProxy's ingress controller: its chart's values, and the Ingress objects that it serves."""

from __future__ import annotations

from typing import Any

from components.catalog import Part
from components.config.sections import Registry
from components.config.serving import Ingress
from components.haproxy.inputs import Routes
from components.knative.inputs import KOURIER, repository


def values(
    ingress: Ingress, part: Part, registry: Registry, routes: Routes, pull_secret: str
) -> dict[str, Any]:
    """A Deployment behind a load balancer, nothing of it on the nodes' own ports."""
    image = part.image("controller", registry.prefix)
    wait = f"{routes.wait_seconds}s"
    return {
        "fullnameOverride": "haproxy",
        "controller": {
            "image": {"repository": repository(image), "tag": image.rpartition(":")[2]},
            "existingImagePullSecret": pull_secret,
            "replicaCount": ingress.replicas,
            "ingressClass": ingress.class_name,
            "ingressClassResource": {"name": ingress.class_name, "default": ingress.default_class},
            "service": {
                "type": "LoadBalancer",
                "ports": {"https": ingress.https_port},
                # UDP beside TCP is more than many load balancers offer; the others are for inside.
                "enablePorts": {"quic": False, "stat": False, "admin": False},
            },
            # Certificates are named by Ingress objects; the chart's own would be for a made-up name.
            "defaultTLSSecret": {"enabled": False},
            "config": {
                "ssl-redirect": "true",
                # Redirects always name a port: unset it would be 8443, the one of the pods.
                "ssl-redirect-port": str(ingress.https_port),
                "forwarded-for": "true",
                "timeout-client": wait,
                "timeout-server": wait,
                "timeout-queue": wait,
                "timeout-tunnel": "1h",
            },
        },
    }


def inference_ingress(ingress: Ingress, routes: Routes, secret: str) -> dict[str, Any]:
    """Every name below the domain goes to Kourier, which knows the Services."""
    host = f"*.{routes.inference}"
    backend = {"service": {"name": KOURIER, "port": {"number": 80}}}
    path = {"path": "/", "pathType": "Prefix", "backend": backend}
    return {
        "ingressClassName": ingress.class_name,
        "tls": [{"hosts": [host], "secretName": secret}],
        "rules": [{"host": host, "http": {"paths": [path]}}],
    }


def workspaces_ingress(ingress: Ingress, routes: Routes, secret: str) -> dict[str, Any]:
    """No paths: it only brings the certificate, for the Ingress that each workspace has in its namespace."""
    host = f"*.{routes.workspaces}"
    return {
        "ingressClassName": ingress.class_name,
        "tls": [{"hosts": [host], "secretName": secret}],
        "rules": [{"host": host}],
    }
