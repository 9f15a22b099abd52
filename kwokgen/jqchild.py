"""The bounded process: jq expressions with samples on stdin, on stdout a line as it begins and one of JSON for each."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

CPU_SECONDS = 4
MEMORY = 512 * 1024 * 1024
BEGUN = "begun"
"""What ends before it is not ended by an expression."""


def main() -> None:
    """Answers in turn, so that the one it does not survive is known."""
    # libjq does not look at Python's signals: only the kernel can stop it.
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    import jq

    # KWOK's jq has no modules: what one of them says would hold here only, and any file that is JSON would be one.
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    sys.stdout.write(f"{BEGUN}\n")
    sys.stdout.flush()
    # One expression is asked of many objects, and takes a hundred times longer to be compiled than to be run.
    compiled = cache(jq.compile)
    for expression, sample in json.load(sys.stdin):
        sys.stdout.write(json.dumps(_answer(compiled, expression, sample)) + "\n")
        sys.stdout.flush()


def _answer(compiled: Callable[[str], Any], expression: str, sample: object) -> dict[str, object]:
    try:
        program = compiled(expression)
    except ValueError as error:
        return {"syntax": _first_line(error)}
    try:
        return {"results": program.input_value(sample).all()}
    except ValueError as error:
        return {"results": [], "error": f"fails: {_first_line(error)}"}


def _first_line(error: Exception) -> str:
    """Nothing of an expression that fails without a word."""
    return str(error).partition("\n")[0]


if __name__ == "__main__":
    main()
