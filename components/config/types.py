"""Building blocks of the settings: a strict section, names, durations, and amounts of GPUs."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

UNLIMITED = -1.0


class Section(BaseModel):
    """Frozen, camelCase in the stack file, no unknown key, no silent conversion (`"4"` is not 4)."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", strict=True, alias_generator=to_camel, hide_input_in_errors=True
    )


def _matching(pattern: str, expected: str) -> AfterValidator:
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise PydanticCustomError("pattern", "{expected}", {"expected": expected})
        return value

    return AfterValidator(check)


DnsLabel = Annotated[
    str,
    _matching(
        r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?",
        "a DNS label (lower-case letters, digits and inner dashes, 63 at most)",
    ),
]
# The namespace is runai-<project>, and a namespace is a DNS label itself.
ProjectName = Annotated[
    str,
    _matching(
        r"[a-z0-9]([-a-z0-9]{0,55}[a-z0-9])?",
        "a DNS label of 57 characters at most (lower-case letters, digits and inner dashes)",
    ),
]
Domain = Annotated[
    str,
    _matching(
        r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*",
        "a DNS name such as apps.example.com",
    ),
]
# Empty where a setting follows from others.
DomainOrNone = Annotated[
    str,
    _matching(
        r"|(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*",
        "a DNS name such as apps.example.com, or nothing",
    ),
]
HttpsUrl = Annotated[
    str,
    _matching(
        r"|https://[a-z0-9][-a-z0-9.]*(:[0-9]{1,5})?",
        "an address such as https://ops.example.com without a path, or nothing",
    ),
]
LabelOrNone = Annotated[
    str,
    _matching(
        r"|[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?",
        "a DNS label (lower-case letters, digits and inner dashes, 63 at most), or nothing",
    ),
]
LabelKey = Annotated[
    str,
    _matching(
        r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?",
        "a Kubernetes label key",
    ),
]
# What the control plane takes as the name of a service account.
AccountName = Annotated[
    str, _matching(r"[a-z][-_a-z0-9]*[a-z0-9]", "lower-case letters, digits, - and _, starting with a letter")
]
Scope = Annotated[
    str,
    _matching(
        r"cluster|tenant|(department|project)/[a-z0-9][-a-z0-9]*",
        "cluster, tenant, department/<name> or project/<name>",
    ),
]
Text = Annotated[str, _matching(r"(?s).+", "a text that is not empty")]
# Both Go and Prometheus read these units.
Duration = Annotated[str, _matching(r"[1-9][0-9]*(s|m|h)", "a duration such as 30s, 5m or 168h")]
# Kubernetes' notation of an amount of memory.
Memory = Annotated[
    str, _matching(r"[1-9][0-9]*(\.[0-9]+)?([KMGT]i|[kMGT])?", "an amount of memory such as 512Mi or 16Gi")
]
# Names of objects may hold dots, unlike labels.
NameOrNone = Annotated[
    str,
    _matching(
        r"|(?=.{1,253}\Z)[a-z0-9]([-a-z0-9.]*[a-z0-9])?",
        "the name of an object (lower-case letters, digits, inner dashes and dots), or nothing",
    ),
]
ImageOrNone = Annotated[
    str,
    _matching(
        r"|([a-zA-Z0-9][-a-zA-Z0-9.]*(:[0-9]{1,5})?/)?[a-z0-9][-a-z0-9._]*(/[a-z0-9][-a-z0-9._]*)*"
        r"((:[A-Za-z0-9_][-A-Za-z0-9_.]{0,127})(@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})",
        "an image with a tag or digest such as nvcr.io/nvidia/pytorch:25.10-py3, or nothing",
    ),
]
# Registry host with an optional path, never a scheme or a tag.
RegistryPrefix = Annotated[
    str,
    _matching(
        r"|[a-z0-9][-a-z0-9.]*(:[0-9]{1,5})?(/[a-z0-9][-a-z0-9._]*)*",
        "a registry host with an optional port and path, such as harbor.example.com/mirror",
    ),
]

Port = Annotated[int, Field(ge=1, le=65535)]


def _address_range(value: str) -> str:
    try:
        return str(ipaddress.ip_network(value))
    except ValueError:
        expected = "an address range such as 10.20.0.0/24, without bits set beyond its length"
        raise PydanticCustomError("cidr", "{expected}", {"expected": expected}) from None


Cidr = Annotated[str, AfterValidator(_address_range)]


def seconds(duration: str) -> int:
    """A Duration in seconds."""
    return int(duration[:-1]) * {"s": 1, "m": 60, "h": 3600}[duration[-1]]


@dataclass(frozen=True)
class GpuAmount:
    """GPUs as a number of devices or as a part of the capacity.

    Exactly one field is set. `devices` may be a fraction (0.5) or UNLIMITED; `percent` lies in 0..100.
    """

    devices: float | None = None
    percent: float | None = None

    @property
    def unlimited(self) -> bool:
        """Whether there is no bound at all."""
        return self.devices == UNLIMITED

    def __str__(self) -> str:
        return f"{self.percent:g}%" if self.percent is not None else f"{self.devices:g}"


def parse_gpu_amount(value: object) -> GpuAmount:
    """`2`, `0.5`, `-1` (unlimited) or `"25%"`; anything else is an error that says so."""
    if isinstance(value, GpuAmount):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and _is_amount(value):
        return GpuAmount(devices=float(value))
    if isinstance(value, str) and re.fullmatch(r"(100|[0-9]{1,2}(\.[0-9]+)?)%", value):
        return GpuAmount(percent=float(value[:-1]))
    raise PydanticCustomError(
        "gpu_amount", 'a number of GPUs, -1 for unlimited, or a share of the capacity such as "25%"'
    )


def _is_amount(value: float) -> bool:
    return value == UNLIMITED or 0 <= value < float("inf")


Gpus = Annotated[GpuAmount, PlainValidator(parse_gpu_amount)]
