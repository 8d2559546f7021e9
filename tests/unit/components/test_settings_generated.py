"""The corpus over the whole model: each wrong input is one clear line, and nothing is declared."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from components.config import errors
from components.config.errors import Problem, SettingsError, path_of
from components.config.model import Settings
from components.settings import load
from tests import corpus
from tests.full import write_files
from tests.stack import CATALOG, LOCAL, changed, engine_env
from tests.unit.components.test_full_settings import REFUSED
from tests.unit.components.test_settings_rules import root

__all__ = ["root"]  # a fixture
pytestmark = pytest.mark.req("I13")

PLACES = list(corpus.places())
TOP = sorted({str(place.path[0]) for place in corpus.secrets()})
HERE = Path(__file__).parent
PROJECT = Path(__file__).parents[3]
CANARY = "canary-7f3a"


def refused(values: dict[str, Any], secret: list[str] | None = None) -> list[Problem]:
    """The problems of such a stack; files are looked for where there are none."""
    with pytest.raises(SettingsError) as caught:
        load(engine_env(values, secret), CATALOG, Path("/nowhere"))
    text = str(caught.value)
    assert text.count("\n") == len(caught.value.problems), "a line each"
    return list(caught.value.problems)


def check_line(problem: Problem, path: tuple[corpus.Part, ...]) -> None:
    assert problem.path == path_of(path)
    assert problem.found, problem
    assert problem.expected, problem
    assert problem.advice, problem
    # Words of the library's, not of a stack file.
    for word in ("Input should", "validation error", "pydantic", "Value error"):
        assert word not in str(problem), problem


def test_the_corpus_is_the_model() -> None:
    assert len(PLACES) > 150
    assert len(corpus.sections()) > 30
    assert {str(place) for place in corpus.secrets()} >= {"registry.password", "tls.inference.key"}
    Settings.model_validate_json(json.dumps(corpus.minimal()))


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_each_wrong_type_is_one_line(place: corpus.Place) -> None:
    tried = list(place.wrong_types())
    assert tried
    for value in tried:
        (problem,) = refused(corpus.with_value(place.path, value))
        check_line(problem, place.path)
        assert problem.expected != "a value"


@pytest.mark.parametrize("place", [p for p in PLACES if any(True for _ in p.out_of_bounds())], ids=str)
def test_each_value_out_of_bounds_is_one_line(place: corpus.Place) -> None:
    for value in place.out_of_bounds():
        (problem,) = refused(corpus.with_value(place.path, value))
        check_line(problem, place.path)


@pytest.mark.parametrize("section", corpus.sections(), ids=lambda path: path_of(path) or "top")
def test_an_unknown_key_is_one_line_at_every_level(section: tuple[corpus.Part, ...]) -> None:
    (problem,) = refused(corpus.with_value((*section, "colour?"), "red") if section else unknown_at_top())
    check_line(problem, (*section, "colour?"))
    assert problem.found == "an unknown key"


def unknown_at_top() -> dict[str, Any]:
    return {**corpus.minimal(), "colour?": "red"}


@pytest.mark.parametrize("place", [p for p in PLACES if p.required], ids=str)
def test_each_missing_key_is_one_line(place: corpus.Place) -> None:
    values = corpus.with_value(place.path, corpus.right(place.annotation))
    node: Any = values
    for part in place.path[:-1]:
        node = node[part]
    del node[place.path[-1]]
    (problem,) = refused(values)
    check_line(problem, place.path)
    assert (problem.found, problem.advice) == ("nothing", "set it")


@pytest.mark.parametrize("place", corpus.secrets(), ids=str)
def test_a_secret_in_the_clear_is_refused_and_never_shown(place: corpus.Place) -> None:
    (problem,) = refused(corpus.with_value(place.path, CANARY))
    check_line(problem, place.path)
    assert (problem.found, problem.expected) == ("plain text", "an encrypted value")
    assert f"pulumi config set --secret --path runai-kit:{place}" in problem.advice


@pytest.mark.parametrize("place", corpus.secrets(), ids=str)
@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "encrypted"])
def test_a_secret_of_a_wrong_type_is_not_shown(place: corpus.Place, encrypted: bool) -> None:
    """Also not when it stands where a section should be, as `registry: <password>` does."""
    top = str(place.path[0])
    secret = [top] if encrypted else []
    for end in range(1, len(place.path) + 1):
        wrong: dict[str, Any] = {"list": [CANARY], "mapping": {CANARY: {}}, "text": CANARY}
        for kind, value in wrong.items():
            part = next(p for p in PLACES if p.path == place.path[:end])
            if kind not in part.kinds:
                found = refused(corpus.with_value(part.path, value), secret)
                assert CANARY not in "".join(map(str, found))


def test_the_page_on_credentials_names_every_secret() -> None:
    page = (PROJECT / "docs" / "security-credentials.md").read_text(encoding="utf-8")
    assert [str(place) for place in corpus.secrets() if f"`{place}`" not in page] == []


def test_loaded_secrets_are_not_shown_by_any_text_of_the_settings() -> None:
    for place in corpus.secrets():
        settings = Settings.model_validate_json(json.dumps(corpus.with_value(place.path, CANARY)))
        for text in (repr(settings), str(settings), settings.model_dump_json()):
            assert CANARY not in text


def test_the_bounds_of_settings_and_outputs_agree() -> None:
    """What a stack file may say, the inventory takes: else the error came after `pulumi up`."""
    from validation.settings import Validation

    for place in corpus.places(Settings):
        if place.path[0] != "validation" or place.kinds != {"whole"}:
            continue
        for bound in place.out_of_bounds():
            least = corpus.accepts(place.annotation, bound + 1)
            values: Any = bound + 1 if least else bound - 1
            for part in reversed(place.path[1:]):
                values = {part: values}
            try:
                Validation.model_validate(values)
            except ValidationError as error:
                raise AssertionError(f"{place}: {values} passes the settings and not the outputs") from error


def cases() -> Iterator[dict[str, Any]]:
    """Changes to LOCAL of every list BROKEN of a test module."""
    for path in sorted(HERE.glob("test_*.py")):
        if path != Path(__file__) and "\nBROKEN" in path.read_text():
            for _, changes, *_ in import_module(f"tests.unit.components.{path.stem}").BROKEN:
                yield changes


def test_every_rule_has_a_case(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each place in the code that makes a Problem is reached by a case; so no rule is there unproved."""
    reached: set[tuple[str, int]] = set()
    original = Problem.__init__

    def remember(self: Problem, *arguments: Any, **named: Any) -> None:
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        reached.add((str(Path(frame.f_back.f_code.co_filename).resolve()), frame.f_back.f_lineno))
        original(self, *arguments, **named)

    monkeypatch.setattr(Problem, "__init__", remember)
    known = [*((changes, TOP) for changes in cases()), *full_cases(root), *alone(root)]
    for changes, secret in known:
        values = LOCAL
        for key, value in changes.items():
            values = changed(values, key, value)
        with pytest.raises(SettingsError):
            load(engine_env(values, secret), CATALOG, root)
    missing = [
        f"{path.relative_to(PROJECT)}:{first}"
        for path in sorted((PROJECT / "components" / "config").glob("*.py"))
        if path.name != Path(errors.__file__).name
        for first, last in problem_calls(path)
        if not any((str(path), line) in reached for line in range(first, last + 1))
    ]
    assert not missing, "\n".join(["add a case to a list BROKEN for:", *missing])


def alone(root: Path) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Cases that BROKEN cannot hold: more than one problem, a secret in the clear, a missing file."""
    yield {"registry": {"prefix": "h.test", "username": "u", "password": "p"}}, []
    yield {"registry": {"prefix": "h.test", "password": "p"}}, TOP
    yield {"registry": {"username": "u", "password": "p"}}, TOP
    yield {"profile": "full", "resourceManagement": {"enabled": True}}, TOP
    yield {"profile": "full", "sharing": "hami"}, TOP
    yield {"sharing": "fractioning", "gpuOperator": {"source": "install", "version": "25.3.0"}}, TOP
    yield {"trainingOperator": {"enabled": True}, "charts": {"source": "registry", "directory": "no"}}, TOP
    (root / "charts" / "kai-scheduler-0.12.0.tgz").unlink()
    yield {"domain": "apps.example.test"}, TOP


def full_cases(root: Path) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Cases of the full profile, as changes to LOCAL."""
    write_files(root)
    for base, path, value, _ in REFUSED:
        values = changed(base, path, value)
        yield {key: ... for key in LOCAL if key not in values} | values, TOP


def problem_calls(path: Path) -> Iterator[tuple[int, int]]:
    """First and last line of each `Problem(...)` in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Problem":
            yield node.lineno, node.end_lineno or node.lineno
