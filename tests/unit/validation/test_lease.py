"""The Lease of a run: taken when nobody is alive, left to who is, given back at the end."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from tests.unit.validation import runs
from tests.unit.validation.double import Double, queue
from validation import lease, names, sampler, timeline
from validation.cluster import Cluster, ClusterError
from validation.plugins.action.kit_run import ActionModule

pytestmark = pytest.mark.req("V11", "V12")
Json = dict[str, Any]
OURS, THEIRS = "me@here (run 1)", "they@there (run 2)"


class Leases(Double):
    """A cluster that stores Leases as the API server does; `meanwhile` is what others do before a write."""

    def __init__(self, by: str = "") -> None:
        super().__init__()
        self.versions = 0
        self.refused = ""
        self.meanwhile: Callable[[], None] = lambda: None
        if by:
            self.renewed(by)

    @property
    def there(self) -> Json | None:
        return self.find(lease.LEASE)

    @property
    def by(self) -> str:
        return str(self.there["spec"]["holderIdentity"]) if self.there else ""

    def renewed(self, by: str) -> None:
        """As another process does it."""
        self.versions += 1
        stored = {
            "metadata": {
                "name": lease.NAME,
                "namespace": lease.NAMESPACE,
                "resourceVersion": str(self.versions),
            },
            "spec": {"holderIdentity": by, "renewTime": f"{self.versions}"},
        }
        self.objects[names.LEASES] = [stored]

    def create(self, path: str, body: Json, dry_run: bool = False) -> Json:
        assert path == lease.LEASES
        self._answer()
        if self.there:
            raise ClusterError("409 already exists", 409)
        self.renewed(body["spec"]["holderIdentity"])
        return body

    def patch(self, path: str, change: Json) -> Json:
        assert path == lease.LEASE
        self._answer()
        if self.there is None:
            raise ClusterError("404 not found", 404)
        if change["metadata"]["resourceVersion"] != self.there["metadata"]["resourceVersion"]:
            raise ClusterError("409 the object has been modified", 409)
        self.renewed(change["spec"]["holderIdentity"])
        return change

    def _answer(self) -> None:
        if self.refused:
            raise ClusterError(self.refused, 403)
        self.meanwhile()
        self.meanwhile = lambda: None


def take(cluster: Leases, said: list[str] | None = None, dead: float = 0.2) -> str:
    return lease.take(cluster.cluster, OURS, (said if said is not None else []).append, dead, 0.02)


def test_a_free_lease_is_taken_and_stays_ours() -> None:
    cluster = Leases()
    said: list[str] = []
    assert take(cluster, said) == take(cluster, said) == ""
    assert cluster.by == OURS
    assert said == [], "nobody waited"


def test_a_holder_that_renews_keeps_it_and_is_named() -> None:
    cluster = Leases(THEIRS)
    threading.Timer(0.1, lambda: cluster.renewed(THEIRS)).start()
    assert take(cluster, dead=5) == THEIRS
    assert cluster.by == THEIRS


def test_a_holder_without_a_sign_of_life_is_waited_for_once_and_loses_it() -> None:
    cluster = Leases(THEIRS)
    said: list[str] = []
    begun = time.monotonic()
    assert take(cluster, said) == ""
    assert time.monotonic() - begun >= 0.2
    assert cluster.by == OURS
    (line,) = said
    assert f"lease default/runai-kit-validation is held by {THEIRS}; waiting up to 0.2 s" in line


def test_a_dead_run_blocks_for_a_minute_at_most_and_a_live_one_renews_often() -> None:
    assert lease.DEAD_SECONDS == 60
    # Half a minute is what one question may take.
    assert lease.RENEW_SECONDS + Cluster.__init__.__defaults__[0] < lease.DEAD_SECONDS  # type: ignore[index]


def test_who_gives_it_back_while_somebody_waits_is_not_in_the_way() -> None:
    cluster = Leases(THEIRS)
    threading.Timer(0.1, lambda: lease.release(cluster.cluster, THEIRS)).start()
    assert take(cluster, dead=5) == ""


def test_of_two_that_take_it_at_once_one_gets_it() -> None:
    made, dead = Leases(), Leases("a dead run")
    for cluster in (made, dead):

        def others(cluster: Leases = cluster) -> None:
            cluster.renewed(THEIRS)
            threading.Timer(0.1, lambda: cluster.renewed(THEIRS)).start()

        cluster.meanwhile = others
        assert take(cluster) == THEIRS
        assert cluster.by == THEIRS


def test_what_may_not_be_written_is_an_error_and_no_lease() -> None:
    cluster = Leases()
    cluster.refused = "403 leases is forbidden"
    with pytest.raises(ClusterError, match="403 leases is forbidden"):
        take(cluster)


def test_only_the_holder_renews_and_gives_back() -> None:
    cluster = Leases(THEIRS)
    assert not lease.renew(cluster.cluster, OURS)
    lease.release(cluster.cluster, OURS)
    assert cluster.by == THEIRS
    assert cluster.versions == 1
    assert lease.renew(cluster.cluster, THEIRS)
    assert cluster.versions == 2
    lease.release(cluster.cluster, THEIRS)
    assert cluster.there is None
    assert not lease.renew(cluster.cluster, THEIRS), "what is gone is not made again"


def test_a_run_is_called_by_user_host_beginning_and_folder_and_no_two_are_called_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "me")
    monkeypatch.setattr("socket.gethostname", lambda: "here")
    one, two = (runs.started(tmp_path).run() for _ in range(2))
    called = lease.holder(one, tmp_path / "report")
    begun = re.escape(one["started"])
    assert re.fullmatch(rf"me@here, begun {begun}, report folder report \(run [0-9a-f]{{12}}\)", called)
    assert one["id"] != two["id"]


class Sampled(Leases):
    """What the sampler asks, too."""

    def items(self, path: str, labelSelector: str = "", fieldSelector: str = "", **more: Any) -> list[Json]:  # noqa: N803
        return (
            [queue("team-a")] if path == names.QUEUES else super().items(path, labelSelector, fieldSelector)
        )

    def watch(self, _path: str, _seconds: float, **_: Any) -> Any:
        threading.Event().wait(0.02)
        yield from ()


def sampling(folder: Path, cluster: Sampled, parent: int, then: Callable[[], None]) -> list[Json]:
    stop = folder / "stop"
    timers = [threading.Timer(0.3, then), threading.Timer(0.6, stop.touch)]
    for timer in timers:
        timer.start()
    out = folder / "t.jsonl"
    sampler.run(cast(Cluster, cluster), out, stop, parent, 20, 0.05, "q", OURS)
    for timer in timers:
        timer.join()
    return timeline.read(out)


def test_the_sampler_renews_its_runs_lease_and_gives_it_back_before_its_last_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.05)
    cluster = Sampled(OURS)
    seen: list[int] = []
    lines = sampling(tmp_path, cluster, os.getpid(), lambda: seen.append(cluster.versions))
    assert seen[0] >= 3
    assert cluster.there is None
    assert lines[-1]["kind"] == "end"


def test_the_sampler_leaves_another_runs_lease_alone_and_tells_of_a_lost_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.05)
    cluster = Sampled(OURS)
    sampling(tmp_path, cluster, os.getpid(), lambda: cluster.renewed(THEIRS))
    assert cluster.by == THEIRS
    assert capsys.readouterr().err.count("lease default/runai-kit-validation is lost") == 1


def test_a_dead_runs_lease_is_not_renewed_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lease, "RENEW_SECONDS", 0.01)
    cluster, over = Leases(OURS), threading.Event()
    threading.Timer(0.1, over.set).start()
    lease.keep(cluster.cluster, OURS, over, lambda: False)
    assert cluster.versions == 1
    assert cluster.there is None


def test_a_run_that_takes_over_a_preflight_is_refused_beside_another_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Leases(THEIRS)
    monkeypatch.setattr(ActionModule, "cluster", cluster.cluster)
    monkeypatch.setattr(ActionModule, "say", lambda *_: cluster.renewed(THEIRS))
    action = object.__new__(ActionModule)
    told = f"kit_preflight_of: found a run at work on this cluster: {THEIRS}; expected none; wait"
    with pytest.raises(ValueError, match=re.escape(told)):
        action._take(OURS)
    lease.release(cluster.cluster, THEIRS)
    action._take(OURS)
    assert cluster.by == OURS
