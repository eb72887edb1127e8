"""The requests that a commit makes to a bucket, with errors as `OSError`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import obstore
from obstore.exceptions import BaseError, NotFoundError

from gpuetl.places.objects.clients import again_if_cut, client_of, is_cut, pauses, store_errors
from gpuetl.places.paths import StorePath
from gpuetl.records import dataclass

if TYPE_CHECKING:
    from obstore.store import ObjectStore

COPIED_AT_ONCE = 5 << 30
"""The most bytes that S3 copies in one request; larger objects are read and written again by this process."""
REQUESTS = 16
"""Requests in flight of one commit."""
UPLOAD_CHUNK_BYTES = 8 << 20


class StoredObject(NamedTuple):
    """An object: its key in the bucket, its bytes, its ETag, and when it was written by the store's clock."""

    key: str
    size: int
    e_tag: str
    time: datetime


@dataclass(frozen=True, eq=False)
class Bucket:
    """A bucket or container.  Keys have no slash at their ends.  There is one object for a bucket and its options."""

    store: ObjectStore

    def put(self, key: str, data: bytes | Path) -> None:
        """Write an object; one that is there is replaced."""
        with store_errors(key):
            obstore.put(self.store, key, data, chunk_size=UPLOAD_CHUNK_BYTES)

    def create(self, key: str, data: bytes) -> bool:
        """Write an object if there is none; return whether it was written.

        Some stores ignore the condition.  So the object is read back: of two writers one finds the other's.
        """
        try:
            with store_errors(key):
                obstore.put(self.store, key, data, mode="create")
        except FileExistsError:
            return self.get(key) == data  # a request that was sent twice
        return self.get(key) == data

    def replace(self, key: str, data: bytes, e_tag: str) -> bool:
        """Write an object if the one that is there has an ETag; return whether it was written."""
        try:
            with store_errors(key):
                obstore.put(self.store, key, data, mode={"e_tag": e_tag})
        except (FileNotFoundError, FileExistsError):
            return False
        return self.get(key) == data

    def get(self, key: str) -> bytes | None:
        """Return an object's bytes; None where there is none."""
        try:
            with store_errors(key):
                return bytes(obstore.get(self.store, key).bytes())
        except FileNotFoundError:
            return None

    def head(self, key: str) -> StoredObject | None:
        """Return an object without its bytes; None where there is none."""
        try:
            with store_errors(key):
                found = obstore.head(self.store, key)
        except FileNotFoundError:
            return None
        return StoredObject(found["path"], found["size"], found["e_tag"] or "", found["last_modified"])

    def objects_below(self, prefix: str) -> Iterator[StoredObject]:
        """Yield the objects below a prefix, which ends at a slash that is not written."""
        last: str | None = None
        with store_errors(prefix):
            for pause_s in (*pauses(), None):
                try:
                    for batch in obstore.list(self.store, prefix, offset=last):
                        for one in batch:
                            yield StoredObject(one["path"], one["size"], one["e_tag"] or "", one["last_modified"])
                            last = one["path"]
                    return
                except BaseError as error:
                    if pause_s is None or not is_cut(error):
                        raise
                    time.sleep(pause_s)

    def names_in(self, prefix: str) -> list[str]:
        """Return the names right below a prefix that have objects below them, in their order."""
        with store_errors(prefix):
            found = again_if_cut(lambda: obstore.list_with_delimiter(self.store, prefix))
        return sorted(folder.rsplit("/", 1)[-1] for folder in found["common_prefixes"])

    def has_any(self, prefix: str) -> bool:
        """Tell whether there is an object below a prefix."""
        return next(self.objects_below(prefix), None) is not None

    def copy(self, source: str, target: str, size: int) -> None:
        """Copy an object within the bucket; one at the target is replaced, in one step for its readers."""
        with store_errors(target):
            if size <= COPIED_AT_ONCE:
                obstore.copy(self.store, source, target)
            else:
                found = obstore.get(self.store, source)
                obstore.put(self.store, target, iter(found.stream(UPLOAD_CHUNK_BYTES)), chunk_size=16 << 20)

    def copy_all(self, copies: Iterable[tuple[str, str, int]]) -> None:
        """Copy objects, several at a time: each from a key to a key, with its bytes."""
        with ThreadPoolExecutor(REQUESTS, "gpuetl-copy") as threads:
            for _ in threads.map(lambda one: self.copy(*one), copies):
                pass

    def delete(self, keys: Sequence[str]) -> None:
        """Delete objects; those that are not there do no harm."""
        with store_errors(", ".join(keys[:1])):
            try:
                if keys:
                    obstore.delete(self.store, list(keys))
            except (FileNotFoundError, NotFoundError):
                for key in keys:
                    self._delete_one(key)

    def _delete_one(self, key: str) -> None:
        try:
            obstore.delete(self.store, key)
        except (FileNotFoundError, NotFoundError):
            return


def bucket_of(path: StorePath) -> Bucket:
    """Return the bucket of a path: one object for each client."""
    store = client_of(path)
    return BUCKETS.setdefault(id(store), Bucket(store))  # clients are kept as long as the process lasts


BUCKETS: dict[int, Bucket] = {}
