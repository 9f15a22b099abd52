"""RESULTS.md: the claims, then all that was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bench.claims import MIB, Claim
from bench.measure import CALM
from bench.race import ROUNDS, RUNNERS, Race, Result
from bench.startup import NOTHING
from bench.startup import ROUNDS as STARTS

Row = Sequence[str]

HEAD = """\
# kwokgen beside what people use instead

Written by `make bench`; an edit is lost with the next run. Measured on {machine}

Whole processes, from start to end, warm, on one disk: `blueprints/quickstart.yaml` with that many nodes of 8 devices, its
objects held against Kubernetes' schemas and rules as in every render. Medians of {rounds} rounds, in each of which every way
runs once at every size; memory is the highest of all rounds. `python -m bench.agree` has found that every way writes the
same bytes (`helm template`, which orders them its own way: the same objects).
"""
PEERS = """\
- `cat` copies the bytes into a new file: what the disk costs.
- The floor, [limit.py](limit.py), is one f-string a document, written by hand for this one blueprint; it checks nothing.
- What does not grow with the nodes (the controllers, the job) the others are given as finished text.
- helm and bash are not run at sizes for which they take minutes.
"""


def page(machine: str, raced: Race, started: Mapping[str, float], claims: Sequence[Claim]) -> str:
    """The whole file."""
    parts = [HEAD.format(machine=machine, rounds=ROUNDS), "## Claims\n", claimed(claims)]
    parts += ["## Time and memory\n", "![Time and peak memory by number of nodes](results.svg)\n", PEERS]
    parts += sizes(raced)
    parts += ["## Start-up\n", f"Medians of {STARTS} rounds, with the blueprint of ten nodes.\n", starts(started)]
    return "\n".join([*parts, "## How calm it was\n", _calm(raced)])


def claimed(claims: Sequence[Claim]) -> str:
    """The table of the claims."""
    head = ("Claim", "Measured", "At most", "Aim", "")
    rows = [(one.text, one.shown(one.value), one.shown(one.limit), one.shown(one.aim), one.verdict) for one in claims]
    return _table(head, rows)


def sizes(raced: Race) -> Iterator[str]:
    """A heading and a table for each number of nodes."""
    for nodes, size in raced.sizes.items():
        yield f"### {nodes:,} nodes, {size / MIB:,.1f} MiB\n"
        yield _table(("", "Time", "× `cat`", "× floor", "× kwokgen", "Peak memory"), _rows(raced, nodes))


def starts(started: Mapping[str, float]) -> str:
    """The table of the start-ups."""
    rows = [(f"`{name}`", _time(value), f"{value / started[NOTHING]:.1f}") for name, value in started.items()]
    return _table(("", "Time", f"× `{NOTHING}`"), rows)


def _rows(raced: Race, nodes: int) -> Iterator[Row]:
    for name, runner in RUNNERS.items():
        result = raced.results.get((nodes, name))
        if result:
            beside = [_ratio(result.seconds / raced.seconds(nodes, other)) for other in ("cat", "limit", "kwokgen")]
            yield runner.title, _time(result.seconds), *beside, _peak(result, raced.floor)


def _calm(raced: Race) -> str:
    disturbed = sum(one.disturbed for one in raced.results.values())
    return (
        f"{disturbed} of {ROUNDS * len(raced.results)} runs had other work, the kernel's writing included, on more than "
        f"{CALM} cores beside them, after some tries to find a calmer moment. The fewer, the better the numbers.\n"
    )


def _ratio(value: float) -> str:
    return f"{value:,.2f}" if value < 10 else f"{value:,.0f}"


def _time(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms" if seconds < 1 else f"{seconds:,.2f} s"


def _peak(result: Result, floor: int) -> str:
    """A process starts as a copy of the one that measures it, which hides what is smaller than that."""
    return f"{result.peak / MIB:,.0f} MiB" if result.peak > floor else f"≤ {floor / MIB:,.0f} MiB"


def _table(head: Row, rows: Iterator[Row] | Sequence[Row]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows)) + "\n"
