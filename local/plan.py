"""The stages of the demo: which there are, what each needs, and what it cost on two cores."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from local import (
    charts,
    database,
    enforcer,
    engine,
    images,
    node,
    packages,
    paths,
    rootfs,
    shell,
    stack,
    tools,
)
from local.cluster import create, enforce, load, mirror
from local.stages import Stage

# The longest compile is first: what is submitted first gets the first compile slot.
CLIENTS = ("provider", "pulumi", "promtool", "language", "kind", "kubectl", "fake-gpu")
SERVERS = (
    *("provider", "kubernetes", "pulumi", "prometheus", "knative", "knative-previous", "versitygw"),
    *("language", "kube-state-metrics", "promtool", "kind", "kubectl", "fake-gpu"),
)
# Seconds that building a kind's images took, and loading those that are.
IMAGES = {"node": 60, "platform": 60, "serving": 45, "previous": 20, "own": 5, "lab": 110}
LOADED = {"own": 5, "lab": 60}


def stages() -> list[Stage]:
    """Return the stages for this machine: with upstream images nothing of the cluster is built."""
    upstream = mirror.upstream()
    names = CLIENTS if upstream else SERVERS
    cluster_needs = ["engine", "place-tools"] + ([] if upstream else ["node-image"])
    own = [] if mirror.address() else _own_images()
    return [
        *[_compile(tools.groups()[name], names) for name in names],
        Stage("python", packages.python_install, cold=11, done=packages.python_ready),
        Stage("packages", packages.install, cold=40, done=packages.installed),
        Stage("engine", engine.configure, cold=1, needs=["packages"]),
        *([] if upstream else _node_images()),
        Stage("place-tools", tools.place_all, cold=1, needs=[f"tools-{name}" for name in names]),
        Stage("charts", charts.make, cold=5, needs=["place-tools"], done=charts.ready),
        Stage("rules", _rules, cold=6, needs=["charts", "python"], done=lambda: _kept().exists()),
        Stage("cluster", create.create, cold=50, needs=cluster_needs, done=create.exists),
        *own,
        Stage("up", stack.up, cold=50, needs=["cluster", "rules", *(["load-own"] if own else [])]),
        Stage("validate", _validate, cold=690, needs=["up", *(["load-lab"] if own else [])]),
    ]


def optional() -> list[Stage]:
    """Return the stages beside the demo's, for tests: what enforces NetworkPolicies, and a database."""
    return [*_enforcing(), *_database()]


def _enforcing() -> list[Stage]:
    """Nothing is built where the nodes are upstream's, whose network plugin enforces policies itself."""
    if mirror.upstream() and not mirror.address():
        return [Stage("enforce", enforce.start, cold=1, needs=["cluster"])]
    needs = ["engine", f"root-{enforcer.ROOT}", f"tools-{enforcer.GROUP}"]
    return [
        _compile(tools.groups()[enforcer.GROUP], () if mirror.upstream() else SERVERS),
        _root(enforcer.ROOT),
        Stage("image-enforcer", enforcer.build, cold=5, needs=needs, done=enforcer.archive().exists),
        Stage("enforce", enforce.start, cold=10, needs=["cluster", "image-enforcer"]),
    ]


def _database() -> list[Stage]:
    """Return the stages of a real PostgreSQL, which stands in the place of the control plane's own."""
    made = database.archive()
    needs = ["engine", f"root-{database.ROOT}"]
    return [
        _root(database.ROOT),
        Stage("image-database", database.build, cold=10, needs=needs, done=made.exists),
        _load(database.KIND, made, "image-database", cold=10),
    ]


def until(every: list[Stage], *last: str) -> list[Stage]:
    """Return stages and all that they need; raises SystemExit for a name that no stage has."""
    by_name = {stage.name: stage for stage in every}
    for name in last:
        if name not in by_name:
            raise SystemExit(f"--until: found {name!r}, expected one of {', '.join(by_name)}")
    wanted: set[str] = set()
    queue = list(last)
    while queue:
        name = queue.pop()
        wanted.add(name)
        queue += by_name[name].needs
    return [stage for stage in every if stage.name in wanted]


def _compile(group: tools.Group, names: tuple[str, ...]) -> Stage:
    """`after` names a group whose compile this one shares, so that nothing is compiled twice."""
    return Stage(
        f"tools-{group.name}",
        group.build,
        cold=group.spec["cold"],
        needs=[f"tools-{other}" for other in group.spec.get("after", ()) if other in names],
        done=lambda: group.built() or group.found(),
        compiles=True,
    )


def _node_images() -> list[Stage]:
    needs = [f"images-{kind}" for kind in node.ALL]
    return [
        *[
            _root(root)
            for root in sorted({"node", *(root for kind in node.ALL for root in images.roots(kind))})
        ],
        *[_images(kind) for kind in node.ALL],
        Stage("node-image", node.build, 100, needs=[*needs, "root-node", "tools-kind"], done=node.exists),
    ]


def _root(kind: str) -> Stage:
    make = partial(rootfs.make, kind)
    cold = {"lab": 150, enforcer.ROOT: 15, database.ROOT: 60}.get(kind, 75)
    return Stage(f"root-{kind}", make, cold=cold, needs=["packages"], done=rootfs.archive(kind).exists)


def _images(kind: str) -> Stage:
    return Stage(
        f"images-{kind}",
        partial(images.build, kind),
        cold=IMAGES[kind],
        needs=[
            *("engine", "python"),
            *(f"root-{root}" for root in images.roots(kind)),
            *(f"tools-{group}" for group in images.KINDS[kind]),
        ],
        done=images.archive(kind).exists,
    )


def _own_images() -> list[Stage]:
    """Return the stages of the kit's own images, which no registry has.

    What the lab's large ones need is done beside the stack, which does not use them.
    """
    loads = [_load(kind, images.archive(kind), f"images-{kind}", cold) for kind, cold in LOADED.items()]
    return [_root("lab"), *(_images(kind) for kind in LOADED), *loads]


def _load(kind: str, archive: Path, built_by: str, cold: int) -> Stage:
    return Stage(
        f"load-{kind}",
        partial(load.load, kind, archive),
        cold=cold,
        needs=["cluster", built_by],
        done=partial(load.loaded, kind, archive),
    )


def _kept() -> Path:
    """Return the file that says that no rule was broken by these charts and settings."""
    sources = [paths.ROOT / name for name in ("components", "policy", "stacks/Pulumi.local.yaml")]
    files = [path for source in sources for path in [source, *source.rglob("*")] if path.is_file()]
    texts = [path for path in files if path.suffix != ".pyc"]
    return paths.STATE / f"rules-{paths.key([*sorted(texts), str(paths.CHARTS.resolve()), packages.LOCK])}"


def _rules() -> None:
    """Check the charts' rendered output before anything is installed."""
    python = paths.VENV / "bin" / "python"
    shell.run([python, "-m", "policy", paths.CHARTS], cwd=paths.ROOT, env=stack.environment())
    _kept().touch()


def _validate() -> None:
    command = ["make", "--no-print-directory", "validate", f"ENV={stack.NAME}"]
    shell.run(command, cwd=paths.ROOT, env=stack.environment())
