"""Imports go one way, and what has a clock, an environment, chance, a terminal or an exit stands at the edge.

The order, from what knows nothing to what knows all:

    problem < natural < shipped < encoding < draw < formats < mergepatch < objectformats < jobrules < model < needs
    < tree < schemas < validators < conform < catalog < celtree < celreads < cel < celselects < blueprint < checks
    < jqchild < expressions < gotemplate < stagelint < series < emit < templating < resources < stagenames
    < patchfixed < patches < stagepatches < apischema < devicerules < claimrules < fieldrules < metarules < podwords
    < podrules < jobwords < apirules < duplicates < verify < claimnames < timeline < pruning < readme < bundle
    < ownership < sink < pipeline < plan < outline < diff < cli
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwokgen import checks, resources
from kwokgen.cli import COMMANDS
from tests.unit.rendering import ROOT

PACKAGE = ROOT / "kwokgen"
ORDER = re.findall(r"\w+", (__doc__ or "").partition("knows all:")[2])
TREES = {file: ast.parse(file.read_text(encoding="utf-8")) for file in sorted(PACKAGE.rglob("*.py"))}
INNER = {file: tree for file, tree in TREES.items() if "cli" not in file.relative_to(PACKAGE).parts}
CHANCE = {"random", "secrets", "time", "uuid"}
MOMENTS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "os.environ", "os.getenv", "os.urandom"}
OUTWARD = {"sys.exit", "sys.stdout", "sys.stderr", "os._exit"}
OWN_PROCESS = PACKAGE / "jqchild.py"
"""A program of its own, whose answer is its stdout."""


def layer(file: Path) -> str:
    """The module or package of kwokgen that a file belongs to."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> Iterator[str]:
    """The layers that a module imports, inside of functions and for types as well."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("kwokgen."))
        elif isinstance(node, ast.ImportFrom) and node.module == "kwokgen":
            yield from (alias.name for alias in node.names if alias.name != "__version__")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kwokgen."):
            yield str(node.module).split(".")[1]


def modules(tree: ast.AST) -> Iterator[str]:
    """The top-level modules that are imported from anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


def dotted(tree: ast.AST) -> Iterator[str]:
    """Every `name.attribute`, and `from name import attribute`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            yield f"{node.value.id if isinstance(node.value, ast.Name) else node.value.attr}.{node.attr}"
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def called(tree: ast.AST) -> Iterator[str]:
    """Every plain function that is called, and every exception that is raised by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def impure(tree: ast.AST) -> set[str]:
    """What makes a second run differ from the first."""
    return set(modules(tree)) & CHANCE | set(dotted(tree)) & MOMENTS


def outward(tree: ast.AST) -> set[str]:
    """What prints, or ends the process."""
    return set(dotted(tree)) & OUTWARD | set(called(tree)) & {"print", "exit", "quit", "SystemExit", "input"}


def test_imports_go_one_way() -> None:
    """No module imports one that stands above it in the order."""
    rank = {name: number for number, name in enumerate(ORDER)}
    upward = [
        f"{file.relative_to(ROOT)} imports {below}"
        for file, tree in TREES.items()
        if not layer(file).startswith("__")
        for below in imported(tree)
        if rank[below] > rank[layer(file)]
    ]
    assert upward == []


def test_every_module_has_its_place_in_the_order() -> None:
    """A new module is written into the order, and none stands there that is gone."""
    assert sorted(ORDER) == sorted({layer(file) for file in TREES} - {"__init__", "__main__"})


def test_the_walk_sees_imports_wherever_they_stand() -> None:
    """An import inside a function, for types only, or of a name of the package counts."""
    text = (
        "import kwokgen.emit\ndef f():\n  from kwokgen import sink\nif TYPE_CHECKING:\n  from kwokgen.plan import Plan"
    )
    assert sorted(imported(ast.parse(text))) == ["emit", "plan", "sink"]
    assert "bundle" in set(imported(TREES[PACKAGE / "sink.py"]))


@pytest.mark.parametrize("file", INNER, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_nothing_inside_has_a_clock_chance_or_an_environment(file: Path) -> None:
    """The same blueprint gives the same bytes: outside of cli/ nothing asks for what may differ."""
    assert impure(INNER[file]) == set()


@pytest.mark.parametrize(
    "file", [file for file in INNER if file != OWN_PROCESS], ids=lambda file: str(file.relative_to(PACKAGE))
)
def test_only_the_command_line_prints_or_exits(file: Path) -> None:
    """Everything below cli/ returns or raises."""
    assert outward(INNER[file]) == set()


@pytest.mark.parametrize(
    "text",
    [
        "import random",
        "import time as t",
        "from time import sleep",
        "datetime.now()",
        "datetime.datetime.now()",
        "os.environ['A']",
        "from os import environ",
        "os.getenv('A')",
    ],
)
def test_the_walk_sees_what_is_not_pure(text: str) -> None:
    """Each spelling of a clock, chance or the environment is found."""
    assert impure(ast.parse(text))


@pytest.mark.parametrize(
    "text", ["print(1)", "sys.exit(1)", "raise SystemExit(1)", "sys.stderr.write('')", "os._exit(1)"]
)
def test_the_walk_sees_what_prints_or_exits(text: str) -> None:
    """Each spelling of printing and of ending the process is found."""
    assert outward(ast.parse(text))


def _public(folder: str) -> set[str]:
    return {file.stem for file in (PACKAGE / folder).glob("*.py") if not file.stem.startswith("_")}


@pytest.mark.parametrize("check", checks.modules(), ids=lambda check: check.__name__)
def test_every_check_has_its_names(check: checks.Check) -> None:
    """A check has an ID in kebab case, a summary without a full stop, and the function."""
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", check.ID)
    assert re.fullmatch(r"[A-Z].*[^.]", check.SUMMARY)
    assert callable(check.check)


def test_every_check_is_found_and_has_an_id_of_its_own() -> None:
    """No list is kept: each module of the folder is a rule, and no two have the same code."""
    assert {check.__name__.rpartition(".")[2] for check in checks.modules()} == _public("checks")
    assert len(checks.modules()) == len({check.ID for check in checks.modules()})


@pytest.mark.parametrize("resource", resources.modules(), ids=lambda module: module.__name__)
def test_every_resource_has_its_names(resource: resources.Resource) -> None:
    """A kind has a name, paths that are tuples of keys, and the builder."""
    assert re.fullmatch(r"[A-Z][A-Za-z]+", resource.KIND)
    assert all(path and all(isinstance(step, str) for step in path) for path in resource.IMMUTABLE)
    assert callable(resource.build)


def test_every_resource_is_found_and_has_a_kind_of_its_own() -> None:
    """A module of the folder without `build` is the files beside the applied ones, and only that one."""
    found = {module.__name__.rpartition(".")[2] for module in resources.modules()}
    assert found | {"configuration"} == _public("resources")
    assert len(resources.modules()) == len({module.KIND for module in resources.modules()})


def test_every_command_is_a_module() -> None:
    """The commands of the program are modules of cli/, each of which registers itself."""
    helpers = {"options", "report", "progress"}
    assert _public("cli") - helpers == set(COMMANDS)
