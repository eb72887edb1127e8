"""Programs compiled into a folder, on all cores, without a GPU: for images, and for wheels (`make kernels`)."""

from __future__ import annotations

import ctypes
import shutil
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event
from typing import NamedTuple, Protocol

from gpuetl.engines import gpu_driver
from gpuetl.engines.cudf.codegen.compile_ahead import most_threads
from gpuetl.engines.cudf.codegen.machine_code import SHIPPED, Compiler, Target, by_ptx, read_entry, write_entry
from gpuetl.engines.cudf.codegen.nvrtc import library_paths, users_lines
from gpuetl.engines.cudf.codegen.nvrtc_processes import NvrtcProcess, loaded_library, version_of
from gpuetl.engines.cudf.programs.plan_programs import Program, closed_set
from gpuetl.errors import EngineUnavailable, InvalidPipeline, RunFailed, system_reason
from gpuetl.messages import coded

# Programs compiled into entries of a folder, on as many NVRTC processes as there are cores; no GPU is needed.


OnProgress = Callable[[int, int, str, float], None]
"""Is told how many programs of how many are done, the architecture of the last one, and the seconds since the start."""


class Compiles(Protocol):
    """Compiles one text at a time: a process of NVRTC's."""

    def compiled(self, source: str, options: Sequence[str]) -> tuple[bytes, str]:
        """Return machine code, or none and the compiler's log; raise `OSError` where the process has ended."""

    def end(self) -> None:
        """End it."""


class Nvrtc(NamedTuple):
    """An NVRTC that was found: its file, its version, and the architectures that it compiles for."""

    library: str
    compiler: Compiler
    architectures: tuple[str, ...]

    def start(self) -> Compiles:
        """Start a process of it."""
        return NvrtcProcess(self.library)


class Job(NamedTuple):
    """A program to compile for a target, and the entry that it becomes."""

    program: Program
    target: Target
    path: Path


class BuildResult(NamedTuple):
    """What was done: how many programs were compiled, how many were there, their bytes on disk, and the seconds."""

    compiled: int
    there: int
    disk_bytes: int
    seconds: float


def find_nvrtc() -> Nvrtc:
    """Return NVRTC, the one that CuPy loads where there are several: others' machine code has other names.

    Raises
    ------
    EngineUnavailable
        Where there is none.
    """
    for path in nvrtc_paths():
        with suppress(OSError):
            library, version = ctypes.CDLL(path), version_of(path)
            file = loaded_library(version) or path
            return Nvrtc(file, Compiler.of(version, file), architectures_of(library))
    raise EngineUnavailable(
        coded(
            "GE1320",
            "no NVRTC was found, which compiles kernels.\nInstall it: pip install nvidia-cuda-nvrtc-cu12",
        )
    )


def nvrtc_paths() -> Iterator[str]:
    """Yield where NVRTC may be: first where CuPy looks for it, then what is of the CUDA version of its wheel."""
    with suppress(Exception):  # CuPy before 14 does without this package
        yield str(import_module("cuda.pathfinder").load_nvidia_dynamic_lib("nvrtc").abs_path)
    majors = gpu_driver.cuda_majors(gpu_driver.installed())
    endings = tuple(f".so.{major}" for major in majors)
    yield from sorted(map(str, library_paths()), key=lambda path: not path.endswith(endings))


def architectures_of(library: ctypes.CDLL) -> tuple[str, ...]:
    """Return the architectures that NVRTC compiles for."""
    count = ctypes.c_int()
    library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    numbers = (ctypes.c_int * count.value)()
    library.nvrtcGetSupportedArchs(numbers)
    return tuple(f"sm_{number}" for number in numbers)


def targets_of(asked: Sequence[str], nvrtc: Nvrtc) -> list[Target]:
    """Return what to compile for: the architectures that were asked for, or those of the GPUs that are here.

    Raises
    ------
    InvalidPipeline
        Where none was asked for and there is no GPU, and for one that NVRTC does not compile for.
    """
    names = list(dict.fromkeys(asked or gpu_driver.architectures()))
    have = (
        f"NVRTC {nvrtc.compiler.version[0]}.{nvrtc.compiler.version[1]} compiles for: {', '.join(nvrtc.architectures)}."
    )
    if not names:
        hint = f"Say for which GPUs to compile: --arch sm_90, or several as --arch sm_80,sm_90.  {have}"
        raise InvalidPipeline.because(coded("GE1321", "this machine has no GPU to compile for"), hint)
    for name in names:
        if name not in nvrtc.architectures:
            raise InvalidPipeline.because(coded("GE1321", f"unknown architecture '{name}'"), have)
    return [Target(name, nvrtc.compiler, by_ptx()) for name in names]


def jobs_of(
    programs: Iterable[Program], targets: Iterable[Target], path_of: Callable[[Program, Target], Path]
) -> list[Job]:
    """Return the jobs, of programs with the same entry one, the largest text first."""
    programs = list(programs)
    jobs = [Job(program, target, path_of(program, target)) for target in targets for program in programs]
    jobs.sort(key=lambda job: len(job.program.text), reverse=True)
    return list({job.path: job for job in reversed(jobs)}.values())[::-1]


def build(jobs: Sequence[Job], start: Callable[[], Compiles], progress: OnProgress) -> BuildResult:
    """Compile what is not there yet.

    Raises
    ------
    RunFailed
        With the file, the program and the compiler's log, for the first text that does not compile; and where an entry
        cannot be written.  What was compiled before stays, and no other compilation begins.
    """
    begin = time.perf_counter()
    wanted = [job for job in jobs if read_entry(job.path) is None]
    idle: SimpleQueue[Compiles] = SimpleQueue()
    stopped = Event()

    def compile_one(job: Job) -> bool:
        """Compile a program, and tell whether it was; after a failure none is begun, however late this thread runs."""
        if stopped.is_set():
            return False
        try:
            _build(job, start, idle)
        except BaseException:
            stopped.set()
            raise
        return True

    pool = ThreadPoolExecutor(max(1, min(most_threads(), len(wanted))), thread_name_prefix="gpuetl-build")
    try:
        futures: dict[Future[bool], Job] = {pool.submit(compile_one, job): job for job in wanted}
        for done, future in enumerate(as_completed(futures), 1):
            if not future.result():
                continue  # the failure is the result of another one
            progress(done, len(wanted), futures[future].target.architecture, time.perf_counter() - begin)
    finally:
        pool.shutdown(cancel_futures=True)
        with suppress(Empty):
            while True:
                idle.get_nowait().end()
    size = sum(job.path.stat().st_size for job in jobs)
    return BuildResult(len(wanted), len(jobs) - len(wanted), size, time.perf_counter() - begin)


def _build(job: Job, start: Callable[[], Compiles], idle: SimpleQueue[Compiles]) -> None:
    """Compile one program by a process that is idle, or a new one; it is idle then."""
    program, target = job.program, job.target
    what = f"{program.file}: {program.name} for {target.architecture}"
    try:
        compiler = idle.get_nowait()
    except Empty:
        compiler = start()
    try:
        code, log = compiler.compiled(program.text, target.options(program.options))
    except OSError as error:
        compiler.end()
        why = "the compiler's process ended; the machine may be out of memory"
        raise RunFailed(coded("GE1322", f"{what} was not compiled: {why}")) from error
    except BaseException:
        compiler.end()
        raise
    idle.put(compiler)
    if not code:
        raise RunFailed(coded("GE1322", f"{what} does not compile\n{users_lines(log)}"))
    try:
        write_entry(job.path, code)
    except OSError as error:
        raise RunFailed(coded("GE1323", f"cannot write to {job.path.parent}: {system_reason(error)}")) from error


# Compiles the closed set into the package, for the wheels of a release: `make kernels`.


ARCHITECTURES = ("sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120")


def main() -> None:
    """Replace what the package has; print what each architecture takes, on disk and compressed as in a wheel."""
    nvrtc = find_nvrtc()
    shutil.rmtree(SHIPPED, ignore_errors=True)
    targets = [Target(name, nvrtc.compiler) for name in ARCHITECTURES]
    jobs = jobs_of(closed_set(), targets, lambda program, target: target.shipped(program.text))
    built = build(jobs, nvrtc.start, lambda done, of, architecture, seconds: None)
    for target in targets:
        codes = [job.path.read_bytes() for job in jobs if job.target == target]
        disk, wheel = sum(map(len, codes)), sum(len(zlib.compress(code)) for code in codes)
        print(f"{target.architecture}: {len(codes)} programs, {disk:,} bytes on disk, {wheel:,} in a wheel")
    print(f"{built.compiled} programs in {built.seconds:.1f} s, by NVRTC {nvrtc.compiler.version}, in {SHIPPED}")


if __name__ == "__main__":
    main()
