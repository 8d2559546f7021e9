"""What both ways of installing Knative are made from."""

from __future__ import annotations

from dataclasses import dataclass

from components.catalog import Catalog, Part, mirrored
from components.config.model import Settings
from components.serving import SERVING_NAMESPACE

NAMESPACE = SERVING_NAMESPACE
KOURIER = "kourier"
# Whoever waits for Knative waits for all of these.
DEPLOYMENTS = (
    "activator",
    "autoscaler",
    "controller",
    "webhook",
    "net-kourier-controller",
    "3scale-kourier-gateway",
)
# Knative's own list of registries that exist only on one machine.
_LOCAL_REGISTRIES = ("kind.local", "ko.local", "dev.local")


@dataclass(frozen=True)
class KnativeInputs:
    """Settings and catalog, reduced to what Knative takes; `images` by the path of their repository."""

    serving: Part
    kourier: Part
    envoy: Part
    domain: str
    scale_to_zero: bool
    replicas: int
    images: dict[str, str]
    unresolved_registries: tuple[str, ...]
    pull_secret: str = ""

    def image(self, reference: str) -> str:
        """The catalog's image of the same repository, from the mirror. KeyError for one it does not list."""
        return self.images[repository(reference)]


def repository(reference: str) -> str:
    """`gcr.io/a/b:v1` and `gcr.io/a/b@sha256:…` are both of `gcr.io/a/b`."""
    path = reference.partition("@")[0]
    head, _, last = path.rpartition("/")
    return f"{head}/{last.partition(':')[0]}"


def knative_inputs(settings: Settings, catalog: Catalog, pull_secret: str) -> KnativeInputs:
    """`pull_secret` is empty without credentials for the mirror."""
    knative, prefix = settings.knative, settings.registry.prefix
    serving = catalog.parts[catalog.generations("knative-serving")[knative.version]]
    kourier, envoy = catalog.parts["net-kourier"], catalog.parts["envoy"]
    own = [image for part in (serving, kourier, envoy) for image in part.images.values()]
    return KnativeInputs(
        serving=serving,
        kourier=kourier,
        envoy=envoy,
        domain=settings.inference_domain(),
        scale_to_zero=knative.scale_to_zero,
        replicas=knative.replicas,
        images={repository(image): mirrored(image, prefix) for image in own},
        unresolved_registries=_unresolved(settings, catalog),
        pull_secret=pull_secret,
    )


def _unresolved(settings: Settings, catalog: Catalog) -> tuple[str, ...]:
    """Registries whose tags Knative must not ask for: local ones, the mirror, and all where none answers."""
    hosts = set(_LOCAL_REGISTRIES)
    if settings.registry.prefix:
        hosts.add(settings.registry.prefix.partition("/")[0])
    if settings.images.source == "packages":
        images = [*catalog.images.values(), *settings.images.model_dump(exclude={"source"}).values()]
        images += [image for part in catalog.parts.values() for image in part.images.values()]
        hosts |= {image.partition("/")[0] for image in images if image}
    # Docker Hub's references are resolved under this name.
    return tuple(sorted(hosts | ({"index.docker.io"} if "docker.io" in hosts else set())))
