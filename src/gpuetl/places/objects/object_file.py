"""One object of a store, read by ranges, always in the state in which it was planned."""

from __future__ import annotations

import errno
import io
from collections import OrderedDict
from dataclasses import field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
import obstore
import pyarrow as pa
from obstore.exceptions import BaseError, NotFoundError, NotSupportedError, PreconditionError

from gpuetl.errors import StoreFailure
from gpuetl.messages import coded
from gpuetl.places.file_state import (
    AGAIN,
    DatasetError,
    FileState,
    deleted,
    shortened,
    size_and_time_difference,
)
from gpuetl.places.objects.clients import (
    HTTP_SCHEMES,
    NO_LENGTH,
    again_if_cut,
    client_of,
    is_status,
    store_errors,
)
from gpuetl.places.objects.kept_reads import KEPT_READS
from gpuetl.places.objects.ranges import LONGEST_REQUEST, SMALL_BYTES, Range, read_all, requests_of
from gpuetl.places.objects.whole_copies import COPIES
from gpuetl.places.paths import StorePath
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from obstore import Bytes, ObjectMeta
    from obstore.store import ObjectStore

    Buffer = bytes | Bytes

KEPT_BYTES = 64 << 20
BUFFER_BYTES = 1 << 20
"""Bytes that a request reads ahead of what a reader of a stream asks for."""


class ObjectState(NamedTuple):
    """The state of an object: its size, its time, its ETag, and the path as what is the same for all of its names."""

    size: int
    mtime_ns: int
    e_tag: str
    path: str

    @property
    def identity(self) -> str:
        """The path: an object has one name."""
        return self.path

    @property
    def guards_reads(self) -> bool:
        """Whether there is an ETag that stands for one content: each answer then has it."""
        return bool(self.e_tag) and not self.e_tag.startswith(WEAK)

    def is_settled(self, least_ns: int) -> bool:
        """Return whether another content has another ETag, however soon it comes."""
        return self.guards_reads

    def difference(self, now: FileState) -> str:
        """Say what is different now, in words."""
        parts = size_and_time_difference(self, now)
        if not parts and isinstance(now, ObjectState) and now.e_tag != self.e_tag:
            parts = [f"its ETag was {self.e_tag} and is {now.e_tag} now"]
        return ", ".join(parts)


WEAK = "W/"
"""How an ETag begins that two contents may share for a time; a server never matches it in a condition."""


def plain_e_tag(e_tag: str | None) -> str:
    """Return an ETag without its quotes, which Azure leaves out where it lists blobs; a weak one stays as it is."""
    return (e_tag or "").strip('"') if not (e_tag or "").startswith(WEAK) else str(e_tag)


def state_of(path: StorePath, size: int, seconds: float, e_tag: str | None) -> ObjectState:
    """Return the state of an object, whose time is in seconds after 1970."""
    return ObjectState(size, round(seconds * 1e9), plain_e_tag(e_tag), str(path))


def key_of(path: StorePath) -> str:
    """Return the key of an object in its bucket."""
    return "/".join(path.parts[1:])


def look_at(path: StorePath) -> ObjectState:
    """Return the state of an object, by one request.

    Raises
    ------
    FileNotFoundError
        Where there is none.
    OSError
        Where the store refuses the request.
    """
    key = key_of(path)
    if not key:
        raise FileNotFoundError(errno.ENOENT, "there is no such object", str(path))
    with store_errors(str(path)):
        found = head(path.scheme, client_of(path), key)
    return state_of(path, found["size"], found["last_modified"].timestamp(), found["e_tag"])


def head(scheme: str, store: ObjectStore, key: str) -> ObjectMeta:
    """Return what a store knows about an object.

    Some HTTP servers do not answer HEAD, or leave out the length.  They are asked for the first byte, whose answer has
    the length of the whole, and else for all bytes, of which only the headers are read.
    """
    try:
        return obstore.head(store, key)
    except (BaseError, FileNotFoundError) as error:
        if scheme not in HTTP_SCHEMES or not (is_status(error, 405, 501) or NO_LENGTH in str(error)):
            raise
    try:
        return obstore.get(store, key, options={"range": (0, 1)}).meta
    except BaseError as error:
        if not isinstance(error, NotSupportedError) and not is_status(error, 416):  # of an empty file
            raise
    return obstore.get(store, key).meta


class SmallObjects:
    """The bytes of small objects that were read, the latest ones, by their states."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._bytes, self._lock = most_bytes, 0, Lock()
        self._kept: OrderedDict[ObjectState, bytes] = OrderedDict()

    def find(self, state: ObjectState) -> bytes | None:
        """Return the bytes of an object, None where they are not kept."""
        with self._lock:
            data = self._kept.get(state)
            if data is not None:
                self._kept.move_to_end(state)
            return data

    def keep(self, state: ObjectState, data: bytes) -> None:
        """Keep the bytes of an object in place of the oldest ones."""
        with self._lock:
            if state not in self._kept:
                self._kept[state] = data
                self._bytes += len(data)
            while self._bytes > self._most:
                self._bytes -= len(self._kept.popitem(last=False)[1])


SMALL_OBJECTS = SmallObjects(KEPT_BYTES)


@dataclass(frozen=True)
class ObjectFile:
    """An object in a state: see `OpenFile`.  Each request has the ETag, so that another content is never read."""

    path: StorePath
    state: ObjectState
    keeps: bool = field(default=False, compare=False, repr=False)

    @classmethod
    def open_path(cls, path: StorePath, planned: FileState | None) -> ObjectFile:
        """Open an object in a planned state, or by one request for its state."""
        known = planned if isinstance(planned, ObjectState) and planned.guards_reads else None
        state = known or look_at(path)
        COPIES.remark(state, str(path))
        return cls(path, state)

    @cached_property
    def store(self) -> ObjectStore:
        """The client of the bucket, which is looked for by the first request."""
        return client_of(self.path)

    def open(self) -> BinaryIO:
        """Return the object from its beginning; small reads are put together."""
        return io.BufferedReader(ObjectReader(self), BUFFER_BYTES)

    def read_at(self, start: int, size: int) -> bytes:
        """Return up to `size` bytes from a place on."""
        end = min(start + size, self.state.size)
        if end <= start:
            return b""
        if self.state.size <= SMALL_BYTES:
            return self.read_bytes()[start:end]
        if self.keeps and self.state.guards_reads:
            return self._look(start, end)
        return self._parts(Range(start, end))

    def read_into(self, memory: memoryview, start: int) -> None:
        """Fill bytes with those of the object from a place on."""
        end = start + len(memory)
        if end > self.state.size:
            raise shortened(self.path)
        is_request = not self.keeps and self.state.size > SMALL_BYTES
        data = self._read(Range(start, end)) if is_request else self.read_at(start, len(memory))
        np.copyto(
            np.frombuffer(memory, np.uint8), np.frombuffer(memoryview(data), np.uint8)
        )  # lets other threads go on

    def read_bytes(self) -> bytes:
        """Return all bytes, those of a small object perhaps without a request."""
        if self.state.size > SMALL_BYTES:
            return self._parts(Range(0, self.state.size))
        data = SMALL_OBJECTS.find(self.state)
        if data is None:
            data = bytes(self._get(Range(0, self.state.size))) if self.state.size else b""
            if self.state.e_tag:
                SMALL_OBJECTS.keep(self.state, data)
        return data

    def for_arrow(self) -> Any:
        """Return the object as a file of Arrow: a small one in memory, another one that asks for what Arrow reads."""
        if self.state.size <= SMALL_BYTES:
            return pa.BufferReader(self.read_bytes())
        return pa.PythonFile(ObjectReader(self), "r")

    def close(self) -> None:
        """Do nothing: connections belong to the client."""

    def to_look(self) -> ObjectFile:
        """Return the object for a look at what is read again later: what is read of it is kept."""
        return ObjectFile(self.path, self.state, keeps=True)

    def _look(self, start: int, end: int) -> bytes:
        """Return bytes, and keep them; at least `BUFFER_BYTES` are asked for."""
        found = KEPT_READS.find(self.state, start, end)
        if len(found) < end - start:
            first = start + len(found)
            more = self._parts(Range(first, min(max(end, first + BUFFER_BYTES), self.state.size)))
            KEPT_READS.keep(self.state, first, more)
            found += more[: end - first]
        return found

    def _parts(self, whole: Range) -> bytes:
        """Read a range by as many requests at a time as its length takes."""
        return b"".join(read_all(requests_of([whole]), self._read))

    def _read(self, one: Range) -> Buffer:
        """Read a range, its first bytes without a request where they are kept."""
        kept = KEPT_READS.find(self.state, one.start, one.end) if self.state.guards_reads else b""
        if not kept:
            return self._get(one)
        rest = Range(one.start + len(kept), one.end)
        return kept + bytes(self._get(rest)) if rest.start < rest.end else kept

    def _get(self, one: Range) -> Buffer:
        """Read a range by one request, into memory that nothing else refers to.

        Raises
        ------
        DatasetError
            For an object that has changed, or is gone.
        OSError
            Where the store refuses the request, or sends fewer bytes.
        """
        with store_errors(str(self.path)):
            data = again_if_cut(lambda: self._answer(one))
        if len(data) != one.end - one.start:
            why = f"the store sent {len(data):,} of {one.end - one.start:,} bytes"
            raise StoreFailure(errno.EIO, why, str(self.path))
        return data

    def _answer(self, one: Range) -> Buffer:
        """Return what the store sends for a range, with errors of obstore."""
        e_tag = self.state.e_tag
        options: Any = {"range": (one.start, one.end)}
        if self.state.guards_reads:
            options["if_match"] = f'"{e_tag}"'
        try:
            found = obstore.get(self.store, key_of(self.path), options=options)
            if e_tag and plain_e_tag(found.meta["e_tag"]) != e_tag:  # of a store that ignores the condition
                raise another_e_tag(self.path)
            return found.bytes()
        except NotSupportedError:  # the server sent the whole object
            copy = COPIES.copy_of(self.state, str(self.path), self.store, key_of(self.path))
            return copy.read(one.start, one.end)
        except PreconditionError:
            raise changed_or_deleted(self.path) from None
        except (FileNotFoundError, NotFoundError):
            raise deleted(self.path) from None


def another_e_tag(path: StorePath) -> DatasetError:
    """Word an object that was written anew."""
    return DatasetError(coded("GE1420", f"{path} changed during the run: it has another ETag"), AGAIN)


def changed_or_deleted(path: StorePath) -> DatasetError:
    """Word an object that is not there with its ETag: Azure answers so for one that is gone, too."""
    try:
        look_at(path)
    except FileNotFoundError:
        return deleted(path)
    return another_e_tag(path)


class ObjectReader(io.RawIOBase):
    """An object as a stream of Python.  Reads that follow each other ask for more and more at a time."""

    def __init__(self, file: ObjectFile) -> None:
        self.file, self.place = file, 0
        self.start, self.data = 0, b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the place of the next byte."""
        return self.place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a place."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self.place, io.SEEK_END: self.file.state.size}[whence]
        self.place = max(0, base + offset)
        return self.place

    def readinto(self, buffer: Any) -> int:
        """Read up to as many bytes as there is room for."""
        end = self.start + len(self.data)
        if not self.start <= self.place < end:
            follows = self.data and self.place == end
            size = max(len(buffer), min(2 * len(self.data), LONGEST_REQUEST) if follows else 0)
            self.start, self.data = self.place, self.file.read_at(self.place, size)
        data = memoryview(self.data)[self.place - self.start :][: len(buffer)]
        buffer[: len(data)] = data
        self.place += len(data)
        return len(data)
