"""Queues: names looked up, quotas in resources, and what no quota names filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kwokgen.blueprint.scope import Data, Scope, places, quantities
from kwokgen.blueprint.stock import counted, stock
from kwokgen.catalog import entries
from kwokgen.model import quota as amounts
from kwokgen.model.amounts import worth
from kwokgen.model.claim import DeviceClass
from kwokgen.model.cluster import Cluster
from kwokgen.model.place import Place
from kwokgen.model.pool import Pool
from kwokgen.model.queue import Cohort, Preemption, Queue, Queues, Quota, System, chain

DEFAULT = "default"


def queues(scope: Scope, spec: Data, at: Place, pools: tuple[Pool, ...], classes: tuple[DeviceClass, ...]) -> Queues:
    """Every queue, with what is written of its quotas only: `covered` adds the rest."""
    item, where = spec.get("queues", {"list": [], "cohorts": []}), at.below("queues")
    fact = scope.fact("systems", item.get("system", DEFAULT), where.pos("system"), "queue system")
    fact = fact or scope.catalog.get("systems", DEFAULT, where.pos("system"), "queue system")
    system = entries.system(fact)
    named = tuple(pool["name"] for pool in spec["pools"])
    there = stock(classes, pools)
    written = _Written(scope, {pool.name: pool for pool in pools}, named, system, there)
    return Queues(
        system=system,
        cohorts=_cohorts(scope, item, where),
        queues=written.queues(item["list"], where),
        classes={entry.name: counted(entry, pools, there) for entry in classes},
        stock=there,
        at=where,
    )


def covered(cluster: Cluster) -> Queues:
    """With the rest of what the workloads of each queue ask for: of a resource that no quota names, a queue has all."""
    pools = {pool.name: pool for pool in cluster.pools}
    return cluster.queues._replace(queues=tuple(_covered(cluster, queue, pools) for queue in cluster.queues.queues))


def _covered(cluster: Cluster, queue: Queue, pools: Mapping[str, Pool]) -> Queue:
    asked = [amounts.asked(workload, cluster.queues.classes) for workload in cluster.queued(queue.name)]
    # What comes to a queue that has no jobs yet may ask for anything.
    there = [] if asked else [amounts.resources(pools[quota.pool]) for quota in queue.quotas]
    names = {name for each in (*asked, *there, *(quota.amounts for quota in queue.quotas)) for name in each}
    return queue._replace(
        quotas=tuple(
            quota._replace(
                rest={
                    name: amounts.capacity(pools[quota.pool], name, cluster.queues.stock)
                    for name in sorted(names - {*quota.amounts})
                }
            )
            for quota in queue.quotas
        )
    )


def _cohorts(scope: Scope, item: Data, at: Place) -> tuple[Cohort, ...]:
    """Those that are written, and those that only queues name, the topmost first."""
    where = places(at, "cohorts", item["cohorts"])
    scope.distinct(item["cohorts"], where, "cohorts")
    done = {
        each["name"]: Cohort(each["name"], each.get("parent"), each.get("weight"), place)
        for each, place in zip(item["cohorts"], where, strict=True)
    }
    for queue, place in zip(item["list"], places(at, "list", item["list"]), strict=True):
        if "cohort" in queue:
            done.setdefault(queue["cohort"], Cohort(queue["cohort"], None, None, place.below("cohort")))
    for cohort in done.values():
        if cohort.parent is not None:
            scope.find(done, cohort.parent, cohort.at.pos("parent"), "cohort")
            if cohort.parent in done and cohort.name in chain(done.values(), cohort.parent):
                message = f'cohort "{cohort.name}" is above itself'
                scope.fail(cohort.at.pos("parent"), "queue", message, "the topmost cohort has no parent")
    return tuple(sorted(done.values(), key=lambda cohort: len(chain(done.values(), cohort.name))))


class _OfPool(NamedTuple):
    """Amounts of a pool, and where they are written."""

    amounts: dict[str, str]
    at: Place


@dataclass(frozen=True, slots=True, eq=False)
class _Written:
    """What is written of queues; `names` are those of every pool, understood or not."""

    scope: Scope
    pools: Mapping[str, Pool]
    names: tuple[str, ...]
    system: System
    stock: amounts.Stock

    def queues(self, items: list[Data], at: Place) -> tuple[Queue, ...]:
        """Every queue, of several of one name the first."""
        where = places(at, "list", items)
        self.scope.distinct(items, where, "queues")
        done: dict[str, Queue] = {}
        for queue in [self._queue(item, place) for item, place in zip(items, where, strict=True)]:
            done.setdefault(queue.name, queue)
        return tuple(done.values())

    def _queue(self, item: Data, at: Place) -> Queue:
        preemption = item.get("preemption", {})
        if self.scope.intact(at):
            self._alone(item, at, preemption)
        return Queue(
            name=item["name"],
            cohort=item.get("cohort"),
            quotas=self._quotas(item, at),
            lends=item["lend"],
            weight=item.get("weight"),
            preemption=Preemption(preemption.get("withinQueue", "Never"), preemption.get("withinCohort", "Never")),
            at=at,
        )

    def _alone(self, item: Data, at: Place, preemption: Mapping[str, str]) -> None:
        """Notes what is said of the others of a cohort, or of a quota, where there is none."""
        words = {
            ("borrow",): ("that it could borrow from", item["borrow"]),
            ("lend",): ("that it could lend to", not item["lend"]),
            ("preemption", "withinCohort"): (
                "whose jobs could make way",
                preemption.get("withinCohort", "Never") != "Never",
            ),
        }
        for path, (what, said) in words.items() if "cohort" not in item else ():
            if said:
                message = f'queue "{item["name"]}" is in no cohort {what}'
                self.scope.fail(at.pos(*path), "queue", message, f"name its cohort, or leave {path[-1]} out")
        if not item["lend"] and "quota" not in item:
            message = f'queue "{item["name"]}" has no quota that it could keep for itself'
            self.scope.fail(at.pos("lend"), "queue", message, "write its quota, or leave lend out")

    def _quotas(self, item: Data, at: Place) -> tuple[Quota, ...]:
        own = self._by_pool(item.get("quota", []), at, "quota")
        limits = self._by_pool(item["borrow"], at, "borrow") if isinstance(item["borrow"], list) else {}
        if "cohort" in item and self.scope.intact(at, at.below("quota")):
            self._beyond(own, limits)
        if "quota" not in item:
            return tuple(Quota(name, {}, {}, None, (), at) for name in self.pools)
        done = []
        for name, (found, place) in own.items():
            counted = {resource: amount for resource, amount in found.items() if self.system.counts(resource)}
            most = None if item["borrow"] is True else _limits(counted, limits[name].amounts if name in limits else {})
            done.append(Quota(name, counted, {}, most, tuple(sorted(found.keys() - counted.keys())), place))
        return tuple(done)

    def _beyond(self, own: Mapping[str, _OfPool], limits: Mapping[str, _OfPool]) -> None:
        """Notes limits of what the queue has no quota of."""
        for name, (found, at) in limits.items():
            if name not in own:
                message = f'the queue has no quota of "{name}" that it could borrow beyond'
                self.scope.fail(at.pos("pool"), "queue", message, "give it one, if only of 0")
                continue
            for resource in sorted(found.keys() - own[name].amounts.keys()) if self.scope.intact(own[name].at) else ():
                message = f'the queue has no quota of {resource} of "{name}" that it could borrow beyond'
                pos = at.key("resources", resource) if at.raw("resources", resource) else at.key("gpus")
                self.scope.fail(pos, "queue", message, "give it one, if only of 0")

    def _by_pool(self, items: list[Data], at: Place, key: str) -> dict[str, _OfPool]:
        done: dict[str, _OfPool] = {}
        for item, place in zip(items, places(at, key, items), strict=True):
            self.scope.find(dict.fromkeys(self.names, True), item["pool"], place.pos("pool"), "pool")
            if item["pool"] in done:
                message = f'two amounts of the pool "{item["pool"]}"'
                self.scope.fail(place.pos("pool"), "queue", message, "write one with all of its resources")
            elif item["pool"] in self.pools:
                done[item["pool"]] = _OfPool(self._amounts(item, place, self.pools[item["pool"]]), place)
        return done

    def _amounts(self, item: Data, at: Place, pool: Pool) -> dict[str, str]:
        done = quantities(item.get("resources", {}), at.below("resources"))
        for resource in done:
            if not worth(amounts.capacity(pool, resource, self.stock)):
                message = f'no node of the pool "{pool.name}" has {resource}'
                self.scope.fail(at.key("resources", resource), "queue", message, "leave it out, or name another pool")
        if "gpus" in item:
            self._gpus(item["gpus"], at, pool, done)
        return done

    def _gpus(self, count: int, at: Place, pool: Pool, done: dict[str, str]) -> None:
        resource = amounts.gpus(pool)
        if resource is None:
            hint = "name their devices in resources, as <class>/devices" if pool.gpus else "name another pool"
            self.scope.fail(at.pos("gpus"), "queue", f'the pool "{pool.name}" has no whole GPUs', hint)
        elif resource in done:
            message = f"gpus: {count} and {resource}: {done[resource]} say the same twice"
            self.scope.fail(at.key("resources", resource), "queue", message, "keep one of them")
        else:
            done[resource] = f"{count}"


def _limits(own: Mapping[str, str], most: Mapping[str, str]) -> dict[str, str]:
    """What no limit names is not borrowed."""
    return {name: most.get(name, "0") for name in own}
