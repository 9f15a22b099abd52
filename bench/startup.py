"""What a command takes before it works: beside the interpreter that does nothing."""

from __future__ import annotations

import sys

from bench.measure import median, run
from bench.reference import BLUEPRINT, KWOKGEN

ROUNDS = 41
NOTHING = "python -c pass"
COMMANDS = {
    NOTHING: [sys.executable, "-c", "pass"],
    "kwokgen --help": [KWOKGEN, "--help"],
    "kwokgen validate": [KWOKGEN, "validate", BLUEPRINT],
    "kwokgen render": [KWOKGEN, "render", BLUEPRINT],
}


def startup() -> dict[str, float]:
    """The median seconds of each command, warm, one after the other so that all see the same machine."""
    for command in COMMANDS.values():
        run(command)
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, command in COMMANDS.items():
            seconds[name].append(run(command).seconds)
    return {name: median(some) for name, some in seconds.items()}
