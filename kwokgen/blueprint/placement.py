"""Placement: where the pods of a workload must be, in the words of the topology."""

from __future__ import annotations

from kwokgen.blueprint.scope import Data, Scope
from kwokgen.model.place import Place
from kwokgen.model.queue import Queues
from kwokgen.model.topology import Topology
from kwokgen.model.workload import Placement
from kwokgen.problem import unknown


def placement(scope: Scope, item: Data, at: Place, topology: Topology | None, queues: Queues) -> Placement | None:
    """What a workload says of it, if it can be said to what finds the places."""
    if "placement" not in item:
        return None
    written, where = item["placement"], at.below("placement")
    if topology is None:
        if "topology" not in scope.doubtful:
            scope.fail(at.key("placement"), "placement", "the blueprint has no topology to be within", "write topology")
        return None
    level = topology.level(written["within"])
    if level is None:
        names = [each.name for each in topology.levels]
        scope.problems.append(unknown(where.pos("within"), "level", written["within"], names, code="placement"))
        return None
    if not level.keys:
        message = f'no scheme of the topology has a label for the level "{level.name}"'
        scope.fail(where.pos("within"), "placement", message, "add a scheme that has one, or a key of your own")
        return None
    # Kueue lets in all pods of a job that run at once, or none.
    as_one = item["gang"] or (queues.place and queues.system.form == "kueue")
    if not as_one and scope.intact(at):
        message = "the scheduler puts pods into one place only as a gang"
        scope.fail(at.key("placement"), "placement", message, "write gang: true")
    if not written["required"] and not queues.place:
        message = "gangs of Kubernetes itself have no place that is only preferred"
        scope.fail(where.pos("required"), "placement", message, "write required: true, or leave out placement")
    return Placement(level.name, level.keys[0], written["required"])
