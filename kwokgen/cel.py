"""CEL expressions of device selectors, compiled with the types that the API server gives them.

Functions: https://kubernetes.io/docs/reference/using-api/cel/ (Quantity, Semver) and the variable `device` of
https://github.com/kubernetes/kubernetes/blob/v1.37.2/staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from kwokgen import celreads
from kwokgen.celreads import How, Read
from kwokgen.celtree import CALL, LIST, STRUCT, TEXT, Node, Tree, tree

MOST_BYTES = 10_240
UNDECLARED = frozenset(
    {
        *("ip", "isIP", "cidr", "isCIDR", "url", "isURL", "find", "findAll", "format", "named", "sets", "lists"),
        *("flatten", "slice", "sort", "sortBy", "distinct", "first", "last", "exists_one", "existsOne", "range"),
        *("sum", "min", "max", "indexOf", "lastIndexOf", "isSorted", "family", "isCanonical", "containsIP"),
        *("getScheme", "getHost", "getHostname", "getPort", "getEscapedPath", "getQuery", "validate"),
    }
)
"""Functions of Kubernetes that no selector of devices needs: an expression with one of them is left to the server."""
TWO_VARIABLES = (
    r"\.(all|exists|existsOne|exists_one|transformList|transformMap|transformMapEntry)\(\s*\w+\s*,\s*\w+\s*,"
)
"""Comprehensions that this compiler has not, which are left to the server as well."""


OPERATORS = ("_<_", "_<=_", "_>_", "_>=_")
ORDERED = ("INT", "UINT", "DOUBLE", "STRING", "BYTES", "BOOL", "TIMESTAMP", "DURATION")
NUMBERS = ("INT", "UINT", "DOUBLE")
WITHOUT_OPERATORS = "stdlib:\n  exclude_functions:\n" + "".join(f'  - name: "{name}"\n' for name in OPERATORS)
FIELDS = ("driver", "attributes", "capacity", "allowMultipleAllocations")
PLAIN = re.compile(r"\bhas\(\s*device\.(?:driver|attributes|capacity|allowMultipleAllocations)\s*\)")
LITERALS = {"matches": "''.matches(text)", "timestamp": "timestamp(text)", "duration": "duration(text)"}
"""Functions whose text the server reads when it compiles, and an expression that fails of a text as it does."""


def mistakes(expression: str) -> tuple[str, ...]:
    """Why the API server refuses an expression, each with the column; nothing for one that it takes."""
    if len(expression.encode()) > MOST_BYTES:
        return (f"{len(expression.encode())} bytes, an expression may have {MOST_BYTES}",)
    try:
        compiled = _compiled(expression)
    except RuntimeError as error:
        return () if re.search(TWO_VARIABLES, expression) else tuple(_said(str(error), expression))
    result = str(compiled.return_type()).rpartition(".")[2]
    if result not in {"BOOL", "DYN"}:
        return (f"it is no condition: its value is of the sort {result.lower()}",)
    return tuple(_of_literals(tree(compiled.serialize()), expression))


def reads(expression: str) -> dict[Read, How]:
    """What an expression reads of a device; nothing for one that is not CEL."""
    root = read(expression)
    return celreads.reads(root) if root else {}


@cache
def read(expression: str) -> Node | None:
    """The tree of an expression; None for one that is not CEL."""
    try:
        return tree(_compiled(expression).serialize()).root
    except RuntimeError:
        return None


def _compiled(expression: str) -> Any:
    # Of a field that is plain, has() is the field's own sort to this compiler; all devices have those.
    return _environment().compile(PLAIN.sub(lambda found: "true".ljust(len(found[0])), expression))


def _said(error: str, expression: str) -> Iterator[str]:
    found = re.findall(r"^(?:\w+: )?ERROR: <input>:(\d+):(\d+): (.*)", error, re.MULTILINE)
    for line, column, message in found:
        if text := _of_server(message, expression):
            yield _at(int(line), int(column), text)
        if message.startswith("Syntax error"):
            return
    if not found:
        yield error.partition("\n")[0]


def _of_server(message: str, expression: str) -> str:
    """What the server has against an expression, where it has what this compiler has; nothing where it may not."""
    name = re.match(r"undeclared reference to '([^']*)'", message)
    if name and name[1].rpartition(".")[2] in UNDECLARED:
        return ""
    if "'kubernetes.DRADevice' cannot be the operand of a select" in message:
        asked = re.search(r"\bdevice\s*\.\?", expression)
        return "" if asked else f"a device has {', '.join(FIELDS)}, and no other field"
    return re.sub(r" \(in container ''\)$", "", message).strip()


def _at(line: int, column: int, message: str) -> str:
    where = f"line {line}, column {column}" if line > 1 else f"column {column}"
    return f"{where}: {message[0].lower()}{message[1:]}"


def _of_literals(whole: Tree, expression: str) -> Iterator[str]:
    """What the server checks beyond types: ValidateRegexLiterals and its like of its base environment.

    https://github.com/kubernetes/kubernetes/blob/v1.37.2/staging/src/k8s.io/apiserver/pkg/cel/environment/base.go
    """
    for node in whole.root.all():
        found: Iterable[tuple[Node, str]] = ()
        if node.sort == CALL and node.name in LITERALS:
            found = _unreadable(node)
        elif node.sort == LIST:
            found = _mixed(whole, node, node.parts)
        elif node.sort == STRUCT and not node.name:
            found = (*_mixed(whole, node, node.parts[::2]), *_mixed(whole, node, node.parts[1::2]))
        for part, message in found:
            before = expression[: whole.offsets[part.number]]
            yield _at(before.count("\n") + 1, len(before) - before.rfind("\n"), message)


def _mixed(whole: Tree, node: Node, parts: Sequence[Node]) -> Iterator[tuple[Node, str]]:
    sorts = [whole.types.get(part.number, "dyn") for part in parts]
    sorts = [
        sort.removeprefix("optional_type(")[:-1]
        if index in node.optional and sort.startswith("optional_type(")
        else sort
        for index, sort in enumerate(sorts)
    ]
    for part, sort in zip(parts, sorts, strict=True):
        if sort != sorts[0]:
            yield part, f"expected type '{sorts[0]}' but found '{sort}'"
            return


def _unreadable(node: Node) -> Iterator[tuple[Node, str]]:
    text = node.parts[-1]
    if text.sort == TEXT:
        try:
            read = _reader(node.name).eval(data={"text": text.name})
            wrong = str(read.value()) if str(read.type()) == "ERROR" else ""
        except RuntimeError as error:
            wrong = str(error)
        if wrong:
            yield text, f"invalid {node.name} argument: {wrong.partition(': ')[2] or wrong}"


FUNCTIONS: dict[str, tuple[str, ...]] = {
    "quantity": ("STRING -> quantity",),
    "isQuantity": ("STRING -> BOOL",),
    "semver": ("STRING -> semver", "STRING BOOL -> semver"),
    "isSemver": ("STRING -> BOOL", "STRING BOOL -> BOOL"),
}
METHODS: dict[str, tuple[str, ...]] = {
    "compareTo": ("quantity quantity -> INT", "semver semver -> INT"),
    "isGreaterThan": ("quantity quantity -> BOOL", "semver semver -> BOOL"),
    "isLessThan": ("quantity quantity -> BOOL", "semver semver -> BOOL"),
    "add": ("quantity quantity -> quantity", "quantity INT -> quantity"),
    "sub": ("quantity quantity -> quantity", "quantity INT -> quantity"),
    "isInteger": ("quantity -> BOOL",),
    "asInteger": ("quantity -> INT",),
    "asApproximateFloat": ("quantity -> DOUBLE",),
    "major": ("semver -> INT",),
    "minor": ("semver -> INT",),
    "patch": ("semver -> INT",),
    "includes": ("DYN DYN -> BOOL",),
}
"""What Kubernetes has beyond CEL's own: the sorts of the parameters, a method's object first, and of the result."""


@cache
def _environment() -> Any:
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    sort = cel.Type
    sorts = {name: getattr(sort, name) for name in (*ORDERED, "DYN")}
    sorts |= {name.lower(): sort.AbstractType(f"kubernetes.{name}") for name in ("Quantity", "Semver")}
    return cel.NewEnv(
        config=cel.NewEnvConfigFromYaml(WITHOUT_OPERATORS),
        variables={
            "device": sort.AbstractType("kubernetes.DRADevice"),
            "device.driver": sort.STRING,
            "device.attributes": sort.Map(sort.STRING, sort.Map(sort.STRING, sort.DYN)),
            "device.capacity": sort.Map(sort.STRING, sort.Map(sort.STRING, sorts["quantity"])),
            "device.allowMultipleAllocations": sort.BOOL,
        },
        functions=[
            cel.FunctionDecl(
                name,
                [_overload(cel, sorts, f"{name}_{number}", form, member=member) for number, form in enumerate(forms)],
            )
            for table, member in ((FUNCTIONS, False), (METHODS, True), (_operators(), False))
            for name, forms in table.items()
        ],
        extensions=[ext_optional.ExtOptional(), ext_bindings.ExtBindings(), ext_strings.ExtStrings(version=2)],
    )


@cache
def _reader(function: str) -> Any:
    from cel_expr_python import cel

    return cel.NewEnv(variables={"text": cel.Type.STRING}).compile(LITERALS[function])


def _operators() -> dict[str, tuple[str, ...]]:
    """Numbers of two sorts can be ordered: CrossTypeNumericComparisons of the server's base environment."""
    pairs = [(one, other) for one in ORDERED for other in (NUMBERS if one in NUMBERS else (one,))]
    return {operator: tuple(f"{one} {other} -> BOOL" for one, other in pairs) for operator in OPERATORS}


def _overload(cel: Any, sorts: Mapping[str, Any], name: str, form: str, *, member: bool) -> Any:
    parameters, _, result = form.partition(" -> ")
    return cel.Overload(name, sorts[result], [sorts[each] for each in parameters.split()], is_member=member)
