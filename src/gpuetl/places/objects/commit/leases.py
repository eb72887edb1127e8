"""Which runs are alive, and who may change a target: objects with the time at which they were last written.

A run writes its lease again every minute.  A lease of this machine belongs to a dead run if its process is gone.  One
of another machine does if the lease is older than `DEAD_AFTER_S` by the store's clock.

A commit holds a lock on each target: an object that is created only if it is not there.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from datetime import datetime, timedelta

from gpuetl.places.local.commit.locks import boot_id
from gpuetl.places.objects.commit.bucket import Bucket
from gpuetl.records import dataclass

HEARTBEAT_S = 60.0
DEAD_AFTER_S = 900.0
WAIT_S = 300.0
POLL_S = 0.5


class LockedTooLong(Exception):
    """A target that another run has locked for minutes."""

    def __init__(self, key: str, run_id: str) -> None:
        self.key, self.run_id = key, run_id
        super().__init__(key)


@dataclass(frozen=True)
class ObjectLease:
    """The process of a run.  It has `ended` where the run left a commit that the next one has to finish."""

    run_id: str
    target: str
    pipeline: str
    host: str
    boot: str
    pid: int
    started: str
    ended: bool = False

    @classmethod
    def of_this_process(cls, run_id: str, target: str, pipeline: str) -> ObjectLease:
        """Return the lease of a run of this process."""
        started = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        return cls(run_id, target, pipeline, socket.gethostname(), boot_id(), os.getpid(), started)

    @classmethod
    def read(cls, text: bytes | None) -> ObjectLease | None:
        """Return the lease in an object; None for one that cannot be read."""
        try:
            return None if text is None else cls(**json.loads(text))
        except (ValueError, TypeError):
            return None

    @property
    def text(self) -> bytes:
        """The bytes of the object."""
        return json.dumps(asdict(self)).encode()

    @property
    def is_over(self) -> bool:
        """Whether the run has certainly ended."""
        here = (self.host, self.boot) == (socket.gethostname(), boot_id())  # a container has a host name of its own
        return self.ended or (here and not process_exists(self.pid))

    def is_dead(self, written: datetime, now: datetime) -> bool:
        """Tell whether to take the run for dead; its lease was written at a time of the store's clock."""
        return self.is_over or now - written > timedelta(seconds=DEAD_AFTER_S)


def process_exists(pid: int) -> bool:
    """Tell whether a process of this machine has a number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        return True
    return True


class Heartbeat:
    """Writes a lease again and again while a run stages files."""

    def __init__(self, bucket: Bucket, key: str, lease: ObjectLease) -> None:
        self._bucket, self._key, self._lease = bucket, key, lease
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="gpuetl-lease", daemon=True)

    def start(self) -> None:
        """Write the lease, and go on in a thread."""
        self._bucket.put(self._key, self._lease.text)
        self._thread.start()

    def end(self, leave: bool = False) -> None:
        """Write it no more; with `leave`, once more: the run has ended, and has left what is staged to the next one."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        if leave:
            with suppress(OSError):  # it counts as dead later
                self._bucket.put(self._key, replace(self._lease, ended=True).text)

    def _beat(self) -> None:
        while not self._ended.wait(HEARTBEAT_S):
            with suppress(OSError):  # the next one may succeed, and the commit fails if the store is gone
                self._bucket.put(self._key, self._lease.text)


def store_clock(bucket: Bucket, key: str) -> datetime:
    """Return the time by the store's clock: that of an object which is written for this."""
    bucket.put(key, b"")
    found = bucket.head(key)
    bucket.delete([key])
    assert found is not None, key
    return found.time


@contextmanager
def locked(
    locks: Iterable[tuple[Bucket, str]], lease: ObjectLease, waiting: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Hold locks, in the order of their keys, so that two runs never wait for each other.

    `waiting` is called again and again while another run holds one; it may raise.

    Raises
    ------
    LockedTooLong
        After five minutes.
    OSError
        Where the store refuses a request.
    """
    with ExitStack() as held:
        for bucket, key in sorted(locks, key=lambda lock: lock[1]):
            lock(bucket, key, lease, waiting)
            held.callback(unlock, bucket, key, lease)
        yield


def lock(bucket: Bucket, key: str, lease: ObjectLease, waiting: Callable[[], None]) -> None:
    """Create a lock; wait for one that another run holds, and replace that of a dead run."""
    deadline = time.monotonic() + WAIT_S
    while not bucket.create(key, lease.text):
        found = bucket.head(key)
        holder = ObjectLease.read(bucket.get(key))
        if found is None:
            continue
        if holder is None or holder.is_dead(found.time, store_clock(bucket, f"{key}.{lease.run_id}.clock")):
            if bucket.replace(key, lease.text, found.e_tag):
                return
        elif time.monotonic() > deadline:
            raise LockedTooLong(key, holder.run_id)
        else:
            waiting()
            time.sleep(POLL_S)


def unlock(bucket: Bucket, key: str, lease: ObjectLease) -> None:
    """Remove a lock, unless another run has replaced it since."""
    with suppress(OSError):  # the next run finds that its holder is gone
        if bucket.get(key) == lease.text:
            bucket.delete([key])
