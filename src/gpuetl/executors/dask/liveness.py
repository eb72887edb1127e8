"""Watches the scheduler and the workers of a run: who is silent for too long is given up.

A worker sends heartbeats from the thread of its event loop, so a task that only takes long does not delay them.  A
process that is stopped, a dead link, or a task that holds the GIL all the time does.  A thread of the driver asks the
scheduler every second or two when it last heard of each worker.  It counts only time in which it got answers itself:
when the driver or the scheduler was stopped, all others seem silent for a moment.

A given-up worker is killed by its nanny and started again.  One without a nanny, or with a nanny that does not answer,
is removed, and its connections to other workers are cut: they might wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from socket import gethostname
from threading import Event, Thread
from time import monotonic
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from distributed.core import rpc
from distributed.scheduler import heartbeat_interval

from gpuetl.errors import RunFailed
from gpuetl.messages import coded

Answer = TypeVar("Answer")
MAX_INTERVAL_S = 2.0
HEARTBEATS = 4
"""Heartbeats that a worker may miss.  A scheduler with many workers asks each for fewer heartbeats."""
NANNY_S, KILL_S = 5.0, 2.0
"""How long a nanny may take to answer, and the worker to end before its nanny kills it."""
WAKE_S = 0.2


class LostWorker(NamedTuple):
    """A worker that was silent for too long, its host, and whether its nanny starts it again."""

    address: str
    host: str
    restarted: bool


class Watch:
    """Watches the cluster of a client, from `start` to `stop`.

    `failed` is why the run cannot continue.  `lost_workers` has the workers that were given up, by address; `workers`
    has those that the scheduler knows.  A silent worker is given up only if this run waits for it: during a call to all
    workers, or when it has tasks of a job in `jobs`.  Other jobs on the cluster may know why a worker is silent.
    """

    def __init__(self, client: Any, timeout_s: float) -> None:
        self.client, self.timeout_s = client, timeout_s
        self.address = client.scheduler.address
        self.failed: RunFailed | None = None
        self.lost_workers: dict[str, LostWorker] = {}
        self.workers: Mapping[str, Any] = {}
        self.jobs: set[str] = set()
        self.asking = 0
        self.last_seen: dict[str, tuple[float, float]] = {}
        self.ended = Event()
        self.thread = Thread(target=self.watch, name="gpuetl-watch", daemon=True)

    @property
    def interval_s(self) -> float:
        """How often to look at the cluster."""
        return min(MAX_INTERVAL_S, self.timeout_s / 5)

    def watch(self) -> None:
        """Look at the cluster again and again."""
        before = monotonic()
        while self.failed is None and not self.ended.wait(self.interval_s):
            workers = self.scheduler_workers()
            if workers is None:
                return
            now = monotonic()
            self.workers = workers
            for address in self.silent(workers, min(now - before, 2 * self.interval_s)):
                self.drop_worker(address)
            before = monotonic()

    def scheduler_workers(self) -> Mapping[str, Any] | None:
        """Ask the scheduler what it knows of workers; return None where the run has ended, or cannot go on."""
        try:
            answer = self.answer(lambda: self.client.scheduler.identity(n_workers=-1), self.timeout_s)
        except (OSError, AttributeError, RuntimeError):  # it has gone: who waits for tasks hears that
            self.ended.wait(self.interval_s)
            return self.workers
        if answer is None and not self.ended.is_set():
            self.failed = RunFailed(
                coded(
                    "GE2040",
                    f"the scheduler at {self.address} did not answer for {self.timeout_s:g} s.\n"
                    "Look at its process and at the link to its host, and run again.  --worker-timeout says how long "
                    "to wait.",
                )
            )
        return None if answer is None else answer["workers"]

    def answer(self, call: Callable[[], Any], timeout_s: float) -> Any:
        """Return what a coroutine of the client gives, or None where it takes too long, or the run has ended."""

        async def called() -> Any:
            return await call()

        future: Future[Any] = asyncio.run_coroutine_threadsafe(called(), self.client.loop.asyncio_loop)
        waited = 0.0
        while waited < timeout_s and not self.ended.is_set():
            start = monotonic()
            try:
                return future.result(WAKE_S)
            except NotYet:
                if future.done():  # an answer, which says so
                    raise OSError("timed out") from None
            except CancelledError:
                return None
            waited += min(monotonic() - start, 2 * WAKE_S)  # this process may have been stopped meanwhile
        future.cancel()
        return None

    def silent(self, workers: Mapping[str, Any], elapsed_s: float) -> list[str]:
        """Count the seconds for which workers are silent; return those for which these are too many."""
        limit = max(self.timeout_s, HEARTBEATS * heartbeat_interval(len(workers)))
        for address, info in workers.items():
            last, silent = self.last_seen.get(address, (None, 0.0))
            self.last_seen[address] = info["last_seen"], silent + elapsed_s if info["last_seen"] == last else 0.0
        return [address for address in workers if self.last_seen[address][1] > limit]

    def drop_worker(self, address: str) -> None:
        """Have the scheduler give a worker up, if the run waits for it."""
        jobs = None if self.asking else tuple(self.jobs)
        found = None
        with suppress(Exception):  # the run has ended, or the scheduler has: who waits for tasks hears that
            run = self.client.run_on_scheduler
            found = in_thread(lambda: run(remove_worker, address, jobs), self.check_ended, NANNY_S + self.timeout_s)
        if found is None:
            return
        restarted, left = found
        self.lost_workers[address] = LostWorker(address, host_of(address), restarted)
        if left and not restarted:
            Thread(
                target=close_connections_on, args=(self.client, address, left), name="gpuetl-cut", daemon=True
            ).start()
        if not left and not restarted:
            self.failed = self.no_worker_left()

    def no_worker_left(self) -> RunFailed:
        """Word that no worker is left, naming those that were given up."""
        names = ", ".join(f"{worker.address} on host {worker.host}" for worker in self.lost_workers.values())
        return RunFailed(
            coded(
                "GE2041",
                f"no worker is left: {names} sent no heartbeat for {self.timeout_s:g} s.\n"
                "Look at the process and at the link to its host, and run again.  A task that holds the GIL for longer "
                "needs a larger --worker-timeout.",
            )
        )

    def answer_lost(self) -> RunFailed:
        """Word why a call got no answer: the scheduler has ended, or a worker whose answer it waited for."""
        try:
            there = self.answer(lambda: self.client.scheduler.identity(n_workers=0), self.timeout_s) is not None
        except (OSError, AttributeError, RuntimeError):
            there = False
        if not there:
            return self.scheduler_lost()
        return RunFailed(
            coded(
                "GE3006",
                "a worker of the cluster ended while the run waited for its answer.\nIts log says why.  If other "
                "processes use the GPU or the host's memory, stop them, and run again.",
            )
        )

    def scheduler_lost(self) -> RunFailed:
        """Word that the scheduler has ended."""
        return RunFailed(coded("GE3005", f"the scheduler of the cluster is not there any more: {self.address}"))

    def warnings(self) -> list[str]:
        """Return a warning for each worker that was given up."""
        return [
            coded(
                "GE2042",
                f"the worker at {worker.address} on host {worker.host} sent no heartbeat for {self.timeout_s:g} s, and "
                f"was {'started again' if worker.restarted else 'given up'}; its work was done again",
            )
            for worker in self.lost_workers.values()
        ]

    def check(self) -> None:
        """Raise `RunFailed` where the run cannot go on."""
        if self.failed is not None:
            raise self.failed

    def check_ended(self) -> None:
        """Raise `RuntimeError` where the run has ended."""
        if self.ended.is_set():
            raise RuntimeError("the run has ended")

    def start(self) -> None:
        """Begin to watch."""
        self.thread.start()

    def stop(self) -> None:
        """End it."""
        self.ended.set()
        self.thread.join()


_WATCHES: dict[int, Watch] = {}
"""The watch of each client, by its id, while a run uses it."""


@contextmanager
def watching(client: Any, timeout_s: float) -> Iterator[Watch]:
    """Watch the cluster of a client while the block lasts; where it is watched already, change the time meanwhile."""
    if (watch := _WATCHES.get(id(client))) is not None:
        before, watch.timeout_s = watch.timeout_s, timeout_s
        try:
            yield watch
        finally:
            watch.timeout_s = before
        return
    watch = _WATCHES[id(client)] = Watch(client, timeout_s)
    watch.start()
    try:
        yield watch
    finally:
        _WATCHES.pop(id(client), None)
        watch.stop()


def watch_of(client: Any) -> Watch | None:
    """Return the watch of a client, if there is one."""
    return _WATCHES.get(id(client))


def ask(client: Any, call: Callable[[], Answer]) -> Answer:
    """Return what the scheduler or workers answer to a call of a client.

    Raises
    ------
    RunFailed
        Where they do not answer, or one of them has ended.  A worker that is silent is given up, and the others'
        answers are returned.
    """
    watch = watch_of(client)
    if watch is None:
        return call()
    watch.check()
    watch.asking += 1
    try:
        return in_thread(call, watch.check)
    except TimeoutError:
        raise
    except OSError as error:
        raise watch.answer_lost() from error
    finally:
        watch.asking -= 1


def in_thread(call: Callable[[], Answer], check: Callable[[], None], timeout_s: float | None = None) -> Answer:
    """Return what a call returns or raises, or raise what `check` raises meanwhile; the call is left to itself then."""
    answers: SimpleQueue[tuple[bool, Any]] = SimpleQueue()

    def answer() -> None:
        try:
            answers.put((True, call()))
        except BaseException as error:  # raised where it is waited for
            answers.put((False, error))

    Thread(target=answer, name="gpuetl-asking", daemon=True).start()
    until = None if timeout_s is None else monotonic() + timeout_s
    while True:
        with suppress(Empty):
            done, value = answers.get(timeout=WAKE_S)
            if done:
                return value  # type: ignore[no-any-return]
            raise value
        check()
        if until is not None and monotonic() > until:
            raise TimeoutError


def close_connections_on(client: Any, address: str, workers: list[str]) -> None:
    """Have workers cut their connections to one that was given up, as far as they answer."""
    with suppress(Exception):
        client.run(close_connections, address, workers=workers, on_error="ignore")


def host_of(worker: str) -> str:
    """Return the host of a worker's address, by its name where that is this one."""
    host = urlsplit(worker).hostname or worker
    return gethostname() if host.startswith("127.") else host


async def remove_worker(
    address: str, jobs: tuple[str, ...] | None, dask_scheduler: Any
) -> tuple[bool, list[str]] | None:
    """Give a worker up, on the scheduler.

    Return whether its nanny starts it again, and the workers that are left; None where the worker has gone, or has no
    task of these jobs.
    """
    state = dask_scheduler.workers.get(address)
    if state is None or not (jobs is None or works_for(state, jobs)):
        return None
    restarted = bool(state.nanny) and await kill_by_nanny(state.nanny, dask_scheduler.connection_args)
    await dask_scheduler.remove_worker(address, stimulus_id="gpuetl-silent-worker", close=not restarted)
    return restarted, list(dask_scheduler.workers)


def works_for(state: Any, jobs: tuple[str, ...]) -> bool:
    """Tell whether a worker computes tasks of jobs, or has their results."""
    keys = [str(task.key) for task in (*state.processing, *state.has_what)]
    return any(job in key for job in jobs for key in keys)


async def kill_by_nanny(nanny: str, connection_args: Mapping[str, Any]) -> bool:
    """Have a nanny kill its worker, which it starts again then; tell whether it answered."""
    start = monotonic()
    try:
        async with rpc(nanny, connection_args=connection_args) as remote:
            await asyncio.wait_for(remote.kill(timeout=KILL_S, reason="gpuetl-silent-worker"), NANNY_S)
    except TimeoutError:
        return monotonic() - start < NANNY_S  # it says that the process takes long to end
    except OSError:
        return False
    return True


def close_connections(address: str, dask_worker: Any) -> None:
    """Cut a worker's connections to another one, which was given up: it might wait for it."""
    dask_worker.rpc.remove(address)
