"""Bundles that are written: what is touched, what is refused, and what a full disk or a kill leaves behind."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kwokgen.bundle import Bundle
from kwokgen.sink import to_folder
from tests.unit.rendering import BLUEPRINTS, blueprint, command, contents, in_folder, rendered

pytestmark = pytest.mark.slow
"""Each starts kwokgen as a program of its own."""

QUICK = "pools: [{name: a, count: 2, machine: p5.48xlarge}, {name: b, count: 1, machine: p4d.24xlarge}]"
WRONG, FAILED, INTERRUPTED, CLOSED_PIPE = 1, 3, 130, 141
FOREIGN = "kind: ConfigMap\n"
OTHERS = "# kwokgen bundle: other\n---\nkind: ConfigMap\n"


def _state(folder: Path) -> dict[str, tuple[int, ...]]:
    """Inode and times of the folder and of everything below it."""
    found = {path: path.lstat() for path in (folder, *folder.rglob("*"))}
    return {str(path): (stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns) for path, stat in found.items()}


def _paths(folder: Path) -> set[str]:
    """Everything below a folder, sub-folders and dot-files as well."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _written(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """A small blueprint's file."""
    _written(tmp_path / "quick.yaml", blueprint(QUICK))
    return tmp_path / "quick.yaml"


def test_a_new_folder_holds_the_bundle(tmp_path: Path) -> None:
    """Folders above it are made; every file has the bundle's bytes, and there is nothing else."""
    bundle = rendered(tmp_path, QUICK).bundle()
    folder = tmp_path / "not" / "yet"
    done = to_folder(bundle, folder)
    assert contents(bundle) == in_folder(folder)
    assert (set(done.changed), done.removed, done.unchanged) == (_paths(folder), (), 0)


def test_a_second_render_touches_nothing(tmp_path: Path, quick: Path) -> None:
    """Neither a file nor the folder itself has another inode or time."""
    assert command("render", str(quick), "-o", "out", cwd=tmp_path).returncode == 0
    before = _state(tmp_path / "out")
    done = command("render", str(quick), "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"out: 0 written, 0 removed, 9 unchanged\n")
    assert _state(tmp_path / "out") == before


def test_only_files_that_differ_are_replaced(tmp_path: Path) -> None:
    """A label of one pool leaves the files of the others as they are."""
    folder = tmp_path / "out"
    to_folder(rendered(tmp_path, QUICK).bundle(), folder)
    before = _state(folder)
    done = to_folder(rendered(tmp_path, QUICK, "pools.b.labels={x: z}").bundle(), folder)
    assert done.changed == ("40-nodes-b.yaml",)
    touched = {name for name, state in _state(folder).items() if before[name] != state}
    assert touched == {str(folder), str(folder / "40-nodes-b.yaml")}


@pytest.mark.parametrize(
    ("old", "new", "removed"),
    [
        (QUICK, "pools: [{name: a, count: 2, machine: p5.48xlarge}]", ("40-nodes-b.yaml", "50-slices-b.yaml")),
        (
            "pools: [{name: a, count: 2501, machine: {cpu: 1}}]",
            "pools: [{name: a, count: 2500, machine: {cpu: 1}}]",
            ("40-nodes-a.0000.yaml", "40-nodes-a.0001.yaml"),
        ),
        (
            "controller: {run: outside}\n" + QUICK,
            QUICK,
            ("controller/kwok.yaml", "controller/kwokctl.yaml"),
        ),
        (QUICK, "pools: [{name: a, count: 1000, machine: {cpu: 1}}]", None),
    ],
    ids=["pool", "chunks", "sub-folder", "kustomization"],
)
def test_files_that_are_no_longer_needed_are_removed(
    tmp_path: Path, old: str, new: str, removed: tuple[str, ...] | None
) -> None:
    """Afterwards the folder is as if the old bundle had never been there, empty sub-folders included."""
    to_folder(rendered(tmp_path, old).bundle(), tmp_path / "out")
    bundle = rendered(tmp_path, new).bundle()
    done = to_folder(bundle, tmp_path / "out")
    assert contents(bundle) == in_folder(tmp_path / "out")
    to_folder(bundle, tmp_path / "fresh")
    assert _paths(tmp_path / "fresh") == _paths(tmp_path / "out")
    assert removed is None or done.removed == removed


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    """Whatever kubectl does not apply: texts, dot-files, sub-folders with manifests, links, also those to nothing."""
    folder = tmp_path / "out"
    for path in ("notes.txt", ".hidden.yaml", ".git/config", "sub/foreign.yaml", "sub/deep/foreign.yaml"):
        _written(folder / path, FOREIGN)
    _written(folder / "sub" / "other.yaml", OTHERS)
    (folder / "result").symlink_to("/nowhere/at/all")
    (folder / "link").symlink_to("sub")
    (folder / "folder.yaml").mkdir()
    (folder / "empty").mkdir()
    os.mkfifo(folder / "pipe")
    before = _state(folder)
    to_folder(rendered(tmp_path, QUICK).bundle(), folder)
    to_folder(rendered(tmp_path, QUICK, "pools.b.labels={x: z}").bundle(), folder)
    after = _state(folder)
    assert [path for path, state in before.items() if path != str(folder) and after.get(path) != state] == []


def test_a_folder_may_be_a_link(tmp_path: Path) -> None:
    """The bundle is written where the link leads."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    bundle = rendered(tmp_path, QUICK).bundle()
    to_folder(bundle, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert contents(bundle) == in_folder(tmp_path / "real")


def _directory(path: str) -> Callable[[Path], None]:
    return lambda folder: (folder / path).mkdir(parents=True)


def _pipe(path: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        folder.mkdir()
        os.mkfifo(folder / path)

    return make


def _file(path: str, text: str) -> Callable[[Path], None]:
    return lambda folder: _written(folder / path, text)


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (_file("mine.yaml", FOREIGN), "mine.yaml"),
        (_file("mine.yml", FOREIGN), "mine.yml"),
        (_file("mine.json", "{}"), "mine.json"),
        (_file("empty.yaml", ""), "empty.yaml"),
        (_file("README.md", "mine\n"), "README.md"),
        (_file("40-nodes-a.yaml", FOREIGN), "40-nodes-a.yaml"),
        (_file("controller/kwok.yaml", FOREIGN), "controller/kwok.yaml"),
        (_file("80-workloads.yaml", OTHERS), '"other"'),
        (_file("controller/kwok.yaml", OTHERS), '"other"'),
        (_file("anything.txt", OTHERS), '"other"'),
        (_file(".kwokgen", ""), ".kwokgen"),
        (_directory("40-nodes-a.yaml"), "40-nodes-a.yaml"),
        (_directory("controller/kwok.yaml"), "controller/kwok.yaml"),
        (_pipe("40-nodes-a.yaml"), "40-nodes-a.yaml"),
        (_pipe("pipe.yaml"), "pipe.yaml"),
        (_file("controller", "mine\n"), "controller"),
    ],
    ids=[
        "yaml",
        "yml",
        "json",
        "empty",
        "needed",
        "needed-manifest",
        "needed-below",
        "other-bundle",
        "other-bundle-needed-below",
        "other-bundle-any-name",
        "staging",
        "folder-for-file",
        "folder-for-file-below",
        "pipe-for-file",
        "pipe",
        "file-for-folder",
    ],
)
def test_what_is_not_ours_is_refused(tmp_path: Path, made: Callable[[Path], None], named: str) -> None:
    """Exit 1, the file named, nothing changed."""
    _written(tmp_path / "t.yaml", blueprint("controller: {run: outside}\n" + QUICK))
    folder = tmp_path / "out"
    made(folder)
    before = _state(folder)
    done = command("render", "t.yaml", "-o", "out", cwd=tmp_path)
    assert named in done.stderr.decode()
    assert _state(folder) == before
    assert done.returncode == WRONG, done.stderr.decode()


def test_a_link_out_of_the_folder_is_not_written_through(tmp_path: Path) -> None:
    """A sub-folder that is a link leads to files of somebody else: they stay as they are, and it is said."""
    _written(tmp_path / "t.yaml", blueprint("controller: {run: outside}\n" + QUICK))
    _written(tmp_path / "else" / "kwok.yaml", FOREIGN)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "controller").symlink_to(tmp_path / "else")
    before = _state(tmp_path / "else")
    done = command("render", "t.yaml", "-o", "out", cwd=tmp_path)
    assert _state(tmp_path / "else") == before
    assert (done.returncode, _paths(tmp_path / "out")) == (WRONG, {"controller"})


def test_everything_in_the_way_is_named_at_once(tmp_path: Path, quick: Path) -> None:
    """One run says all that has to be moved away."""
    for path, text in (("mine.yaml", FOREIGN), ("README.md", "mine\n"), ("80-workloads.yaml", OTHERS)):
        _written(tmp_path / "out" / path, text)
    said = command("render", str(quick), "-o", "out", cwd=tmp_path).stderr.decode()
    assert all(f"out/{path}: " in said for path in ("mine.yaml", "README.md", "80-workloads.yaml"))
    assert said.endswith("3 problems\n")


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("file", WRONG),
        ("file/below", WRONG),
        ("file/far/below", WRONG),
        ("dangling", WRONG),
        ("/dev/null", WRONG),
        ("/proc/kwokgen", FAILED),
        ("x" * 256, WRONG),
    ],
)
def test_what_cannot_be_a_folder_is_refused(tmp_path: Path, quick: Path, target: str, code: int) -> None:
    """A file is the user's mistake; a file system that takes no folder is the environment's failure."""
    _written(tmp_path / "file", "mine\n")
    (tmp_path / "dangling").symlink_to("nowhere")
    before = in_folder(tmp_path)
    done = command("render", str(quick), "-o", target, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (code, b"")
    assert target.split("/below", maxsplit=1)[0][:200] in done.stderr.decode()
    assert "a bug" not in done.stderr.decode()
    assert in_folder(tmp_path) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("target", ["locked", "locked/below"])
def test_a_folder_without_permission_is_refused(tmp_path: Path, quick: Path, target: str) -> None:
    """Permissions are the user's to give."""
    (tmp_path / "locked").mkdir(mode=0o555)
    done = command("render", str(quick), "-o", target, cwd=tmp_path)
    assert (done.returncode, _paths(tmp_path / "locked")) == (WRONG, set())
    assert "not writable" in done.stderr.decode()


def test_nothing_is_written_before_every_folder_was_found_fit(tmp_path: Path) -> None:
    """Of two blueprints the second one's folder is refused: the first is not written either."""
    for name in ("one", "two"):
        _written(tmp_path / f"{name}.yaml", blueprint(QUICK, name))
    _written(tmp_path / "out" / "two" / "mine.yaml", FOREIGN)
    assert command("render", "one.yaml", "two.yaml", "-o", "out", cwd=tmp_path).returncode == WRONG
    assert _paths(tmp_path / "out") == {"two", "two/mine.yaml"}
    (tmp_path / "out" / "two" / "mine.yaml").unlink()
    assert command("render", "one.yaml", "two.yaml", "-o", "out", cwd=tmp_path).returncode == 0
    assert {path for path in _paths(tmp_path / "out") if "/" not in path} == {"one", "two"}


@pytest.mark.parametrize("old", [True, False], ids=["old-bundle", "new-folder"])
def test_a_full_disk_leaves_the_old_bundle(tmp_path: Path, old: bool) -> None:
    """Half of the files have room, the slices have not: exit 3, the old files untouched, no stray one."""
    file = str(BLUEPRINTS / "quickstart.yaml")
    if old:
        assert command("render", file, "-o", "out", cwd=tmp_path).returncode == 0
    before = {path: state for path, state in _state(tmp_path).items() if path.startswith(f"{tmp_path}/out/")}
    done = command(
        *("render", file, "-o", "out", "--set", "pools.h100.count=200"),
        cwd=tmp_path,
        env={"PYTHONDONTWRITEBYTECODE": "1"},
        preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000)),
    )
    assert (done.returncode, done.stdout) == (FAILED, b"")
    said = done.stderr.decode()
    assert (said.count("\n"), "a bug" in said, ": file too large" in said) == (1, False, True)
    assert before == {path: state for path, state in _state(tmp_path).items() if path.startswith(f"{tmp_path}/out/")}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("count", [1, 1000], ids=["small", "large"])
def test_a_full_stdout(tmp_path: Path, quick: Path, count: int) -> None:
    """One line says so, whether the first write fails or the last flush."""
    handle = os.open("/dev/full", os.O_WRONLY)
    try:
        done = command("render", str(quick), "--set", f"pools.a.count={count}", cwd=tmp_path, stdout=handle)
    finally:
        os.close(handle)
    assert done.returncode == FAILED
    assert done.stderr == b"kwokgen: cannot write to standard output: no space left on device\n"


def test_a_closed_pipe_is_silent(tmp_path: Path, quick: Path) -> None:
    """`kwokgen render … | head` ends as other programs do."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = command("render", str(quick), cwd=tmp_path, stdout=write)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (CLOSED_PIPE, b"")


POOLS = 150


def _many(first: int, step: str) -> str:
    """150 pools from `first` on, each with a file of nodes and one of slices, which all say `step`."""
    pools = "\n".join(
        f"- {{name: p{number:03d}, count: 1, machine: {{cpu: 1}}, addresses: 172.20.{number // 8}.{number % 8 * 32}/27,"
        f" labels: {{step: {step}}}, gpus: {{driver: gpu.example.com, count: 2, attributes: {{step: {step}}}}}}}"
        for number in range(first, first + POOLS)
    )
    return f"pools:\n{pools}\n"


class _Many:
    """Two blueprints of one bundle; 280 files differ, each of the two has 20 that the other has not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "out"
        self.files: dict[str, Path] = {}
        self.bundles: dict[str, Bundle] = {}
        self.fresh: dict[str, dict[str, bytes]] = {}
        for name, first in (("one", 0), ("two", 10)):
            self.files[name] = folder / f"{name}.yaml"
            self.bundles[name] = rendered(folder, _many(first, name)).bundle()
            self.fresh[name] = contents(self.bundles[name])
            _written(self.files[name], blueprint(_many(first, name)))

    def finish(self, name: str) -> None:
        """A render that nothing disturbs: the folder equals one that was never touched before."""
        to_folder(self.bundles[name], self.folder)
        assert in_folder(self.folder) == self.fresh[name]
        assert _paths(self.folder) == self.fresh[name].keys()

    def replaced(self, old: str, new: str) -> list[str]:
        """The files that both have with other bytes, in the order in which they are replaced."""
        both = sorted(self.fresh[old].keys() & self.fresh[new].keys())
        return [path for path in both if self.fresh[old][path] != self.fresh[new][path]]

    def ended(self, name: str, happened: Callable[[], bool], how: signal.Signals) -> int:
        """Starts a render, sends a signal once something has happened, and says how it ended.

        Nothing is left to time: until there is a staging folder one look a millisecond is enough, then it looks as
        fast as it can.
        """
        process = subprocess.Popen(
            [sys.executable, "-m", "kwokgen", "render", str(self.files[name]), "-o", str(self.folder)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while process.poll() is None and not (self.folder / ".kwokgen").exists():
            time.sleep(0.001)
        while process.poll() is None and not happened():
            pass
        process.send_signal(how)
        return process.wait()

    def sides(self, old: str, new: str) -> tuple[int, int]:
        """How many of the files that differ are still old, and how many are new; every one is whole."""
        found = {path: data for path, data in in_folder(self.folder).items() if not path.startswith(".kwokgen/")}
        before, after = self.fresh[old], self.fresh[new]
        assert [path for path, data in found.items() if data not in (before.get(path), after.get(path))] == []
        assert before.keys() & after.keys() <= found.keys()
        differ = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
        sides = [found.get(path) == after.get(path) for path in differ]
        return sides.count(False), sides.count(True)


def _is_replaced(path: Path) -> Callable[[], bool]:
    """Whether a file is another one than now; between the two there is no moment without it."""
    before = path.stat().st_ino
    return lambda: path.stat().st_ino != before


@pytest.mark.slow
def test_a_killed_render_leaves_whole_files(tmp_path: Path) -> None:
    """Fifty kills or more over an old bundle, forty of them in the middle of the replacing.

    A kill is in the middle if afterwards some of the files that differ between the bundles are the new ones and some
    are still the old ones. It comes when a certain file, each time another one, is seen to have been replaced; every
    fifth comes earlier, when that file is seen in the staging folder. A kill that came too late for its render is not
    counted. After each, every file is whole, and the next render makes the folder equal to a fresh one.
    """
    many = _Many(tmp_path)
    many.finish("one")
    old, new = "one", "two"
    killed = middle = 0
    for number in range(200):
        if killed >= 50 and middle >= 40:
            break
        paths = many.replaced(old, new)
        path = paths[number * 37 % (len(paths) * 3 // 4)]
        staged = many.folder / ".kwokgen" / "new" / path
        happened = staged.exists if number % 5 == 4 else _is_replaced(many.folder / path)
        if many.ended(new, happened, signal.SIGKILL) == -signal.SIGKILL:
            killed += 1
            middle += all(many.sides(old, new))
        many.finish(new)
        old, new = new, old
    assert (killed >= 50, middle >= 40) == (True, True), f"{killed} kills, {middle} of them in the middle"


@pytest.mark.slow
def test_an_interrupted_render_cleans_up(tmp_path: Path) -> None:
    """Ctrl-C while files are staged: exit 130, every file whole, the staging folder gone."""
    many = _Many(tmp_path)
    many.finish("one")
    old, new = "one", "two"
    for _ in range(20):
        staged = many.folder / ".kwokgen" / "new" / many.replaced(old, new)[9]
        code = many.ended(new, staged.exists, signal.SIGINT)
        if code == INTERRUPTED:
            many.sides(old, new)
            assert not (many.folder / ".kwokgen").exists()
            return
        assert code in {0, -signal.SIGINT}
        old, new = new, old
    pytest.fail("no interrupt came in time")


@pytest.mark.parametrize("spec", [QUICK, "controller: {run: outside}\n" + QUICK], ids=["gone", "kept"])
def test_a_kill_leaves_no_empty_folder_for_good(tmp_path: Path, spec: str) -> None:
    """A render that dies between a sub-folder's last file and the sub-folder itself: the next one takes it away."""
    folder = tmp_path / "out"
    to_folder(rendered(tmp_path, "controller: {run: outside}\n" + QUICK).bundle(), folder)
    new, last = rendered(tmp_path, QUICK).bundle(), rendered(tmp_path, spec).bundle()
    child = os.fork()
    if child == 0:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "rmdir", lambda _: os._exit(9))
            to_folder(new, folder)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert list((folder / "controller").iterdir()) == []
    to_folder(last, folder)
    to_folder(last, tmp_path / "fresh")
    assert _paths(folder) == _paths(tmp_path / "fresh")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Another render is at work in the folder."""
    (folder / ".kwokgen").mkdir()
    with (folder / ".kwokgen" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _waits(process: subprocess.Popen[bytes]) -> bool:
    """Whether a process waits for a lock, or has ended."""
    lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    return process.poll() is not None or any("->" in line and f" {process.pid} " in line for line in lines)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only /proc/locks says who waits")
def test_a_render_waits_for_another_and_writes_its_whole_bundle(tmp_path: Path) -> None:
    """What the other one has written meanwhile is replaced, also where this one found nothing to do before."""
    for name, spec in (("old", QUICK), ("new", QUICK.replace("count: 2", "count: 3"))):
        _written(tmp_path / f"{name}.yaml", blueprint(spec))
    folder = tmp_path / "out"
    assert command("render", "old.yaml", "-o", "out", cwd=tmp_path).returncode == 0
    with _locked(folder):
        process = subprocess.Popen(
            [sys.executable, "-m", "kwokgen", "render", "new.yaml", "-o", "out"], cwd=tmp_path, stderr=subprocess.PIPE
        )
        while not _waits(process):
            time.sleep(0.01)
        assert process.poll() is None
        other = rendered(tmp_path, QUICK, "pools.b.labels={x: z}").bundle()
        for path, data in contents(other).items():
            (folder / path).write_bytes(data)
    process.communicate()
    assert process.returncode == 0
    expected = contents(rendered(tmp_path, QUICK, "pools.a.count=3").bundle())
    assert [path for path, data in in_folder(folder).items() if expected.get(path) != data] == []


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only /proc/locks says who waits")
def test_a_render_that_waits_refuses_what_has_come_meanwhile(tmp_path: Path, quick: Path) -> None:
    """Another bundle was written into the folder: it stays whole."""
    folder = tmp_path / "out"
    folder.mkdir()
    with _locked(folder):
        process = subprocess.Popen(
            [sys.executable, "-m", "kwokgen", "render", str(quick), "-o", "out"], cwd=tmp_path, stderr=subprocess.PIPE
        )
        while not _waits(process):
            time.sleep(0.01)
        other = rendered(tmp_path, QUICK, name="other").bundle()
        for path, data in contents(other).items():
            _written(folder / path, data.decode())
    said = process.communicate()[1].decode()
    assert (process.returncode, said.count('belongs to the bundle "other"')) == (WRONG, len(other.files))
    assert in_folder(folder) == contents(other)
