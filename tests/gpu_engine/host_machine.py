"""Runs generated kernels on the CPU: the same text, compiled by a C++ compiler, one thread for all rows."""

import ctypes
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import orc

from gpu_engine.device_arrays import DeviceArrays, device_array, plain
from gpu_engine.host_compressor import HostCompressor
from gpu_engine.triton_interpreter import interpreter
from gpuetl.engines.cudf.codegen.device_headers import closed_programs, closed_source, headers_text
from gpuetl.engines.cudf.codegen.nvrtc import does_not_compile, named
from gpuetl.engines.cudf.codegen.triton_compiler import triton_function
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow, to_table
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.engines.cudf.io.parquet_reader import column_paths, type_as_read
from gpuetl.engines.cudf.io.threaded_file import (
    Chunk,
    Copies,
    Load,
    Span,
    Store,
    ThreadedFile,
    Writers,
    begin_reading,
    copy_from_host,
    copy_to_host,
    threaded_file,
)
from gpuetl.engines.cudf.machine import KernelSource, Struct
from gpuetl.engines.cudf.relational.window_frames import HEADERS as WINDOW_HEADERS
from gpuetl.engines.registry import ENGINES, register
from gpuetl.formats.nested_arrays import in_type
from gpuetl.places.filesystem import OpenFile
from gpuetl.plan.node import Node
from gpuetl.telemetry.memory_meter import MemoryUse
from gpuetl.user_kernels.function_frames import arrow_array, host_frame
from gpuetl.user_kernels.triton_kernel import TritonKernel

COMPILER = shutil.which("g++")
CHECKS = (
    "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize=vptr,return", "-fno-sanitize-recover=all", "-g1",
) if os.environ.get("GPUETL_SANITIZE") else ()  # fmt: skip
"""`make sanitize`: a kernel that leaves its arrays, or does what C++ leaves undefined, ends the process and says where.

The difference of two far places once left int64, and a kernel looped for ever.
"""
FLAGS = (
    "-pipe", "-fno-use-linker-plugin", "-std=c++17", "-O0", "-fPIC", "-w", "-ffp-contract=off", "-fno-exceptions", *CHECKS,
)  # fmt: skip
HOST = ("-DGPUETL_HOST",)
LIBRARIES = ("-nostdlib", "-x", "none", *(["-lasan", "-lubsan", "-lgcc_s"] if CHECKS else []), "-lm", "-lc", "-lgcc")
"""What kernels need of libraries: without those of C++, linking takes a third of the time."""
STANDARD, EMULATION = (Path(__file__).with_name(name) for name in ("standard.hpp", "emulation.hpp"))
"""What stands before a text that runs on the CPU, and before one of a GPU: see emulated_machine.py."""


USER = """
#include <cmath>
#include <cstdint>
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
extern "C" { struct Dim3 { unsigned x = 0, y = 0, z = 0; } threadIdx, blockIdx, blockDim, gridDim; }
template <class T> T atomicOr(T* at, T bits) { T before = *at; *at |= bits; return before; }
template <class T> T atomicAdd(T* at, T value) { T before = *at; *at += value; return before; }
#line 1
"""


COOPERATIVE = re.compile(r"\b(__syncthreads|__shared__|__syncwarp|__shfl\w*)\b")
"""What threads of a block do together."""


class Dim3(ctypes.Structure):
    """A thread's place."""

    _fields_ = [(axis, ctypes.c_uint) for axis in "xyz"]


def as_c(argument: Any) -> Any:
    """Return an array's address, or a NumPy scalar as C takes it."""
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    return np.ctypeslib.as_ctypes_type(argument.dtype)(argument.item())


def as_passed(argument: Any) -> Any:
    """Return an argument of the engine's kernels as C takes it: a 64-bit integer, an address, or a struct by value."""
    if isinstance(argument, Struct):
        return struct_type(len(argument.words)).from_buffer_copy(argument.words)
    if isinstance(argument, int):
        return ctypes.c_int64(argument)
    assert argument.flags.c_contiguous, "kernels read contiguous arrays"
    return ctypes.c_void_p(argument.ctypes.data)


@cache
def struct_type(words: int) -> type[ctypes.Structure]:
    """Return the type of a struct of so many words."""
    return type("Words", (ctypes.Structure,), {"_fields_": [("words", ctypes.c_int64 * words)]})


class TracedMemory:
    """What Python has traced; the first number is of operations."""

    def __init__(self) -> None:
        self.highest = 0

    def begin(self) -> None:
        """Forget the peak."""
        tracemalloc.reset_peak()

    def end(self) -> int:
        """Return the peak since `begin`."""
        peak = tracemalloc.get_traced_memory()[1]
        self.highest = max(self.highest, peak)
        return peak

    def peaks(self) -> dict[str, int]:
        """Return the most that any operation had."""
        return {"traced memory": self.highest}


class HostMachine:
    """A machine whose arrays are NumPy's."""

    arrays = DeviceArrays()
    by_instructions = False
    compresses = True
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def limited(self, memory: int) -> AbstractContextManager[None]:
        """Limit nothing."""
        return nullcontext()

    def thread_setup(self) -> Callable[[], None]:
        """Threads need nothing."""
        return lambda: None

    def to_host(self, arrays: Any, memory: Any) -> None:
        """Copy little at a time."""
        copy_to_host(arrays, memory, writers())

    def from_host(self, memory: Any, arrays: Any) -> None:
        """Copy little at a time."""
        copy_from_host(memory, arrays, writers())

    def begin_reading(self, source: OpenFile, start: int, array: Any) -> Copies:
        """Read by threads."""
        return begin_reading(source, start, array, writers())

    def count_memory(self) -> None:
        """Nobody set any apart."""

    def memory_use(self) -> MemoryUse:
        """Nobody counts."""
        return MemoryUse(0, self.memory)

    def release(self) -> None:
        """There is nothing to wait for."""

    def host(self, array: Any) -> Any:
        """It is there already."""
        return plain(array)

    def address(self, array: Any) -> int:
        """Return NumPy's pointer."""
        return int(array.ctypes.data)

    def begin_plan(self, plan: str) -> bool:
        """Compile nothing ahead."""
        return False

    def expect(self, plan: str, sources: Iterable[KernelSource]) -> None:
        """Leave them."""

    def compiled(self, source: str) -> ctypes.CDLL:
        """Compile with g++."""
        return library(source)

    def interprets(self, source: str, rows: int) -> bool:
        """Compile, unless a test asks for instructions."""
        return self.by_instructions

    def closed(self, program: str) -> ctypes.CDLL:
        """Return all programs as one library, which is compiled once."""
        return closed_library()

    def launch(self, module: ctypes.CDLL, entry: str, rows: int, arguments: Any) -> None:
        """Call the entry point."""
        module[entry](*map(as_passed, arguments))

    def launch_blocks(self, module: ctypes.CDLL, entry: str, blocks: int, threads: int, arguments: Any) -> None:
        """Call the entry point once: it sees one block of one thread."""
        self.launch(module, entry, 0, arguments)

    def wait(self, timeout_s: float | None, slow: Callable[[], None]) -> bool:
        """Kernels have ended when their call returns."""
        return True

    def user_kernel(self, source: str, path: Path, entry: str) -> Any:
        """Run a kernel thread by thread; one whose threads wait for each other, or share memory, in turns."""
        if COOPERATIVE.search(source):
            from gpu_engine.emulated_kernels import emulated_kernel  # it imports this module

            return emulated_kernel(named(source, path), entry)
        text = USER + named(source, path)
        try:
            module = library(text)
        except ValueError as error:
            raise does_not_compile(entry, str(error), text) from None
        places = {name: Dim3.in_dll(module, name) for name in ("threadIdx", "blockIdx", "blockDim", "gridDim")}

        def launch(blocks: int, threads: int, arguments: Any, shared_bytes: int) -> None:
            places["gridDim"].x, places["blockDim"].x = blocks, threads
            passed = [as_c(argument) for argument in arguments]
            for block in range(blocks):
                for thread in range(threads):
                    places["blockIdx"].x, places["threadIdx"].x = block, thread
                    module[entry](*passed)

        return launch

    def triton_kernel(self, kernel: TritonKernel, types: Sequence[str], block: int) -> Any:
        """Run a kernel by Triton's interpreter, block after block."""
        triton_function(kernel)

        def launch(blocks: int, arguments: Any) -> None:
            interpreter().launch(kernel, types, block, blocks, [plain(each) for each in arguments])

        return launch

    def to_dataframe(self, frame: Frame) -> Any:
        """Stand in for a cuDF frame by one of pandas."""
        return host_frame(to_table(frame, self), "pandas")

    def from_series(self, series: Any, dtype: pa.DataType) -> Vector:
        """Convert it as on the host."""
        try:
            array = arrow_array(series, dtype)
        except (pa.ArrowException, ValueError) as error:
            raise TypeError(str(error)) from None
        if array.type != dtype:
            raise TypeError(str(array.type))
        return from_arrow(array, self)

    def user_module(self, source: str, kernel: str) -> ctypes.CDLL:
        """Compile as what the engine generates."""
        try:
            return self.compiled(source)
        except ValueError as error:
            raise does_not_compile(kernel, str(error), source) from None

    def stage(self, name: str, work: str = "computing") -> Any:
        """There is nobody to tell."""
        return nullcontext()

    def record_event(self) -> float:
        """What is asked for is done at once."""
        return time.perf_counter()

    def seconds_between(self, start: float, end: float) -> float:
        """Subtract."""
        return end - start

    @contextmanager
    def memory_meter(self) -> Iterator["TracedMemory"]:
        """Count what Python and NumPy allocate."""
        tracemalloc.start()
        try:
            yield TracedMemory()
        finally:
            tracemalloc.stop()

    def sorted_order(self, packed_keys: Any) -> Any:
        """Sort by the last word first."""
        return device_array(np.lexsort([plain(word) for word in packed_keys[::-1]]).astype(np.int32))

    def string_ranks(self, strings: Vector) -> Any:
        """Sort the distinct texts; Arrow's order is that of their bytes."""
        encoded = to_arrow(strings, self).dictionary_encode(null_encoding="encode")
        order = pc.sort_indices(encoded.dictionary).to_numpy()
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        return device_array(places[encoded.indices.to_numpy()])

    def host_values(self) -> int:
        """None, so that tests read as a GPU does."""
        return 0

    def read_parquet(self, files: Any, types: Any, fields: Any = ()) -> dict[str, Vector]:
        """Read by pyarrow."""
        tables = []
        for path, groups in files.items():
            with pq.ParquetFile(path) as parquet:
                tables.append(parquet.read_row_groups(list(groups), columns=column_paths(types, fields)))
        whole = pa.concat_tables(tables)
        return {name: from_arrow(in_type(whole.column(name), type_as_read(t)), self) for name, t in types.items()}

    def read_orc(self, path: Any, stripes: Any, types: Any) -> dict[str, Vector]:
        """Read by pyarrow."""
        file = orc.ORCFile(path)
        whole = pa.Table.from_batches([file.read_stripe(stripe, columns=list(types)) for stripe in stripes])
        return {name: from_arrow(whole.column(name), self) for name in types}

    def written_file(self, path: Path, alone: bool) -> AbstractContextManager[ThreadedFile]:
        """Write by a few threads, little at a time."""
        return threaded_file(path, alone, writers())

    def compressor(self, codec: str) -> HostCompressor | None:
        """Compress by Arrow."""
        return HostCompressor(codec) if self.compresses else None


@cache
def writers() -> Writers:
    """Return the threads that write files."""
    return Writers(ThreadPoolExecutor(3), 3, 1000, lambda: write_chunks, lambda: fill_chunks)


def write_chunks(store: Store, taken: Iterator[Chunk]) -> None:
    """Write chunk after chunk."""
    for offset, piece in taken:
        store(np.frombuffer(span_bytes(piece) if isinstance(piece, Span) else piece, np.uint8), offset)


def fill_chunks(load: Load, taken: Iterator[Chunk]) -> None:
    """Fill parts of arrays."""
    for offset, (array, start, size) in taken:
        assert array.flags.c_contiguous
        load(plain(array).reshape(-1).view(np.uint8)[start : start + size], offset)


def span_bytes(span: Span) -> bytes:
    """Return a part of an array, in which it must lie."""
    assert span.array.flags.c_contiguous
    data = plain(span.array).reshape(-1).view(np.uint8)
    assert span.start + span.size <= len(data)
    return bytes(data[span.start : span.start + span.size].tobytes())


@cache
def folder() -> Path:
    """Return where compiled kernels lie, also those of other processes and of earlier runs."""
    found = Path(tempfile.gettempdir()) / f"gpuetl-kernels-{os.getuid()}"
    found.mkdir(exist_ok=True)
    return found


COMPILING = threading.Lock()
"""Threads that read tables of the same types want the same text at the same time."""


def library(source: str, host: bool = True) -> ctypes.CDLL:
    """Compile and load a text; raise `ValueError` with the compiler's words and the text where it does not compile."""
    with COMPILING:
        return loaded(source, host)


@cache
def closed_library() -> ctypes.CDLL:
    """Return the kernels of all programs of the closed set."""
    return library(closed_source(*closed_programs()))


@cache
def loaded(source: str, host: bool) -> ctypes.CDLL:
    """Compile and load a text: see `library`."""
    flags, header = ((*FLAGS, *HOST), STANDARD) if host else (FLAGS, EMULATION)
    path = folder() / f"{key_of(flags, header, source)}.so"
    if not path.exists():
        prelude = next(filter(source.startswith, preludes()), "") if host else ""
        rest = f"#line {prelude.count(chr(10)) + 1}\n{source.removeprefix(prelude)}"
        included = ("-include", compiled_header(flags, header, prelude))
        libraries = LIBRARIES if host else ()
        said = made_by_compiler(path, [*flags, *included, "-shared", "-x", "c++", "-", *libraries], rest)
        if said:
            numbered = "\n".join(f"{place:4} {line}" for place, line in enumerate(source.splitlines(), 1))
            raise ValueError(f"{said[:4000]}\n{numbered}")
    return ctypes.CDLL(str(path))


def key_of(flags: Sequence[str], header: Path, source: str = "") -> str:
    """Return a digest of all that is compiled."""
    return hashlib.sha256("\0".join((*flags, header.read_text(), source)).encode()).hexdigest()[:24]


@cache
def preludes() -> list[str]:
    """Return texts that many kernels begin with, the longest first: g++ compiles them once for all of these kernels."""
    row_kernels = [["rows.cuh", *more] for more in ([], ["arithmetic.cuh"], ["casts.cuh"], ["logic.cuh"])]
    return sorted(map(headers_text, [*row_kernels, ["scan.cuh"], WINDOW_HEADERS]), key=len, reverse=True)


@cache
def compiled_header(flags: Sequence[str], header: Path, prelude: str) -> Path:
    """Return a header and a prelude, compiled; where another g++ made it, it is their text that is read."""
    path = folder() / key_of(flags, header, prelude) / header.name
    compiled = path.with_suffix(".hpp.gch")
    if not compiled.exists():
        path.parent.mkdir(exist_ok=True)
        made = path.with_suffix(f".{os.getpid()}")
        made.write_text(header.read_text() + prelude, encoding="utf-8")
        made.replace(path)
        made_by_compiler(compiled, [*flags, "-x", "c++-header", path])
    return path


def made_by_compiler(path: Path, arguments: Sequence[str | Path], source: str = "") -> str:
    """Make a file, which other processes see only when it is whole; return what the compiler says where it fails.

    What another process is making is waited for: the kernels of the closed set take half a minute.
    """
    with (folder() / f"lock-{path.stem[:2]}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            return ""
        made = path.with_suffix(f".{os.getpid()}")
        command = [str(COMPILER), *map(str, arguments), "-o", str(made)]
        run = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
        if run.returncode:
            return run.stderr
        made.replace(path)
    return ""


class HostBackend(CudfBackend):
    """The cudf backend on this machine; a GPU does not warn of infinities either."""

    def run(self, operation: Node, *frames: Frame) -> Frame:
        """Run one operation."""
        with np.errstate(all="ignore"):
            return super().run(operation, *frames)


def host_backend() -> HostBackend:
    """Return the cudf backend on this machine."""
    return HostBackend(HostMachine())


ON_CPU = "cudf-on-cpu"
"""The cudf engine whose kernels are compiled for the CPU: all of it but libcudf and CuPy."""
register(ON_CPU, replace(ENGINES["cudf"], backend=f"{__name__}:{host_backend.__name__}"))
