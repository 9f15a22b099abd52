"""What the unit tests share: a blueprint's spec in, its bundle, objects and problems out; and the command itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
import yaml

from kwokgen.bundle import Bundle, File
from kwokgen.pipeline import Rendered, render
from kwokgen.problem import KwokgenError, Problem

ROOT = Path(__file__).parents[2]
BLUEPRINTS = ROOT / "blueprints"
Key = tuple[str, str, str]
"""Kind, namespace and name."""


def blueprint(spec: str, name: str = "t") -> str:
    """A whole blueprint for Kubernetes 1.37 with the given parts of `spec`."""
    head = (
        f'apiVersion: kwokgen.io/v1alpha1\nkind: Blueprint\nmetadata: {{name: {name}}}\nspec:\n  kubernetes: "1.37"\n'
    )
    return head + indent(dedent(spec).strip("\n"), "  ") + "\n"


def rendered(folder: Path, spec: str, *sets: str, name: str = "t") -> Rendered:
    """The given parts of `spec` as a cluster; its file stands in `folder`."""
    file = folder / f"{name}.yaml"
    file.write_text(blueprint(spec, name), encoding="utf-8")
    return render(str(file), sets=sets)


def problems(action: Callable[[], object]) -> tuple[Problem, ...]:
    """What an action that must fail finds wrong."""
    with pytest.raises(KwokgenError) as caught:
        action()
    return caught.value.problems


def places(action: Callable[[], object]) -> list[str]:
    """Where an action that must fail finds something wrong: line:column, without the file."""
    return [f"{problem.pos.line}:{problem.pos.column}" for problem in problems(action)]


def content(file: File) -> bytes:
    """The bytes of a bundle's file."""
    return b"".join(file.pieces())


def contents(bundle: Bundle) -> dict[str, bytes]:
    """The bytes of every file of a bundle, by path."""
    return {file.path: content(file) for file in bundle.files}


def in_folder(folder: Path) -> dict[str, bytes]:
    """The bytes of every file below a folder, by path; dot-files as well."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def objects(done: Rendered, *kinds: str) -> dict[Key, bytes]:
    """The bytes of every applied object, of `kinds` only when there are any."""
    texts = [text for file in done.bundle().files if file.applied for text in split(content(file))]
    found = {key(text): text for text in texts}
    assert len(texts) == len(found), "two objects have one name"
    return {name: text for name, text in found.items() if not kinds or name[0] in kinds}


def split(text: bytes) -> list[bytes]:
    """The documents of a file, without what stands before the first."""
    return re.split(rb"^---\n", text, flags=re.MULTILINE)[1:]


def key(text: bytes) -> Key:
    """Kind, namespace and name of a document, from its first lines that say so."""
    meta = rb"^metadata:\n(?:  .*\n)*?  %s: (.+)$"
    found = [re.search(line, text, re.MULTILINE) for line in (rb"^kind: (\S+)$", meta % b"namespace", meta % b"name")]
    kind, namespace, name = (match[1].decode().strip('"') if match else "" for match in found)
    return kind, namespace, name


def documents(done: Rendered, *kinds: str) -> dict[Key, dict[str, Any]]:
    """Every applied object as YAML 1.1 reads it."""
    return {name: load(text) for name, text in objects(done, *kinds).items()}


def load(text: bytes | str) -> Any:
    """One document as PyYAML reads it."""
    return yaml.load(text, Loader=yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader)


def command(
    *arguments: str,
    cwd: Path,
    python: Sequence[str] = (sys.executable,),
    env: Mapping[str, str] | None = None,
    preexec: Callable[[], None] | None = None,
    stdout: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[bytes]:
    """`kwokgen …` as a process of its own, with what it said and how it ended."""
    return subprocess.run(
        [*python, "-m", "kwokgen", *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        preexec_fn=preexec,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )
