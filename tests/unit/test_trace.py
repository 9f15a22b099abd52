"""Traces from files: each value at its own line and column, and the jobs that they are."""

import os
from pathlib import Path

import pytest

from kwokgen.pipeline import Rendered, render
from kwokgen.plan import plan
from kwokgen.problem import KwokgenError
from kwokgen.series import filled
from tests.unit.rendering import problems

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


def test_a_column_that_the_blueprint_names_is_there(tmp_path: Path) -> None:
    """Jobs would have another number of pods than the file says."""
    with pytest.raises(KwokgenError) as refused:
        read(tmp_path, "arrival,duration,gpus,num_pods\n0,5,8,4\n", "{file: jobs.csv, columns: {pods: numpods}}")
    [found] = refused.value.problems
    assert found.message.startswith('no column "numpods". available: ')
    assert found.hint == 'did you mean "num_pods"? (columns: {pods: "num_pods"})'


def test_a_column_may_be_named_as_it_would_be(tmp_path: Path) -> None:
    """A name that is said is one that is wanted."""
    with pytest.raises(KwokgenError) as refused:
        read(tmp_path, "arrival,duration,gpus\n0,5,8\n", "{file: jobs.csv, columns: {pods: pods}}")
    [found] = refused.value.problems
    assert found.message.startswith('no column "pods". available: ')


@pytest.mark.parametrize(
    ("trace", "told"),
    [
        ("{file: jobs.csv, columns: {pod: workers}}", ['unknown key "pod"']),
        ("{file: jobs.csv, columns: {pods: null}}", ['"pods" must be a string, not null']),
        ("{file: jobs.csv, columns: [gpus]}", ['"columns" must be a mapping, not a list']),
        ("{file: jobs.csv, column: {gpus: gpu}}", ['no column "gpus"', 'unknown key "column"']),
        ("{file: none.csv, columns: {pod: workers}}", ["none.csv", 'unknown key "pod"']),
    ],
)
def test_a_file_that_is_read_hides_no_wrong_word(tmp_path: Path, trace: str, told: list[str]) -> None:
    with pytest.raises(KwokgenError) as refused:
        read(tmp_path, "arrival,duration,gpu\n0,5,8\n", trace)
    messages = [problem.message for problem in refused.value.problems]
    assert len(messages) == len(told)
    assert all(part in " ".join(messages) for part in told)


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
        ("arrival,duration,gpus\n0,5\n", "jobs.csv:2:1", "2 fields, where the first line names 3 columns"),
        ("arrival,duration,gpus\n0,5,8\n5,5,1,9\n", "jobs.csv:3:7", "4 fields, where the first line names 3 columns"),
        ("arrival,duration,gpus\n0,5,1,5\n", "jobs.csv:2:7", "4 fields, where"),
        ("arrival,duration,gpus\n0,5,\n", "jobs.csv:2:1", 'missing key "gpus"'),
        ("arrival, duration, gpus\n5,  5,  13\n", "jobs.csv:2:9", "13 GPUs are not 2 equal parts"),
        ("arrival, gpus, duration, gpus\n0,5,8,8\n", "jobs.csv:1:10", '2 columns are named "gpus"'),
        ('arrival,duration,gpus\n0,5,"8\n', "jobs.csv:2:5", '"gpus" must be an integer'),
        ("arrival,duration,gpus\n0,5,13\n", "jobs.csv:2:5", "13 GPUs are not 2 equal parts"),
        ("arrival,duration,gpus\n-3,5,8\n", "jobs.csv:2:1", '"arrival" must be a number'),
    ],
)
def test_mistakes_have_their_line(tmp_path: Path, text: str, place: str, message: str) -> None:
    with pytest.raises(KwokgenError) as refused:
        read(tmp_path, text)
    (problem, *_) = refused.value.problems
    assert (str(problem.pos).removeprefix(f"{tmp_path}/"), message) == (place, problem.message[: len(message)])


@pytest.mark.parametrize(
    "text",
    [
        "arrival, duration, gpus\n0, 5, 8\n",
        ' "arrival" ,duration\t,gpus\n "0" , "5", 8 \n',
        "gpus,duration,x,x,arrival\n8,5,,,0\n",
    ],
)
def test_blanks_and_what_is_not_read_do_not_count(tmp_path: Path, text: str) -> None:
    assert jobs(read(tmp_path, text)) == {"replay-1x8-0": ("waves/0000000.yaml", 1, "5")}


def test_every_line_that_is_uneven_is_told(tmp_path: Path) -> None:
    found = problems(lambda: read(tmp_path, "arrival,duration,gpus\n0,5\n0,5,8\n0,5,8,\n"))
    assert [(problem.pos.line, problem.hint) for problem in found] == [
        (2, "a field may be empty, but has its comma"),
        (4, 'write a comma within a field in quotes, as "1,5"'),
    ]


def test_a_trace_that_is_not_read_hides_nothing_else(tmp_path: Path) -> None:
    """Nor is anything said of what may lie in it."""
    file = tmp_path / "case.yaml"
    other = "{name: other, kind: job, lifecycle: none}"
    file.write_text(HEAD.replace("TRACE}", f"none.csv}}, {other}"), encoding="utf-8")
    found = problems(lambda: render(str(file), sets=["pools.none.count=3"]))
    assert [problem.code for problem in found] == ["set", "trace", "reference"]


def test_a_line_that_is_uneven_hides_no_other(tmp_path: Path) -> None:
    found = problems(lambda: read(tmp_path, "arrival,duration,gpus\n0,5\n-1,5,8\n0,5,8\n"))
    assert [(problem.pos.line, problem.code) for problem in found] == [(2, "trace"), (3, "blueprint")]


@pytest.mark.parametrize("text", ["arrival,duration,gpus\n", "arrival,duration,gpus\n\n\n"])
def test_a_trace_has_a_job(tmp_path: Path, text: str) -> None:
    [found] = problems(lambda: read(tmp_path, text))
    assert found.message == '"trace" must have at least 1 item, not 0'


@pytest.mark.parametrize(
    ("head", "hint"),
    [
        ("arrival;duration;gpus", "commas part the columns, not semicolons"),
        ("arrival\tduration\tgpus", "commas part the columns, not tabs"),
        ("arrival,duration,GPUs: all", 'did you mean "GPUs: all"? (columns: {gpus: "GPUs: all"})'),
        ("arrival,duration,workers", "the first line names them"),
    ],
)
def test_hints_of_a_first_line(tmp_path: Path, head: str, hint: str) -> None:
    [found] = problems(lambda: read(tmp_path, f"{head}\n0,5,8\n"))
    assert found.hint == hint


def test_the_hint_of_a_column_works(tmp_path: Path) -> None:
    columns = '{file: jobs.csv, columns: {gpus: "GPUs: all"}}'
    assert jobs(read(tmp_path, "arrival,duration,GPUs: all\n0,5,8\n", columns))


WAYS_OUT = {
    "/etc/passwd": "/etc/passwd: the path is absolute",
    "../jobs.csv": "the path leads out of the folder",
    "in/../../jobs.csv": "the path leads out of the folder",
    "link.csv": "a link on the way leads out of the folder",
    "linked/jobs.csv": "a link on the way leads out of the folder",
    "pipe.csv": "cannot read the file: not a regular file",
    "in": "cannot read the file: is a directory",
    '"a\\0b"': "cannot read the file: not a file name",
}


@pytest.mark.parametrize("name", WAYS_OUT)
def test_names_do_not_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    """A blueprint may be a stranger's: nothing of other files is shown, and nothing is waited for."""
    folder = tmp_path / "case"
    (folder / "in").mkdir(parents=True)
    (tmp_path / "jobs.csv").write_text("secret\n", encoding="utf-8")
    (folder / "link.csv").symlink_to(tmp_path / "jobs.csv")
    (folder / "linked").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.csv")
    [found] = problems(lambda: read(folder, "", name))
    assert (found.pos.line, found.pos.column, found.code) == (7, 48, "trace")
    assert WAYS_OUT[name] in found.message
    assert "secret" not in found.message


def test_names_may_lead_about_within_the_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.csv").symlink_to(tmp_path / "jobs.csv")
    (tmp_path / "other").symlink_to(tmp_path, target_is_directory=True)
    assert jobs(read(tmp_path / "other", "arrival,duration,gpus\n0,5,8\n", "in/../in/link.csv"))


@pytest.mark.parametrize("name", ["trace", "trace.file"])
def test_a_trace_of_an_argument_may_stand_anywhere(tmp_path: Path, name: str) -> None:
    """Whoever writes the command line names files of their own, as of overlays."""
    (tmp_path / "jobs.csv").write_text("arrival,duration,gpus\n0,5,8\n", encoding="utf-8")
    (tmp_path / "case").mkdir()
    file = tmp_path / "case" / "case.yaml"
    file.write_text(HEAD.replace("TRACE", "{file: none.csv}"), encoding="utf-8")
    assert jobs(render(str(file), sets=[f"workloads.replay.{name}={tmp_path}/jobs.csv"]))


def test_a_file_that_is_not_there_is_told_where_it_is_named(tmp_path: Path) -> None:
    with pytest.raises(KwokgenError) as refused:
        read(tmp_path, "", "other.csv")
    (problem,) = refused.value.problems
    assert str(problem.pos).endswith("case.yaml:7:48")
    assert "cannot read the file: no such file or directory" in problem.message
