"""What kernels over window rows write: values with their validity, or row numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuetl.engines.cudf.columns.validity import with_nulls
from gpuetl.engines.cudf.device.types import stored_c_type
from gpuetl.engines.cudf.machine import Array
from gpuetl.engines.cudf.vector import Vector
from gpuetl.engines.cudf.windows.rows import WindowRows
from gpuetl.engines.cudf.windows.steps import Moved, Output, RowNumbers, Step, Values, gives
from gpuetl.records import dataclass
from gpuetl.types.data_types import DataType


@dataclass(frozen=True, eq=False)
class Written:
    """The columns that a kernel has written, of which nobody has yet asked what went wrong and how many are null.

    `state` (uint64) has the first fault of each step, 0 where there is none, and then the nulls of each column.
    """

    steps: Sequence[Step]
    columns: Mapping[Output, Vector]
    state: Array

    @classmethod
    def empty(cls, steps: Sequence[Step], outputs: Sequence[Output], rows: WindowRows) -> Written:
        """Return columns to be written."""
        columns = {made: rows.empty(output_type(made, rows), not isinstance(made, RowNumbers)) for made in outputs}
        return cls(steps, columns, rows.machine.arrays.zeros(len(steps) + len(outputs), "uint64"))

    @property
    def arguments(self) -> list[Array]:
        """The arguments that go with `output_parameters`."""
        made = self.columns.values()
        return [self.state, *(each.data for each in made), *(each.valid for each in made if each.valid is not None)]

    def completed(self, told: Sequence[int]) -> tuple[dict[Step, int], dict[Output, Vector]]:
        """Return the faults and the columns, by what `state` holds."""
        faults, nulls = dict(zip(self.steps, told, strict=False)), told[len(self.steps) :]
        counted = zip(self.columns.items(), nulls, strict=True)
        return faults, {output: with_nulls(made, count) for (output, made), count in counted}


def output_type(output: Output, rows: WindowRows) -> DataType:
    """Return the type of what is stored."""
    return rows.columns[output.column].dtype if isinstance(output, Moved) else gives(output.step).stored


def output_parameters(outputs: Sequence[Output], rows: WindowRows) -> list[str]:
    """Return the parameters `state`, values `r0`, `r1` and so on, and validity words `b0`, `b1` and so on."""
    values = [f"{stored_c_type(output_type(output, rows))}* r{place}" for place, output in enumerate(outputs)]
    words = [f"uint32_t* b{place}" for place, output in enumerate(outputs) if not isinstance(output, RowNumbers)]
    return ["uint64_t* state", *values, *words]


def store_statements(
    outputs: Sequence[Output], step_texts: Mapping[Step, str], names: Mapping[str, str], rows: WindowRows
) -> tuple[str, str, str]:
    """Return statements: what to declare of a row, its values' stores, and its validity's, by all lanes together.

    `step_texts` are those of what steps give for the `row`, and `names` those of columns' accessors.
    """
    values, stores, nullable = [], [], []
    for place, output in enumerate(outputs):
        text, columns = step_texts[output.step], [names[name] for name in output.columns]
        if isinstance(output, RowNumbers):
            values.append(f"const int32_t o{place} = place_of({text});")
            stores.append(f"r{place}[row] = o{place};")
            continue
        nullable.append(place)
        given = f"moved(row, place_of({text}), {', '.join(columns)})" if isinstance(output, Moved) else text
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
