"""What an executor asks of a backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from gpuetl.engines.capabilities import Device
from gpuetl.io.data_file import RowGroup
from gpuetl.io.spill_space import SpillSpace
from gpuetl.io.staging import FileWriter
from gpuetl.physical.lower import PhysicalPlan
from gpuetl.physical.nodes import Scan
from gpuetl.places.target import Target
from gpuetl.plan.node import Node, SortKey
from gpuetl.plan.nodes import Read
from gpuetl.telemetry.hardware_limits import Link
from gpuetl.telemetry.memory_meter import MemoryMeter, MemoryUse
from gpuetl.telemetry.trace import Trace
from gpuetl.types.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

F = TypeVar("F")
"""An engine's own table: rows in order, columns as in the schema of the node that made it."""
R_co = TypeVar("R_co", covariant=True)
"""As `F`, where frames only come back."""
B = TypeVar("B")
"""An engine's buffer of bytes on the device."""


class Share(NamedTuple):
    """Which of so many processes this is, by number, that have a cache in common and begin with the same plan."""

    place: int = 0
    of: int = 1


ALONE = Share()


class SpilledFrame(Protocol[R_co]):
    """A frame outside of the engine's memory, in room that is given back when nobody holds this any more."""

    @property
    def spill_traffic(self) -> Mapping[Link, int]:
        """The bytes over each link on the way out."""

    @property
    def restore_traffic(self) -> Mapping[Link, int]:
        """The bytes over each link on the way back."""

    def restored(self) -> R_co:
        """Return the frame; raise `MemoryError` where there is no room for it."""


class EngineBackend(Protocol[F]):
    """Frames and the operations on them.  Stateless: the same fragment may run again, here or elsewhere."""

    @property
    def name(self) -> str:
        """The engine's name."""

    @property
    def device(self) -> Device:
        """Where frames are, as the engine's `Capabilities` say."""

    def device_of(self, operation: Node) -> Device:
        """Return where the backend runs an operation."""

    def compile_ahead(self, physical: PhysicalPlan, plan: str, share: Share = ALONE) -> None:
        """Begin to compile the programs of a plan while it runs; `plan` is equal for plans that need the same ones.

        A process that is not alone begins with its share.
        """

    def read(self, read: Read, groups: Sequence[RowGroup]) -> F:
        """Read the source's columns of some row groups; none gives no rows."""

    def run(self, operation: Node, *frames: F) -> F:
        """Run one operation on one partition of each of its inputs."""

    def split_by_hash(self, frame: F, keys: Sequence[str], count: int) -> list[F]:
        """Split rows so that equal keys, of any integer width, meet in the same piece of every frame."""

    def split_by_order(self, frame: F, by: Sequence[SortKey], before: F, after: F) -> list[F]:
        """Sort rows stably, and cut before each boundary: pieces, one more than these, that follow each other.

        Boundaries are rows of at least the order's columns, themselves in order: those of `before` come before the rows
        that tie with them, those of `after` after them.
        """

    def take(self, frame: F, columns: Iterable[str], rows: NDArray[np.int64]) -> F:
        """Return some columns of the rows of these numbers, which are few."""

    def concat(self, frames: Sequence[F], schema: Schema) -> F:
        """Put frames of one schema below each other, in order."""

    def rows(self, frame: F) -> int:
        """Return the number of rows."""

    def nbytes(self, frame: F, columns: Iterable[str]) -> int:
        """Return the bytes of some columns in memory; asks the device nothing."""

    def limited(self, memory: int) -> AbstractContextManager[None]:
        """Let the engine allocate no more than so many bytes while the block lasts, where it can be held to that."""

    def thread_setup(self) -> Callable[[], None]:
        """Return what a new thread calls first, so that it works where this one does."""

    def spill(self, frame: F, space: SpillSpace) -> SpilledFrame[F]:
        """Copy a frame out of the engine's memory.

        Raises
        ------
        OSError, MemoryError
            Where there is no room elsewhere.
        """

    def release(self) -> None:
        """Give back memory that is in use for nothing: garbage, and what is kept to be used again."""

    def count_memory(self) -> None:
        """Count from now on what frames take of memory that others set apart, for `memory_use`."""

    def memory_use(self) -> MemoryUse:
        """Return how much of the engine's memory is in use, and how much may be."""

    def traced(self, trace: Trace, timed: bool) -> EngineBackend[F]:
        """Return a backend that writes what the device is asked to do into a trace; `timed`, also how long it took."""

    def memory_meter(self) -> AbstractContextManager[MemoryMeter]:
        """Measure the memory that the engine takes while the block lasts, and only then: measuring takes time."""

    def to_arrow(self, frame: F) -> pa.Table:
        """Return the frame as a `pyarrow.Table`."""

    def head(self, frame: F, count: int) -> pa.Table:
        """Return the first rows as a `pyarrow.Table`, which holds no memory but its own."""

    def small_table(self, frame: F) -> pa.Table | None:
        """Return all rows as a `pyarrow.Table` where they cost no more than the first ones would; else None."""

    def file_writer(self, target: Target, schema: Schema) -> FileWriter | None:
        """Return what writes frames to files of a sink; None where the sink is to be given Arrow tables."""

    def from_arrow(self, table: pa.Table) -> F:
        """Return a `pyarrow.Table` of language types as a frame."""

    def to_arrays(self, frame: F, columns: Sequence[str] | None = None) -> dict[str, Any]:
        """Return columns of numbers and truth values without nulls as arrays, without a copy where that is possible.

        `columns` are their names, by default all.

        Raises
        ------
        EvaluationError
            For a column that is no array: of another type, or with a null.
        """

    def to_cudf(self, frame: F) -> Any:
        """Return a cuDF frame on the frame's memory; None if that is not a GPU's, or cuDF holds a column otherwise."""


class FrameSpilledToHost(SpilledFrame[R_co], Protocol[R_co]):
    """A frame that was spilled, and that can be packed where it lies."""

    def on_host(self) -> R_co:
        """Return the frame in host memory; parts of it may still be on the device."""


class FrameSize(NamedTuple):
    """The memory that a frame keeps, and whether any of it is a device's."""

    nbytes: int
    on_device: bool


class PackedFrames(NamedTuple):
    """Frames in one buffer: uint8[bytes], and the header that makes frames of it."""

    header: bytes
    buffer: Any
    on_device: bool


class EngineClusterSupport(Protocol[F, B]):
    """What an engine does on workers of a cluster, so that dask can send, spill and weigh its frames.

    It has no state and is pickled with the frames, so whoever gets them unpacks them by the engine that packed them.
    """

    @property
    def frame_type(self) -> type:
        """The class of the engine's frames."""

    def size_of(self, frame: F, shares_memory: bool) -> FrameSize:
        """Return what a frame keeps: all of the memory that it lies in, or its own part if others share that."""

    def pack(self, frames: Iterable[F]) -> PackedFrames:
        """Put frames into one buffer; one frame that lies in a buffer already is not copied.

        Raises
        ------
        MemoryError
            If there is no room for the buffer.
        """

    def unpack(self, header: bytes, buffer: B) -> list[F]:
        """Return the frames of a buffer, on its memory."""

    def copy_to_host(self, buffer: B) -> memoryview:
        """Return the bytes of a buffer; those of a device are copied."""

    def copy_to_device(self, buffer: NDArray[np.uint8]) -> B:
        """Return a copy of bytes in the memory of this worker's device."""

    def received_on_device(self, buffer: object) -> B:
        """Return as uint8[bytes] what came into the memory of this worker's device, without a copy."""

    def stage(self, name: str) -> AbstractContextManager[None]:
        """Do the work of the block on the device, and be done with it at the end."""

    def warm_up_frame(self) -> F:
        """Return a frame of 8 MB, for a first move between devices; the device and its memory pool are opened."""

    def pack_scan(self, scan: Scan) -> tuple[Callable[..., Scan], tuple[Any, ...]]:
        """Return what makes a scan of which programs can be listed without its files, and the arguments for that."""


# An executor works with any engine: it hands frames and buffers on, and never looks inside.

Frame: TypeAlias = Any
Backend: TypeAlias = EngineBackend[Frame]
Spilled: TypeAlias = SpilledFrame[Frame]
SpilledToHost: TypeAlias = FrameSpilledToHost[Frame]
ClusterSupport: TypeAlias = EngineClusterSupport[Frame, Any]
