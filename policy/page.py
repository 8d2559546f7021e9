"""docs/security.md: two tables made from the catalog and from rendered charts, between markers.

`python -m policy.page docs/security.md [--charts build/charts] [--stack FILE] [--helm helm] [--check]`

Without --charts only what the catalog says is renewed. With --check nothing is written: exit 1 when stale.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from components.catalog import Catalog, load_catalog
from components.config.errors import SettingsError
from components.files import write_atomically
from components.security.governed import Governed, relaxed
from policy.render import RenderError, read_stack, sources
from policy.rights import Role, own, rendered, wide

STACK = Path("stacks/Pulumi.local.yaml")
_QUOTA = "quota: pods, no NodePort, no LoadBalancer"
NAMESPACES, RIGHTS = "namespaces", "rights"


class PageError(ValueError):
    """A page without the markers of a table."""


def namespaces(catalog: Catalog) -> str:
    """Every relaxed namespace: why, who runs there, its controls."""
    head = ["Namespace", "Level", "Part", "Why", "Who runs there", "Controls"]
    rows = []
    for key in catalog.parts:
        for item in relaxed(catalog, [key]):
            who = ", ".join(f"`{name}`" for name in item.accounts) or "any ServiceAccount"
            rows.append([f"`{item.name}`", item.psa, key, item.why, who, _controls(item)])
    entry = catalog.project_namespace
    project = Governed(f"{entry.prefix}<project>", entry.psa, entry.why, project=True)
    what = [f"`{project.name}`", project.psa, "projects", project.why, "the teams' workloads"]
    return table(head, [*rows, [*what, _controls(project)]])


def rights(roles: Iterable[Role]) -> str:
    """Every ClusterRole with a right that reaches beyond the kit's own namespaces and kinds."""
    rows = []
    for role in sorted(roles, key=lambda r: (r.part, r.name)):
        found = list(wide(role))
        if found:
            accounts = ", ".join(f"`{name}`" for name in role.accounts) or "nobody"
            told = "<br>".join(f"{right}: {means}" for right, means in found)
            rows.append([role.part, f"`{role.name}`", accounts, told])
    return table(["Part", "ClusterRole", "Bound to", "Wide rights"], rows)


def gather(catalog: Catalog, charts: Path, helm: Path, stack: Path) -> list[Role]:
    """ClusterRoles of everything that the stack installs. Raises RenderError."""
    settings = read_stack(stack)
    found = [
        role
        for source in sources(settings, catalog, charts, helm)
        for role in rendered(source.name, source.objects)
    ]
    return [*found, *own(settings, catalog, charts)]


def put(page: str, name: str, made: str) -> str:
    """The page with the table between its markers. Raises PageError."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    before, first, rest = page.partition(begin)
    _, last, after = rest.partition(end)
    if not first or not last:
        raise PageError(f"found no {begin} with {end} after it; put both where the table belongs")
    return f"{before}{begin}\n{made}{end}{after}"


def _controls(item: Governed) -> str:
    """In words what components/security makes for the namespace."""
    if item.project:
        admission = "no host access, whatever the label says"
        near = "own namespace, ingress, Knative"
        network = f"in: {near}, Prometheus; out: DNS, {near}, `egressPorts` outside"
    else:
        host = "" if item.psa == "privileged" else "no host access; "
        admission = f"{host}{'only these accounts' if item.accounts else 'any account'}"
        if not item.described:
            return f"admission: {admission}<br>network: none, its ports are not described<br>{_QUOTA}"
        webhooks = [f"webhooks {', '.join(map(str, item.webhooks))}"] if item.webhooks else []
        metrics = [f"metrics {', '.join(map(str, item.metrics))}"] if item.metrics else []
        network = f"in: {', '.join([*webhooks, *metrics]) or 'nothing'}; out: DNS, API server, Prometheus"
    return f"admission: {admission}<br>network: {network}<br>{_QUOTA}"


def table(head: list[str], rows: list[list[str]]) -> str:
    """Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def settle(path: Path, old: str, new: str, remedy: str, *, check: bool) -> int:
    """Write a page; with `check` only tell that it is stale, and what mends it. Returns the exit code."""
    if check:
        if old != new:
            print(f"{path} is stale: run {remedy}")
        return int(old != new)
    write_atomically(path, new)
    return 0


def main(arguments: list[str]) -> int:
    """Exit 0 written or fresh, 1 stale, 2 not made."""
    parser = argparse.ArgumentParser(prog="python -m policy.page", description="Tables of docs/security.md.")
    parser.add_argument("page", type=Path)
    parser.add_argument("--charts", type=Path, help="directory with chart files")
    parser.add_argument("--stack", type=Path, default=STACK, help="whose charts; the local stack by default")
    parser.add_argument("--helm", default="helm", help="helm program, found on PATH by default")
    parser.add_argument("--check", action="store_true", help="write nothing, say whether the page is fresh")
    options = parser.parse_args(arguments)
    catalog = load_catalog()
    try:
        old = options.page.read_text(encoding="utf-8")
        new = put(old, NAMESPACES, namespaces(catalog))
        if options.charts:
            helm = shutil.which(options.helm)
            if helm is None:
                raise RenderError(f"no program {options.helm}")
            new = put(new, RIGHTS, rights(gather(catalog, options.charts, Path(helm), options.stack)))
    except (OSError, PageError, RenderError, SettingsError) as error:
        print(f"{options.page}: {error}", file=sys.stderr)
        return 2
    remedy = f"python -m policy.page {options.page} --charts build/charts"
    return settle(options.page, old, new, remedy, check=options.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
