"""Kinds of workloads: what each of them has no word for, or says by itself."""

from __future__ import annotations

from kwokgen.blueprint.scope import Data, Scope
from kwokgen.model.place import Place
from kwokgen.model.queue import Queues
from kwokgen.model.workload import Kind
from kwokgen.problem import quoted

LASTING = {
    "run": "its pods run until they are deleted",
    "trace": "its pods run until they are deleted, and a trace says how long",
    "restartPolicy": "its pods are always restarted",
}
"""Words of workloads that end, and why others have none of them."""


def meant(scope: Scope, kind: Kind, item: Data, at: Place) -> Data:
    """The workload as its kind has it: with the name of its container, and without an end where it has none."""
    return _lasting(scope, kind, _called(scope, kind, item, at), at)


def _called(scope: Scope, kind: Kind, item: Data, at: Place) -> Data:
    written = at.raw("container", "name")
    if not kind.container:
        return item
    if written and written != kind.container:
        message = f'the main container of the kind {kind.name} is called "{kind.container}"'
        scope.fail(at.pos("container", "name"), "workload", message, "leave the name out")
    return {**item, "container": {**item["container"], "name": kind.container}}


def _lasting(scope: Scope, kind: Kind, item: Data, at: Place) -> Data:
    if kind.ends:
        return item
    for key, why in LASTING.items():
        if at.node.child(key):
            scope.fail(
                at.key(key), "workload", f"a workload of the kind {kind.name} has no {key}: {why}", "leave it out"
            )
    return {key: value for key, value in item.items() if key != "run"} | {"restartPolicy": "Always"}


def taken(scope: Scope, kind: Kind, item: Data, at: Place, queues: Queues) -> None:
    """Jobs of a queue whose system does not know them would pass it by, or wait for ever."""
    if kind.systems is not None and queues.form not in kind.systems and "queues" not in scope.doubtful:
        if queues.queues:
            message = f"{queues.system.name} is not known to take workloads of the kind {kind.name}"
        else:
            message = f"workloads of the kind {kind.name} are for queues, and the blueprint has none"
        scope.fail(at.pos("kind"), "workload", message, f"systems that take them: {quoted(kind.systems)}")
    if kind.bare and "run" not in item and scope.intact(at):
        message = f"workloads of the kind {kind.name} have a run: pods of no owner run on until it is over"
        scope.fail(at.pos(), "workload", message, "write run, such as 60s, with a lifecycle of pods: timed or general")
    for key in ("gang", "placement") if queues.form == "kueue" and kind.let_in == "pods" else ():
        if item.get(key):
            message = f"Kueue lets in each pod of the kind {kind.name} by itself"
            scope.fail(at.key(key), "workload", message, "leave it out, or take a kind that is let in as a whole")
    for key, least in kind.least.items():
        if key in item and item[key] < least:
            message = f"{key}: {item[key]} of the kind {kind.name} means another number"
            scope.fail(at.pos(key), "workload", message, f"{least} or more")
    if kind.letter and not item["name"][:1].isalpha() and scope.intact(at):
        message = f"names of the kind {kind.name} begin with a letter"
        scope.fail(at.pos("name"), "workload", message, "they become DNS labels of Services")
