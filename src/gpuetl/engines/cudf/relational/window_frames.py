"""Kernels over sorted rows: what they read and write, and frames that end at each row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from gpuetl.engines.cudf.codegen.cuda_types import (
    accessor_type,
    accessors,
    buffers_of,
    column_parameters,
    stored_c_type,
)
from gpuetl.engines.cudf.codegen.device_headers import headers_text
from gpuetl.engines.cudf.columns.validity import empty_bits, empty_values, with_nulls
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Array, Machine
from gpuetl.engines.cudf.relational.window_steps import (
    Fold,
    FrameFold,
    Output,
    PerRow,
    RowNumbers,
    ShiftedValues,
    Step,
    Values,
    result_source,
)
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType

# The text of several folds as one: a struct of their states, which one kernel combines for all of them.


ALIGNMENT = 16


def together(folds: Sequence[Fold], columns: Mapping[str, Vector]) -> str:
    """Return the struct `Together` of the folds `f0`, `f1` and so on, whose states are `s0`, `s1` and so on."""
    types = [fold.struct.format(*(accessor_type(columns[name]) for name in fold.columns)) for fold in folds]
    places = range(len(folds))
    typedefs = "\n".join(f"typedef {text} F{place};" for place, text in enumerate(types))
    return f"""
{typedefs}
struct Together {{
    struct State {{ {" ".join(f"F{i}::State s{i};" for i in places)} }};
    {" ".join(f"F{i} f{i};" for i in places)}
    DEVICE State at(int64_t row) const {{ return {{{", ".join(f"f{i}.at(row)" for i in places)}}}; }}
}};
DEVICE Together::State combine(const Together::State& earlier, const Together::State& later) {{
    return {{{", ".join(f"combine(earlier.s{i}, later.s{i})" for i in places)}}};
}}
"""


def constants_of(steps: Iterable[Fold | PerRow]) -> list[int]:
    """Return the constants of some steps, which are the arguments `k0`, `k1` and so on of their kernels."""
    return [constant for step in steps for constant in step.constants]


def constant_names(steps: Iterable[Fold | PerRow]) -> list[str]:
    """Return the names of `constants_of`, whose parameters are of type `int64_t`."""
    return [f"k{place}" for place in range(len(constants_of(steps)))]


def instance(folds: Sequence[Fold], columns: Mapping[str, Vector]) -> str:
    """Return the text of the folds' values, in terms of `marks`, `state`, the columns' accessors and the constants."""
    accessor, constants = {name: f"c{place}" for place, name in enumerate(columns)}, iter(constant_names(folds))
    arguments = []
    for site, fold in enumerate(folds):
        of = ", ".join([*(accessor[name] for name in fold.columns), *islice(constants, len(fold.constants))])
        arguments.append(f"{{marks, {{{of}}}{f', state + {site}' if fold.can_fail else ''}}}")
    return f"Together{{{', '.join(arguments)}}}"


def state_bytes(folds: Sequence[Fold]) -> int:
    """Return as many bytes as a state of all folds takes, or more."""
    return sum(-(-fold.state_bytes // ALIGNMENT) * ALIGNMENT for fold in folds)


# The sorted rows that window functions see, and kernels over them.


HEADERS = ("reductions.cuh", "decayed_moments.cuh", "frames.cuh")
MARKS = ["const uint8_t* groups", "const uint8_t* runs"]


@dataclass(frozen=True, eq=False)
class WindowRows:
    """Rows in the order of (by, order_by): their columns, and marks (uint8) of where groups and runs of ties begin."""

    columns: Mapping[str, Vector]
    rows: int
    new_group: Array
    new_value: Array
    machine: Machine

    def read_by(self, steps: Iterable[Fold | PerRow | Output]) -> dict[str, Vector]:
        """Return the columns that some steps and outputs read."""
        return {name: self.columns[name] for step in steps for name in step.columns}

    def empty(self, dtype: DataType, bits: bool = False) -> Vector:
        """Return a column to be written, without validity words unless they are to be, too."""
        valid = empty_bits(self.rows, self.machine) if bits else None
        return Vector(dtype, self.rows, empty_values(dtype, self.rows, self.machine), valid)

    def arguments(self, columns: Mapping[str, Vector]) -> list[Any]:
        """Return the arguments that go with `parameters`."""
        return [self.new_group, self.new_value, *buffers_of(columns)]


def parameters(columns: Mapping[str, Vector]) -> list[str]:
    """Return the parameters of the marks and of columns."""
    return [*MARKS, *column_parameters(columns)]


def headers() -> str:
    """Return the device code of windows."""
    return f"{headers_text(HEADERS)}using namespace windows;\n"


# What kernels over window rows write: values with their validity, or row numbers.


@dataclass(frozen=True, eq=False)
class KernelOutput:
    """The columns that a kernel has written, of which nobody has yet asked what went wrong and how many are null.

    `state` (uint64) has the first fault of each step, 0 where there is none, and then the nulls of each column.
    """

    steps: Sequence[Step]
    columns: Mapping[Output, Vector]
    state: Array

    @classmethod
    def empty(cls, steps: Sequence[Step], outputs: Sequence[Output], rows: WindowRows) -> KernelOutput:
        """Return columns to be written."""
        columns = {
            output: rows.empty(output_type(output, rows), not isinstance(output, RowNumbers)) for output in outputs
        }
        return cls(steps, columns, rows.machine.arrays.zeros(len(steps) + len(outputs), "uint64"))

    @property
    def arguments(self) -> list[Array]:
        """The arguments that go with `output_parameters`."""
        vectors = self.columns.values()
        return [
            self.state,
            *(each.data for each in vectors),
            *(each.valid for each in vectors if each.valid is not None),
        ]

    def completed(self, counters: Sequence[int]) -> tuple[dict[Step, int], dict[Output, Vector]]:
        """Return the faults and the columns, by what `state` holds."""
        faults, nulls = dict(zip(self.steps, counters, strict=False)), counters[len(self.steps) :]
        counted = zip(self.columns.items(), nulls, strict=True)
        return faults, {output: with_nulls(vector, count) for (output, vector), count in counted}


def output_type(output: Output, rows: WindowRows) -> DataType:
    """Return the type of what is stored."""
    return rows.columns[output.column].dtype if isinstance(output, ShiftedValues) else result_source(output.step).stored


def output_parameters(outputs: Sequence[Output], rows: WindowRows) -> list[str]:
    """Return the parameters `state`, values `r0`, `r1` and so on, and validity words `b0`, `b1` and so on."""
    values = [f"{stored_c_type(output_type(output, rows))}* r{place}" for place, output in enumerate(outputs)]
    words = [f"uint32_t* b{place}" for place, output in enumerate(outputs) if not isinstance(output, RowNumbers)]
    return ["uint64_t* state", *values, *words]


def store_statements(
    outputs: Sequence[Output], step_code: Mapping[Step, str], names: Mapping[str, str], rows: WindowRows
) -> tuple[str, str, str]:
    """Return statements: what to declare of a row, its values' stores, and its validity's, by all lanes together.

    `step_code` are those of what steps give for the `row`, and `names` those of columns' accessors.
    """
    values, stores, nullable = [], [], []
    for place, output in enumerate(outputs):
        text, columns = step_code[output.step], [names[name] for name in output.columns]
        if isinstance(output, RowNumbers):
            values.append(f"const int32_t o{place} = place_of({text});")
            stores.append(f"r{place}[row] = o{place};")
            continue
        nullable.append(place)
        given = f"moved(row, place_of({text}), {', '.join(columns)})" if isinstance(output, ShiftedValues) else text
        valid = [f"o{place}.valid", *(f"{column}.valid(row)" for column in columns if isinstance(output, Values))]
        values.append(f"const auto o{place} = {given}; g{place} = {' && '.join(valid)};")
        stores.append(f"r{place}[row] = {stored_c_type(output_type(output, rows))}(o{place}.value);")
    declared = " ".join(f"bool g{place} = false;" for place in nullable)
    words = " ".join(f"missing[{place}] += store_word(b{place}, row, in_range, g{place});" for place in nullable)
    return declared, "\n            ".join([*values, *stores]), words  # loads do not wait for stores that they may meet


def null_statements(outputs: Sequence[Output], sites: int) -> str:
    """Return the statements that add up `missing`, behind the faults of so many sites."""
    nullable = [place for place, output in enumerate(outputs) if not isinstance(output, RowNumbers)]
    return " ".join(f"add_nulls(state + {sites + place}, missing[{place}]);" for place in nullable)


# Frames: what the rows of each row's frame fold into; one kernel for those of equal frames.


LEAF = 3
"""The least blocks have 2^LEAF rows, as frames.cuh says."""


def run_frames(outputs: Sequence[Output], bounds: Sequence[Array], rows: WindowRows) -> KernelOutput:
    """Write what folds give for each row's frame; `bounds` have the first row (int32) of each, and the row after it.

    Of frames that end at their row, the first row alone.
    """
    steps, columns = folded(outputs, rows)
    levels = max(min(steps[0].longest, rows.rows), 1).bit_length() - 1
    written = KernelOutput.empty(steps, outputs, rows)
    if rows.rows:
        halves = (rows.rows >> (LEAF - 1)) + 1 if levels >= LEAF else 1
        blocks = rows.machine.arrays.empty(halves * state_bytes([step.fold for step in steps]), "uint8")
        arguments = [blocks, *rows.arguments(columns), *bounds, *written.arguments]
        module = rows.machine.compiled(frame_source(outputs, rows))
        for level in range(LEAF, levels + 1):
            rows.machine.launch(module, "combine_blocks", rows.rows >> level, [rows.rows, level, *arguments])
        rows.machine.launch(module, "fold_frames", rows.rows, [rows.rows, levels, *arguments])
    return written


def folded(outputs: Sequence[Output], rows: WindowRows) -> tuple[list[FrameFold], dict[str, Vector]]:
    """Return the steps of outputs, each once, and the columns that they and the outputs read."""
    steps = list(dict.fromkeys(step for output in outputs if isinstance(step := output.step, FrameFold)))
    return steps, rows.read_by([*(step.fold for step in steps), *outputs])


def frame_source(outputs: Sequence[Output], rows: WindowRows) -> str:
    """Return the kernels `combine_blocks`, for each level from that of leaves on, and `fold_frames`."""
    steps, columns = folded(outputs, rows)
    folds = [step.fold for step in steps]
    names = {name: f"c{place}" for place, name in enumerate(columns)}
    has_end = steps[0].end is not None
    frame = f"start[row], {'stop[row]' if has_end else 'row + 1'}, int(level)"
    step_values: dict[Step, str] = {
        step: f"together.f{place}.result(row, own.s{place})"
        if step.nth is None
        else f"blocks.nth({frame}, {step.nth}, [](const Together::State& rows) {{ return rows.s{place}.rows; }})"
        for place, step in enumerate(steps)
    }
    declared, values, words = store_statements(outputs, step_values, names, rows)
    parameters_code = [
        *("int64_t rows", "int64_t level", "void* memory"),
        *parameters(columns),
        "const int32_t* start",
        *(["const int32_t* stop"] if has_end else []),
        *output_parameters(outputs, rows),
    ]
    begin = f"""({", ".join(parameters_code)}) {{
{accessors(columns)}
    const Marks marks{{groups, runs, rows}};
    const Together together = {instance(folds, columns)};
    const Blocks<Together> blocks{{together, (Together::State*)memory}};"""
    return f"""{headers()}{together(folds, columns)}
static_assert(sizeof(Together::State) <= {state_bytes(folds)} && LEAF == {LEAF}, "more than is allocated");
KERNEL combine_blocks{begin}
    FOR_EACH_ROW(block, rows >> level) {{
        if (block < rows >> level) blocks.make(int(level), block);
    }}
}}
KERNEL fold_frames{begin}
    uint32_t missing[{len(outputs)}] = {{}};
    FOR_EACH_ROW(row, rows) {{
        const bool in_range = row < rows;
        {declared}
        if (in_range) {{
            const Together::State own = blocks.over({frame});
            {values}
        }}
        {words}
    }}
    {null_statements(outputs, len(steps))}
}}
"""
