"""Wrong inputs made from the settings' model: a new section or key is in the corpus as soon as it exists."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from components.config.model import Settings
from components.config.types import GpuAmount

Part = str | int
# One value of each JSON type.
VALUES: dict[str, Any] = {
    "text": "?!",
    "whole": 7,
    "number": 7.5,
    "switch": True,
    "nothing": None,
    "list": [[]],
    "mapping": {"?!": {}},
}
# What the engine hands over as a text whatever it was in the stack file.
SCALARS = {"text", "whole", "number", "switch", "nothing"}
TYPES: dict[Any, set[str]] = {
    str: {"text"},
    SecretStr: {"text"},
    int: {"whole"},
    float: {"whole", "number"},
    bool: {"switch"},
    type(None): {"nothing"},
    GpuAmount: {"text", "whole", "number"},
    # Values handed to somebody else's chart as they are.
    Any: set(VALUES),
}
# Right or wrong for one kind of text or another: the model itself says for which.
TEXTS = [
    "x", "a.test", "https://a.test", "Upper", "-x", "x-", "x" * 300, "ü", " ", "", "a b", "10s", "0s", "5",
    "1d", "registry.test/a:1", "a:latest:b",
    "16Gi", "16 GB", "a/b", "25%", "101%", "10.0.0.0/24", "10.0.0.1/24",
    "1.2.3", "me@corp.example", "ubuntu22.04", "x\ny",
]  # fmt: skip


@dataclass(frozen=True)
class Place:
    """A key of the stack file: its path, its type, and whether it must be set."""

    path: tuple[Part, ...]
    annotation: Any
    required: bool = False

    def __str__(self) -> str:
        return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in self.path).lstrip(".")

    @property
    def kinds(self) -> set[str]:
        """JSON types that the key takes."""
        return set().union(*(_kinds(option) for option in _options(self.annotation)))

    def wrong_types(self) -> Iterator[Any]:
        """A value of each JSON type that it does not take, as far as a stack file can hold it there."""
        taken = self.kinds | (SCALARS if len(self.path) == 1 and self.kinds & SCALARS else set())
        yield from (value for kind, value in VALUES.items() if kind not in taken)

    def out_of_bounds(self) -> Iterator[Any]:
        """Values of the right type that the model refuses: beyond each number's bound, and odd texts."""
        for bound in (item for part in _metadata(self.annotation) for item in _flat(part)):
            for kind, step in ((Ge, -1), (Gt, 0), (Le, 1), (Lt, 0)):
                if isinstance(bound, kind):
                    limit: Any = getattr(bound, kind.__name__.lower())
                    yield limit + step
        if "text" in self.kinds:
            yield from (text for text in TEXTS if not accepts(self.annotation, text))


def places(model: type[BaseModel] = Settings, path: tuple[Part, ...] = ()) -> Iterator[Place]:
    """Every key of a model, the parts of lists and tables included."""
    for name, field in model.model_fields.items():
        yield from _place(Place((*path, field.alias or name), _whole(field), field.is_required()))


def _place(place: Place) -> Iterator[Place]:
    yield place
    for option in _options(place.annotation):
        arguments = get_args(option)
        if _section(option):
            yield from places(option, place.path)
        elif get_origin(option) is tuple:
            yield from _place(Place((*place.path, 0), arguments[0]))
        elif get_origin(option) is dict and arguments[1] is not Any:
            yield from _place(Place((*place.path, "some-name"), arguments[1]))


def sections(model: type[BaseModel] = Settings) -> list[tuple[Part, ...]]:
    """Where a mapping with fixed keys stands; () is the top."""
    return [(), *(p.path for p in places(model) if any(_section(o) for o in _options(p.annotation)))]


def secrets() -> list[Place]:
    """Every key whose value is a secret."""
    return [place for place in places() if SecretStr in _options(place.annotation)]


def minimal(model: type[BaseModel] = Settings) -> dict[str, Any]:
    """The required keys of a model, each with a value of its type."""
    required = {name: field for name, field in model.model_fields.items() if field.is_required()}
    return {field.alias or name: right(_whole(field)) for name, field in required.items()}


def right(annotation: Any) -> Any:
    """A value that a key of this type takes."""
    for option in _options(annotation):
        if _section(option):
            return minimal(option)
        if get_origin(option) is Literal:
            return get_args(option)[0]
    for value in (*TEXTS, 7, 1, 50, 7.5, True, [], {}):
        if accepts(annotation, value):
            return value
    raise LookupError(f"no value for {annotation}: add one to tests/corpus.py")


def with_value(path: tuple[Part, ...], value: Any) -> dict[str, Any]:
    """The smallest settings with one value at a path, everything on the way to it right by type."""
    values = minimal()
    node: Any = values
    model: Any = Settings
    for part, following in zip(path, [*path[1:], None], strict=True):
        if following is None:
            _put(node, part, value)
        else:
            model = _step(model, part)
            start: Any = [] if isinstance(following, int) else minimal(model) if _section(model) else {}
            node = _put(node, part, start) if not _has(node, part) else node[part]
    return values


def accepts(annotation: Any, value: Any) -> bool:
    """Whether the model takes a value at a key of this type."""
    try:
        adapter(annotation).validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


@cache
def adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def _whole(field: FieldInfo) -> Any:
    """A field's type with its constraints."""
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


def _step(model: Any, part: Part) -> Any:
    if _section(model):
        field = next(f for n, f in model.model_fields.items() if part in (f.alias, n))
        annotation: Any = field.annotation
    else:
        annotation = get_args(model)[0 if get_origin(model) is tuple else 1]
    return next((o for o in _options(annotation) if _section(o) or get_origin(o)), annotation)


def _has(node: Any, part: Part) -> bool:
    return part < len(node) if isinstance(part, int) else part in node


def _put(node: Any, part: Part, value: Any) -> Any:
    if isinstance(part, int):
        node.append(value)
    else:
        node[part] = value
    return value


def _options(annotation: Any) -> list[Any]:
    """The types of a union, without their metadata."""
    if get_origin(annotation) is Annotated:
        return _options(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [option for argument in get_args(annotation) for option in _options(argument)]
    return [annotation]


def _metadata(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Annotated:
        yield from annotation.__metadata__
    for argument in (
        get_args(annotation) if get_origin(annotation) in (Annotated, Union, types.UnionType) else ()
    ):
        yield from _metadata(argument)


def _flat(item: Any) -> list[Any]:
    """A Field's constraints, or the constraint itself."""
    return [*getattr(item, "metadata", ())] or [item]


def _kinds(option: Any) -> set[str]:
    if _section(option) or get_origin(option) is dict:
        return {"mapping"}
    if get_origin(option) is tuple:
        return {"list"}
    if get_origin(option) is Literal:
        return {"text"}
    return TYPES[option]


def _section(option: Any) -> bool:
    return isinstance(option, type) and issubclass(option, BaseModel)
