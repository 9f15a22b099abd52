"""Traces from files: each value at its own line and column, and the jobs that they are."""

from pathlib import Path

import pytest

from kwokgen.pipeline import Rendered, render
from kwokgen.plan import plan
from kwokgen.problem import KwokgenError
from kwokgen.series import filled

ROOT = Path(__file__).parents[2]
HEAD = """\
apiVersion: kwokgen.io/v1alpha1
kind: Blueprint
metadata: {name: case}
spec:
  kubernetes: "1.37"
  pools: [{name: gpu, count: 4, machine: p5.48xlarge, expose: extended-resource}]
  workloads: [{name: replay, kind: job, trace: TRACE}]
"""


def read(folder: Path, text: str, trace: str = "jobs.csv") -> Rendered:
    (folder / "jobs.csv").write_text(text, encoding="utf-8")
    (folder / "case.yaml").write_text(HEAD.replace("TRACE", trace), encoding="utf-8")
    return render(str(folder / "case.yaml"))


def jobs(rendered: Rendered) -> dict[str, tuple[str, int, str]]:
    """By name, the file, the pods and the run time of each."""
    done = {}
    for series in (one for one in rendered.series if one.file == "80-workloads.yaml"):
        first = 0
        for path, last in series.parts:
            for index in range(first, last + 1):
                job = filled(series.runs[0].shape.documents[0], series.columns, index)
                run = job["spec"]["template"]["metadata"]["annotations"]["kwokgen.io/run-seconds"]
                done[job["metadata"]["name"]] = (path, job["spec"]["parallelism"], run)
            first = last + 1
    return done


def test_jobs_come_in_time_whatever_the_order_of_lines(tmp_path: Path) -> None:
    found = jobs(read(tmp_path, "id,gpus,arrival,duration\nx,16,61.9,20\ny,8,3,0.5\n\nz,8,1,7200\n"))
    assert found == {
        "replay-1x8-0": ("waves/0000001.yaml", 1, "7200"),
        "replay-1x8-1": ("waves/0000003.yaml", 1, "0.5"),
        "replay-2x8-0": ("waves/0000061.yaml", 2, "20"),
    }


def test_a_plan_tells_when_the_last_comes(tmp_path: Path) -> None:
    """Jobs of waves are not among what one apply has to do."""
    figures = plan(read(tmp_path, "arrival,duration,gpus\n" + "".join(f"{index},5,1\n" for index in range(900))))
    assert figures.arrivals == (900, 900, 899)
    assert figures.apply_seconds == 1
    assert plan(render(str(ROOT / "blueprints" / "quickstart.yaml"))).arrivals is None


def test_columns_may_have_other_names(tmp_path: Path) -> None:
    columns = "{file: jobs.csv, columns: {arrival: submit_time, duration: run_time, gpus: num_gpus, pods: workers}}"
    found = jobs(read(tmp_path, "submit_time,run_time,num_gpus,workers\n0,5,4,4\n", columns))
    assert found == {"replay-4x1-0": ("waves/0000000.yaml", 4, "5")}


def test_overlays_find_their_own_files(tmp_path: Path) -> None:
    """Beside the file that names it, not beside the blueprint."""
    (tmp_path / "over").mkdir()
    (tmp_path / "over" / "o.csv").write_text("arrival,duration,gpus\n0,5,8\n", encoding="utf-8")
    (tmp_path / "over" / "o.yaml").write_text("spec: {workloads: [{name: replay, trace: o.csv}]}\n", encoding="utf-8")
    (tmp_path / "case.yaml").write_text(HEAD.replace("TRACE", "none.csv"), encoding="utf-8")
    assert jobs(render(str(tmp_path / "case.yaml"), overlays=[str(tmp_path / "over" / "o.yaml")]))


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("arrival,duration,gpu\n0,5,8\n", "jobs.csv:1:1", 'no column "gpus"'),
        ("", "jobs.csv:1:1", "no line names the columns"),
        ("arrival,duration,gpus\n0,5,8\n0,soon,8\n", "jobs.csv:3:3", '"duration" must be a number'),
        ('arrival,duration,gpus\n"0","5","1,5"\n', "jobs.csv:2:10", '"gpus" must be an integer'),
        ("arrival,duration,gpus\n0,5\n", "jobs.csv:2:1", 'missing key "gpus"'),
        ("arrival,duration,gpus\n0,5,13\n", "jobs.csv:2:5", "13 GPUs are not 2 equal parts"),
        ("arrival,duration,gpus\n-3,5,8\n", "jobs.csv:2:1", '"arrival" must be a number'),
    ],
)
def test_mistakes_have_their_line(tmp_path: Path, text: str, place: str, message: str) -> None:
    with pytest.raises(KwokgenError) as refused:
        read(tmp_path, text)
    (problem, *_) = refused.value.problems
    assert (str(problem.pos).removeprefix(f"{tmp_path}/"), message) == (place, problem.message[: len(message)])


def test_a_file_that_is_not_there_is_told_where_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(KwokgenError) as refused:
        read(tmp_path, "", "other.csv")
    (problem,) = refused.value.problems
    assert str(problem.pos).endswith("case.yaml:7:48")
    assert "cannot read the file: no such file or directory" in problem.message
