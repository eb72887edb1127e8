"""What the engine needs of the machine that runs it: arrays, kernels, and the few things that libcudf does best."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from gpuetl.places.filesystem import OpenFile
from gpuetl.places.paths import FilePath
from gpuetl.records import dataclass
from gpuetl.telemetry.memory_meter import MemoryMeter, MemoryUse
from gpuetl.types.data_types import DataType
from gpuetl.user_kernels.triton_kernel import TritonKernel

if TYPE_CHECKING:
    from gpuetl.engines.cudf.columns.frame import Frame
    from gpuetl.engines.cudf.columns.vector import Vector  # columns are above the machine, which names their type

Work = Literal["reading", "computing", "writing"]


class Array(Protocol):
    """An array of the machine's array module, in device memory: CuPy's, or NumPy's in tests."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis."""

    @property
    def size(self) -> int:
        """How many elements the array has."""

    @property
    def ndim(self) -> int:
        """How many axes the array has."""

    @property
    def base(self) -> Any:
        """The array of which this one is a view; None where it has memory of its own."""

    @property
    def data(self) -> Any:
        """Where the elements lie: CuPy's pointer, or NumPy's buffer."""

    @property
    def nbytes(self) -> int:
        """How many bytes the elements have."""

    def __len__(self) -> int:
        """Return the length of the first axis."""

    @overload
    def __getitem__(self, key: int, /) -> Any: ...
    @overload
    def __getitem__(self, key: slice, /) -> Array: ...
    @overload
    def __getitem__(self, key: Any, /) -> Any: ...

    def __iter__(self) -> Iterator[Any]:
        """Yield elements, or views of the first axis."""

    def __setitem__(self, key: Any, value: Any, /) -> None:
        """Set elements."""

    def view(self, dtype: Any, /) -> Array:
        """Return the same memory as elements of another type."""

    def reshape(self, shape: Any, /) -> Array:
        """Return the same elements in another shape."""

    def tolist(self) -> Any:
        """Copy the elements to the host, as Python's own; waits for the device."""

    def copy(self) -> Array:
        """Return a copy in memory of its own."""


class ArrayModule(Protocol):
    """The part of an array module that the engine asks for memory: CuPy's, or NumPy's in tests."""

    def empty(self, shape: Any, dtype: Any = ..., /) -> Array:
        """Return memory that is not set."""

    def empty_like(self, array: Any, /) -> Array:
        """Return memory for as many elements of the same type."""

    def zeros(self, shape: Any, dtype: Any = ..., /) -> Array:
        """Return memory that is 0."""

    def asarray(self, data: Any, /) -> Array:
        """Copy data of the host into device memory."""

    ndarray: Any


class Module(Protocol):
    """Loaded kernels, which a launch names; only the machine that compiled them looks inside."""


class Event(Protocol):
    """A mark in the device's work; only the machine that recorded it looks inside."""


@dataclass(frozen=True, eq=False)
class Struct:
    """The last argument of a kernel that takes a struct of 64-bit words by value (int64[words]).

    It is there at the launch, without a copy to the device before.
    """

    words: NDArray[np.int64]


class WrittenFile(Protocol):
    """A file that threads write while the device goes on."""

    def write(self, offset: int, piece: Any) -> None:
        """Begin to write a piece (see io/threaded_file.py) at an offset.

        What is on the device is copied when it has done what was asked of it up to now.  The host waits until no
        more than what one other call began is still to be written.

        Raises
        ------
        OSError
            Where what an earlier call began cannot be written.
        """


class CompressedChunks(NamedTuple):
    """Chunks that the device is compressing.

    Parameters
    ----------
    data
        Where they will lie (uint8).
    starts
        From where on each will lie.
    sizes
        How many bytes each takes (uint64, on the device).
    statuses
        int32, on the device; other than 0 where a chunk could not be compressed.
    """

    data: Array
    starts: NDArray[np.int64]
    sizes: Array
    statuses: Array


class Compressor(Protocol):
    """Compresses chunks in device memory with one codec."""

    @property
    def most_bytes(self) -> int:
        """The most bytes that a chunk may have."""

    def begin(self, data: Array, starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> CompressedChunks:
        """Begin to compress parts of an array (uint8), each of at least a byte; there is at least one.

        Starts are multiples of 16.  Device memory is needed for what the chunks may be compressed to, a little more
        than their size, or a fifth more (snappy), and for what the codec works with.

        Raises
        ------
        EvaluationError
            Where the library refuses it.
        """


class PendingCopy(Protocol):
    """Bytes on their way into device memory."""

    def wait(self) -> None:
        """Wait until all of them are there.

        Raises
        ------
        OSError, DatasetError
            Where a file cannot be read, or ends too early.
        """

    def abandon(self) -> None:
        """Give up what is left, and wait for what is under way."""


class KernelSource(NamedTuple):
    """A text for the compiler.

    Parameters
    ----------
    source
        What is generated, or the text of a user's file.
    kernel
        The name of the user's kernel that the text is made around or declares; empty where nothing is the user's.
    path
        The user's file; None for what is generated.
    covered
        Whether the closed set has a kernel that does the same by instructions, so nothing waits for this one.
    """

    source: str
    kernel: str = ""
    path: FilePath | None = None
    covered: bool = False


SLOW_S = 30
"""A user's kernel that has run so long is told of: one that accesses memory far outside its arrays may never end."""


class Machine(Protocol):
    """A GPU; in tests a CPU, for which the same kernels are compiled by a C++ compiler."""

    @property
    def arrays(self) -> ArrayModule:
        """The array module, which is asked for memory alone (see columns/arrays.py): CuPy, or NumPy in tests."""

    @property
    def memory(self) -> int:
        """The bytes that frames may take in all."""

    def host(self, array: Array) -> Any:
        """Return an array as one of NumPy's."""

    def address(self, array: Array) -> int:
        """Return where an array's first byte lies in device memory."""

    def to_host(self, arrays: Sequence[Array], memory: NDArray[Any]) -> None:
        """Copy contiguous arrays into host memory, an array of bytes, one behind another; all is there on return."""

    def from_host(self, memory: NDArray[Any], arrays: Sequence[Array]) -> None:
        """Fill contiguous arrays from host memory, an array of bytes, in which they lie one behind another."""

    def begin_reading(self, source: OpenFile, start: int, array: Array) -> PendingCopy:
        """Begin to fill a contiguous array of bytes with those of a file from a place on, by threads."""

    def count_memory(self) -> None:
        """Count from now on what is allocated of memory that others set apart."""

    def memory_use(self) -> MemoryUse:
        """Return how much is in use, and how much may be."""

    def release(self) -> None:
        """Give back what is in use for nothing."""

    def begin_plan(self, plan: str) -> bool:
        """Begin to load what a plan needs; return whether its programs have to be expected: they may be missing."""

    def expect(self, plan: str, sources: Iterable[KernelSource]) -> None:
        """Load or compile, on threads of the machine's own, what a plan will ask for; return when all is compiled.

        Later processes know the programs of the plan then.  An error of `sources` is raised, and nothing is known.
        """

    def compiled(self, source: str) -> Module:
        """Compile kernels' text, once for each text."""

    def interprets(self, source: str, rows: int) -> bool:
        """Return whether instructions compute this number of rows sooner than the kernels of a text.

        That is where they are not compiled yet; for many rows the machine begins to compile them for the next time.
        """

    def closed(self, program: str) -> Module:
        """Return the kernels of a program of `device/closed`, which are the same for all columns."""

    def launch(self, module: Module, entry: str, rows: int, arguments: Sequence[Any]) -> None:
        """Run a kernel that loops over so many rows; arguments are arrays, integers or a last `Struct`."""

    def launch_blocks(self, module: Module, entry: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Run a kernel whose threads work together, in so many blocks; on a CPU it sees one block of one thread."""

    def user_kernel(self, source: str, path: FilePath, entry: str) -> Callable[[int, int, Sequence[Any], int], None]:
        """Return a user's kernel, to be called with blocks, threads a block, arguments and bytes of shared memory.

        Raises
        ------
        EvaluationError
            With the user's line, where it does not compile.
        """

    def triton_kernel(
        self, kernel: TritonKernel, types: Sequence[str], block: int
    ) -> Callable[[int, Sequence[Any]], None]:
        """Return a Triton kernel for arguments of Triton's types, to be called with blocks and arguments.

        Raises
        ------
        EvaluationError
            Where Triton is not installed, or refuses the kernel.
        """

    def user_module(self, source: str, kernel: str) -> Module:
        """Compile text around what a user has written, marked by `#line`; `kernel` is what messages call it.

        Raises
        ------
        EvaluationError
            With the user's line, where it does not compile.
        """

    def stage(self, name: str, work: Work = "computing") -> AbstractContextManager[None]:
        """Mark what runs in the block, for profilers; work of other kinds may go on beside it on the device.

        At its end the device has done it: clocks tell its time, and others may use what it made, or free what it took.
        """

    def wait(self, timeout_s: float | None, slow: Callable[[], None]) -> bool:
        """Wait until the device has done what this thread asked for; return whether it has within the limit.

        Signals are handled meanwhile, and `slow` is called once when it takes longer than `SLOW_S`.  After a wait
        without success nothing may wait for the device: see `lost_device.py`.

        Raises
        ------
        RuntimeError
            Where a kernel ended in a fault.
        """

    def record_event(self) -> Event:
        """Mark how far the device has come with what it was asked to do so far."""

    def seconds_between(self, start: Event, end: Event) -> float:
        """Return the seconds between two moments; waits for the second."""

    def limited(self, memory: int) -> AbstractContextManager[None]:
        """Let no more than so many bytes be allocated while the block lasts, beside what was before it."""

    def thread_setup(self) -> Callable[[], None]:
        """Return what a new thread calls first, so that it uses this device."""

    def memory_meter(self) -> AbstractContextManager[MemoryMeter]:
        """Measure what is allocated while the block lasts."""

    def sorted_order(self, packed_keys: Sequence[Array]) -> Array:
        """Return the stable order (int32 row numbers) of rows by unsigned arrays, the most significant first."""

    def string_ranks(self, strings: Vector) -> Array:
        """Number (int32) the distinct strings in the order of their bytes, from 0 on; a null with any."""

    def host_values(self) -> int:
        """Return how many values of Parquet files Arrow reads, and copies, sooner than `read_parquet` reads them."""

    def read_parquet(
        self, files: Mapping[Path, Sequence[int]], types: Mapping[str, DataType], fields: Container[str] = ()
    ) -> dict[str, Vector]:
        """Read columns of some row groups of files, in order, in the language's types nearest to the stored ones.

        Times are still in the unit in which they are stored: see `sources.units`.
        `types` are the stored Arrow types of the columns, which are the same in all files; of the structs in `fields`
        those of the fields that are read.

        Raises
        ------
        OSError, RuntimeError, MemoryError, ValueError
            For a file that cannot be read.
        """

    def read_orc(self, path: Path, stripes: Sequence[int], types: Mapping[str, DataType]) -> dict[str, Vector]:
        """Read columns of some stripes of one file, in order: numbers, booleans, strings and dates.

        Raises
        ------
        OSError, RuntimeError, MemoryError, ValueError
            For a file that cannot be read.
        """

    def to_dataframe(self, frame: Frame) -> Any:
        """Return a frame as one of cuDF's for a user's function; what was asked for of its columns is done."""

    def from_series(self, series: Any, dtype: DataType) -> Vector:
        """Return a column of a user's as the engine's; what the user asked for of it is done.

        Raises
        ------
        TypeError
            With its type, where it has another one.
        """

    def written_file(self, path: Path, alone: bool) -> AbstractContextManager[WrittenFile]:
        """Open a new, empty file; at the end of the block all is written, and the file is closed.

        One that is written alone, while no other one is, is written in another way.

        Raises
        ------
        OSError
            Where it cannot be opened, or written.
        """

    def compressor(self, codec: str) -> Compressor | None:
        """Return what compresses by `zstd`, `snappy` or `lz4` as Parquet has them; None where nothing does."""
