"""A started process and its health address in; returns when it answers, raises its last words when it cannot."""

import ssl
import time
import urllib.error
import urllib.request
from pathlib import Path

from testbed.processes import Process

LIMIT = 90.0
LAST_LINES = 15
RACE = "fatal error: concurrent map"
"""KWOK 0.8 ends so when a node's Stages and a pod's are first compiled at one moment: it keeps what it knows of types in
a map without a lock (typeTraitMap, https://github.com/wzshiming/easycel/blob/v0.6.0/types.go)."""


class NotReadyError(Exception):
    """A program ended, or did not answer in time."""


def wait(process: Process, url: str, *, log: Path, certificate: Path, token: str = "") -> None:
    """Ask `url` until it says 200."""
    deadline = time.monotonic() + LIMIT
    opener = _opener(certificate, token)
    while not _answers(opener, url):
        still(process, log=log)
        if time.monotonic() > deadline:
            raise NotReadyError(f"{process.name} did not answer {url} within {LIMIT:.0f} s. {_last_words(log)}")
        time.sleep(0.05)


def still(process: Process, *, log: Path) -> None:
    """Raises NotReadyError when a process has ended."""
    if not process.alive():
        raise NotReadyError(f"{process.name} ended. {_last_words(log)}")


def raced(process: Process, *, log: Path) -> bool:
    """Whether KWOK has ended for no reason but its own, after which its Deployment would start it again."""
    return Path(process.command[0]).name == "kwok" and not process.alive() and RACE in log.read_text(errors="replace")


def _opener(certificate: Path, token: str) -> urllib.request.OpenerDirector:
    # No proxy: urllib would ask the one in the environment even for 127.0.0.1.
    trusting = urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=str(certificate)))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), trusting)
    opener.addheaders = [("Authorization", f"Bearer {token}")] if token else []
    return opener


def _answers(opener: urllib.request.OpenerDirector, url: str) -> bool:
    try:
        with opener.open(url, timeout=5):
            return True
    except OSError:
        return False


def _last_words(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:]
    return "\n  ".join([f"{log.name} ends:", *lines])
