"""The rules. Each takes the objects of one source and yields violations; none of them stops at the first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from components.catalog import Catalog, Psa, mirrored
from policy.objects import home_of, images, pod_of, title
from policy.pod_security import Object, required_level

_ORDER: tuple[Psa, ...] = ("restricted", "baseline", "privileged")
_REFERENCE = re.compile(
    r"[a-z0-9.-]+(:[0-9]+)?/[a-z0-9/._-]+(:(?P<tag>[\w.-]+))?(@sha256:(?P<digest>[0-9a-f]{64}))?"
)


@dataclass(frozen=True)
class Violation:
    """`rule` broken by `where`: what was found, what is expected."""

    rule: str
    where: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.where}: found {self.found}; expected {self.expected}"


def check(
    objects: Iterable[Object],
    levels: Mapping[str, Psa],
    catalog: Catalog,
    mirror: str,
    chosen: frozenset[str] = frozenset(),
) -> list[Violation]:
    """All violations.

    `levels` is what each namespace enforces; `mirror` is the registry prefix, or empty; `chosen` are images
    that the stack's settings name beside the catalog's.
    """
    listed = list(objects)
    return [
        *pod_security(listed, levels),
        *needless_relaxation(listed, levels, demanded(catalog)),
        *known_namespaces(listed, levels),
        *pinned_images(listed),
        *registries(listed, catalog, mirror, chosen),
    ]


def pod_security(objects: list[Object], levels: Mapping[str, Psa]) -> Iterator[Violation]:
    """No pod needs more than its namespace allows."""
    for obj, namespace, level, reasons in _pods(objects):
        allowed = levels.get(namespace, "restricted")
        if _ORDER.index(level) > _ORDER.index(allowed):
            yield Violation("pod-security", title(obj), "; ".join(reasons), f"a pod that {allowed} admits")


def demanded(catalog: Catalog) -> frozenset[str]:
    """Namespaces for which the vendor supports one level only, whatever their pods would pass."""
    entries = [item for part in catalog.parts.values() for item in part.namespaces.items()]
    return frozenset(name for name, entry in entries if entry.demanded)


def needless_relaxation(
    objects: list[Object], levels: Mapping[str, Psa], but: frozenset[str] = frozenset()
) -> Iterator[Violation]:
    """A namespace laxer than any of its pods needs is a label too many, but where the vendor asks for it."""
    needed: dict[str, Psa] = {}
    for _, namespace, level, _ in _pods(objects):
        needed[namespace] = max(needed.get(namespace, "restricted"), level, key=_ORDER.index)
    for namespace, level in needed.items():
        allowed = levels.get(namespace, "restricted")
        if namespace not in but and _ORDER.index(allowed) > _ORDER.index(level):
            yield Violation("needless-relaxation", f"Namespace {namespace}", allowed, level)


def known_namespaces(objects: list[Object], levels: Mapping[str, Psa]) -> Iterator[Violation]:
    """Nothing is put into a namespace, and none is made, that the catalog does not list."""
    expected = f"one of {', '.join(sorted(levels))}"
    for obj in objects:
        metadata = obj.get("metadata") or {}
        name = metadata.get("name") if obj.get("kind") == "Namespace" else metadata.get("namespace")
        if name and name not in levels:
            yield Violation("known-namespaces", title(obj), f"namespace {name}", expected)


def config_in_step(objects: list[Object], declared: Object | None) -> Iterator[Violation]:
    """What the chart writes into KAI's Config, the stack's own Config must say too, and the same.

    The provider removes fields of Helm's that the stack does not state, when it updates Config.
    """
    for obj in objects:
        if obj.get("kind") != "Config" or declared is None:
            continue
        for path, value in _leaves(obj.get("spec") or {}):
            ours = declared
            for key in path:
                ours = ours.get(key, {}) if isinstance(ours, dict) else {}
            if ours != value:
                yield Violation("config-in-step", f"{title(obj)} {'.'.join(path)}", repr(ours), repr(value))


def _leaves(node: Object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in node.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value


def pinned_images(objects: list[Object]) -> Iterator[Violation]:
    """Every image has a registry, and a digest or a tag that does not move."""
    for obj in objects:
        for image in images(obj):
            match = _REFERENCE.fullmatch(image)
            if match is None or not (match["digest"] or match["tag"]) or match["tag"] in {"latest", "stable"}:
                yield Violation("pinned-images", title(obj), image, "registry/name:version or @sha256:digest")


def registries(
    objects: list[Object], catalog: Catalog, mirror: str, chosen: frozenset[str] = frozenset()
) -> Iterator[Violation]:
    """Every image is one of the catalog's, from the mirror if there is one: else mirroring would miss it."""
    known = {mirrored(image, mirror) for part in catalog.parts.values() for image in part.images.values()}
    known |= chosen
    # KAI's Config names images of features that are off; they count by registry and version.
    homes = {image.rsplit("/", 1)[0] for image in known}
    for obj in objects:
        for image in images(obj):
            if image not in known and not (obj.get("kind") == "Config" and image.rsplit("/", 1)[0] in homes):
                yield Violation(
                    "registries",
                    title(obj),
                    image,
                    f"an image of the catalog{f' below {mirror}' if mirror else ''}",
                )


def chart_images(objects: list[Object], mirror: str) -> frozenset[str]:
    """Images of a chart that alone knows them; with a mirror only those that come from it."""
    named = {image for obj in objects for image in images(obj)}
    return frozenset(image for image in named if not mirror or image.startswith(f"{mirror}/"))


def _pods(objects: list[Object]) -> Iterator[tuple[Object, str, Psa, list[str]]]:
    for obj in objects:
        pod = pod_of(obj)
        if pod is not None:
            level, reasons = required_level(pod)
            yield obj, home_of(obj), level, reasons
