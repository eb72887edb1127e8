"""The GPU that runs the engine: one memory pool, and the same streams, for CuPy, pylibcudf and our own kernels."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from threading import Lock
from typing import Any

import cupy
import numpy as np

from gpuetl.engines.cudf.codegen.device_headers import closed_source
from gpuetl.engines.cudf.codegen.machine_code import read_mark
from gpuetl.engines.cudf.codegen.nvrtc import does_not_compile, is_c_function, named, refuse_block, refuse_shared
from gpuetl.engines.cudf.codegen.triton_compiler import ALIGNMENT, TritonProgram, triton_program
from gpuetl.engines.cudf.columns.arrays import pick, shifted
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.io.threaded_file import (
    ThreadedFile,
    begin_reading,
    copy_from_host,
    copy_to_host,
    threaded_file,
)
from gpuetl.engines.cudf.machine import SLOW_S, KernelSource, PendingCopy, Struct, Work
from gpuetl.engines.cudf.runtime import device_files, file_reading, kernel_cache
from gpuetl.engines.cudf.runtime import start as settings
from gpuetl.engines.cudf.runtime.device_memory import count_pool, device_memory, limited, memory_use
from gpuetl.engines.cudf.runtime.libcudf import column_array, radix_order, read_orc, read_parquet, stream, to_libcudf
from gpuetl.engines.cudf.runtime.nvcomp import NvcompCompressor, compressor
from gpuetl.engines.cudf.runtime.start import open_pool, set_environment
from gpuetl.errors import EvaluationError
from gpuetl.lost_device import is_lost, lose_device
from gpuetl.messages import coded
from gpuetl.places.filesystem import OpenFile
from gpuetl.places.local.local_file import LocalFile
from gpuetl.places.paths import FilePath
from gpuetl.telemetry.memory_meter import MemoryMeter, MemoryUse
from gpuetl.telemetry.recorder import compiling
from gpuetl.types.data_types import DataType
from gpuetl.user_kernels.triton_kernel import TritonKernel

# The streams of the engine: what is read, what is computed and what is written do not wait for each other.
#
# On the default stream each would wait for all others: it waits for every other stream, such as those on which KvikIO
# copies what is read, and they wait for it.  The engine's streams are ordered with the default stream alone, so
# whatever
# runs there, of users or of other libraries, comes before what the engine is asked for later, and behind what it was.
#
# Memory is freed on the stream for which it was allocated, whoever holds it last.  So that it is not in use on another
# one then, the host waits at the end of each stage, while it holds what the stage took and what it made.


READING_STREAMS = 4
"""As many as there are threads that read ahead: before libcudf copies a file's bytes it waits for its stream."""


def engine_streams() -> Mapping[Work, Iterator[Any]]:
    """Return the streams for each kind of work, which take turns."""
    one, other, *several = (cupy.cuda.Stream() for _ in range(2 + READING_STREAMS))
    return {"reading": cycle(several), "computing": cycle([one]), "writing": cycle([other])}


@contextmanager
def finished(stream: Any) -> Iterator[None]:
    """Make a stream the thread's current one; wait for it at the end, also where an error breaks the block off.

    Where the device is lost nothing waits for it.  After a fault waiting fails, too.  The error of the block says more,
    so that one is raised.
    """
    with stream:
        try:
            yield
        except BaseException:
            if not is_lost():
                with suppress(RuntimeError):
                    stream.synchronize()
            raise
        stream.synchronize()


GPU_LOST = "the GPU stopped, or a kernel on it did not end, earlier in this process"
SHORTEST_PAUSE_S, LONGEST_PAUSE_S = 20e-6, 5e-3
THREADS = 256
BLOCKS_PER_SM = 16
ORDINARY_SHARED_BYTES = 48 << 10
"""What a block gets of shared memory without being allowed more."""
MAX_DYNAMIC_SHARED = 8
"""CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES."""
_MAKING = Lock()


class GpuMachine:
    """The current CUDA device."""

    def __init__(self) -> None:
        set_environment()
        import cupy

        open_pool()
        self.arrays, self.streams = cupy, engine_streams()
        self.blocks = cupy.cuda.Device().attributes["MultiProcessorCount"] * BLOCKS_PER_SM
        self.memory = int(cupy.cuda.runtime.memGetInfo()[1] * settings.POOL_SHARE)
        self.has_read = False
        self.modules: dict[str, Any] = {}
        self.user_kernels: dict[tuple[str, FilePath, str], Any] = {}
        self.triton_kernels: dict[tuple[object, ...], tuple[TritonProgram, Any]] = {}
        self.plans_begun: set[str] = set()
        """The plans whose programs this process has begun to load or to compile."""

    def host(self, array: Any) -> Any:
        """Copy an array to host memory."""
        return self.arrays.asnumpy(array)

    def address(self, array: Any) -> int:
        """Return CuPy's pointer."""
        return int(array.data.ptr)

    def to_host(self, arrays: Sequence[Any], memory: Any) -> None:
        """Copy by threads."""
        copy_to_host(arrays, memory, device_files.writers(self.arrays.cuda.Device().id))

    def from_host(self, memory: Any, arrays: Sequence[Any]) -> None:
        """Copy by threads."""
        copy_from_host(memory, arrays, device_files.writers(self.arrays.cuda.Device().id))

    def begin_reading(self, source: OpenFile, start: int, array: Any) -> PendingCopy:
        """Read a local file by KvikIO, and another one by threads."""
        if isinstance(source, LocalFile):
            return file_reading.begin_reading(source, start, array)
        return begin_reading(source, start, array, device_files.writers(self.arrays.cuda.Device().id))

    def count_memory(self) -> None:
        """Count what RMM gives of a pool, which may grow as the engine's own may."""
        count_pool(settings.POOL_SHARE)

    def memory_use(self) -> MemoryUse:
        """Ask RMM."""
        return memory_use()

    def release(self) -> None:
        """Wait for the device: what was freed before it had done its work can then be allocated again."""
        self.arrays.cuda.Device().synchronize()

    def begin_plan(self, plan: str) -> bool:
        """Load the entries that the plan's mark names; without one, begin to compile with the closed set."""
        if plan in self.plans_begun:
            return False
        self.plans_begun.add(plan)
        entries = read_mark(kernel_cache.mark_of(plan))
        if entries is None:
            kernel_cache.start_processes()
            kernel_cache.expect_closed_set()
            return True
        kernel_cache.load_ahead(entries)
        return False

    def expect(self, plan: str, sources: Iterable[KernelSource]) -> None:
        """Take them from the cache, or compile them by processes of NVRTC's, and leave a mark."""
        kernel_cache.make_ahead(sources, self.compiled_kernel, kernel_cache.mark_of(plan))

    def compiled(self, source: str) -> Any:
        """Compile with NVRTC, or take the machine code from the cache on disk."""
        if source not in self.modules:
            self.modules[source] = kernel_cache.loaded(source)
        return self.modules[source]

    def interprets(self, source: str, rows: int) -> bool:
        """Look for the module, and for the entry in the cache."""
        return source not in self.modules and kernel_cache.is_missing(source, rows >= settings.WORTH_COMPILING)

    def closed(self, program: str) -> Any:
        """Compile the program as any other text."""
        return self.compiled(closed_source(program))

    def launch(self, module: Any, entry: str, rows: int, arguments: Sequence[Any]) -> None:
        """Run a kernel that loops over rows, on as many blocks as keep the device busy."""
        if rows:
            self.launch_blocks(module, entry, min(-(-rows // THREADS), self.blocks), THREADS, arguments)

    def launch_blocks(self, module: Any, entry: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Run a kernel in so many blocks."""
        if blocks:
            module.get_function(entry)((blocks,), (threads,), tuple(map(as_passed, arguments)))

    def user_kernel(self, source: str, path: FilePath, entry: str) -> Callable[[int, int, Sequence[Any], int], None]:
        """Compile a user's kernel once, as C++17 with CUDA's usual contractions."""
        if (source, path, entry) not in self.user_kernels:
            with compiling():
                user_kernel_program = kernel_cache.user_kernel(self.compiled_kernel, source, path, str(entry))
                self.user_kernels[source, path, entry] = user_kernel_program
        kernel = self.user_kernels[source, path, entry]

        def launch(blocks: int, threads: int, arguments: Sequence[Any], shared_bytes: int) -> None:
            refuse_block(entry, threads, kernel.max_threads_per_block)
            if shared_bytes:
                refuse_shared(entry, shared_bytes, self.most_shared_bytes - kernel.shared_size_bytes)
                kernel.max_dynamic_shared_size_bytes = max(kernel.max_dynamic_shared_size_bytes, shared_bytes)
            kernel((blocks,), (threads,), tuple(arguments), shared_mem=shared_bytes)

        return launch

    def triton_kernel(
        self, kernel: TritonKernel, types: Sequence[str], block: int
    ) -> Callable[[int, Sequence[Any]], None]:
        """Compile by Triton, which keeps machine code on disk; CuPy launches it, so PyTorch is not needed."""

        def launch(blocks: int, arguments: Sequence[Any]) -> None:
            ndarray = self.arrays.ndarray
            aligned = tuple(isinstance(each, ndarray) and each.data.ptr % ALIGNMENT == 0 for each in arguments)
            program, function = self.triton_function(kernel, tuple(types), block, aligned)
            hidden = [np.uint64(0)] * program.hidden
            function((blocks,), (program.threads,), (*arguments, *hidden), shared_mem=program.shared_bytes)

        return launch

    def triton_function(
        self, kernel: TritonKernel, types: tuple[str, ...], block: int, aligned: tuple[bool, ...]
    ) -> tuple[TritonProgram, Any]:
        """Return a compiled kernel and CuPy's function of it, which has its module."""
        key = (kernel.text, kernel.cuda, kernel.entry, kernel.warps, types, block, aligned)
        if key not in self.triton_kernels:
            with compiling():
                capability = int(self.arrays.cuda.Device().compute_capability)
                program = triton_program(kernel, types, block, capability, aligned)
            module = self.arrays.cuda.function.Module()
            module.load(program.cubin)
            function = module.get_function(program.name)
            refuse_shared(kernel.entry, program.shared_bytes, self.most_shared_bytes)  # all of Triton's is dynamic
            if program.shared_bytes > ORDINARY_SHARED_BYTES:
                self.arrays.cuda.driver.funcSetAttribute(function.ptr, MAX_DYNAMIC_SHARED, program.shared_bytes)
            self.triton_kernels[key] = program, function
        return self.triton_kernels[key]

    @property
    def most_shared_bytes(self) -> int:
        """What a block may have at most."""
        return int(self.arrays.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])

    def compiled_kernel(self, source: str, path: FilePath, entry: str) -> Any:
        """Compile a user's kernel; raise `EvaluationError` as `user_kernel` does.  CuPy takes no subclass of `str`."""
        mangled = None if is_c_function(source, entry) else (str(entry),)  # CuPy's cache takes no text with names
        text = named(source, path)
        try:
            if mangled is None and (kept := kernel_cache.kept_user_kernel(text, str(entry))):
                return kept
            module = self.arrays.RawModule(code=text, options=("--std=c++17",), name_expressions=mangled)
            return module.get_function(str(entry))
        except self.arrays.cuda.compiler.CompileException as error:
            raise does_not_compile(str(entry), str(error), text) from None
        except self.arrays.cuda.driver.CUDADriverError:
            raise EvaluationError(coded("GE1301", f"{path} has no kernel '{entry}'")) from None

    def user_module(self, source: str, kernel: str) -> Any:
        """Compile as what the engine generates."""
        try:
            return self.compiled(source)
        except self.arrays.cuda.compiler.CompileException as error:
            raise does_not_compile(kernel, str(error), source) from None

    @contextmanager
    def stage(self, name: str, work: Work = "computing") -> Iterator[None]:
        """Open an NVTX range on a stream for this work, and wait for it at the end.

        Raises
        ------
        EvaluationError
            Where the GPU is lost to this process, by an earlier step or run.
        """
        if is_lost():
            raise EvaluationError(coded("GE2014", GPU_LOST), "Start Python again to use the GPU.")
        nvtx = self.arrays.cuda.nvtx
        nvtx.RangePush(name)
        try:
            with finished(next(self.streams[work])):
                yield
        finally:
            nvtx.RangePop()

    def wait(self, timeout_s: float | None, slow: Callable[[], None]) -> bool:
        """Ask an event; a wait that is broken off leaves the device lost until the event has come."""
        event = self.arrays.cuda.Event(disable_timing=True)
        event.record()
        start, pause, warned = time.perf_counter(), SHORTEST_PAUSE_S, False
        try:
            while not event.done:
                waited = time.perf_counter() - start
                if timeout_s is not None and waited > timeout_s:
                    lose_device(partial(has_come, event))
                    return False
                if not warned and waited > SLOW_S:
                    warned = True
                    slow()
                time.sleep(pause)
                pause = min(max(waited / 20, SHORTEST_PAUSE_S), LONGEST_PAUSE_S)
        except KeyboardInterrupt:
            lose_device(partial(has_come, event))
            raise
        return True

    def record_event(self) -> Any:
        """Record an event."""
        event = self.arrays.cuda.Event()
        event.record()
        return event

    def seconds_between(self, start: Any, end: Any) -> float:
        """Ask the events."""
        end.synchronize()
        return float(self.arrays.cuda.get_elapsed_time(start, end)) / 1000

    def limited(self, memory: int) -> AbstractContextManager[None]:
        """Limit RMM's resource."""
        return limited(memory)

    def thread_setup(self) -> Callable[[], None]:
        """Return what makes the device current, as it is for each thread apart."""
        return self.arrays.cuda.Device().use  # type: ignore[no-any-return]

    def memory_meter(self) -> AbstractContextManager[MemoryMeter]:
        """Count by RMM."""
        return device_memory()

    def sorted_order(self, packed_keys: Sequence[Any]) -> Any:
        """Sort by libcudf's radix sort, word by word and the last one first: for several at once it compares rows."""
        *leading, last = packed_keys
        order = radix_order(last)
        for word in reversed(leading):
            order = pick(order, radix_order(pick(word, order, self)), self)
        return order

    def host_values(self) -> int:
        """Return what was measured: more before libcudf has read for the first time."""
        return settings.HOST_VALUES if self.has_read else settings.HOST_VALUES_AT_FIRST

    def read_parquet(
        self, files: Mapping[Path, Sequence[int]], types: Mapping[str, DataType], fields: Container[str] = ()
    ) -> dict[str, Vector]:
        """Read by libcudf: bytes from the page cache to the device by KvikIO, decoded there."""
        self.has_read = True
        return read_parquet(files, types, fields, self)

    def read_orc(self, path: Path, stripes: Sequence[int], types: Mapping[str, DataType]) -> dict[str, Vector]:
        """Read by libcudf."""
        self.has_read = True
        return read_orc(path, stripes, types, self)

    def string_ranks(self, strings: Vector) -> Any:
        """Rank them by libcudf, which sorts all; its `encode` leaves 8 bytes behind where it runs out of memory."""
        import pylibcudf as plc

        dense, ascending, nulls = plc.aggregation.RankMethod.DENSE, plc.types.Order.ASCENDING, plc.types.NullOrder.AFTER
        column, included = to_libcudf(strings, self), plc.types.NullPolicy.INCLUDE
        ranks = plc.sorting.rank(column, dense, ascending, included, nulls, False, stream())
        numbers = self.arrays.empty(strings.rows, "int32")
        shifted(column_array(ranks, "int32"), -1, numbers, self)
        return numbers

    def to_dataframe(self, frame: Frame) -> Any:
        """Wait for the columns: cuDF goes on with them on the default stream."""
        from gpuetl.engines.cudf.runtime.dataframes import to_dataframe

        self.arrays.cuda.get_current_stream().synchronize()
        return to_dataframe(frame)

    def from_series(self, series: Any, dtype: DataType) -> Vector:
        """Wait for the default stream, which is cuDF's."""
        from gpuetl.engines.cudf.runtime.dataframes import from_series

        vector = from_series(series, dtype)
        self.arrays.cuda.Stream.null.synchronize()
        return vector

    def written_file(self, path: Path, alone: bool) -> AbstractContextManager[ThreadedFile]:
        """Copy and write by threads."""
        return threaded_file(path, alone, device_files.writers(self.arrays.cuda.Device().id))

    def compressor(self, codec: str) -> NvcompCompressor | None:
        """Return nvCOMP's, which libcudf writes files by."""
        return compressor(codec)


def as_passed(argument: Any) -> Any:
    """Return an argument as CuPy passes it: a struct as one value of its bytes."""
    if isinstance(argument, Struct):
        return argument.words.view(f"V{argument.words.nbytes}")
    return np.int64(argument) if isinstance(argument, int) else argument


def has_come(event: Any) -> bool:
    """Return whether the device has come to an event; never where it ended in a fault."""
    try:
        return bool(event.done)
    except RuntimeError:
        return False


def machine() -> GpuMachine:
    """Return this process's GPU; threads may ask for it at the same time."""
    with _MAKING:
        return _machine()


@cache
def _machine() -> GpuMachine:
    return GpuMachine()
