"""Named steps: Stages that do one, steps of one's own, and what is wrong with either at its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kwokgen.catalog import Catalog
from kwokgen.pipeline import Rendered, render
from kwokgen.problem import Problem
from tests.unit.rendering import blueprint, problems, rendered
from tests.unit.test_stages import POOL, stages

HEAD = 'summary: Own\nsource: here\nchecked: "2026-01-01"\nkind: Pod\n'
STEP = """\
selector: {matchExpressions: [{key: .status.phase, operator: In, values: [Running]}]}
next: {statusTemplate: "phase: Succeeded\\n"}
sample: {metadata: {name: p}, status: {phase: Running, startTime: "2026-01-01T00:00:00Z"}}
"""
OWN = "lifecycles: [{name: l, pods: own}]"
BEGIN, GONE = "{step: begin, does: start}", "{step: gone, does: delete}"


def catalog(folder: Path, **entries: str) -> Catalog:
    """A catalogue of one's own: `stages__own` is a lifecycle of pods, `steps__end` a step."""
    for path, text in entries.items():
        kind, _, name = path.partition("__")
        file = folder / "own" / kind / "pod" / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(HEAD + text, encoding="utf-8")
    return Catalog.of([str(folder / "own")])


def done(folder: Path, spec: str, **entries: str) -> Rendered:
    file = folder / "t.yaml"
    file.write_text(blueprint(POOL + spec), encoding="utf-8")
    return render(str(file), catalog=catalog(folder, **entries))


def wrong(folder: Path, spec: str, **entries: str) -> list[tuple[str, str, str]]:
    """Where in which file is what."""
    found: tuple[Problem, ...] = problems(lambda: done(folder, spec, **entries))
    return [(Path(one.pos.file).name, f"{one.pos.line}:{one.pos.column}", one.message) for one in found]


def expressions(spec: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = spec["selector"]["matchExpressions"]
    return found


def test_a_stage_of_ones_own_does_a_step_that_ships(tmp_path: Path) -> None:
    """All but what it says itself is the step's; its guard stands behind the step's."""
    guard = "{key: .metadata.name, operator: Exists}"
    text = f"stages: [{{step: gone, does: delete}}, {{step: run, does: start, weight: 3, when: [{guard}]}}]"
    own = stages(done(tmp_path, OWN, stages__own=text))
    fast = stages(rendered(tmp_path, POOL + "lifecycles: [{name: l, pods: fast}]"))
    assert own["t-l-gone"] == fast["t-l-delete"]
    assert expressions(own["t-l-run"]) == [
        *expressions(fast["t-l-ready"]),
        {"key": ".metadata.name", "operator": "Exists"},
    ]
    assert own["t-l-run"]["weight"] == 3
    assert own["t-l-run"]["next"] == fast["t-l-ready"]["next"]


def test_a_step_of_ones_own(tmp_path: Path) -> None:
    """Beside a Stage that is written whole."""
    text = f"stages:\n- {BEGIN}\n- {GONE}\n- {{step: end, does: end}}\n- step: other\n" + "".join(
        f"  {line}\n" for line in STEP.splitlines()
    )
    own = stages(done(tmp_path, OWN, stages__own=text, steps__end=STEP))
    assert own["t-l-end"] == own["t-l-other"]


def test_a_step_of_ones_own_in_a_lifecycle_that_ships(tmp_path: Path) -> None:
    """It replaces the built-in one of its name for every lifecycle that does it."""
    own = stages(done(tmp_path, "", steps__complete=STEP))
    assert own["t-timed-complete"]["next"]["statusTemplate"] == "phase: Succeeded\n"
    assert own["t-timed-create"] == stages(rendered(tmp_path, POOL))["t-timed-create"]


def test_what_is_wrong_with_an_expression_of_a_step_stands_in_its_file(tmp_path: Path) -> None:
    """Also when a lifecycle that ships does it."""
    text = STEP.replace(".status.phase", ".status.phas")
    message = "In does not hold on the sample: it gives []"
    for spec, name in (("", "complete"), (OWN, "end")):
        (tmp_path / name).mkdir()
        entries = {"stages__own": f"stages: [{BEGIN}, {GONE}, {{step: a, does: end}}]", f"steps__{name}": text}
        assert wrong(tmp_path / name, spec, **entries) == [(f"{name}.yaml", "5:37", message)]


WRONG = {
    "steps that are not there": (
        "stages: [{step: a, does: delet}, {step: b, does: nothing}]",
        "",
        [("own.yaml", "5:26", 'unknown step "delet"'), ("own.yaml", "5:50", 'unknown step "nothing"')],
    ),
    "a stage that is not whole": (
        "stages: [{step: a, selector: {}}]",
        "",
        [("own.yaml", "5:10", 'the Stage "a" has no next and no sample')],
    ),
    "a guard beside no step": (
        "stages:\n- step: a\n  when: []\n" + "".join(f"  {line}\n" for line in STEP.splitlines()),
        "",
        [("own.yaml", "7:3", "when goes beside the named step that a Stage does, and it does none")],
    ),
    "a step that is not whole": (
        "stages: [{step: a, does: end}]",
        "selector: {}\nnext: {}\n",
        [("end.yaml", "1:1", 'missing key "sample"')],
    ),
    "a step with a wrong word inside": (
        "stages: [{step: a, does: end}]",
        STEP.replace("operator: In", "operator: Gt"),
        [("end.yaml", "5:62", '"operator" is the string "Gt"')],
    ),
}


@pytest.mark.parametrize(("lifecycle", "step", "expected"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_has_its_place(
    tmp_path: Path, lifecycle: str, step: str, expected: list[tuple[str, str, str]]
) -> None:
    found = wrong(tmp_path, OWN, stages__own=lifecycle, **({"steps__end": step} if step else {}))
    assert [(file, place) for file, place, _ in found] == [(file, place) for file, place, _ in expected]
    assert all(said.startswith(text) for (_, _, said), (_, _, text) in zip(found, expected, strict=True))
