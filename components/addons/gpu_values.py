"""Values of the GPU Operator's chart: images, driver by mode, how GPUs are divided, and what DCGM counts."""

from __future__ import annotations

from typing import Any

from components.addons.inputs import AddonInputs
from components.config.addons import DEVICE_PARTS, GpuOperator
from components.logins import docker_config

LICENCE_SECRET = "licensing-config"  # noqa: S105 (a name, not a secret)
DRIVER_SECRET = "runai-kit-driver-registry"  # noqa: S105 (a name, not a secret)
COUNTERS = "runai-kit-dcgm-counters"
PLUGIN_CONFIG = "runai-kit-device-plugin"
# The key in the device plugin's ConfigMap that applies to every node.
SHARED = "shared"
_OPERANDS = {
    "validator": "operator",
    "toolkit": "toolkit",
    "devicePlugin": "device-plugin",
    "gfd": "device-plugin",
    "dcgm": "dcgm",
    "dcgmExporter": "dcgm-exporter",
    "migManager": "mig-manager",
}


def values(inputs: AddonInputs) -> dict[str, Any]:
    """Helm values.

    The namespace has its Pod Security labels from this stack. NRI injection by the operator stays off: the
    fractioning operator brings its own, and Run:ai 3.0 asks for it.
    """
    settings, gpus = inputs.settings, inputs.settings.gpu_operator
    feature_discovery, tag = inputs.repository_and_tag("node-feature-discovery")
    pull = inputs.pull_secret_names()
    chosen: dict[str, Any] = {
        name: inputs.split(image) | {"imagePullSecrets": pull} for name, image in _OPERANDS.items()
    }
    chosen["migManager"]["enabled"] = settings.sharing == "mig"
    chosen["devicePlugin"]["config"] = _plugin_config(inputs)
    chosen["dcgmExporter"] |= {
        "enabled": True,
        # The stack's own monitor scrapes it, with labels that dashboards know.
        "serviceMonitor": {"enabled": False},
        "config": {"name": COUNTERS, "create": False},
    }
    return chosen | {
        "psa": {"enabled": False},
        "nfd": {"enabled": gpus.nfd},
        "node-feature-discovery": {
            "image": {"repository": feature_discovery, "tag": tag},
            "imagePullSecrets": inputs.pull_secrets(),
        },
        "operator": inputs.split("operator")
        | {"imagePullSecrets": pull, "defaultRuntime": "containerd", "upgradeCRD": True, "cleanupCRD": False},
        "driver": _driver(inputs, gpus)
        | {"imagePullSecrets": [*pull, *([DRIVER_SECRET] if driver_login(inputs) else [])]},
        "cdi": {"enabled": True, "nriPluginEnabled": False},
        "mig": {"strategy": gpus.mig_strategy},
        # For virtual machines on GPU nodes, not for containers.
        "sandboxWorkloads": {"enabled": False},
        "vgpuManager": {"enabled": False},
    }


def driver_image(inputs: AddonInputs) -> str:
    """The driver's image as nodes pull it: the operator adds the nodes' system to the version."""
    driver = _driver(inputs, inputs.settings.gpu_operator)
    system = inputs.settings.gpu_operator.driver.os
    return f"{driver['repository']}/{driver['image']}:{driver['version']}-{system}"


def driver_login(inputs: AddonInputs) -> str:
    """The login for the driver's image, empty without one. A secret."""
    gpus = inputs.settings.gpu_operator
    password = gpus.driver.password.get_secret_value()
    host = str(_driver(inputs, gpus)["repository"]).partition("/")[0]
    return docker_config(host, gpus.driver.username, password) if password else ""


def licence_data(gpus: GpuOperator) -> dict[str, str]:
    """Files of the vGPU licence Secret, by the names that the driver looks for. A secret."""
    assert gpus.licence is not None
    return {
        "gridd.conf": gpus.licence.gridd,
        "client_configuration_token.tok": gpus.licence.token.get_secret_value(),
    }


def plugin_config(inputs: AddonInputs) -> dict[str, str]:
    """Text of the device plugin's ConfigMap; empty where it advertises whole devices."""
    gpus, sharing = inputs.settings.gpu_operator, inputs.settings.sharing
    if not _plugin_config(inputs)["name"]:
        return {}
    lines = [
        "version: v1",
        "sharing:",
        f"  {sharing}:",
        "    resources:",
        "      - name: nvidia.com/gpu",
        f"        replicas: {gpus.replicas}",
    ]
    return {SHARED: "\n".join(lines) + "\n"}


def _plugin_config(inputs: AddonInputs) -> dict[str, str]:
    divided = inputs.settings.sharing in DEVICE_PARTS - {"mig"}
    return {"name": PLUGIN_CONFIG, "default": SHARED} if divided else {"name": "", "default": ""}


def _driver(inputs: AddonInputs, gpus: GpuOperator) -> dict[str, Any]:
    vgpu = gpus.guest_driver()
    image = inputs.split("vgpu-driver" if vgpu else "driver")
    manager = inputs.split("driver-manager")
    return {
        "enabled": gpus.driver.source == "operator",
        "repository": gpus.driver.repository or image["repository"],
        "image": gpus.driver.image or image["image"],
        "version": gpus.driver.version or image["version"],
        "manager": manager,
        "licensingConfig": {"secretName": LICENCE_SECRET if vgpu else "", "nlsEnabled": True},
    }
