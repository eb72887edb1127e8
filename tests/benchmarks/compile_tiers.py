"""What compiling with fewer optimizations saves, and what it costs on the device.

    python tests/benchmarks/compile_tiers.py [--rows 100000000] [--runs 5] [--cases TEXT] [--results FILE]

`max` is not among the options: kernels took 12 to 300 times as long with it.

Each case is an operation that generates kernels: expressions, filters, strings and windows.  Its programs are
compiled with each set of options, in an NVRTC process for each set: NVRTC 12.9 keeps part of `--Ofast-compile=max` for the
programs that follow.  Then the operation runs with each.  All results must have the same bits.

Per set of options, a line shows the seconds of NVRTC, and the milliseconds of the generated kernels' launches.  A launch
counts with the least time of some runs after a first one.  Kernels of the closed set are not counted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from environment import described
from suites.results import gpu, installed

from gpuetl import Pipeline, Table, expr
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.cudf_engine import CudfBackend
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.plan.node import Node

USERS, CATEGORIES = 1_000_000, 20
TIERS = {
    "full": (),
    "min": ("--Ofast-compile=min",),
    "mid": ("--Ofast-compile=mid",),
}
"""Options beside those of every program."""
NO_CACHE = "-no-cache"
"""Where there is a driver, NVRTC keeps what its optimizer gave on disk, for other options of the assembler too."""
NUMBERS = ("amount", "quantity", "price", "ts")
Compile = Callable[[str, tuple[str, ...]], tuple[Any, float]]
"""Returns the module of a program compiled with some more options, and the seconds of the compiler."""
Same = Callable[[Array, Array], bool]


@dataclass(frozen=True)
class Case:
    """An operation over some columns of the events, and the share of the rows that it reads."""

    name: str
    columns: Sequence[str]
    step: Callable[[Table], Table]
    share: float = 1.0


@dataclass
class Measured:
    """Of a case and some options: seconds of NVRTC, and milliseconds by launch, in order."""

    case: str
    options: str
    programs: int = 0
    compile_s: float = 0.0
    launches: list[tuple[str, float]] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    """The columns whose bits are not those of the first options."""

    @property
    def ms(self) -> float:
        """The milliseconds of all launches."""
        return sum(ms for _, ms in self.launches)


def cases() -> list[Case]:
    """Return what is measured."""
    amounts, users = ("amount", "quantity", "ts"), ("user_id", "ts", "amount")
    few = 0.1
    return [
        Case("3 expressions", amounts, selecting(
            paid="amount * quantity", hour="hour(ts)",
            dear="CASE WHEN amount > 500 AND quantity > 2 THEN amount / quantity ELSE 0.0 END",
        )),
        Case("12 expressions", NUMBERS, selecting(
            a="amount + 1", b="amount * amount - quantity", c="sqrt(amount)", d="round(amount, 1)", e="quantity % 7",
            f="year(ts)", g="month(ts)", h="day(ts)", i="coalesce(amount, 0.0) > 3", j="greatest(amount, quantity)",
            k="CASE WHEN quantity = 1 THEN 1 WHEN quantity = 2 THEN 4 ELSE 9 END", l="abs(quantity - 5)",
        )),
        Case("decimals", ("price", "quantity"), selecting(
            paid="price * quantity", net="price * (1 - CAST(0.05 AS decimal(4, 2)))", rounded="round(price, 1)",
        )),
        Case("filter", ("amount", "quantity"), lambda t: t.filter(expr("amount > 200 AND quantity <> 3"))),
        Case("logarithm and power", ("amount",), selecting(x="ln(amount + 1)", y="power(amount, 1.5)")),
        Case("float to text", ("amount",), selecting(x="CAST(amount AS string)"), few),
        Case("decimal to text", ("price",), selecting(x="CAST(price AS string)"), few),
        Case("date to text", ("ts",), selecting(x="strftime(ts, '%Y-%m-%d %H:%M')"), few),
        Case("text to float", ("text",), selecting(x="TRY_CAST(text AS float64)"), few),
        Case("regular expression", ("text",), selecting(x="regexp_matches(text, '^[0-9]+\\.[0-9]*5$')"), few),
        Case("regular expression replaced", ("text",), selecting(x="regexp_replace(text, '[0-9]+', 'x')"), few),
        Case("digest", ("text",), selecting(x="md5(text)"), few),
        Case("upper and concat", ("text",), selecting(x="upper(text) || '-' || text"), few),
        Case("window of 6 folds", users, lambda t: t.window("user_id", "ts", **exprs({
            "spent": "cum_sum(amount)", "most": "cum_max(amount)", "n": "row_number()", "last": "lag(amount)",
            "recent": "ewm_mean(amount, half_life => interval '1 day')", "session": "session_id(interval '30 minutes')",
        })), few),
        Case("rolling sums", users, lambda t: t.window("user_id", "ts", **exprs({
            "a": "rolling_sum(amount, 5)", "b": "rolling_mean(amount, interval '1 day')",
        })), few),
    ]  # fmt: skip


def selecting(**texts: str) -> Callable[[Table], Table]:
    """Return a step that computes columns."""
    return lambda table: table.select(**exprs(texts))


def exprs(texts: Mapping[str, str]) -> dict[str, Any]:
    """Read SQL."""
    return {name: expr(text) for name, text in texts.items()}


class TierMachine:
    """A machine that compiles generated programs with more options, and times each of their launches."""

    def __init__(self, machine: Machine, compile_program: Compile, options: tuple[str, ...]) -> None:
        self.machine, self.compile_program, self.options = machine, compile_program, options
        self.modules: dict[str, Any] = {}
        self.seconds = 0.0
        self.launches: list[tuple[str, Any, Any]] = []

    def __getattr__(self, name: str) -> Any:
        """Do all else as the machine does."""
        return getattr(self.machine, name)

    def compiled(self, source: str) -> Any:
        """Compile each program once."""
        if source not in self.modules:
            self.modules[source], seconds = self.compile_program(source, self.options)
            self.seconds += seconds
        return self.modules[source]

    def launch(self, module: Any, entry: str, rows: int, arguments: Sequence[Any]) -> None:
        """Time what is not of the closed set."""
        self._timed(module, entry, partial(self.machine.launch, module, entry, rows, arguments))

    def launch_blocks(self, module: Any, entry: str, blocks: int, threads: int, arguments: Sequence[Any]) -> None:
        """Time what is not of the closed set."""
        self._timed(module, entry, partial(self.machine.launch_blocks, module, entry, blocks, threads, arguments))

    def _timed(self, module: Any, entry: str, launch: Callable[[], None]) -> None:
        if not any(module is each for each in self.modules.values()):
            launch()
            return
        start = self.machine.record_event()
        launch()
        self.launches.append((entry, start, self.machine.record_event()))

    def taken(self) -> list[tuple[str, float]]:
        """Return the milliseconds of the launches since the last call."""
        times = [(entry, self.machine.seconds_between(start, end) * 1e3) for entry, start, end in self.launches]
        self.launches.clear()
        return times


class Comparison:
    """Compares options on one machine, whose module `xp` makes random numbers."""

    def __init__(self, machine: Machine, xp: Any, compile_program: Compile, same: Same, rows: int, runs: int) -> None:
        self.machine, self.xp, self.compile_program = machine, xp, compile_program
        self.same, self.rows, self.runs = same, rows, runs

    def of_case(self, case: Case, tiers: Mapping[str, tuple[str, ...]] = TIERS) -> Iterator[Measured]:
        """Yield what is measured with each set of options; runs with them take turns."""
        frame = self.events(max(1, int(self.rows * case.share)), "text" in case.columns).select(tuple(case.columns))
        nodes = planned(frame, case.step)
        machines = {name: TierMachine(self.machine, self.compile_program, options) for name, options in tiers.items()}
        least: dict[str, list[tuple[str, float]]] = {}
        differing: dict[str, list[str]] = {}
        first: Frame | None = None
        for run in range(self.runs + 1):
            for name, machine in machines.items():
                made = self.result(machine, nodes, frame)
                times = machine.taken()
                if run == 0:
                    first = first or made
                    differing[name] = self.differing(first, made)
                elif name not in least:
                    least[name] = times
                else:
                    pairs = zip(least[name], times, strict=True)
                    least[name] = [(entry, min(before, now)) for (entry, before), (_, now) in pairs]
                del made
        for name, machine in machines.items():
            yield Measured(case.name, name, len(machine.modules), machine.seconds, least[name], differing[name])

    def result(self, machine: TierMachine, nodes: Sequence[Node], frame: Frame) -> Frame:
        """Run operations one after another."""
        backend = CudfBackend(machine)
        for node in nodes:
            frame = backend.run(node, frame)
        return frame

    def differing(self, first: Frame, made: Frame) -> list[str]:
        """Return the columns of two results that differ in a bit."""
        pairs = {name: (buffers_of(first.columns[name]), buffers_of(made.columns[name])) for name in first.columns}
        return [name for name, both in pairs.items() if not all(map(self.same, *both))]

    def events(self, rows: int, texts: bool) -> Frame:
        """Make events: 1 of 50 amounts is null; with `texts` strings, decimal numbers of up to 9 characters."""
        xp = self.xp
        xp.random.seed(1)
        draw = partial(xp.random.randint, size=rows)
        valid = xp.packbits((xp.random.random(-(-rows // 32) * 32) >= 0.02).astype("uint8"), bitorder="little")
        missing = rows - int(xp.unpackbits(valid, bitorder="little")[:rows].sum())
        names = from_arrow(pa.chunked_array([[f"category {code:02}" for code in range(CATEGORIES)]]), self.machine)
        columns = {
            "user_id": Vector(pa.int64(), rows, draw(0, USERS).astype("int64")),
            "ts": Vector(
                pa.timestamp("us"), rows, draw(0, 2_600_000_000).astype("int64") * 1000 + 1_700_000_000_000_000
            ),
            "amount": Vector(pa.float64(), rows, draw(0, 10**8) / 1e5, valid.view("uint32"), missing),
            "quantity": Vector(pa.int32(), rows, draw(1, 10).astype("int32")),
            "price": Vector(pa.decimal128(12, 2), rows, draw(0, 10**7).astype("int64")),
            "category": Vector(pa.string(), rows, draw(0, CATEGORIES).astype("int32"), dictionary=names),
        }
        if texts:
            numbers = np.random.default_rng(1).random(min(rows, 1_000_000)) * 1000
            some = pa.array([f"{number:.5f}" for number in numbers])
            columns["text"] = from_arrow(pa.chunked_array([some] * -(-rows // len(some))).slice(0, rows), self.machine)
        return Frame(columns, rows)


def buffers_of(vector: Vector) -> list[Array]:
    """Return the memory of a column."""
    own = [each for each in (vector.data, vector.valid, vector.offsets) if each is not None]
    return own + (buffers_of(vector.dictionary) if vector.dictionary else [])


def planned(frame: Frame, step: Callable[[Table], Table]) -> list[Node]:
    """Return the operations that a step is planned as, over rows such as the frame's, in their order."""
    pipeline = Pipeline("tiers")
    schema = pa.schema([(name, vector.dtype) for name, vector in frame.columns.items()])
    step(pipeline.from_frame("t", schema.empty_table())).stage("s")
    nodes = [pipeline.plan().stages["s"]]
    while nodes[0].inputs[0].inputs:
        nodes.insert(0, nodes[0].inputs[0])
    return nodes


def line(found: Measured, full: Measured) -> str:
    """Return a line for people."""
    ratio = found.ms / full.ms if full.ms else 1.0
    slowest = max(found.launches, key=lambda launch: launch[1], default=("", 0.0))
    return (
        f"{found.case:24} {found.options:10} {found.programs:2} programs, NVRTC {found.compile_s:6.3f} s,"
        f" kernels {found.ms:8.3f} ms, {ratio:5.2f} of {full.options}; {slowest[0]} {slowest[1]:.3f} ms"
        + "".join(f"; {name} DIFFERS" for name in found.differing)
    )


def on_device() -> Compile:
    """Return the compiler for the current GPU, with a process for each set of options."""
    from gpuetl.engines.cudf.codegen.nvrtc_processes import NvrtcProcess
    from gpuetl.engines.cudf.programs.kernel_build import find_nvrtc
    from gpuetl.engines.cudf.runtime import kernel_cache

    processes: dict[tuple[str, ...], NvrtcProcess] = {}
    options = (*kernel_cache.target().options(), NO_CACHE)

    def compile_program(source: str, more: tuple[str, ...]) -> tuple[Any, float]:
        if more not in processes:
            processes[more] = NvrtcProcess(find_nvrtc().library)
            processes[more].compiled('extern "C" __global__ void warm() {}', (*options, *more))
        start = time.perf_counter()
        code, log = processes[more].compiled(source, (*options, *more))
        seconds = time.perf_counter() - start
        if not code:
            raise SystemExit(log)
        return kernel_cache.module_of(code), seconds

    return compile_program


def main() -> None:
    """Measure all, and keep the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cases", default="", help="only those whose names contain this")
    parser.add_argument(
        "--tiers", nargs="*", default=[*TIERS], choices=[*TIERS], help="sets of options, the first one for the ratios"
    )
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    import cupy

    from gpuetl.engines.cudf.runtime.gpu_machine import machine

    def same(one: Any, other: Any) -> bool:
        return one.nbytes == other.nbytes and bool((one.view("uint8") == other.view("uint8")).all())

    comparison = Comparison(machine(), cupy, on_device(), same, given.rows, given.runs)
    measured: list[Measured] = []
    tiers = {name: TIERS[name] for name in given.tiers}
    for case in cases():
        if given.cases not in case.name:
            continue
        found = list(comparison.of_case(case, tiers))
        print("\n".join(line(each, found[0]) for each in found), flush=True)
        measured += found
    for name in tiers:
        of_tier = [each for each in measured if each.options == name]
        seconds, ms = sum(each.compile_s for each in of_tier), sum(each.ms for each in of_tier)
        print(f"all cases {name:10} NVRTC {seconds:.3f} s, kernels {ms:.1f} ms", flush=True)
    if given.results:
        kept = {"benchmark": "compile_tiers", **described(installed()), "rows": given.rows, "tiers": tiers}
        kept["hardware"] |= gpu()
        kept["cases"] = [{**asdict(each), "ms": each.ms} for each in measured]
        given.results.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    if any(each.differing for each in measured):
        raise SystemExit("results differ")


if __name__ == "__main__":
    main()
