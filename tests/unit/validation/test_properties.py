"""Rules with a space, searched by Hypothesis: quantities, redaction, hosts of workspaces, limits, shares."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from components.cluster import _quantity
from components.config.front import front_problems
from tests.stack import CATALOG, LOCAL, changed, settings
from validation import redact
from validation.compare import differences
from validation.expect.reclaim import plan as reclaim
from validation.expect.shares import UNLIMITED, Claim, effective_limit, fair_share
from validation.quantity import parse, tidy

SUFFIXES = {
    "m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60,
}  # fmt: skip
# Letters of tokens as machines make them; long enough that a text does not hold them by chance.
TOKEN = st.text("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789", min_size=20, max_size=60)
NAME = st.from_regex(r"[a-z]([-a-z]{0,6}[a-z])?", fullmatch=True)
AMOUNT = st.integers(0, 16)


@given(st.integers(0, 10**6), st.sampled_from(list(SUFFIXES)))
def test_a_quantity_is_its_number_times_its_suffix(number: int, suffix: str) -> None:
    text = f"{number}{suffix}"
    assert parse(text) == pytest.approx(number * SUFFIXES[suffix])
    assert _quantity(text) == parse(text)


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.sampled_from(list(SUFFIXES)))
def test_more_is_never_less(low: int, high: int, suffix: str) -> None:
    low, high = sorted((low, high))
    assert parse(f"{low}{suffix}") <= parse(f"{high}{suffix}")


@given(st.text(max_size=8))
def test_a_quantity_or_an_error_that_shows_it(text: str) -> None:
    said = ""
    try:
        parse(text)
    except ValueError as error:
        said = str(error)
    assert not said or repr(text) in said


@given(st.floats(-1e6, 1e6))
def test_tidy_numbers_are_close_and_stay(value: float) -> None:
    assert tidy(value) == pytest.approx(value, abs=1e-4)
    assert tidy(float(tidy(value))) == tidy(value)


FORMS = {
    "yaml": "password: {}\nuser: x",
    "json": '{{"jupyterToken": "{}", "user": "x"}}',
    "json in json": '"{{\\"token\\": \\"{}\\"}}"',
    "variable": "AWS_SECRET_ACCESS_KEY={} next",
    "option": "--token={} --user x",
    "two words": "run --password {} --user x",
    "url": "https://robot:{}@registry.example.test/v2/",
    "query": "GET /lab?token={}&reset=1",
    "header": "Authorization: Bearer {}",
    "cookie": "Cookie: session={}; other=1",
}


@pytest.mark.req("V12")
@pytest.mark.parametrize("form", list(FORMS))
@given(secret=TOKEN, before=st.text("ab \n", max_size=5))
def test_no_form_of_a_secret_survives(form: str, secret: str, before: str) -> None:
    found = redact.text(f"{before}\n{FORMS[form].format(secret)}")
    for shown in (secret, quote(secret), base64.b64encode(secret.encode()).decode()):
        assert shown not in found


@pytest.mark.req("V12")
@given(secret=TOKEN, key=st.sampled_from(["password", "clientSecret", "token", "private_key", "apiKey"]))
def test_a_secret_is_taken_out_at_any_depth(secret: str, key: str) -> None:
    nested = {"a": [{"b": {key: secret}}, {"name": key, "value": secret}], "args": [f"--{key}", secret]}
    assert secret not in json.dumps(redact.data(nested))


@pytest.mark.req("V12")
@given(st.sampled_from(list(FORMS)), TOKEN, st.text(max_size=40))
def test_redacting_twice_is_redacting_once(form: str, secret: str, after: str) -> None:
    once = redact.text(FORMS[form].format(secret) + after)
    assert redact.text(once) == once


@pytest.mark.req("V12")
@given(st.dictionaries(st.sampled_from(["gpus", "name", "seconds", "node"]), st.integers() | NAME))
def test_what_holds_no_secret_stays(value: dict[str, int | str]) -> None:
    assert redact.data(value) == value
    assert json.loads(redact.document(json.dumps(value))) == value


@pytest.mark.req("I7")
@given(
    st.lists(NAME | st.tuples(NAME, NAME).map("-runai-".join), min_size=2, max_size=4, unique=True),
    NAME,
    NAME,
)
def test_accepted_projects_have_hosts_of_one_reading(projects: list[str], one: str, other: str) -> None:
    """`<workload>-runai-<project>`: two workloads never share a host."""
    made = [{"name": project} for project in projects]
    wanted = settings(changed(changed(LOCAL, "departments.0.projects", made), "departments.1.projects", []))
    problems = [p for p in front_problems(wanted, CATALOG, __file__) if p.path.endswith(".name")]  # type: ignore[arg-type]
    assume(not problems)
    workloads = [one, other, f"{one}-runai-{projects[0]}"]
    hosts: dict[str, tuple[str, str]] = {}
    for project in projects:
        for workload in workloads:
            host = f"{workload}-runai-{project}"
            assert hosts.setdefault(host, (workload, project)) == (workload, project)


@pytest.mark.req("V3")
@given(st.lists(st.just(UNLIMITED) | AMOUNT, max_size=4))
def test_a_limit_is_the_lowest_of_those_there_are(limits: list[int]) -> None:
    found = effective_limit(*limits)
    bounded = [limit for limit in limits if limit != UNLIMITED]
    assert found in [*limits, UNLIMITED]
    assert (found == UNLIMITED) == (not bounded)
    assert all(found <= limit for limit in bounded)


@pytest.mark.req("V3")
@given(
    AMOUNT,
    st.lists(
        st.builds(Claim, NAME, AMOUNT, AMOUNT, AMOUNT, st.floats(0, 4)),
        max_size=5,
        unique_by=lambda c: c.name,
    ),
)
def test_more_capacity_takes_from_nobody(capacity: int, claims: list[Claim]) -> None:
    assume(sum(claim.guaranteed for claim in claims) <= capacity)
    less, more = fair_share(capacity, claims), fair_share(capacity + 1, claims)
    assert all(more[name] >= given_ for name, given_ in less.items())
    assert sum(more.values()) - sum(less.values()) in (0, 1)


@pytest.mark.req("V4")
@given(st.integers(2, 64), st.integers(0, 16))
def test_reclaim_moves_gpus_and_makes_none(capacity: int, deserved: int) -> None:
    assume(2 * (deserved or max(1, capacity // 4)) <= capacity and capacity > (deserved or 1))
    made = reclaim(capacity, deserved)
    assert made.protected + made.preemptible == capacity
    assert made.evicted == made.claim == made.deserved
    assert 0 < made.evicted <= made.preemptible


@given(st.dictionaries(NAME, st.integers() | NAME | st.booleans(), min_size=1), st.data())
def test_a_missing_key_is_a_difference(value: dict[str, object], data: st.DataObject) -> None:
    gone = data.draw(st.sampled_from(sorted(value)))
    assert differences(value, value) == []
    assert differences(value, {k: v for k, v in value.items() if k != gone})
