"""Digests of what nodes of a plan compute and of what they read: equal only while the rows are."""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Iterable
from itertools import count
from typing import Any

import pyarrow as pa

from gpuetl.formats.dataset import Dataset
from gpuetl.formats.frames import FrameDataset
from gpuetl.formats.rejected import RejectedRows
from gpuetl.places.file_state import DatasetError
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import KeptWindow, Kernel, KernelReduction, Read
from gpuetl.plan.plan import content_of
from gpuetl.user_kernels.contract import KernelContract, KernelMismatch

SETTLED_NS = 1_000_000_000
"""A file that changed more recently may change again without a new time of change."""
MOST_HASHED_BYTES = 256 << 20
"""The key of a larger frame is that of the object: to hash it would take seconds."""


class NotKeyed(Exception):
    """Of a node whose rows may change although nothing that can be looked at does."""


def result_keys(roots: Iterable[Node]) -> dict[int, str]:
    """Return a digest of each node's rows, by identity, without the nodes whose rows are not sure to be the same again.

    It covers the operations, the states of files, the rows of frames in memory, the text of kernels and their twins,
    and the values of parameters, which stand in expressions.
    """
    keys: dict[int, str] = {}
    for node in walk_graph(*roots):
        if any(id(child) not in keys for child in node.inputs):
            continue
        try:
            own = inputs_of(node)
        except (NotKeyed, DatasetError, KernelMismatch):
            continue
        parts = [type(node).__name__, *map(repr, content_of(node)), own, *(keys[id(child)] for child in node.inputs)]
        keys[id(node)] = hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()
    return keys


def inputs_of(node: Node) -> str:
    """Return what else than its operation decides a node's rows: files, frames, texts of kernels."""
    if isinstance(node, Read):
        return repr(dataset_key(node.dataset))
    if isinstance(node, KeptWindow):  # the stored state decides, too
        raise NotKeyed
    if isinstance(node, Kernel | KernelReduction):
        source = node.contract.source if isinstance(node.contract, KernelContract) else ""
        if node.contract.twin is None:
            raise NotKeyed
        return repr((source, node.contract.twin))
    return ""


def dataset_key(dataset: Dataset) -> tuple[object, ...]:
    """Return what decides the rows of a source.

    Raises
    ------
    NotKeyed
        Where its files are not known, or one changed just before, or its rows name the run.
    DatasetError
        For files that cannot be listed.
    """
    if isinstance(dataset, FrameDataset):
        return ("frame", FRAMES.key_of(dataset.table))
    if isinstance(dataset, RejectedRows):
        raise NotKeyed
    files: list[tuple[str, str, object]] = []
    for file in dataset.files:
        if file.state is None or not file.state.is_settled(SETTLED_NS):
            raise NotKeyed
        files.append((str(file.path), repr(file.partition), file.state))
    declared = tuple(sorted((name, str(dtype)) for name, dtype in dataset.declared.items()))
    partitions = tuple(sorted((name, str(dtype)) for name, dtype in dataset.partitions.items()))
    chosen = sorted(dataset.wanted), sorted(dataset.excluded)
    return declared, partitions, chosen, dataset.inferred_rows, tuple(files)


class FrameKeys:
    """Keys of frames in memory: a hash of the rows, or of a large frame a number of its own."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._numbers = count()

    def key_of(self, table: pa.Table) -> str:
        """Return the key of a table, which is computed once as long as the table lives."""
        found = self._known.get(id(table))
        if found and found[0]() is table:
            return found[1]
        key = hash_of(table) if table.nbytes <= MOST_HASHED_BYTES else f"object {next(self._numbers)}"
        identity = id(table)
        self._known[identity] = (weakref.ref(table, lambda _: self._known.pop(identity, None)), key)
        return key


FRAMES = FrameKeys()


def hash_of(table: pa.Table) -> str:
    """Return a hash of a table's schema and rows."""
    sink = HashSink()
    with pa.PythonFile(sink, mode="w") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    return sink.digest.hexdigest()


class HashSink:
    """A file that keeps a hash of what is written to it."""

    def __init__(self) -> None:
        self.digest = hashlib.blake2b(digest_size=20)
        self.closed = False
        self._written = 0

    def write(self, data: Any) -> int:
        """Add bytes to the hash."""
        view = memoryview(data)
        self.digest.update(view)
        self._written += view.nbytes
        return view.nbytes

    def tell(self) -> int:
        """Return the bytes written."""
        return self._written

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def close(self) -> None:
        """End the file."""
        self.closed = True
