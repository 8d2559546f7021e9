"""A failed check tells its cause, also where the difference alone would not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.validation.double import Double, pod, thing
from validation import names
from validation.cluster import ClusterError
from validation.judge import judge
from validation.observe import preflight, probes, stuck
from validation.observe.admission import PROBE_NAMESPACE
from validation.records import Records
from validation.waiting import Goal, wait

pytestmark = pytest.mark.req("V12")
Json = dict[str, Any]
NA = "preflight.ingress_class"


@pytest.fixture
def records(tmp_path: Path) -> Records:
    made = Records(tmp_path)
    made.start({"tests": ["preflight"]})
    return made


def reason(records: Records, expected: Any, observed: Any, reasons: Json | None = None) -> tuple[str, str]:
    (entry,) = judge(records, {NA: expected}, {NA: observed}, reasons or {})
    return str(entry["verdict"]), str(entry["reason"])


@pytest.mark.parametrize("why", ["a person did it", ["a person did it", "a person did it"]])
def test_causes_stand_behind_the_difference(records: Records, why: Any) -> None:
    said = reason(records, {"n": 1}, {"n": 2, "why": why})
    assert said == ("fail", "n: expected 1, found 2 (a person did it)")
    assert reason(records, {"n": 1}, {"n": 1, "why": why})[0] == "pass"


def test_what_could_not_be_asked_is_no_na(records: Records) -> None:
    """Fail closed: a declaration that nobody could try does not hold."""
    (entry,) = judge(records, {NA: {}}, {NA: {"error": "403 forbidden"}}, {NA: "no controller"}, {NA: False})
    assert (entry["verdict"], entry["reason"]) == ("fail", "403 forbidden")


def test_a_silent_api_server_is_waited_for_once() -> None:
    asked: list[str] = []

    class Silent(Double):
        def items(self, path: str, **_params: Any) -> list[Json]:  # type: ignore[override]
            asked.append(path)
            raise ClusterError("API server does not answer")

        def find(self, path: str, **_params: Any) -> Json | None:
            return self.items(path)[0]

    found, _ = preflight.observe(Silent().at())
    assert len(asked) == 1
    assert {entry["error"] for entry in found.values()} == {"API server does not answer"}


def test_a_fact_that_is_refused_is_none_and_stops_no_other() -> None:
    class Forbidden(Double):
        def find(self, path: str, **params: Any) -> Json | None:
            if "services/kubernetes" in path:
                raise ClusterError("forbidden", 403)
            return super().find(path, **params)

    facts = preflight.live_facts(Forbidden().add(names.NODES).at())
    assert (facts["apiAddress"], facts["freeGpus"]) == (None, 0)


def test_a_claim_that_stays_pending_and_a_name_server_that_is_gone_are_named() -> None:
    cluster = Double()
    cluster.add(names.PODS, pod(probes.DNS_POD, PROBE_NAMESPACE, phase="Failed"))
    ended = {"state": {"terminated": {"exitCode": 1}}}
    cluster.objects[names.PODS][0]["status"]["containerStatuses"] = [ended]
    cluster.said[probes.DNS_POD] = "kubernetes.default not resolved by nameserver 10.96.0.10"
    cluster.add(names.CLAIMS, thing(probes.CLAIM, PROBE_NAMESPACE, status={"phase": "Pending"}))
    cluster.add(names.SERVICES, thing("kube-dns", "kube-system", {"k8s-app": "kube-dns"}))
    found, _ = probes.probes(cluster.cluster, 0, lambda _: None)
    told = found["preflight.dns"]["why"]
    assert "container ended with exit code 1" in told
    assert "log: kubernetes.default not resolved by nameserver 10.96.0.10" in told
    assert "Service kube-system/kube-dns has 0 ready endpoints" in told


def job(name: str) -> Json:
    return thing(name, "runai-team-a", {names.TEST_LABEL: "gang", names.ROLE_LABEL: "half"})


def refused(name: str, message: str) -> Json:
    return thing(
        f"event-{name}",
        "runai-team-a",
        reason="FailedCreate",
        message=message,
        involvedObject={"uid": f"uid-{name}"},
    )


def test_a_job_whose_pods_admission_refuses_is_given_up_early() -> None:
    cluster = Double().add(names.JOBS, job("mine"), job("other"))
    denied = 'admission webhook "kai" denied the request: sharing is disabled'
    cluster.add(names.EVENTS, refused("mine", denied), refused("stranger", "denied the request"))
    outcome = wait(cluster.cluster, "gang", Goal({"half": 1}), 30, lambda _: None, 0.02, 0.05)
    assert outcome.seconds < 5
    assert f"half: {stuck.REFUSED} {denied}" in outcome.why


def test_an_image_that_cannot_be_pulled_is_told_and_waited_for() -> None:
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}}
    cluster = Double().add(names.PODS, pod("runai-kit-1", phase="Pending", test="gang", role="half"))
    cluster.objects[names.PODS][0]["status"]["containerStatuses"] = [waiting]
    outcome = wait(cluster.cluster, "gang", Goal({"half": 1}), 0.1, lambda _: None, 0.02, 0.05)
    assert "not met within" in outcome.why, "a registry may come back"
    assert "half: ErrImagePull not found" in outcome.why


def bind_request(pod_name: str, phase: str, why: str = "") -> Json:
    status = {"phase": phase, "reason": why}
    return thing(f"bind-{pod_name}", "runai-team-a", spec={"podName": pod_name}, status=status)


def test_what_the_binder_could_not_do_is_told_although_it_tries_again() -> None:
    cluster = Double()
    for name in ("runai-kit-1", "runai-kit-2"):
        cluster.add(names.PODS, pod(name, on=None, phase="Pending", test="gang", role="half"))
    violates = 'pods "gpu-reservation" is forbidden: violates PodSecurity "restricted:latest"'
    cluster.add(names.BIND_REQUESTS, bind_request("runai-kit-1", "Failed", violates))
    cluster.add(names.BIND_REQUESTS, bind_request("runai-kit-2", "Pending"))
    outcome = wait(cluster.cluster, "gang", Goal({"half": 2}), 0.1, lambda _: None, 0.02, 0.05)
    assert outcome.why.count("BindingError") == 1
    assert f"half: BindingError {violates}" in outcome.why
