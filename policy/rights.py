"""Wide rights: what the installation's own accounts may do in the whole cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from components import fake_gpus
from components.catalog import Catalog
from components.config.model import Settings
from components.prometheus import bundle, kubelet, state_metrics
from components.prometheus.instance import INSTANCE, SCRAPE_RULES
from policy.pod_security import Object

_ANY = "*"
_READ = {"get", "list", "watch", _ANY}
_WRITE = {"create", "update", "patch", _ANY}
_RBAC = "rbac.authorization.k8s.io"
# (API group, resource, verbs that make it wide, what somebody could do with it).
WIDE: tuple[tuple[str, str, set[str], str], ...] = (
    ("", "secrets", _READ, "read every Secret"),
    ("", "secrets", _WRITE, "write Secrets anywhere"),
    ("", "nodes/proxy", {"get", "create", _ANY}, "talk to kubelets, which run commands in any pod"),
    ("", "pods/exec", {"get", "create", _ANY}, "run commands in any pod"),
    ("", "pods/attach", {"get", "create", _ANY}, "attach to any pod"),
    ("", "pods/portforward", {"get", "create", _ANY}, "reach any pod's ports"),
    ("", "pods/ephemeralcontainers", _WRITE, "put containers into any pod"),
    ("", "serviceaccounts/token", {"create", _ANY}, "become any ServiceAccount"),
    ("", "serviceaccounts", {"impersonate", _ANY}, "become any ServiceAccount"),
    ("", "users", {"impersonate", _ANY}, "become any user"),
    ("", "pods", {"create", _ANY}, "start pods anywhere, as any ServiceAccount"),
    ("apps", "deployments", {"create", _ANY}, "start pods anywhere, as any ServiceAccount"),
    ("apps", "daemonsets", {"create", _ANY}, "start pods on every node"),
    ("batch", "jobs", {"create", _ANY}, "start pods anywhere, as any ServiceAccount"),
    ("", "nodes", {"update", "patch", _ANY}, "change nodes: labels, taints"),
    ("", "namespaces", {"update", "patch", _ANY}, "change namespaces, Pod Security labels among it"),
    (_RBAC, "clusterroles", {"escalate", "bind", _ANY}, "give rights that it does not have"),
    (_RBAC, "clusterroles", _WRITE, "write ClusterRoles (within its own rights)"),
    (_RBAC, "clusterrolebindings", _WRITE, "bind ClusterRoles (within its own rights)"),
    ("admissionregistration.k8s.io", "mutatingwebhookconfigurations", _WRITE, "change what others create"),
    ("admissionregistration.k8s.io", "validatingwebhookconfigurations", _WRITE, "refuse what others create"),
    ("apiextensions.k8s.io", "customresourcedefinitions", _WRITE, "change kinds"),
)


@dataclass(frozen=True)
class Role:
    """A ClusterRole, its rules, and the accounts that it is bound to, as `namespace/name`."""

    part: str
    name: str
    rules: tuple[Object, ...]
    accounts: tuple[str, ...]


def rendered(part: str, objects: Iterable[Object]) -> list[Role]:
    """ClusterRoles of a source's objects; aggregated ones with the rules that the cluster fills in."""
    listed = list(objects)
    roles = [obj for obj in listed if obj.get("kind") == "ClusterRole"]
    bound: dict[str, list[str]] = {}
    for obj in listed:
        if obj.get("kind") == "ClusterRoleBinding":
            for subject in obj.get("subjects") or []:
                account = f"{subject.get('namespace', '')}/{subject['name']}"
                bound.setdefault(obj["roleRef"]["name"], []).append(account)
    return [
        Role(part, name, tuple(_rules(obj, roles)), tuple(sorted(bound.get(name, []))))
        for obj in roles
        for name in [obj["metadata"]["name"]]
    ]


def own(settings: Settings, catalog: Catalog, charts: Path) -> list[Role]:
    """ClusterRoles that no chart has: the components make them."""
    found: list[Role] = []
    if settings.monitoring.enabled and settings.monitoring.source == "bundle":
        part = catalog.parts["prometheus-operator"]
        file = charts / (part.chart.file if part.chart else "")
        found += [
            _own(part.name, bundle.OPERATOR, part.namespace(), bundle.cluster_rules(bundle.read(file))),
            _own(
                "prometheus",
                f"prometheus-{INSTANCE}",
                part.namespace(),
                [*SCRAPE_RULES, *kubelet.rules(settings.monitoring)],
            ),
            _own(state_metrics.NAME, state_metrics.NAME, part.namespace(), state_metrics.rules()),
        ]
    if settings.fake_gpus.enabled:
        namespace = catalog.parts["fake-gpu"].namespace()
        found.append(_own(fake_gpus.NAME, fake_gpus.NAME, namespace, fake_gpus.cluster_rules()))
    return found


def wide(role: Role) -> Iterator[tuple[str, str]]:
    """(right, what somebody could do with it), each once."""
    seen: set[tuple[str, str]] = set()
    for group, resource, verbs, means in WIDE:
        for rule in role.rules:
            if not (_covers(rule, group, resource) and verbs & set(rule["verbs"])):
                continue
            names = rule.get("resourceNames") or []
            asked = ", ".join(sorted(verbs & set(rule["verbs"])))
            right = f"{asked} {resource}" + (f" ({', '.join(names)} only)" if names else "")
            if (right, means) not in seen:
                seen.add((right, means))
                yield right, means


def _covers(rule: Object, group: str, resource: str) -> bool:
    groups, resources = rule.get("apiGroups") or [], rule.get("resources") or []
    _, _, sub = resource.partition("/")
    return bool({group, _ANY} & set(groups)) and bool({resource, _ANY, f"*/{sub}"} & set(resources))


def _rules(role: Object, roles: list[Object]) -> list[Object]:
    selectors = (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or []
    if not selectors:
        return list(role.get("rules") or [])
    return [
        rule
        for other in roles
        for selector in selectors
        if (selector.get("matchLabels") or {}).items() <= (other["metadata"].get("labels") or {}).items()
        for rule in other.get("rules") or []
    ]


def _own(part: str, name: str, namespace: str, rules: list[Object]) -> Role:
    return Role(part, name, tuple(rules), (f"{namespace}/{name}",))
