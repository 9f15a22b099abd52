"""Jinja2 templates of catalogue entries: values in as JSON, documents out as data, slots kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

from kwokgen import tree
from kwokgen.model.place import Node
from kwokgen.model.template import Template
from kwokgen.problem import KwokgenError, Pos, Problem
from kwokgen.series import Document, Join, Slot

MARK = "kwokgen-template-part-"
NAMED = "kwokgen-template-value-"
ROLE, ROLES = "role", "roles"
"""What a template calls each of its `Roles` in `[% for role in roles %]`: its parameters of them are role.name and so on."""
OWN = ("name", "namespace", "labels")
"""What of its metadata makes an object one of a bundle."""
NAME = str | Slot | Join
OBJECT = {"apiVersion": str, "kind": str, "metadata": dict, "spec": dict}


class Roles(tuple[Mapping[str, Any], ...]):
    """What a template goes through: the words of each role."""

    __slots__ = ()


def render(template: Template, values: Mapping[str, Any]) -> Document:
    """The only document that a template makes of `values`; raises KwokgenError as `documents` does, and for several."""
    made, *more = documents(template, values)
    if more:
        raise KwokgenError(_problem(template, 0, "it makes several documents"))
    return made


def documents(template: Template, values: Mapping[str, Any]) -> tuple[Document, ...]:
    """The documents that a template makes of `values`: one, or a list of them.

    Raises KwokgenError at the template's line for a word it does not know or text that is not YAML.
    """
    known = template.forms.get(form(template.conditions, values))
    made = _checked(_rendered(template, values) if known is None else _named(known, values), template)
    return tuple(made) if isinstance(made, list) else (made,)


def conditions(text: str) -> tuple[str, ...]:
    """The words that a template's blocks ask for; empty for one that does more than to ask and to put in."""
    blocks = re.findall(r"\[%\s*(.*?)\s*%\]", text)
    asked = [found[1] for block in blocks if (found := re.fullmatch(r"if (\w+)", block))]
    others = sum(block in {"endif", f"for {ROLE} in {ROLES}", "endfor"} for block in blocks)
    simple = len(asked) + others == len(blocks)
    return tuple(dict.fromkeys(asked)) if simple else ()


def form(asked: Sequence[str], values: Mapping[str, Any]) -> str:
    """Which of the forms of a template the values make: the words asked for that hold."""
    return ",".join(name for name in asked if _given(values.get(name)))


class _Given(int):
    """A number in a condition: that it is 0 does not mean that it is not there."""

    def __bool__(self) -> bool:
        return True


def _given(value: Any) -> bool:
    return bool(_Given(value) if isinstance(value, int) and not isinstance(value, bool) else value)


def forms(text: str, parameters: Iterable[str], file: str) -> dict[str, Any]:
    """Every form of a template with the names of its values in their place, so that a render needs no Jinja2.

    Empty for a template that asks for more than whether a value is there.
    """
    names, asked = tuple(parameters), conditions(text)
    if "[%" in text and not asked:
        return {}
    done = {}
    for held in product((False, True), repeat=len(asked)):
        truth = dict(zip(asked, held, strict=True))
        values: dict[str, Any] = {name: f"{NAMED}{name}" if truth.get(name, True) else "" for name in names}
        of_role = {name.removeprefix(f"{ROLE}."): said for name, said in values.items() if name.startswith(f"{ROLE}.")}
        values[ROLES] = Roles((of_role,) if truth.get(ROLES, True) else ())
        done[form(asked, values)] = _rendered(Template(text, file), values)
    return done


def missing(template: Template, words: Sequence[str]) -> tuple[Problem, ...]:
    """Which of `words` a template does not use, each a problem at the template."""
    blocks = re.findall(r"\[\[.*?\]\]|\[%.*?%\]", template.text, re.DOTALL)
    used = {word for block in blocks for word in re.findall(r"\w+", block)}
    return tuple(_problem(template, 0, f"it has no [[ {word} ]]") for word in words if word not in used)


def strays(template: Template, made: Sequence[Document], values: Mapping[str, Any]) -> tuple[Problem, ...]:
    """A problem for what has no name, and for each of several documents that does not say itself whose it is."""
    if any(not isinstance(each["metadata"].get("name"), NAME) for each in made):
        return (_problem(template, 0, "what it makes is no object: without a name"),)
    words = [word for each in made for word in OWN if not _is(each["metadata"].get(word), values[word])]
    several = dict.fromkeys(words) if len(made) > 1 else ()
    return tuple(
        _problem(template, 0, f"not all of its documents have [[ {word} ]] as their {word}") for word in several
    )


def _is(made: Any, said: Any) -> bool:
    """Whether a value is that of a parameter; text is written and read again where no form of the template is known."""
    return made is said or (isinstance(made, str) and isinstance(said, str) and made == said)


def _named(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, str) and value.startswith(NAMED):
        return values[value.removeprefix(NAMED)]
    if isinstance(value, dict):
        return {key: _named(below, values) for key, below in value.items()}
    if isinstance(value, list):
        return [_named(below, own) for below in value for own in _each(below, values)]
    return value


def _each(value: Any, values: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The values for an item of a list: those of each role for one that is made of a role's."""
    if not _of_role(value):
        return (values,)
    return ({**values, **{f"{ROLE}.{word}": said for word, said in role.items()}} for role in values[ROLES])


def _of_role(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_of_role, value.values()))
    return isinstance(value, str) and value.startswith(f"{NAMED}{ROLE}.")


def _rendered(template: Template, values: Mapping[str, Any]) -> Any:
    from jinja2 import TemplateSyntaxError

    parts: list[Any] = []
    marked = {name: _marked(value, parts) for name, value in values.items()}
    try:
        text: str = _environment().from_string(template.text).render(marked)
    except TemplateSyntaxError as error:
        raise KwokgenError(_problem(template, error.lineno, str(error.message))) from None
    except Exception as error:  # noqa: BLE001 - whatever the words of a template do, the mistake is the template's
        raise KwokgenError(_problem(template, _failing_line(error), str(error))) from None
    return _filled(_parsed(text, template).plain(), parts)


def _failing_line(error: Exception) -> int:
    """The line of a template that was at work; Jinja2 gives it a frame of its own."""
    line, trace = 0, error.__traceback__
    while trace:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == "<template>" else line
        trace = trace.tb_next
    return line


def _parsed(text: str, template: Template) -> Node:
    try:
        return tree.parse(text, template.file)
    except KwokgenError as error:
        # The lines are those of the text that was made, which nobody can open.
        made = [f"what it makes is no document: {one.message}: {one.pos.excerpt.strip()}" for one in error.problems]
        raise KwokgenError(*(_problem(template, 0, one) for one in made)) from None


def _checked(made: Any, template: Template) -> Any:
    """What every rule of the API takes for granted."""
    for each in made if isinstance(made, list) and made else [made]:
        document = each if isinstance(each, dict) else {}
        wrong = [key for key, sort in OBJECT.items() if not isinstance(document.get(key), sort)]
        if wrong:
            message = f"what it makes is no object: without {', '.join(wrong)}"
            raise KwokgenError(_problem(template, 0, message))
    return made


@cache
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        block_start_string="[%",
        block_end_string="%]",
        variable_start_string="[[",
        variable_end_string="]]",
        comment_start_string="[#",
        comment_end_string="#]",
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_json,
        autoescape=False,
    )


def _json(value: Any) -> str:
    from jinja2 import Undefined

    # An undefined word says that it is one when it is made a text; JSON would say no more than its type.
    return str(value) if isinstance(value, Undefined) else json.dumps(value)


def _problem(template: Template, line: int, message: str) -> Problem:
    """At a line of the template, or at where it begins."""
    pos = Pos(template.file, template.line, 1)
    if line and template.block:
        text = "".join(template.text.split("\n")[line - 1 : line])
        pos = Pos(template.file, template.line + line, 1, text, len(text))
    return Problem(pos, "template", f"the template fails: {message}")


def _marked(value: Any, parts: list[Any]) -> Any:
    """Slots and whole structures go around the text: what stands for them is put back after it is parsed."""
    if isinstance(value, Roles):
        return [{word: _marked(said, parts) for word, said in role.items()} for role in value]
    if isinstance(value, Slot | Join) or (isinstance(value, dict | list) and value):
        parts.append(value)
        return f"{MARK}{len(parts) - 1}"
    return _Given(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _filled(value: Any, parts: list[Any]) -> Any:
    if isinstance(value, str) and value.startswith(MARK):
        return parts[int(value.removeprefix(MARK))]
    if isinstance(value, dict):
        return {key: _filled(below, parts) for key, below in value.items()}
    if isinstance(value, list):
        return [_filled(below, parts) for below in value]
    return value
