"""A tree held against a JSON Schema: every difference is a Problem at its place, in the user's words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kwokgen.formats import FORMATS, Format
from kwokgen.model.place import Node, Place
from kwokgen.problem import Problem, nearest, quoted
from kwokgen.schemas import Schema
from kwokgen.validators import checker, draft, validator

TYPES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "a mapping",
    "array": "a list",
}


def conform(node: Node, schema: Schema, code: str) -> tuple[Problem, ...]:
    """Every difference between `node` and `schema`; `code` marks the problems."""
    errors = validator(schema).iter_errors(node.plain())
    return tuple(problem for error in errors for problem in _problems(error, Place(node), code))


def differences(node: Node, schema: Schema) -> Iterator[tuple[str | int, ...]]:
    """The paths of what does not conform: the values, the unknown or wrong keys, the mappings that lack a key."""
    for error in validator(schema).iter_errors(node.plain()):
        path = tuple(error.absolute_path)
        if "propertyNames" in error.relative_schema_path:
            yield (*path, error.instance)
        elif error.validator == "additionalProperties":
            yield from ((*path, key) for key in error.instance if key not in error.schema.get("properties", {}))
        else:
            yield path


def _problems(error: Any, place: Place, code: str) -> Iterator[Problem]:
    path = tuple(error.absolute_path)
    say = _SAY.get(error.validator, _other)
    if "propertyNames" in error.relative_schema_path:
        form = FORMATS.get(error.validator_value if error.validator == "format" else "")
        why = f": {form.allowed}" if form else ""
        what = form.what if form else "allowed here"
        hint = meant(form, error.instance) if form else ""
        yield Problem(place.key(*path, error.instance), code, f'the key "{error.instance}" is not {what}{why}', hint)
        return
    yield from say(error, place, path, code)


def _type(error: Any, place: Place, path: tuple[Any, ...], code: str) -> Iterator[Problem]:
    if "enum" in error.schema:
        return  # which says what is available
    wanted = [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
    allowed = " or ".join(TYPES[name] for name in wanted)
    raw = shortened(place.raw(*path))
    hint = _quoted(error, wanted, raw) or error.schema.get("x-hint") or _shape(error, wanted, raw)
    if isinstance(error.instance, float) and hint and f"{error.instance:g}" != raw:
        hint = f"YAML reads it as {error.instance:g}; {hint}"
    yield Problem(
        place.pos(*path), code, f"{_subject(path)} must be {allowed}, not {_written(error.instance, raw)}", hint
    )


def _quoted(error: Any, wanted: list[str], raw: str) -> str:
    """The string that a number stands for: quotes alone do not make 30 a duration, and no number a share."""
    form = FORMATS.get(error.schema.get("format", ""))
    right = raw if form is None or form.test(raw) else form.suggest(raw)
    meant = "string" in wanted and raw not in ("", "null") and ("array" not in wanted or _fits(error.schema, right))
    return f'write "{right}", in quotes' if meant else ""


def _shape(error: Any, wanted: list[str], raw: str) -> str:
    """How a list of the one item is written, or what a mapping has."""
    if "array" in wanted and raw not in ("", "null") and _fits(error.schema.get("items", {}), error.instance):
        return f"write [{raw}]"
    known = error.schema.get("properties", ()) if "object" in wanted else ()
    return f"its keys: {quoted(known)}" if known else ""


def _fits(schema: Schema, value: object) -> bool:
    """Whether a value is all that a schema of one type asks for."""
    return "type" in schema and draft()(schema, format_checker=checker()).is_valid(value)


def found(value: object, raw: str) -> str:
    """A value in the words of YAML: `true`, never `True`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {raw or str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {shortened(raw or str(value))}"
    if isinstance(value, str):
        return f'the string "{shortened(value)}"'
    return "a mapping" if isinstance(value, dict) else "a list"


def _written(value: object, raw: str) -> str:
    """The same of a value that has a place in a file, where null is mostly nothing at all."""
    return found(value, raw) + (": nothing is written there" if value is None and not raw else "")


def shortened(text: str) -> str:
    """A text that a message can quote."""
    return text if len(text) <= 80 else f"{text[:77]}…"


def _subject(path: tuple[Any, ...]) -> str:
    if not path:
        return "the document"
    return f"item {path[-1]}" if isinstance(path[-1], int) else f'"{path[-1]}"'


def _additional(error: Any, place: Place, path: tuple[Any, ...], code: str) -> Iterator[Problem]:
    known = error.schema.get("properties", {})
    for key in error.instance:
        if key not in known:
            free = [name for name in known if name not in error.instance]
            near = nearest(key, known)
            hint = error.schema.get("x-hint") or (f'did you mean "{near}"?' if near else "")
            message = f'unknown key "{shortened(key)}". available: {quoted(free) or "none"}'
            yield Problem(place.key(*path, key), code, message, hint)


def _required(error: Any, place: Place, path: tuple[Any, ...], code: str) -> Iterator[Problem]:
    for key in error.validator_value:
        if key not in error.instance:
            about = error.schema.get("properties", {}).get(key, {}).get("description", "")
            yield Problem(place.pos(*path), code, f'missing key "{key}"', f"{key}: {about}" if about else "")


def _enum(error: Any, place: Place, path: tuple[Any, ...], code: str) -> Iterator[Problem]:
    choices = [choice for choice in error.validator_value if not isinstance(choice, bool)]
    switches = ", ".join(str(choice).lower() for choice in error.validator_value if isinstance(choice, bool))
    near = nearest(str(error.instance), [str(choice) for choice in choices])
    hint = f'did you mean "{near}"?' if near else ""
    allowed = ", ".join(text for text in (switches, quoted(str(choice) for choice in choices)) if text)
    message = f"{_subject(path)} is {_written(error.instance, place.raw(*path))}. available: {allowed}"
    yield Problem(place.pos(*path), code, message, hint)


def _format(error: Any, place: Place, path: tuple[Any, ...], code: str) -> Iterator[Problem]:
    form = FORMATS[error.validator_value]
    written = place.raw(*path) or str(error.instance)
    yield Problem(
        place.pos(*path), code, f'"{shortened(written)}" is not {form.what}: {form.allowed}', meant(form, written)
    )


def meant(form: Format, written: str) -> str:
    """A hint that has the right spelling of what was written, if there is one."""
    right = form.suggest(written)
    return f'did you mean "{right}"?' if right != written and form.test(right) else ""


def _bound(error: Any, place: Place, path: tuple[Any, ...], code: str) -> Iterator[Problem]:
    word = {"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"}[error.validator]
    raw = place.raw(*path) or str(error.instance)
    message = f"{_subject(path)} must be {word} {error.validator_value}, not {shortened(raw)}"
    yield Problem(place.pos(*path), code, message, error.schema.get("x-hint", ""))


def _size(error: Any, place: Place, path: tuple[Any, ...], code: str) -> Iterator[Problem]:
    limit = error.validator_value
    word = "at least" if error.validator.startswith("min") else "at most"
    unit = {"Length": "character", "Items": "item", "Properties": "key"}[error.validator[3:]] + (
        "s" if limit != 1 else ""
    )
    size = len(error.instance)
    message = f"{_subject(path)} must have {word} {limit} {unit}, not {size}"
    yield Problem(place.pos(*path), code, message, error.schema.get("x-hint", ""))


def _pattern(error: Any, place: Place, path: tuple[Any, ...], code: str) -> Iterator[Problem]:
    about = error.schema.get("description", "")
    examples: Iterable[object] = error.schema.get("examples", ())
    texts = [example for example in examples if isinstance(example, str)]
    hint = "such as " + quoted(texts) if texts else ""
    wanted = error.schema.get("type", "")
    if "array" in wanted and _fits(error.schema.get("items", {}), error.instance):
        hint = f"write [{place.raw(*path)}]"
    elif str(error.instance).endswith("\n"):
        hint = "it ends with a new line, as a text after | or > does: write it in the line of its key"
    yield Problem(
        place.pos(*path), code, f'"{shortened(str(error.instance))}" does not fit {_subject(path)}: {about}', hint
    )


def _unique(error: Any, place: Place, path: tuple[Any, ...], code: str) -> Iterator[Problem]:
    seen: list[object] = []
    for index, item in enumerate(error.instance):
        if item in seen:
            yield Problem(place.pos(*path, index), code, f'"{item}" is listed twice', "keep one of them")
        seen.append(item)


def _other(error: Any, place: Place, path: tuple[Any, ...], code: str) -> Iterator[Problem]:
    yield Problem(place.pos(*path), code, error.message)


_SAY: dict[str, Callable[[Any, Place, tuple[Any, ...], str], Iterator[Problem]]] = {
    "type": _type,
    "additionalProperties": _additional,
    "required": _required,
    "enum": _enum,
    "format": _format,
    "minimum": _bound,
    "exclusiveMinimum": _bound,
    "maximum": _bound,
    "minLength": _size,
    "maxLength": _size,
    "minItems": _size,
    "maxItems": _size,
    "minProperties": _size,
    "maxProperties": _size,
    "pattern": _pattern,
    "uniqueItems": _unique,
}
