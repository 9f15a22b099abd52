"""One process from its start to its end: wall time, peak memory, and how busy the machine was with other work."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from bench.reference import ROOT

CALM = 0.4
"""Cores busy with other work, the kernel's writing back included, up to which a run counts as undisturbed."""
JUDGED = 0.1
"""Seconds from which that can be told: /proc/stat counts in hundredths."""
ATTEMPTS = 4
# A shell may say PYTHONDONTWRITEBYTECODE, with which each start compiles kwokgen anew, or PYTHONUNBUFFERED.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


class Run(NamedTuple):
    """What a process took: `peak` in bytes, `others` in cores."""

    seconds: float
    peak: int
    others: float

    @property
    def disturbed(self) -> bool:
        """Whether other work took its time."""
        return self.others > CALM and self.seconds >= JUDGED


def run(command: Sequence[str], target: Path | None = None) -> Run:
    """A process with its stdout in a new file, or nowhere.

    Raises subprocess.CalledProcessError with its stderr when it fails.
    """
    with tempfile.TemporaryFile() as stderr, (target or Path(os.devnull)).open("wb") as stdout:
        busy, start = _busy(), time.perf_counter()
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, cwd=ROOT, env=ENVIRONMENT
        )
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        others = (_busy() - busy - usage.ru_utime - usage.ru_stime) / seconds
        # Popen did not see the end, and would wait for it.
        child.returncode = os.waitstatus_to_exitcode(status)
        _succeeded(child.returncode, command, stderr)
    return Run(seconds, usage.ru_maxrss * 1024, others)


def calm(measured: Callable[[], Run]) -> Run:
    """The first run that nothing disturbed, else the least disturbed one."""
    runs: list[Run] = []
    for _ in range(ATTEMPTS):
        settle()
        runs.append(measured())
        if not runs[-1].disturbed:
            break
    return min(runs, key=lambda one: one.others)


def settle() -> None:
    """Waits until the bytes of earlier runs are on the disk."""
    os.sync()
    time.sleep(0.2)


def remove(path: Path) -> None:
    """Takes a file or folder away."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def median(values: Sequence[float]) -> float:
    """The middle one; the statistics module would grow the processes' memory, which starts as a copy of ours."""
    return sorted(values)[len(values) // 2]


def floor() -> int:
    """Our own peak memory in bytes: Linux counts it for a child until the child is another program."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _busy() -> float:
    """Seconds that all cores have worked since the start, what a hypervisor took away included."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0
    with stat.open() as lines:
        user, nice, system, _, _, interrupt, soft, stolen = map(int, lines.readline().split()[1:9])
    return (user + nice + system + interrupt + soft + stolen) / os.sysconf("SC_CLK_TCK")


def _succeeded(code: int, command: Sequence[str], stderr: IO[bytes]) -> None:
    if code:
        stderr.seek(0)
        raise subprocess.CalledProcessError(code, list(command), stderr=stderr.read().decode(errors="replace"))
