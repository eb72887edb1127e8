"""Digests of what nodes of a plan compute and of what they read: equal only while the rows are.

Keys of this process are for the rows that notebooks keep in memory.  Durable keys are for checkpoints: other processes
find them, on other machines, too.  Both cover the operations with the values of parameters, the files that are read
with their states, rows in memory, and the text of kernels and of their twins.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

import pyarrow as pa

from gpuetl.formats.dataset import Dataset
from gpuetl.formats.frames import FrameDataset
from gpuetl.formats.rejected import REJECTED, RejectedRows
from gpuetl.places.file_state import DatasetError
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import KeptWindow, Kernel, KernelReduction, Read
from gpuetl.plan.plan import content_of
from gpuetl.state.checkpoints import FORMAT_VERSION
from gpuetl.user_kernels.contract import KernelContract, KernelMismatch
from gpuetl.user_kernels.python_function import PythonFunction
from gpuetl.version import __version__

SETTLED_NS = 1_000_000_000
"""A file that changed more recently may change again without a new time of change."""
MOST_HASHED_BYTES = 256 << 20
"""The key of a larger frame is that of the object: to hash it would take seconds."""


class NotKeyed(Exception):
    """Of a node whose rows may change although nothing that can be looked at does; it says why."""


def result_keys(roots: Iterable[Node]) -> dict[int, str]:
    """Return a digest of each node's rows, by identity, without the nodes whose rows are not sure to be the same again.

    Keys hold in this process.
    """
    return keys_of(roots, inputs_of, {})


def durable_keys(roots: Iterable[Node], reasons: dict[int, str]) -> dict[int, str]:
    """Return a digest of each node's rows that other processes find, too; `reasons` gets why a node has none.

    A file's state is its size and its time of change, or its ETag.  A change within the same tick of a clock would not
    be seen: who keeps rows under the key looks again, a second later.
    """
    return keys_of(roots, durable_inputs_of, reasons)


def keys_of(roots: Iterable[Node], inputs: Callable[[Node], str], reasons: dict[int, str]) -> dict[int, str]:
    """Return a digest of each node; `inputs` gives what else than its operation decides a node's rows."""
    keys: dict[int, str] = {}
    for node in walk_graph(*roots):
        below = next((child for child in node.inputs if id(child) not in keys), None)
        if below is not None:
            reasons[id(node)] = reasons[id(below)]
            continue
        try:
            if isinstance(node, KeptWindow):
                raise NotKeyed(f"{node.origin} goes on from a state that is not read here")
            own = inputs(node)
        except (NotKeyed, DatasetError, KernelMismatch) as error:
            reasons[id(node)] = str(error)
            continue
        parts = [type(node).__name__, *map(repr, content_of(node)), own, *(keys[id(child)] for child in node.inputs)]
        keys[id(node)] = hashlib.sha256("\0".join(parts).encode(errors="surrogatepass")).hexdigest()
    return keys


def inputs_of(node: Node) -> str:
    """Return what else than its operation decides a node's rows: files, frames, texts of kernels."""
    return repr(dataset_key(node.dataset)) if isinstance(node, Read) else kernel_text(node)


def durable_inputs_of(node: Node) -> str:
    """Return the same for other processes."""
    version = (__version__, FORMAT_VERSION)
    if isinstance(node, Read):
        return repr((version, durable_dataset_key(node.dataset)))
    if node.origin.name.endswith(REJECTED):  # whose run is the one that put the rows in quarantine
        return repr(version)
    if "RunId()" in repr(content_of(node)):
        raise NotKeyed(f"{node.origin} uses run_id(), which is another one in each run")
    return repr((version, kernel_text(node)))


def kernel_text(node: Node) -> str:
    """Return the text of a user's kernel, with its headers, and that of its twin; nothing for other nodes."""
    if not isinstance(node, Kernel | KernelReduction):
        return ""
    source = node.contract.source if isinstance(node.contract, KernelContract | PythonFunction) else ""
    if node.contract.twin is None:
        raise NotKeyed(f"the twin of the kernel at {node.origin} was not read")
    return repr((source, node.contract.twin))


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
        raise NotKeyed("rows in quarantine name the run")
    files: list[tuple[str, str, object]] = []
    for file in dataset.files:
        if file.state is None or not file.state.is_settled(SETTLED_NS):
            raise NotKeyed(f"{file.path} changed just before")
        files.append((str(file.path), repr(file.partition), file.state))
    return (*columns_key(dataset), tuple(files))


def durable_dataset_key(dataset: Dataset) -> tuple[object, ...]:
    """Return what decides the rows of a source, for other processes: see `dataset_key`."""
    if isinstance(dataset, FrameDataset):
        return "frame", hash_of(dataset.table)
    if isinstance(dataset, RejectedRows):
        return "rejected", *durable_dataset_key(dataset.source)
    files: list[tuple[str, str, object]] = []
    for file in dataset.files:
        if (state := file.state) is None:
            raise NotKeyed(f"the size and time of {file.path} are not known")
        known = state.size, state.mtime_ns, getattr(state, "e_tag", "")
        files.append((str(file.path.absolute()), repr(file.partition), known))
    return (*columns_key(dataset), tuple(files))


def columns_key(dataset: Dataset) -> tuple[object, ...]:
    """Return what a source makes of its files."""
    declared = tuple(sorted((name, str(dtype)) for name, dtype in dataset.declared.items()))
    partitions = tuple(sorted((name, str(dtype)) for name, dtype in dataset.partitions.items()))
    chosen = sorted(dataset.wanted), sorted(dataset.excluded)
    return declared, partitions, chosen, dataset.inferred_rows


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
