"""Pieces of exchanges of many partitions: they stay with the task that cut them, and each reader fetches its own.

A task for each piece lets the scheduler send it to its reader alone, and make it again where it was lost; it costs the
scheduler half a millisecond.  Of N partitions there would be N² such tasks: beyond `MOST_PIECES` readers are told where
all partitions were cut, and ask those workers themselves.  The driver keeps the tasks' results in memory, which workers
spill as others.  What a worker had that is lost cannot be made again for readers that know its address: the run begins
again.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from distributed import get_worker
from distributed.core import send_recv
from distributed.protocol import to_serialize
from distributed.utils import sync

MOST_PIECES = 256
"""That are tasks of their own."""
CONNECT_S, CONNECTIONS = 2.0, 15
"""How long to try to connect to a worker until the scheduler is asked whether it is lost, and how often to do that."""
Key = Any


class LostPieces(Exception):
    """A worker is lost that had pieces of an exchange, or a reader that had fetched some."""


class Place(NamedTuple):
    """The task that cut a partition, and the worker that has its pieces."""

    task: Key
    worker: str


class Places(tuple[Place, ...]):
    """Where all partitions were cut, in their order."""

    __slots__ = ()


def place_of(task: Key, pieces: Sequence[Any]) -> Place:
    """Return where a task's pieces are, which is where this is computed."""
    return Place(task, giving_worker().address)


def gathered(*places: Place) -> Places:
    """Put the places of all partitions together."""
    return Places(places)


def fetched(places: Places, target: int) -> list[Any]:
    """Return piece `target` of each partition, in order; they can be fetched again until they are let go.

    Raises
    ------
    LostPieces
        Where one is not there any more.
    """
    worker = giving_worker()
    pieces: list[Any] = sync(worker.loop, fetch, worker, places, target)
    return pieces


def let_go(places: Places, target: int) -> None:
    """Have workers forget pieces, which their reader has; what is not forgotten, one keeps until the end of the run."""
    worker = get_worker()
    worker.loop.add_callback(have_forgotten, worker, by_worker(places), target)


def giving_worker() -> Any:
    """Return the worker that this runs on, which from now on gives others what they ask for."""
    worker = get_worker()

    def gpuetl_give(tasks: Sequence[Key], target: int) -> dict[str, Any]:
        return give(worker, tasks, target)

    def gpuetl_forget(tasks: Sequence[Key], target: int) -> None:
        forget(worker, tasks, target)

    for handler in (gpuetl_give, gpuetl_forget):
        worker.handlers.setdefault(handler.__name__, handler)
    return worker


def by_worker(places: Iterable[Place]) -> Mapping[str, Sequence[Key]]:
    """Return the tasks that cut partitions, by worker."""
    of: defaultdict[str, list[Key]] = defaultdict(list)
    for place in places:
        of[place.worker].append(place.task)
    return of


async def fetch(worker: Any, places: Places, target: int) -> list[Any]:
    """Ask all workers at the same time; then those that have what is missing, since dask has moved it."""
    found = await asked(worker, by_worker(places), target)
    if left := [place.task for place in places if place.task not in found]:
        found |= await asked(worker, by_worker(await moved(worker, left)), target)
    if len(found) < len(places):
        raise LostPieces(f"{len(places) - len(found)} of {len(places)} pieces are not there any more")
    return [found[place.task] for place in places]


async def moved(worker: Any, tasks: Sequence[Key]) -> list[Place]:
    """Ask the scheduler where tasks' results are now; of those that are nowhere there is no place."""
    there = await worker.scheduler.who_has(keys=list(tasks))
    return [Place(task, addresses[0]) for task, addresses in there.items() if addresses]


async def asked(worker: Any, of: Mapping[str, Sequence[Key]], target: int) -> dict[Key, Any]:
    """Return what workers have of a piece of their tasks."""
    answers = await asyncio.gather(*(ask(worker, address, tasks, target) for address, tasks in of.items()))
    return {task: piece for answer in answers for task, piece in answer.items()}


async def ask(worker: Any, address: str, tasks: Sequence[Key], target: int) -> Mapping[Key, Any]:
    """Return what one has; nothing, where it is lost."""
    if address == worker.address:
        return held(worker, tasks, target)
    with suppress(OSError):
        return await answered(worker, address, tasks, target)
    return {}


async def answered(worker: Any, address: str, tasks: Sequence[Key], target: int) -> Mapping[Key, Any]:
    """Return what another worker has; raise `OSError` where it is lost."""
    comm = await connected(worker, address, tasks)
    try:
        answer = await send_recv(comm, op="gpuetl_give", tasks=list(tasks), target=target)
    finally:
        worker.rpc.reuse(address, comm)
    return dict(zip((tasks[at] for at in answer["places"]), answer["pieces"], strict=True))


async def connected(worker: Any, address: str, tasks: Sequence[Key]) -> Any:
    """Return a connection to a worker; raise `OSError` where it cannot be had, at once where the worker is lost.

    To connect is tried for half a minute otherwise: it may be busy.
    """
    for _ in range(CONNECTIONS):
        with suppress(OSError):
            return await worker.rpc.connect(address, timeout=CONNECT_S)
        if address not in {place.worker for place in await moved(worker, tasks)}:
            break
    raise OSError(f"the worker at {address} is lost, or does not answer")


async def have_forgotten(worker: Any, of: Mapping[str, Sequence[Key]], target: int) -> None:
    """Tell workers, one after another, and nothing to one that is lost."""
    for address, tasks in of.items():
        if address == worker.address:
            forget(worker, tasks, target)
        else:
            with suppress(OSError):
                await worker.rpc(address).gpuetl_forget(tasks=list(tasks), target=target)


def give(worker: Any, tasks: Sequence[Key], target: int) -> dict[str, Any]:
    """Answer another worker: the pieces that are here, and of which of the tasks they are, by their places."""
    found = held(worker, tasks, target)
    return {
        "places": [at for at, task in enumerate(tasks) if task in found],
        "pieces": [to_serialize(found[task]) for task in tasks if task in found],
    }


def forget(worker: Any, tasks: Sequence[Key], target: int) -> None:
    """Take note that a piece of some tasks is with its reader."""
    for task in held(worker, tasks, target):
        worker.data[task][target] = None


def held(worker: Any, tasks: Sequence[Key], target: int) -> dict[Key, Any]:
    """Return what is here of a piece of some tasks."""
    found = ((task, worker.data[task][target]) for task in tasks if task in worker.data)
    return {task: piece for task, piece in found if piece is not None}
