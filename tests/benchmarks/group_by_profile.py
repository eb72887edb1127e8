"""Where the time of group-by questions with many groups goes on a GPU: each kernel beside what memory would allow.

    python tests/benchmarks/group_by_profile.py --folder FOLDER [--jobs q2,q3,q5,q7,q10] [--rows 100000000]
        [--runs 5] [--skip group_by_counts] [--no-parts] [--results FILE]

FOLDER is that of gpu.py: the data is made there unless it is there.  All runs are in one process and one memory pool.
For each question it prints the time of gpuetl and of cudf-polars, first and best, then libcudf's own reading and group-by
of the same columns, and then each kernel and each call of libcudf that gpuetl makes, by CUDA events of one traced run.
A kernel's bytes are those of the arrays that it is given, and of the columns that it is told of, each once: random
accesses take more.  "Memory" is the time that a copy of so many bytes takes.  Operations of a sort and a group-by,
by themselves, come last (`--no-parts` leaves them out).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from environment import described
from suites import Job
from suites.folders import make_whole
from suites.gpu_peers import CudfPolars
from suites.groupby.make import make
from suites.peers import run_pipeline
from suites.results import first_and_best, gpu, installed

from gpuetl import RunOptions
from gpuetl.engines.cudf import cudf_engine as cudf_backend
from gpuetl.engines.cudf.columns.arrays import bounds_where, pick
from gpuetl.engines.cudf.columns.keys import Key, Keys, Layout
from gpuetl.engines.cudf.columns.packed_keys import mark_words
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Machine, Struct
from gpuetl.engines.cudf.relational.grouping import cached_counts, shared_counts
from gpuetl.engines.cudf.runtime.traced_machine import DEVICE, TracedMachine
from gpuetl.telemetry.trace import Trace
from gpuetl.types.data_types import DataType

QUESTIONS: dict[str, tuple[list[str], dict[str, list[str]]]] = {
    "q2": (["id1", "id2"], {"v1": ["sum"]}),
    "q3": (["id3"], {"v1": ["sum"], "v3": ["mean"]}),
    "q5": (["id6"], {"v1": ["sum"], "v2": ["sum"], "v3": ["sum"]}),
    "q7": (["id3"], {"v1": ["max"], "v2": ["min"]}),
    "q10": (["id1", "id2", "id3", "id4", "id5", "id6"], {"v3": ["sum", "count"]}),
}
"""The keys of a question, and libcudf's aggregations of each value."""
TRACED_RUNS = 3
DIGIT_KERNELS = ("measure_keys", "pack_keys", "mark_keys")
GATHERED_WIDTHS = (1, 2, 4, 8, 16, 4, 8)
"""Bytes of an item, by kind, as in device/closed/gather.cu."""


@dataclass
class Step:
    """A kernel or a call of libcudf in a run: how often, its ms in all, and the bytes that it has to move, if known."""

    name: str
    calls: int = 0
    ms: float = 0.0
    bytes: int = 0


@dataclass
class Profile:
    """What was found of a question; times in seconds but for those of steps."""

    question: str
    gpuetl: dict[str, Any]
    cudf_polars: dict[str, Any] = field(default_factory=dict)
    libcudf: dict[str, float] = field(default_factory=dict)
    read_bytes: int = 0
    steps: list[Step] = field(default_factory=list)


class MeteredMachine(TracedMachine):
    """A traced machine that also tells the bytes of what kernels are given."""

    def launch(self, module: Any, entry: str, rows: int, arguments: Sequence[Any]) -> None:
        """Trace a launch."""
        with self.launched(entry, "kernel", bytes=moved_bytes(entry, rows, arguments)):
            self.machine.launch(module, entry, rows, arguments)

    def launch_blocks(self, module: Any, entry: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Trace a launch."""
        with self.launched(entry, "kernel", bytes=moved_bytes(entry, 0, arguments)):
            self.machine.launch_blocks(module, entry, blocks, threads, arguments)

    def sorted_order(self, words: Sequence[Any]) -> Any:
        """Trace a sort, by the widths of its words: they are read, and row numbers are written."""
        name = f"sort of {len(words[0]):,} rows by {', '.join(str(word.dtype) for word in words)}"
        with self.launched(name, "libcudf", bytes=sum(int(word.nbytes) for word in words) + 4 * len(words[0])):
            return self.machine.sorted_order(words)

    def string_ranks(self, texts: Vector) -> Any:
        """Trace the numbering of texts."""
        with self.launched(f"sort of {texts.rows:,} texts", "libcudf", bytes=texts.nbytes):
            return self.machine.string_ranks(texts)

    def read_parquet(
        self, files: Mapping[Path, Sequence[int]], types: Mapping[str, DataType], fields: Container[str] = ()
    ) -> dict[str, Vector]:
        """Trace the reading; its bytes are those of the columns."""
        details: dict[str, Any] = {}
        with self.launched("read Parquet", "libcudf", details=details):
            columns = self.machine.read_parquet(files, types, fields)
            details["bytes"] = sum(column.nbytes for column in columns.values())
        return columns


def metered_machine(machine: Machine, trace: Trace, timed: bool) -> Machine:
    """Return the machine, traced with times of the device, whatever was asked for."""
    return cast(Machine, MeteredMachine(machine, trace, timed=True))


def moved_bytes(entry: str, rows: int, arguments: Sequence[Any]) -> int:
    """Return the bytes of the arrays among a kernel's arguments, and of the columns that its struct describes."""
    total = sum(int(each.nbytes) for each in arguments if hasattr(each, "nbytes"))
    words = arguments[-1].words.tolist() if arguments and isinstance(arguments[-1], Struct) else []
    if entry.startswith(DIGIT_KERNELS):
        total += digit_bytes(words, rows, int(entry.rpartition("_")[2]), entry.startswith("pack"))
    elif entry.startswith("gather_"):
        count = int(arguments[0])
        total += sum(2 * count * GATHERED_WIDTHS[kind] for kind in words[5 : 1 + 5 * words[0] : 5])
    return total


def digit_bytes(words: list[int], rows: int, digits: int, packs: bool) -> int:
    """Return the bytes of a `Keys` struct of device/keys.cuh, and of the words that are packed of it."""
    read = [words[3 + 3 * place : 6 + 3 * place] for place in range(words[2])]
    bits = sum(8 * (kind & 0xFF) + (valid != 0) for _, valid, kind in read)
    if packs:
        places = words[3 + 3 * digits :]
        bits += sum(places[3 * place + 2] & 0xFF for place in range(words[2]) if places[3 * place + 1])
    return rows * bits // 8


def profiled(data: Path, question: str, engine: str, runs: int, options: RunOptions | None = None) -> Profile:
    """Run a question: once, then for its best time, then traced."""
    job, options = Job("groupby", question), options or RunOptions()
    with TemporaryDirectory() as out:
        seconds = timed(lambda: run_pipeline(job, data, Path(out), engine=engine, options=options), runs)
        found = Profile(question, first_and_best(seconds))
        for _ in range(TRACED_RUNS):
            steps = steps_of(traced_events(job, data, Path(out), engine, options))
            if not found.steps or sum(step.ms for step in steps) < sum(step.ms for step in found.steps):
                found.steps = steps
    found.read_bytes = sum(step.bytes for step in found.steps if step.name == "read Parquet")
    return found


def timed(work: Callable[[], object], runs: int) -> list[float]:
    """Return the seconds of a first run and of some more."""
    seconds = []
    for _ in range(runs + 1):
        start = time.perf_counter()
        kept = work()
        seconds.append(time.perf_counter() - start)
        del kept
    return seconds


def traced_events(job: Job, data: Path, out: Path, engine: str, options: RunOptions) -> list[dict[str, Any]]:
    """Run a question traced; return the events of the device and the operations, in the order of their beginning."""
    path = out / "trace.json"
    with patch.object(cudf_backend, "traced_machine", metered_machine):
        run_pipeline(job, data, out, engine=engine, options=replace(options, trace=path))
    events: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    return [event for event in events if event["ph"] == "X" and tracks[event["tid"]].startswith(DEVICE)]


def steps_of(events: Sequence[dict[str, Any]]) -> list[Step]:
    """Return the events of the same name together."""
    steps: dict[str, Step] = {}
    for event in events:
        step = steps.setdefault(event["name"], Step(event["name"]))
        details = event["args"].get("details", event["args"])
        step.calls, step.ms = step.calls + 1, step.ms + event["dur"] / 1000
        step.bytes += details.get("bytes", 0)
    return list(steps.values())


class SharedCudfPolars(CudfPolars):
    """cudf-polars in this process: on the engine's memory pool."""

    @cached_property
    def collector(self) -> Any:
        """What collects."""
        import polars as pl
        import rmm

        pool = rmm.mr.get_current_device_resource()
        return pl.GPUEngine(executor="in-memory", raise_on_fail=True, memory_resource=pool)


def libcudf_ms(data: Path, question: str, runs: int) -> dict[str, float]:
    """Return the least ms of libcudf reading the columns, and of its group-by of them; keys of nulls are groups."""
    import pylibcudf as plc

    keys, calls = QUESTIONS[question]
    files = plc.io.SourceInfo([str(path) for path in sorted((data / "x").glob("*.parquet"))])
    options = plc.io.parquet.ParquetReaderOptions.builder(files).build()
    options.set_column_names([*keys, *calls])
    reading = least_ms(lambda: plc.io.parquet.read_parquet(options), runs)
    columns = plc.io.parquet.read_parquet(options).columns

    def grouped() -> Any:
        by = plc.groupby.GroupBy(plc.Table(columns[: len(keys)]), plc.types.NullPolicy.INCLUDE)
        values = zip(columns[len(keys) :], calls.values(), strict=True)
        return by.aggregate([
            plc.groupby.GroupByRequest(column, [getattr(plc.aggregation, name)() for name in names])
            for column, names in values
        ])  # fmt: skip

    return {"read": reading, "group-by": least_ms(grouped, runs)}


def least_ms(work: Callable[[], object], runs: int) -> float:
    """Return the least milliseconds of some runs after a first one; the device has done all before and after."""
    import cupy

    times = []
    for _ in range(runs + 1):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        kept = work()
        cupy.cuda.Device().synchronize()
        times.append(time.perf_counter() - start)
        del kept
    return min(times[1:]) * 1e3


def copied_gb_a_s(runs: int) -> float:
    """Return how many GB a second a copy within the device's memory reads and writes."""
    import cupy

    source = cupy.ones(1 << 28, "int64")
    target = cupy.empty_like(source)
    return float(2 * source.nbytes / least_ms(lambda: cupy.copyto(target, source), runs) / 1e6)


def parts(rows: int, runs: int) -> Iterator[Step]:
    """Yield operations by themselves, on random numbers: sorts, gathers, atomic additions, libcudf's group-by."""
    import cupy
    import pylibcudf as plc

    from gpuetl.engines.cudf.runtime.gpu_machine import machine
    from gpuetl.engines.cudf.runtime.libcudf import number_column

    ours = machine()
    few = max(1, rows // 100)
    many = cupy.random.default_rng(1).integers(0, few, rows, "int64")
    narrow = many.astype("uint32")
    wide = cupy.random.default_rng(2).integers(0, 1 << 62, rows, "int64").view("uint64")
    ascending, after = [plc.types.Order.ASCENDING], [plc.types.NullOrder.AFTER]
    for word, bits in ((narrow, "values below rows/100"), (wide, "62 bits")):
        order = least_ms(partial(ours.sorted_order, [word]), runs)
        yield Step(f"order of {word.dtype}, {bits}", runs, order, word.nbytes + 4 * rows)
        alone = least_ms(partial(plc.sorting.sort, plc.Table([number_column(word)]), ascending, after), runs)
        yield Step(f"sort of {word.dtype} alone, {bits}", runs, alone, 2 * word.nbytes)
    yield from parts_of_counts(narrow, ours, runs)
    order_of_wide = ours.sorted_order([wide])
    for dtype in ("int32", "int64"):
        values = many.astype(dtype)
        ms = least_ms(partial(pick, values, order_of_wide, ours), runs)
        yield Step(f"{dtype} picked in random order", runs, ms, 2 * values.nbytes + order_of_wide.nbytes)
    for dtype in ("int32", "int64"):
        module = cupy.RawModule(code=ADD_SOURCE.replace("WORD", "int" if dtype == "int32" else "unsigned long long"))
        passed = (np.int64(rows), many, cupy.zeros(few, dtype))
        ms = least_ms(partial(module.get_function("add"), (4096,), (256,), passed), runs)
        yield Step(f"1 added in {dtype} to one of rows/100 sums", runs, ms, many.nbytes)
    values = number_column(many)
    for name, key in (("int32, rows/100 groups", narrow), ("int64, as many groups as rows", wide)):
        by = plc.groupby.GroupBy(plc.Table([number_column(key)]))
        for calls in (["sum"], ["sum", "min", "max"]):
            request = [plc.groupby.GroupByRequest(values, [getattr(plc.aggregation, call)() for call in calls])]
            yield Step(
                f"libcudf: {', '.join(calls)} by {name}", runs, least_ms(partial(by.aggregate, request), runs),
                key.nbytes + many.nbytes,
            )  # fmt: skip


def parts_of_counts(codes: Any, ours: Machine, runs: int) -> Iterator[Step]:
    """Yield how long it takes to find groups by counts, and by marks of rows that differ from the one before."""
    bits, rows = int(codes.max()).bit_length(), len(codes)
    yield Step("counts of codes", runs, least_ms(partial(cached_counts, codes, bits, ours), runs), codes.nbytes)
    for width in (14, 16):
        few = ours.arrays.asarray((ours.host(codes) & (1 << width) - 1).astype("uint16"))
        ms = least_ms(partial(shared_counts, few, width, ours), runs)
        yield Step(f"counts of codes of {width} bits", runs, ms, few.nbytes)
    order = ours.sorted_order([codes])
    keys = Keys((Key(Vector(pa.uint32(), rows, codes), False),), rows)
    layout = Layout((0,), (bits,), in_order=False)
    marking = partial(mark_words, [codes], keys, 1, layout, order, [], ours)
    yield Step("marks of rows in order", runs, least_ms(marking, runs), codes.nbytes + 5 * rows)
    marks = marking().groups
    yield Step("bounds of marks", runs, least_ms(partial(bounds_where, marks, ours), runs), rows)


ADD_SOURCE = """
extern "C" __global__ void add(long long rows, const long long* keys, WORD* sums) {
    for (long long row = blockIdx.x * (long long)blockDim.x + threadIdx.x; row < rows; row += gridDim.x * (long long)blockDim.x)
        atomicAdd(sums + keys[row], WORD(1));
}
"""


def lines(found: Profile, rate: float) -> Iterator[str]:
    """Yield what is told to people of a question; `rate` in GB a second, 0 where it is not known."""
    ours, theirs = found.gpuetl, found.cudf_polars
    record = f"gpuetl first {ours['first_s'] * 1e3:.0f} ms, best {ours['best_s'] * 1e3:.1f} ms"
    if theirs:
        record += f"; cudf-polars first {theirs['first_s'] * 1e3:.0f} ms, best {theirs['best_s'] * 1e3:.1f} ms"
        record += f"; {theirs['best_s'] / ours['best_s']:.2f} times its speed"
    yield f"{found.question}  {record}"
    if found.libcudf:
        yield "    libcudf alone: " + ", ".join(f"{name} {ms:.1f} ms" for name, ms in found.libcudf.items())
    yield "    " + line(Step("all columns, read once from memory", 1, 0, found.read_bytes), rate)
    for step in found.steps:
        yield "    " + line(step, rate)
    yield "    " + line(Step("all on the device", 1, sum(step.ms for step in found.steps)), rate)


def line(step: Step, rate: float) -> str:
    """Return a line of a step."""
    memory = f"{step.bytes / 1e6:9,.0f} MB" + (f", memory {step.bytes / rate / 1e6:6.2f} ms" if rate else "")
    return f"{step.name:56} {step.calls:3} × {step.ms:8.3f} ms  {memory if step.bytes else ''}"


def main() -> None:
    """Profile all questions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=lambda path: Path(path).absolute(), required=True, help="that of gpu.py")
    parser.add_argument("--jobs", type=lambda text: text.split(","), default=list(QUESTIONS))
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--runs", type=int, default=5, help="after the first one")
    parser.add_argument("--skip", type=lambda text: tuple(text.split(",")), default=(), help="choices to leave out")
    parser.add_argument("--no-parts", action="store_true", help="leave out operations by themselves")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    data = given.folder / "data" / f"groupby-{given.rows}"
    make_whole(data, lambda begun: make(begun, given.rows))
    from gpuetl.engines.registry import load_backend

    load_backend("cudf")  # makes the pool
    rate = copied_gb_a_s(given.runs)
    print(f"copy {rate:,.0f} GB/s", flush=True)
    kept = {"benchmark": "group_by_profile", **described(installed()), "rows": given.rows, "copy_gb_a_s": rate}
    kept["hardware"] |= gpu()
    kept |= {"questions": [], "parts": []}
    peer = None if SharedCudfPolars.missing() else SharedCudfPolars(data, "cudf")
    for question in given.jobs:
        found = profiled(data, question, "cudf", given.runs, RunOptions(skip_passes=given.skip))
        for line_of in lines(found, rate):
            print(line_of, flush=True)
        found = with_peers(found, data, peer, given.runs)
        print(*list(lines(found, rate))[: 1 + bool(found.libcudf)], sep="\n", flush=True)
        kept["questions"].append(asdict(found))
        write(given.results, kept)
    for step in [] if given.no_parts else parts(given.rows, given.runs):
        print(line(step, rate), flush=True)
        kept["parts"].append(asdict(step))
        write(given.results, kept)


def with_peers(found: Profile, data: Path, peer: SharedCudfPolars | None, runs: int) -> Profile:
    """Measure libcudf and cudf-polars, too; say what went wrong with one of them, and go on."""
    theirs: dict[str, Any] = {}
    alone: dict[str, float] = {}
    try:
        alone = libcudf_ms(data, found.question, runs)
        if peer:
            job = Job("groupby", found.question)
            theirs = first_and_best(timed(lambda: peer.run(job, data), runs))
    except Exception as error:
        print(f"    peers of {found.question}: {type(error).__name__}: {error}", flush=True)
    return replace(found, cudf_polars=theirs, libcudf=alone)


def write(path: Path | None, kept: dict[str, Any]) -> None:
    """Write what was found up to now."""
    if path:
        path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
