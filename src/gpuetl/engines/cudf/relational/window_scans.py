"""Passes over all rows: scans of a direction, and in the same kernel what is a function of each row and of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from gpuetl.engines.cudf.codegen.cuda_types import accessor_type, accessors
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine, Module
from gpuetl.engines.cudf.relational.window_frames import (
    ALIGNMENT,
    KernelOutput,
    WindowRows,
    constant_names,
    constants_of,
    headers,
    instance,
    null_statements,
    output_parameters,
    parameters,
    state_bytes,
    store_statements,
    together,
)
from gpuetl.engines.cudf.relational.window_steps import Fold, Output, PerRow, PresentRows, Scan, Step
from gpuetl.records import dataclass

# Launches of the kernels that scan.cuh makes of a fold: those of window functions, and of users' sources.


TILE_ROWS = 1024
"""The rows of a tile: 32 * TILE_WORDS of scan.cuh."""
FAN = 32
"""How many totals of tiles have one total on the next level: the lanes of a warp, which makes it."""
THREADS = 128
"""Of a block, whose warps do not wait for each other: small blocks leave fewer registers unused."""


class Reducing(NamedTuple):
    """The kernels `reduce` and `totals`.

    Parameters
    ----------
    module
        Returns their module.  It is asked for where there is more than one tile.
    arguments
        What `reduce` takes after the rows and the memory of the totals.
    """

    module: Callable[[], Module]
    arguments: Sequence[Array | int]


def totals_before(reducing: Reducing, rows: int, segment_bytes: int, machine: Machine) -> Array:
    """Return what comes before each tile, which the kernel `scan` reads from the second tile on.

    `reduce` runs once, then `totals` for each level of totals that is made of others, and last for all tiles.

    Parameters
    ----------
    reducing
        The kernels, which call `reduce_tiles` and `reduce_totals`.
    rows
        How many, at least one.
    segment_bytes
        As many as a `Segment` of the fold's state takes, or more.
    machine
        Runs them.
    """
    counts = tile_counts(rows)
    totals = machine.arrays.zeros(sum(counts) * segment_bytes, "uint8")  # what lies between members is read, too
    before = machine.arrays.zeros(counts[0] * segment_bytes, "uint8")
    if counts[0] > 1:
        module = reducing.module()
        machine.launch_blocks(module, "reduce", blocks(counts[0]), THREADS, [rows, totals, *reducing.arguments])
        for level in [*range(1, len(counts)), 0]:
            machine.launch_blocks(module, "totals", blocks(counts[level]), THREADS, [rows, level, totals, before])
    return before


def launch_scan(module: Module, rows: int, before: Array, arguments: Sequence[Array | int], machine: Machine) -> None:
    """Run the kernel `scan`, which calls `scan_tiles`: of the rows, what comes before tiles, and the arguments."""
    machine.launch_blocks(module, "scan", blocks(tile_counts(rows)[0]), THREADS, [rows, before, *arguments])


def tile_counts(rows: int) -> list[int]:
    """Return how many totals there are on each level; level 0 are tiles."""
    counts = [-(-rows // TILE_ROWS)]
    while counts[-1] > FAN:
        counts.append(-(-counts[-1] // FAN))
    return counts


def blocks(warps: int) -> int:
    """Return how many blocks have so many warps."""
    return -(-warps * FAN // THREADS)


KnownColumns: TypeAlias = Mapping[Scan | PresentRows, list[Any]]
"""The arguments that stand for what all rows are known to have: an array, or of rows that are present all three."""


@dataclass(frozen=True, eq=False)
class Pass:
    """Outputs of scans in a direction, and of functions of these and of the scans of `known_columns`, for a row."""

    outputs: Sequence[Output]
    backward: bool
    known_columns: KnownColumns
    rows: WindowRows

    @cached_property
    def steps(self) -> list[Step]:
        """What the outputs are of, each once."""
        return list(dict.fromkeys(output.step for output in self.outputs))

    @cached_property
    def reads(self) -> list[Scan | PresentRows]:
        """What the steps are, or read."""
        return list(dict.fromkeys(each for step in self.steps for each in reads_of(step)))

    @cached_property
    def scans(self) -> list[Scan]:
        """The scans that run."""
        return [each for each in self.reads if isinstance(each, Scan) and each not in self.known_columns]

    @property
    def folds(self) -> list[Fold]:
        """What they fold."""
        return [scan.fold for scan in self.scans]

    @cached_property
    def calls(self) -> list[PerRow]:
        """The functions of each row."""
        return [step for step in self.steps if isinstance(step, PerRow)]

    @property
    def read_known(self) -> list[Scan | PresentRows]:
        """What is read of all that is known."""
        return [each for each in self.reads if each in self.known_columns]

    @cached_property
    def columns(self) -> dict[str, Vector]:
        """The columns that are read."""
        return self.rows.read_by([*self.folds, *self.calls, *self.outputs])


def reads_of(step: Step) -> tuple[Scan | PresentRows, ...]:
    """Return what a step reads of scans, which is itself where it is one."""
    if isinstance(step, PerRow):
        return (*step.reads, *step.reads_all)
    assert isinstance(step, Scan)
    return (step,)


# The kernels of a pass, and their run.


def run_pass(work: Pass) -> KernelOutput:
    """Write a pass's outputs."""
    rows, machine = work.rows, work.rows.machine
    written = KernelOutput.empty([*work.scans, *work.calls], work.outputs, rows)
    known_columns = [buffer for each in work.read_known for buffer in work.known_columns[each]]
    if rows.rows:
        folded = [*constants_of(work.folds), *rows.arguments(folded_columns(work))]
        reducing = Reducing(lambda: machine.compiled(reduce_source(work)), folded)
        before = totals_before(reducing, rows.rows, segment_bytes(work), machine)
        constants = constants_of([*work.folds, *work.calls])
        arguments = [*constants, *rows.arguments(work.columns), *known_columns, *written.arguments]
        launch_scan(machine.compiled(scan_source(work)), rows.rows, before, arguments, machine)
    return written


def segment_bytes(work: Pass) -> int:
    """Return as many bytes as a tile's total takes, or more: a state, and whether a group begins."""
    return state_bytes(work.folds) + ALIGNMENT


def pass_sources(work: Pass) -> list[str]:
    """Return the sources of a pass: two, which are compiled side by side, or one where all rows are in one tile."""
    return [scan_source(work), *([reduce_source(work)] if work.rows.rows > TILE_ROWS else [])]


def folded_columns(work: Pass) -> dict[str, Vector]:
    """Return the columns that the folds read."""
    return work.rows.read_by(work.folds)


def reduce_source(work: Pass) -> str:
    """Return the kernels `reduce` and `totals` of `totals_before`, which know nothing of the outputs."""
    columns = folded_columns(work)
    constants = [f"int64_t {name}" for name in constant_names(work.folds)]
    parameters_code = ["int64_t rows", "void* totals", *constants, *parameters(columns)]
    return f"""{headers()}{together(work.folds, columns)}
typedef Together::State State;
static_assert(sizeof(Segment<State>) <= {segment_bytes(work)}, "more than is allocated");
KERNEL reduce({", ".join(parameters_code)}) {{
{accessors(columns)}
    const Marks marks{{groups, runs, rows}};
    const Direction<{str(work.backward).lower()}> order{{marks}};
    uint64_t* const state = nullptr;  // no fold looks for faults before its result
    reduce_tiles(order, {instance(work.folds, columns)}, (Segment<State>*)totals);
}}
KERNEL totals(int64_t rows, int64_t level, void* totals, void* before) {{
    reduce_totals(rows, level, (Segment<State>*)totals, (State*)before);
}}
"""


def scan_source(work: Pass) -> str:
    """Return the kernel `scan` of `launch_scan`."""
    names = {name: f"c{place}" for place, name in enumerate(work.columns)}
    constants = [f"int64_t {name}" for name in constant_names([*work.folds, *work.calls])]
    others = [text for place, each in enumerate(work.read_known) for text in known_parameters(place, each)]
    others += output_parameters(work.outputs, work.rows)
    scan_arguments = ["int64_t rows", "const void* before", *constants, *parameters(work.columns), *others]
    others = [*constants[len(constants_of(work.folds)) :], *others]  # the folds have theirs
    given = [instance(work.folds, work.columns), *names.values(), *(text.split()[-1] for text in others)]
    return f"""{headers()}{together(work.folds, work.columns)}{scanned_struct(work, names, others)}
static_assert(sizeof(Together::State) <= {segment_bytes(work)}, "more than is allocated");
KERNEL scan({", ".join(scan_arguments)}) {{
{accessors(work.columns)}
    const Marks marks{{groups, runs, rows}};
    Scanned scanned{{{", ".join(given)}}};
    scan_tiles(Direction<{str(work.backward).lower()}>{{marks}}, scanned, (const Together::State*)before);
    const auto& missing = scanned.missing;
    {null_statements(work.outputs, len(work.scans) + len(work.calls))}
}}
"""


def scanned_struct(work: Pass, names: Mapping[str, str], others: list[str]) -> str:
    """Return the FOLD of scan.cuh, which has the columns' accessors and the kernels' `others` parameters."""
    members = [f"{accessor_type(vector)} {names[name]}" for name, vector in work.columns.items()]
    places = range(len(work.scans))
    results = " ".join(f"const auto v{place} = all.f{place}.result(row, own.s{place});" for place in places)
    declared, values, words = store_statements(work.outputs, step_code(work, names), names, work.rows)
    return f"""
struct Scanned {{
    typedef Together::State State;
    Together all;
    {" ".join(f"{text};" for text in [*members, *others])}
    uint32_t missing[{len(work.outputs)}] = {{}};
    DEVICE State at(int64_t row) const {{ return all.at(row); }}
    DEVICE void put(int64_t row, bool in_range, const State& own) {{
        {declared}
        if (in_range) {{
            {results}
            {values}
        }}
        {words}
    }}
}};"""


def step_code(work: Pass, names: Mapping[str, str]) -> dict[Step, str]:
    """Return the sources of what steps give for the `row`, in terms of folds' results `v0`, `v1` and so on."""
    known_columns = {each: known_text(place, each) for place, each in enumerate(work.read_known)}
    rows: dict[Step, str] = {each: f"{text}[row]" for each, text in known_columns.items() if isinstance(each, Scan)}
    rows |= {scan: f"v{place}" for place, scan in enumerate(work.scans)}
    calls, constants = {}, iter(constant_names([*work.folds, *work.calls])[len(constants_of(work.folds)) :])
    for site, call in enumerate(work.calls, len(work.scans)):
        fault = [f"Fault{{state + {site}, row}}"] if call.can_fail else []
        read = [*(f"place_of({rows[scan]})" for scan in call.reads), *(known_columns[each] for each in call.reads_all)]
        given = [*fault, "row", *(names[name] for name in call.columns), *read, *islice(constants, len(call.constants))]
        calls[call] = f"{call.function}({', '.join(given)})"
    return rows | calls


def known_parameters(place: int, each: Scan | PresentRows) -> list[str]:
    """Return the parameters of what is known of all rows."""
    if isinstance(each, Scan):
        return [f"const int32_t* a{place}"]
    return [f"const int32_t* before{place}", f"const int32_t* rows{place}", f"int64_t most{place}"]


def known_text(place: int, each: Scan | PresentRows) -> str:
    """Return the text of what is known of all rows."""
    return f"a{place}" if isinstance(each, Scan) else f"PresentRows{{before{place}, rows{place}, most{place}}}"
