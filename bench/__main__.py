"""`python -m bench` measures all, and writes RESULTS.md; `--quick` leaves out the largest size, and only prints."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.claims import Claim, claims
from bench.machine import machine
from bench.race import Race, race
from bench.reference import ROOT
from bench.results import claimed, page, sizes, starts
from bench.startup import startup

HERE = Path(__file__).parent
QUICK = (100, 1_000, 10_000)
SIZES = (*QUICK, 100_000)


def main(*, quick: bool) -> int:
    """1 when a claim fails, or when a way does not write what kwokgen writes."""
    # In a process of its own: what reads YAML is large, and our memory is the least that can be measured.
    if subprocess.run([sys.executable, "-m", "bench.agree"], cwd=ROOT, check=False).returncode:
        return 1
    started, raced = startup(), race(QUICK if quick else SIZES)
    made = claims(raced, started)
    print("\n".join([starts(started), *sizes(raced), claimed(made)]))
    if not quick:
        _write(raced, started, made)
    return any(not one.holds for one in made)


def _write(raced: Race, started: Mapping[str, float], made: Sequence[Claim]) -> None:
    # Only now: it is larger than what it draws.
    from bench.plot import plot

    plot(raced, HERE / "results.svg")
    (HERE / "RESULTS.md").write_text(page(machine(), raced, started, made), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(quick="--quick" in sys.argv[1:]))
