"""Validators of kwokgen's own JSON Schemas, with its formats."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from kwokgen import schemas
from kwokgen.formats import FORMATS
from kwokgen.model.place import Based
from kwokgen.schemas import Schema

_VALIDATORS: dict[str, Any] = {}


def validator(schema: Schema) -> Any:
    """The kept validator of a schema with an `$id`, which may refer to others of kwokgen's."""
    from referencing import Registry

    identity = schema["$id"]
    if identity not in _VALIDATORS:
        registry: Registry[Any] = Registry(retrieve=_named)  # type: ignore[call-arg]
        _VALIDATORS[identity] = draft()(schema, format_checker=checker(), registry=registry)
    return _VALIDATORS[identity]


@cache
def draft() -> Any:
    """The class of all validators: draft 2020-12, whose patterns end where the text does."""
    from jsonschema import Draft202012Validator, validators

    return validators.extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]


def _pattern(_: Any, pattern: str, value: object, __: Schema) -> Iterator[Any]:
    from jsonschema import ValidationError

    if isinstance(value, str) and not re.search(_whole(pattern), value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


@cache
def _whole(pattern: str) -> str:
    """A pattern of ECMAScript or Go, whose `$` is the end of the text: Python's is before a last newline as well."""
    parts = r"\\.|\[(?:\\.|[^\]\\])*\]|\$"
    return re.sub(parts, lambda part: r"\Z" if part[0] == "$" else part[0], pattern)


@cache
def checker() -> Any:
    """What holds a value against the formats that schemas name."""
    from jsonschema import FormatChecker

    checker = FormatChecker(formats=())
    for name, form in FORMATS.items():
        checker.checks(name)(_testing(form.test, numbers=name == "quantity"))
    return checker


def _testing(test: Callable[[str], bool], *, numbers: bool) -> Callable[[object], bool]:
    def holds(value: object) -> bool:
        if isinstance(value, Based):
            return not numbers
        number = numbers and isinstance(value, int | float) and not isinstance(value, bool)
        return test(str(value)) if isinstance(value, str) or number else True

    return holds


def _named(identity: str) -> Any:
    """Another of kwokgen's schemas, that one refers to."""
    from referencing import Resource

    return Resource.from_contents(schemas.identified(identity))
