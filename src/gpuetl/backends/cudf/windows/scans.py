"""Scans: what the rows of a group up to each row, or from it on, fold into; one kernel for those of a direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuetl.backends.cudf.device.columns import accessors
from gpuetl.backends.cudf.device.types import stored_c_type
from gpuetl.backends.cudf.vector import Vector
from gpuetl.backends.cudf.windows.fused import ALIGNMENT, instance, state_bytes, together
from gpuetl.backends.cudf.windows.rows import WindowRows, headers, parameters, value_parameters
from gpuetl.backends.cudf.windows.steps import Fold

THREADS, TILE_ROWS = 128, 1024
"""SCAN_THREADS and SCAN_TILE of scan.cuh."""


def run_scans(folds: Sequence[Fold], backward: bool, rows: WindowRows) -> tuple[list[Vector], list[int]]:
    """Return what the folds give for each row, and of each the first fault, 0 where there is none."""
    arrays, columns = rows.machine.arrays, rows.read_by(folds)
    results = [rows.empty(fold.stored) for fold in folds]
    faults, tiles = arrays.zeros(len(folds), "uint64"), -(-rows.rows // TILE_ROWS)
    totals = arrays.zeros(tiles * segment_bytes(folds), "uint8")  # whole words are read, with what lies between members
    arguments = [rows.rows, tiles, totals, faults, *rows.arguments(columns), *(made.data for made in results)]
    if rows.rows:
        module = rows.machine.compiled(scan_source(folds, columns, backward))
        for entry, blocks in (("reduce", tiles), ("scan_totals", 1), ("scan", tiles)):
            rows.machine.launch_blocks(module, entry, blocks, THREADS, arguments)
    can_fail = any(fold.can_fail for fold in folds)
    return results, [int(fault) for fault in faults.tolist()] if can_fail else [0] * len(folds)


def segment_bytes(folds: Sequence[Fold]) -> int:
    """Return as many bytes as a tile's total takes, or more: a state, and whether a group begins."""
    return state_bytes(folds) + ALIGNMENT


def scan_source(folds: Sequence[Fold], columns: Mapping[str, Vector], backward: bool) -> str:
    """Return the kernels `reduce`, `scan_totals` and `scan`, to be launched in this order with equal arguments."""
    direction = f"Direction<{'true' if backward else 'false'}>"
    outputs = value_parameters(folds)
    texts = ["int64_t rows", "int64_t tiles", "void* memory", "uint64_t* faults", *parameters(columns), *outputs]
    stores = " ".join(
        f"r{place}[row] = {stored_c_type(fold.stored)}(all.f{place}.result(row, state.s{place}).value);"
        for place, fold in enumerate(folds)
    )
    begin = f"""({", ".join(texts)}) {{
{accessors(columns)}
    const Marks marks{{groups, runs, rows}};
    const Scanned scanned{{{", ".join([instance(folds, columns), *(f"r{place}" for place in range(len(folds)))])}}};
    Segment<Together::State>* const totals = (Segment<Together::State>*)memory;"""
    return f"""{headers()}{together(folds, columns)}
struct Scanned {{
    typedef Together::State State;
    Together all;
    {" ".join(f"{text};" for text in outputs)}
    DEVICE State at(int64_t row) const {{ return all.at(row); }}
    DEVICE void put(int64_t row, const State& state) const {{ {stores} }}
}};
static_assert(sizeof(Segment<Together::State>) <= {segment_bytes(folds)}, "more than is allocated");
KERNEL reduce{begin}
    reduce_tiles({direction}{{marks}}, scanned, totals);
}}
KERNEL scan_totals{begin}
    scan_tile_totals(tiles, totals);
}}
KERNEL scan{begin}
    scan_tiles({direction}{{marks}}, scanned, totals);
}}
"""
