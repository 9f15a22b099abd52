"""Workloads: what their pods ask for, and the nodes they may use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kwokgen import formats
from kwokgen.blueprint import kinds, roles, times
from kwokgen.blueprint.containers import container, tolerations
from kwokgen.blueprint.failures import failing
from kwokgen.blueprint.placement import placement
from kwokgen.blueprint.policies import policies
from kwokgen.blueprint.scope import Data, Scope, places
from kwokgen.blueprint.traced import expanded
from kwokgen.catalog import entries
from kwokgen.model.claim import Claim, DeviceClass
from kwokgen.model.length import Length
from kwokgen.model.lifecycle import Lifecycle
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.queue import Queues
from kwokgen.model.topology import Topology
from kwokgen.model.workload import Container, Workload
from kwokgen.problem import Pos, quoted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parts:
    """The parts of the blueprint that a workload refers to; `written_pools` names those with problems as well."""

    scope: Scope
    pools: Mapping[str, Pool]
    claims: Mapping[str, Claim]
    classes: tuple[DeviceClass, ...]
    lifecycles: tuple[Lifecycle, ...]
    namespaces: tuple[str, ...]
    written_pools: tuple[str, ...]
    queues: Queues
    seed: int
    topology: Topology | None

    def workloads(self, spec: Data, at: Place) -> tuple[Workload, ...]:
        """Every workload that could be understood."""
        items = spec.get("workloads", [])
        where = places(at, "workloads", items)
        self.scope.distinct(items, where, "workloads")
        made = [each for item, place in zip(items, where, strict=True) for each in self._workloads(item, place)]
        return tuple(workload for workload in made if workload)

    def _workloads(self, item: Data, at: Place) -> Iterator[Workload | None]:
        if "trace" not in item:
            yield self._whole(item, at)
        # A file that could not be read is still its name, which is told already.
        elif isinstance(item["trace"], list):
            yield from self._traced(item, at)

    def _traced(self, item: Data, at: Place) -> Iterator[Workload | None]:
        for traced in expanded(self.scope, item, at, self._pools(item, at)):
            workload = self._whole(traced.item, at)
            yield traced.timed(workload) if workload else None

    def _whole(self, item: Data, at: Place) -> Workload | None:
        made = self._of_roles(item, at) if "roles" in item else self._workload(item, at)
        return failing(self.scope, made, item, self.seed) if made else None

    def _of_roles(self, item: Data, at: Place) -> Workload | None:
        parts = [part for words, place in roles.split(item, at) if (part := self._workload(words, place, at))]
        if parts:
            roles.check(self.scope, parts[0].kind, item, at)
        if len(parts) < len(item["roles"]):
            return None
        return roles.whole(parts, [role["name"] for role in item["roles"]], at)

    def _workload(self, item: Data, at: Place, whole: Place | None = None) -> Workload | None:
        fact = self.scope.fact("workloads", item["kind"], at.pos("kind"), "kind of workload")
        lifecycle = self._lifecycle(item, at)
        namespace = item.get("namespace", self.namespaces[0])
        self.scope.find(dict.fromkeys(self.namespaces, True), namespace, at.pos("namespace"), "namespace")
        pools = self._pools(item, at)
        claims = self._claims(item, at, namespace)
        kind = entries.workload(fact) if fact else None
        if kind:
            item = kinds.meant(self.scope, kind, item, at)
        container = self._container(item, at, pools)
        if fact is None or kind is None or lifecycle is None:
            return None
        kinds.taken(self.scope, kind, item, whole or at, self.queues)
        return Workload(
            name=item["name"],
            kind=kind,
            namespace=namespace,
            count=item["count"],
            pods=item["pods"],
            parallelism=self._parallelism(item, at),
            gang=item["gang"],
            placement=placement(self.scope, item, at, self.topology, self.queues),
            pools=pools,
            all_pools="pools" not in item,
            tolerations=tolerations(pools),
            claims=claims,
            container=container,
            init_containers=self._init_containers(item, at, container),
            labels=item.get("labels", {}),
            annotations=item.get("annotations", {}),
            restart_policy=item["restartPolicy"],
            suspend=item["suspend"],
            policies=policies(self.scope, item, at, fact),
            lifecycle=lifecycle,
            default_lifecycle=lifecycle is self.lifecycles[0],
            run=self._run(item, at, lifecycle),
            arrival=times.arrival(self.scope, item, at),
            failures=(),
            queue=self._queue(item, whole or at),
            priority=item.get("priority"),
            unpulled=(),
            template=entries.template(fact),
            at=at,
        )

    def _lifecycle(self, item: Data, at: Place) -> Lifecycle | None:
        named = {lifecycle.name: lifecycle for lifecycle in self.lifecycles}
        wanted = item.get("lifecycle", self.lifecycles[0].name)
        return self.scope.find(named, wanted, at.pos("lifecycle"), "lifecycle of pods")

    def _queue(self, item: Data, at: Place) -> str | None:
        """The only queue is everybody's: of several, a job without one would pass all quotas by."""
        names = [queue.name for queue in self.queues.queues]
        if "queue" in item:
            return (
                item["queue"]
                if self.scope.find(dict.fromkeys(names, True), item["queue"], at.pos("queue"), "queue")
                else None
            )
        if len(names) > 1 and self.scope.intact(at):
            self.scope.fail(at.pos(), "queue", f"the workload says none of the queues {quoted(names)}", "add queue")
        return names[0] if len(names) == 1 else None

    def _parallelism(self, item: Data, at: Place) -> int:
        wanted: int = item.get("parallelism") or item["pods"]
        if wanted > item["pods"] and self.scope.intact(at):
            message = f"{wanted} pods at once are more than the job's {item['pods']}"
            self.scope.fail(at.pos("parallelism"), "workload", message, "raise pods, or lower parallelism")
        return wanted

    def _pools(self, item: Data, at: Place) -> tuple[Pool, ...]:
        if "pools" not in item:
            return tuple(self.pools.values())
        found = []
        for index, name in enumerate(item["pools"]):
            self.scope.find(dict.fromkeys(self.written_pools, True), name, at.pos("pools", index), "pool")
            if name in self.pools:
                found.append(self.pools[name])
        return tuple(found)

    def _claims(self, item: Data, at: Place, namespace: str) -> tuple[Claim, ...]:
        found: list[Claim] = []
        for index, name in enumerate(item.get("claims", ())):
            claim = self.scope.find(self.claims, name, at.pos("claims", index), "claim")
            if claim and claim.namespace != namespace and self._homes_known(namespace, claim, at):
                message = f'claim "{name}" is in namespace "{claim.namespace}", the pods are in "{namespace}"'
                self.scope.fail(at.pos("claims", index), "workload", message, "pods use claims of their own namespace")
            if claim:
                self._reference(claim, found, at.pos("claims", index))
                found.append(claim)
            if claim and claim.of_gang and not item["gang"] and self.scope.intact(at):
                message = f'claim "{name}" is one of each gang, and the workload has none'
                self.scope.fail(at.pos("claims", index), "workload", message, "write gang: true, or share it otherwise")
        return tuple(found)

    def _homes_known(self, namespace: str, claim: Claim, at: Place) -> bool:
        return {namespace, claim.namespace} <= {*self.namespaces} and self.scope.intact(at, claim.at)

    def _reference(self, claim: Claim, before: list[Claim], pos: Pos) -> None:
        """Containers name a claim of their pod by a DNS label."""
        if len(claim.reference) > formats.MOST_LABEL:
            message = f'containers call the claim "{claim.reference}", which has {len(claim.reference)} characters'
            self.scope.fail(pos, "workload", f"{message}, {formats.MOST_LABEL} is the most", "give it a shorter name")
        same = next((other for other in before if other.reference == claim.reference), None)
        if same:
            message = f'containers call both "{same.name}" and "{claim.name}" by the name "{claim.reference}"'
            self.scope.fail(pos, "workload", message, "give one of them another name")

    def _container(self, item: Data, at: Place, pools: tuple[Pool, ...]) -> Container:
        where = at.below("container") if at.node.child("container") else at
        extra: dict[str, str] = {}
        given = item["container"].get("resources", {})
        if "gpus" in item:
            known = (pool.resource for pool in pools if pool.resource in given)
            resource = self._resource(at, pools) if item["gpus"] else next(known, None)
            if resource and resource in given:
                what = "say the same twice" if item["gpus"] else "contradict each other"
                message = f"gpus: {item['gpus']} and {resource}: {given[resource]} {what}"
                self.scope.fail(at.pos("container", "resources", resource), "workload", message, "keep one of them")
            if resource and item["gpus"]:
                extra[resource] = str(item["gpus"])
        return container(item["container"], where, extra)

    def _resource(self, at: Place, pools: tuple[Pool, ...]) -> str | None:
        by_class = {entry.name: entry.resource for entry in self.classes if entry.resource}
        offered = {offer.name for pool in pools for devices in pool.published for offer in devices.offers}
        names = {pool.resource for pool in pools if pool.resource}
        names |= {resource for name, resource in by_class.items() if name in offered}
        if len(names) == 1:
            return names.pop()
        if names:
            message = f"the pools have GPUs of several resources: {quoted(names)}"
            self.scope.fail(
                at.pos("gpus"), "workload", message, "name the pools, or write the resource in container.resources"
            )
        elif pools and "pools" not in self.scope.doubtful:
            message = f"the pools {quoted(pool.name for pool in pools)} expose no GPUs as an extended resource"
            self.scope.fail(
                at.pos("gpus"),
                "workload",
                message,
                "use claims, expose: extended-resource on the pool, or an extendedResourceName of its class",
            )
        return None

    def _init_containers(self, item: Data, at: Place, main: Container) -> tuple[Container, ...]:
        items = item["initContainers"]
        where = places(at, "initContainers", items)
        self.scope.distinct([{"name": main.name}, *items], [at.below("container"), *where], "containers of the pod")
        return tuple(container(entry, place, {}) for entry, place in zip(items, where, strict=True))

    def _run(self, item: Data, at: Place, lifecycle: Lifecycle) -> Length | None:
        run: Any = item.get("run")
        if run is None:
            return None
        if not lifecycle.takes_run and ("lifecycle" in item or "lifecycles" not in self.scope.doubtful):
            message = f'pods of the lifecycle "{lifecycle.name}" ({lifecycle.profile}) take no run time of their own'
            self.scope.fail(at.key("run"), "workload", message, "use a lifecycle with pods: timed or general")
        return times.length(self.scope, run, at, "run", "workload")
