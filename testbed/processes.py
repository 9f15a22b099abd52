"""Command lines in, processes out that are stopped by id: by us, by a later run, or by the kernel when we are killed.

A tied process dies with us through PR_SET_PDEATHSIG: no supervisor that could itself be killed, nothing to poll. The
kernel watches the thread that forked, not the process, so tied processes are started from the main thread only.
"""

import ctypes
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

PR_SET_PDEATHSIG = 1
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Loaded before any fork: the child may only call it.
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, kw_only=True)
class Process:
    """A started program. `child` is there only in the Python process that started it."""

    name: str
    pid: int
    command: tuple[str, ...]
    port: int
    child: "subprocess.Popen[bytes] | None" = field(default=None, compare=False, repr=False)

    def alive(self) -> bool:
        """Whether this id still runs our command: an id is given again, and a zombie has no command."""
        try:
            said = Path(f"/proc/{self.pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            return False
        return said == b"".join(word.encode() + b"\0" for word in self.command)


def find(command: Sequence[str]) -> int | None:
    """The id of the process that runs exactly this command, if there is one."""
    wanted = b"".join(word.encode() + b"\0" for word in command)
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(FileNotFoundError, ProcessLookupError):
            if file.read_bytes() == wanted:
                return int(file.parent.name)
    return None


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP, raised where Python was, so that context managers clean up (and pytest stops)."""


def interrupt_on_termination() -> None:
    """Let SIGTERM and SIGHUP raise Terminated, unless somebody handles them already."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _terminate)


def _terminate(number: int, _: FrameType | None) -> None:
    raise Terminated(signal.Signals(number).name)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C and SIGTERM back until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def start(
    name: str, command: Sequence[str], *, log: Path, port: int, tied: bool,
    etc: Path | None = None, environment: Mapping[str, str] | None = None,
) -> Process:  # fmt: skip
    """Start `command` in a session of its own (a terminal's Ctrl-C is ours to handle), output in `log`.

    With `etc` it finds that folder in the place of /etc, and nobody else does; `environment` is added to ours.
    """
    if tied and threading.current_thread() is not threading.main_thread():
        raise RuntimeError(f"{name} would die with this thread; start it from the main thread")
    prepare = _preparation(os.getpid() if tied else None, etc)
    with log.open("wb") as output:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
            env=os.environ | dict(environment or {}),
            preexec_fn=prepare,  # noqa: PLW1509 - it takes no lock that another thread could hold
        )  # fmt: skip
    return Process(name=name, pid=child.pid, command=tuple(command), port=port, child=child)


def _preparation(parent: int | None, etc: Path | None) -> Callable[[], None]:
    def prepare() -> None:
        if etc:
            _replace_etc(os.fsencode(etc))
        # Started inside uninterrupted(), the program would never see SIGTERM.
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if parent is None:
            return
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


def _replace_etc(folder: bytes) -> None:
    """In a mount namespace of its own; who is not root may have one within a user namespace of its own."""
    if _libc.unshare(CLONE_NEWNS) and _libc.unshare(CLONE_NEWUSER | CLONE_NEWNS):
        raise OSError(ctypes.get_errno(), "no mount namespace")
    private = _libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    if private or _libc.mount(folder, b"/etc", None, MS_BIND, None):
        raise OSError(ctypes.get_errno(), "no mount over /etc")


def stop(processes: Sequence[Process], patience: float = 2.0) -> None:
    """SIGTERM to all, SIGKILL to those that live on (the API server drains for a minute); returns when all are gone."""
    with uninterrupted(), ExitStack() as closing:
        running = [handle for process in processes if (handle := _handle(process)) is not None]
        for handle in running:
            closing.callback(os.close, handle)
        for number, seconds in ((signal.SIGTERM, patience), (signal.SIGKILL, 10.0)):
            for handle in running:
                signal.pidfd_send_signal(handle, number)
            running = _still_running(running, seconds)
    for process in processes:
        if process.child:
            process.child.wait()


def _handle(process: Process) -> int | None:
    # The handle first, the check after it: from then on the id cannot come to mean another process.
    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return None
    if process.alive():
        return handle
    os.close(handle)
    return None


def _still_running(handles: list[int], seconds: float) -> list[int]:
    deadline = time.monotonic() + seconds
    poll, left = select.poll(), set(handles)
    for handle in handles:
        poll.register(handle, select.POLLIN)
    while left and (rest := deadline - time.monotonic()) > 0:
        for handle, _ in poll.poll(rest * 1000):
            poll.unregister(handle)
            left.discard(handle)
    return [handle for handle in handles if handle in left]
