"""What the Stages of pods that fail have in common: how their containers end, words put into templates, deadlines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kwokgen.resources._patches import text


def ended(exit_code: int, reason: str, message: str) -> str:
    """What a container that has ended says of it, but for the times."""
    said = f", message: {text(message)}" if message else ""
    return f"exitCode: {exit_code}, reason: {text(reason)}{said}"


def filled(template: str, words: Mapping[str, str]) -> str:
    """The template with each `@word@`; all at once, since what is put in may look like a place itself."""
    return re.sub(r"@(\w+)@", lambda found: words[found[1]], template)


def deadline(fallback: float, seconds: str, since: str) -> dict[str, Any]:
    """A delay until so many seconds after a moment, both in jq: every write to the pod starts a plain delay anew."""
    moment = f"([{since}][0] // .status.startTime | fromdateiso8601) + {seconds} | ceil | todateiso8601"
    return {"durationMilliseconds": int(fallback * 1000), "durationFrom": {"expressionFrom": moment}}
