"""CEL expressions of device selectors, compiled with the types that the API server gives them.

Functions: https://kubernetes.io/docs/reference/using-api/cel/ (Quantity, Semver) and the variable `device` of
https://github.com/kubernetes/kubernetes/blob/v1.37.2/staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

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


def mistake(expression: str) -> str | None:
    """Why the API server refuses an expression, with the column; None for one that it takes."""
    if len(expression.encode()) > MOST_BYTES:
        return f"{len(expression.encode())} bytes, an expression may have {MOST_BYTES}"
    try:
        compiled = _environment().compile(expression)
    except RuntimeError as error:
        return None if re.search(TWO_VARIABLES, expression) else _said(str(error))
    result = str(compiled.return_type()).rpartition(".")[2]
    # Of a field that is plain, has() is the field's own sort to this compiler.
    if result in {"BOOL", "DYN"} or expression.lstrip().startswith("has("):
        return None
    return f"it is no condition: its value is of the sort {result.lower()}"


def _said(error: str) -> str | None:
    found = re.search(r"ERROR: <input>:(\d+):(\d+): (.*)", error)
    if not found:
        return error.partition("\n")[0]
    name = re.match(r"undeclared reference to '([^']*)'", found[3])
    if name and (name[1].rpartition(".")[2] in UNDECLARED or name[1] == "device"):
        return None
    message = re.sub(r" \(in container ''\)$", "", found[3]).strip()
    return f"column {found[2]}: {message[0].lower()}{message[1:]}"


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
    sorts = {name: getattr(sort, name) for name in ("STRING", "BOOL", "INT", "DOUBLE", "DYN")}
    sorts |= {name.lower(): sort.AbstractType(f"kubernetes.{name}") for name in ("Quantity", "Semver")}
    return cel.NewEnv(
        variables={
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
            for table, member in ((FUNCTIONS, False), (METHODS, True))
            for name, forms in table.items()
        ],
        extensions=[ext_optional.ExtOptional(), ext_bindings.ExtBindings(), ext_strings.ExtStrings(version=2)],
    )


def _overload(cel: Any, sorts: Mapping[str, Any], name: str, form: str, *, member: bool) -> Any:
    parameters, _, result = form.partition(" -> ")
    return cel.Overload(name, sorts[result], [sorts[each] for each in parameters.split()], is_member=member)


READ = re.compile(
    r"""device\.(attributes|capacity)\[(?P<quote>['"])(?P<domain>[^'"]+)(?P=quote)\]"""
    r"""(?:\.(?P<name>[A-Za-z_]\w*)(?![\w(])|\[(?P<other>['"])(?P<key>\w+)(?P=other)\])"""
)
GUARD = re.compile(r"\bhas\(|\bin device\.|\bcel\.bind\(|\? ")


def reads(expression: str) -> tuple[tuple[str, str, str], ...]:
    """What an expression reads for certain: attributes or capacity, the domain, the name.

    A name that a device lacks is an error that ends every scheduling attempt of the pod; an expression that guards
    itself, or asks with `.?`, reads nothing for certain.
    """
    if GUARD.search(expression):
        return ()
    return tuple((found[1], found["domain"], found["name"] or found["key"]) for found in READ.finditer(expression))
