"""Sections of the settings for what answers requests: Knative, the ingress, and its certificates."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from components.config.types import DnsLabel, DomainOrNone, LabelOrNone, Memory, NameOrNone, Section, Text


class Knative(Section):
    """Knative Serving with Kourier, from the releases' own objects or by the Knative Operator.

    `version` is Serving's and must be one of the catalog's; `domain` empty is `inference.<domain>`.
    """

    enabled: bool = False
    source: Literal["bundle", "operator"] = "operator"
    version: Text = "1.21.1"
    domain: DomainOrNone = ""
    scale_to_zero: bool = True
    replicas: Annotated[int, Field(ge=1, le=5)] = 1


class Ingress(Section):
    """HAProxy in front of Kourier and of workspaces.

    rendered: HAProxy with a configuration of this kit's; controller: HAProxy's ingress controller; existing:
    somebody else's, found as `service` in `namespace`. `workspacesDomain` empty is `workspaces.<domain>`;
    `defaultClass` makes the controller's IngressClass the cluster's default.
    """

    enabled: bool = False
    source: Literal["rendered", "controller", "existing"] = "controller"
    class_name: DnsLabel = "haproxy"
    default_class: bool = True
    https_port: Annotated[int, Field(ge=1, le=65535)] = 443
    workspaces_domain: DomainOrNone = ""
    replicas: Annotated[int, Field(ge=1, le=5)] = 1
    namespace: LabelOrNone = ""
    service: LabelOrNone = ""


class Certificate(Section):
    """A wildcard certificate: PEM files, relative to the project, or the key as a secret of the stack file.

    The file holds the certificate and those between it and the CA.
    """

    certificate: Text
    key_file: str = ""
    key: SecretStr = SecretStr("")


class Tls(Section):
    """Certificates of the two domains: given, or made by a private CA of the kit (local and kind only).

    `ca` is the PEM file of a private CA, empty for one that everybody knows. A change of `rotation` makes
    new generated certificates; they are renewed by themselves `renewBeforeDays` before they end.
    """

    source: Literal["generated", "files"] = "files"
    ca: str = ""
    inference: Certificate | None = None
    workspaces: Certificate | None = None
    days: Annotated[int, Field(ge=2, le=825)] = 365
    renew_before_days: Annotated[int, Field(ge=1, le=365)] = 30
    rotation: str = ""


class InferenceLoad(Section):
    """How many requests the load step sends, and how many at a time."""

    requests: Annotated[int, Field(ge=1, le=2000)] = 40
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4


class Inference(Section):
    """What the inference test deploys; `pvc` empty lets the server fetch the model by its name.

    With a claim, which is mounted at /models, `model` is a path there. `windowSeconds` is how long a replica
    without requests stays before it may go; answers have at most `maxTokens`.
    """

    server: Literal["vllm", "transformers"] = "vllm"
    model: Text = "Qwen/Qwen3-0.6B"
    pvc: NameOrNone = ""
    min_replicas: Annotated[int, Field(ge=0, le=16)] = 1
    window_seconds: Annotated[int, Field(ge=6, le=3600)] = 60
    initialization_timeout_seconds: Annotated[int, Field(ge=10, le=86400)] = 600
    load_format: Literal["auto", "runai_streamer"] = "auto"
    memory: Memory = "16Gi"
    max_tokens: Annotated[int, Field(ge=2, le=4096)] = 64
    load: InferenceLoad = InferenceLoad()


class Dataset(Section):
    """Where the training test finds MNIST: a PVC of the project, else its origin and then the mirror."""

    pvc: NameOrNone = ""
