"""Pieces of exchanges of many partitions: they stay with the task that cut them, and each reader fetches its own.

A task for each piece lets the scheduler send it to its reader alone, and make it again where it was lost; it costs the
scheduler half a millisecond.  Of N partitions there would be N² such tasks.  Beyond `MOST_PIECES` a reader gets the
places where partitions were cut, and asks those workers itself.  The driver holds futures of these tasks, so that
workers do not drop the pieces.  If a worker is lost that had pieces, or had fetched
some, the run begins again.

A result is spilled and read back as a whole, for each of its pieces: exchanges that may be are left to tasks.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import Any, NamedTuple

from distributed import get_worker
from distributed.core import send_recv
from distributed.utils import sync

from gpuetl.errors import GpuetlError
from gpuetl.executors.dask.liveness import ask
from gpuetl.executors.dask.spillable_frames import batched
from gpuetl.physical.nodes import Exchange
from gpuetl.physical.size_estimates import estimated_bytes

MOST_PIECES = 256
"""Of an exchange, that are tasks of their own."""
CONCURRENT_REQUESTS = 8
"""Workers: each packs what it gives, a second copy for a while."""
CONNECT_S, CONNECTIONS = 2.0, 15
"""How long to try to connect to a worker until the scheduler is asked whether it is lost, and how often to do that."""
Key = Any


class LostPieces(GpuetlError):
    """A worker is lost that had pieces of an exchange, or a reader that had fetched some."""


class Place(NamedTuple):
    """The task that cut a partition, and the worker that has its pieces."""

    task: Key
    worker: str


class Places(tuple[Place, ...]):
    """Where all partitions were cut, in their order."""

    __slots__ = ()


def has_many_pieces(node: Exchange) -> bool:
    """Tell whether an exchange has more pieces than shall be tasks."""
    return not node.whole and node.partitions > 1 and node.partitions * node.source.partitions > MOST_PIECES


def fit_in_memory(client: Any, exchanges: Sequence[Exchange]) -> bool:
    """Tell whether what exchanges cut is expected to stay where it is: other results may take half of the room."""
    memory = ask(client, lambda: client.run(result_memory, on_error="ignore")) if exchanges else {}
    shares = [estimated_bytes(node.source) / max(len(memory), 1) for node in exchanges]
    return max(shares, default=0) <= min(memory.values(), default=inf) / 2


def result_memory(dask_worker: Any) -> float:
    """Return the bytes that results may take on a worker, of a GPU on that, until it moves some elsewhere."""
    data = dask_worker.data
    return float(getattr(getattr(getattr(data, "device_buffer", data), "fast", None), "n", inf))


def place_of(task: Key, pieces: Sequence[Any]) -> Place:
    """Return where a task's pieces are, which is where this is computed."""
    return Place(task, serving_worker().address)


def all_places(*places: Place) -> Places:
    """Put the places of all partitions together."""
    return Places(places)


def fetch_pieces(places: Places, target: int) -> list[Any]:
    """Return piece `target` of each partition, in order; they can be fetched again until they are let go.

    Raises
    ------
    LostPieces
        Where one is not there any more.
    """
    worker = serving_worker()
    pieces: list[Any] = sync(worker.loop, fetch, worker, places, target)
    return pieces


def release_pieces(places: Places, target: int) -> None:
    """Have workers forget pieces, which their reader has; what is not forgotten, one keeps until the end of the run."""
    worker = get_worker()
    worker.loop.add_callback(send_releases, worker, by_worker(places), target)


def serving_worker() -> Any:
    """Return the worker that this runs on, which from now on gives others what they ask for."""
    worker = get_worker()

    def gpuetl_serve(tasks: Sequence[Key], target: int) -> dict[str, Any]:
        return serve_pieces(worker, tasks, target)

    def gpuetl_release(tasks: Sequence[Key], target: int) -> None:
        release(worker, tasks, target)

    for handler in (gpuetl_serve, gpuetl_release):
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
    found = await request_pieces(worker, by_worker(places), target)
    if missing := [place.task for place in places if place.task not in found]:
        found |= await request_pieces(worker, by_worker(await locate(worker, missing)), target)
    if len(found) < len(places):
        raise LostPieces(f"{len(places) - len(found)} of {len(places)} pieces are not there any more")
    return [found[place.task] for place in places]


async def locate(worker: Any, tasks: Sequence[Key]) -> list[Place]:
    """Ask the scheduler where tasks' results are now; of those that are nowhere there is no place."""
    there = await worker.scheduler.who_has(keys=list(tasks))
    return [Place(task, addresses[0]) for task, addresses in there.items() if addresses]


async def request_pieces(worker: Any, of: Mapping[str, Sequence[Key]], target: int) -> dict[Key, Any]:
    """Return what workers have of a piece of their tasks; each reader begins with another worker."""
    some, order = asyncio.Semaphore(CONCURRENT_REQUESTS), sorted(of)
    first = target % len(order) if order else 0

    async def ask(address: str) -> Mapping[Key, Any]:
        async with some:
            return await pieces_at(worker, address, of[address], target)

    answers = await asyncio.gather(*map(ask, order[first:] + order[:first]))
    return {task: piece for answer in answers for task, piece in answer.items()}


async def pieces_at(worker: Any, address: str, tasks: Sequence[Key], target: int) -> Mapping[Key, Any]:
    """Return what one has; nothing, where it is lost."""
    if address == worker.address:
        return pieces_here(worker, tasks, target)
    with suppress(OSError):
        return await remote_pieces(worker, address, tasks, target)
    return {}


async def remote_pieces(worker: Any, address: str, tasks: Sequence[Key], target: int) -> Mapping[Key, Any]:
    """Return what another worker has; raise `OSError` where it is lost."""
    answer = await call_worker(worker, address, "gpuetl_serve", tasks, target)
    if answer is None:  # it was started anew, and does not know what is asked
        return {}
    return dict(zip((tasks[at] for at in answer["places"]), answer["pieces"], strict=True))


async def call_worker(worker: Any, address: str, operation: str, tasks: Sequence[Key], target: int) -> Any:
    """Have another worker do one of the operations of `serving_worker`; raise `OSError` where it is lost."""
    comm = await connect(worker, address, tasks)
    try:
        return await send_recv(comm, op=operation, tasks=list(tasks), target=target)
    except BaseException:
        comm.abort()  # what is left in it of an answer would be taken for the next one's
        raise
    finally:
        worker.rpc.reuse(address, comm)


async def connect(worker: Any, address: str, tasks: Sequence[Key]) -> Any:
    """Return a connection to a worker; raise `OSError` where it cannot be had, at once where the worker is lost.

    To connect is tried for half a minute otherwise: it may be busy.
    """
    for _ in range(CONNECTIONS):
        with suppress(OSError):
            return await worker.rpc.connect(address, timeout=CONNECT_S)
        if address not in {place.worker for place in await locate(worker, tasks)}:
            break
    raise OSError(f"the worker at {address} is lost, or does not answer")


async def send_releases(worker: Any, of: Mapping[str, Sequence[Key]], target: int) -> None:
    """Tell workers, but none that is lost."""
    for address, tasks in of.items():
        if address == worker.address:
            release(worker, tasks, target)
            continue
        with suppress(OSError, RuntimeError):  # it is lost, or this worker ends
            await call_worker(worker, address, "gpuetl_release", tasks, target)


def serve_pieces(worker: Any, tasks: Sequence[Key], target: int) -> dict[str, Any]:
    """Answer another worker: the pieces that are here, and the positions of their tasks in `tasks`."""
    found = pieces_here(worker, tasks, target)
    return {
        "places": [at for at, task in enumerate(tasks) if task in found],
        "pieces": batched([found[task] for task in tasks if task in found]),
    }


def release(worker: Any, tasks: Sequence[Key], target: int) -> None:
    """Take note that a piece of some tasks is with its reader.

    A worker weighs results when it gets them: where all of one are gone, it gets it again.
    """
    for task in pieces_here(worker, tasks, target):
        pieces = worker.data[task]
        pieces[target] = None
        if not any(piece is not None for piece in pieces):
            worker.data[task] = pieces


def pieces_here(worker: Any, tasks: Sequence[Key], target: int) -> dict[Key, Any]:
    """Return what is here of a piece of some tasks."""
    found = ((task, worker.data[task][target]) for task in tasks if task in worker.data)
    return {task: piece for task, piece in found if piece is not None}
