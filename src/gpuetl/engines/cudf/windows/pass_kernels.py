"""The kernels of a pass, and their run."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from gpuetl.engines.cudf.device.columns import accessors
from gpuetl.engines.cudf.device.types import accessor_type
from gpuetl.engines.cudf.vector import Vector
from gpuetl.engines.cudf.windows.fused import ALIGNMENT, constant_names, constants_of, instance, state_bytes, together
from gpuetl.engines.cudf.windows.outputs import Written, null_statements, output_parameters, store_statements
from gpuetl.engines.cudf.windows.passes import Pass
from gpuetl.engines.cudf.windows.rows import headers, parameters
from gpuetl.engines.cudf.windows.scans import TILE_ROWS, Reducing, launch_scan, totals_before
from gpuetl.engines.cudf.windows.steps import PresentRows, Scan, Step


def run_pass(work: Pass) -> Written:
    """Write a pass's outputs."""
    rows, machine = work.rows, work.rows.machine
    written = Written.empty([*work.scans, *work.calls], work.outputs, rows)
    known = [buffer for each in work.read_known for buffer in work.known[each]]
    if rows.rows:
        folded = [*constants_of(work.folds), *rows.arguments(folded_columns(work))]
        reducing = Reducing(lambda: machine.compiled(reduce_source(work)), folded)
        before = totals_before(reducing, rows.rows, segment_bytes(work), machine)
        constants = constants_of([*work.folds, *work.calls])
        arguments = [*constants, *rows.arguments(work.columns), *known, *written.arguments]
        launch_scan(machine.compiled(scan_source(work)), rows.rows, before, arguments, machine)
    return written


def segment_bytes(work: Pass) -> int:
    """Return as many bytes as a tile's total takes, or more: a state, and whether a group begins."""
    return state_bytes(work.folds) + ALIGNMENT


def pass_sources(work: Pass) -> list[str]:
    """Return the texts of a pass: two, which are compiled side by side, or one where all rows are in one tile."""
    return [scan_source(work), *([reduce_source(work)] if work.rows.rows > TILE_ROWS else [])]


def folded_columns(work: Pass) -> dict[str, Vector]:
    """Return the columns that the folds read."""
    return work.rows.read_by(work.folds)


def reduce_source(work: Pass) -> str:
    """Return the kernels `reduce` and `totals` of `totals_before`, which know nothing of the outputs."""
    columns = folded_columns(work)
    constants = [f"int64_t {name}" for name in constant_names(work.folds)]
    parameter_texts = ["int64_t rows", "void* totals", *constants, *parameters(columns)]
    return f"""{headers()}{together(work.folds, columns)}
typedef Together::State State;
static_assert(sizeof(Segment<State>) <= {segment_bytes(work)}, "more than is allocated");
KERNEL reduce({", ".join(parameter_texts)}) {{
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
    texts = ["int64_t rows", "const void* before", *constants, *parameters(work.columns), *others]
    others = [*constants[len(constants_of(work.folds)) :], *others]  # the folds have theirs
    given = [instance(work.folds, work.columns), *names.values(), *(text.split()[-1] for text in others)]
    return f"""{headers()}{together(work.folds, work.columns)}{scanned_struct(work, names, others)}
static_assert(sizeof(Together::State) <= {segment_bytes(work)}, "more than is allocated");
KERNEL scan({", ".join(texts)}) {{
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
    declared, values, words = store_statements(work.outputs, step_texts(work, names), names, work.rows)
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


def step_texts(work: Pass, names: Mapping[str, str]) -> dict[Step, str]:
    """Return the texts of what steps give for the `row`, in terms of folds' results `v0`, `v1` and so on."""
    known = {each: known_text(place, each) for place, each in enumerate(work.read_known)}
    rows: dict[Step, str] = {each: f"{text}[row]" for each, text in known.items() if isinstance(each, Scan)}
    rows |= {scan: f"v{place}" for place, scan in enumerate(work.scans)}
    calls, constants = {}, iter(constant_names([*work.folds, *work.calls])[len(constants_of(work.folds)) :])
    for site, call in enumerate(work.calls, len(work.scans)):
        fault = [f"Fault{{state + {site}, row}}"] if call.can_fail else []
        read = [*(f"place_of({rows[scan]})" for scan in call.reads), *(known[each] for each in call.reads_all)]
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
