"""The rows of a stage, handed over to the libraries that users go on with."""

from __future__ import annotations

from dataclasses import field
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.interface import Backend
from gpuetl.errors import EvaluationError, PackageMissing
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.types.data_types import type_name
from gpuetl.types.nested_types import type_parts
from gpuetl.types.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

MOST_SHOWN, FIRST_SHOWN = 100, 10
"""A result shows all of its rows if they are no more than the one, else its first rows."""


@dataclass(frozen=True)
class Result:
    """The rows of a stage or a table, as the engine holds them.

    What is handed over shares the engine's memory where it can: it is not to be written to.  Libraries that read
    Arrow's C stream, such as Polars, DuckDB and pyarrow, take a result itself: `polars.DataFrame(result)`.

    `table` is an Arrow table of all rows, if there is one; then `frame` may be None.  `warnings` are those of the run
    that computed the rows of a table.  `notes` say what they have of incremental sources: what the
    next run reads.
    """

    frame: Any
    backend: Backend = field(repr=False)
    table: pa.Table | None = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        from gpuetl.report.text_tables import rows_text

        warnings = (f"Warning: {warning}" for warning in self.warnings)
        return "\n".join([rows_text(*self._beginning()), *(f"Next run, {note}" for note in self.notes), *warnings])

    def _repr_html_(self) -> str:
        from gpuetl.report.notebook_pages import rows_page

        return rows_page(*self._beginning(), (*(f"Next run, {note}" for note in self.notes), *self.warnings))

    def _beginning(self) -> tuple[pa.Table, int]:
        """Return the first rows, which the engine alone copies, and the number of all."""
        total = len(self)
        count = total if total <= MOST_SHOWN else FIRST_SHOWN
        return self.backend.head(self.frame, count) if self.table is None else self.table.slice(0, count), total

    def __len__(self) -> int:
        return self.backend.rows(self.frame) if self.table is None else self.table.num_rows

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the rows as a PyCapsule of Arrow's C stream."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @property
    def schema(self) -> Schema:
        """The columns and their types."""
        return Schema.of_arrow(self._beginning()[0].schema)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema)

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table: of the pandas engine its own, of the cudf engine a copy in host memory."""
        return self.backend.to_arrow(self.frame) if self.table is None else self.table

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas frame with Arrow types: integers stay integers, null is not NaN."""
        import pandas as pd

        return self.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)

    def to_polars(self) -> Any:
        """Return the rows as a Polars frame, on the memory of the Arrow table but for its texts.

        Raises
        ------
        EvaluationError
            For a column with decimals of more than 38 digits, which Polars does not have.
        PackageMissing
            Without the package polars.
        """
        polars, table = needed("polars", "to_polars", "polars"), self.to_arrow()
        for name, dtype in zip(table.schema.names, table.schema.types, strict=True):
            if any(map(pa.types.is_decimal256, type_parts(dtype))):
                hint = "Leave it out in a step before, or use to_arrow"
                message = f"column '{name}' is {type_name(dtype)}, and Polars has decimals of up to 38 digits.  {hint}"
                raise EvaluationError(coded("GE3008", message))
        return polars.from_arrow(table)

    def to_cudf(self) -> Any:
        """Return the rows as a cuDF frame: of the cudf engine on its memory, of the pandas engine a copy on the GPU.

        Raises
        ------
        PackageMissing
            Without the package cudf.
        """
        cudf = needed("cudf", "to_cudf", "gpuetl[cu12]")
        made = None if self.frame is None else self.backend.to_cudf(self.frame)
        return cudf.DataFrame.from_arrow(self.to_arrow()) if made is None else made

    def to_cupy(self) -> dict[str, Any]:
        """Return the columns as CuPy arrays by their names: of the cudf engine on its memory, else copies on the GPU.

        Raises
        ------
        EvaluationError
            For a column that is not of numbers or booleans, or has a null.
        PackageMissing
            Without the package cupy.
        """
        cupy = needed("cupy", "to_cupy", "gpuetl[cu12]")
        return {name: cupy.asarray(array) for name, array in self.backend.to_arrays(self._held()).items()}

    def _held(self) -> Any:
        """Return the rows as the engine holds them."""
        return self.backend.from_arrow(self.table) if self.frame is None and self.table is not None else self.frame

    def to_torch(self) -> dict[str, Any]:
        """Return the columns as tensors by their names: of the cudf engine on its memory on the GPU, by DLPack.

        Tensors can always be written to, and Arrow's memory cannot: of the pandas engine they are copies.

        Raises
        ------
        EvaluationError
            For a column that is not of numbers or booleans, or has a null.
        PackageMissing
            Without the package torch.
        """
        torch = needed("torch", "to_torch", "torch")
        arrays = self.backend.to_arrays(self._held())
        return {
            name: torch.from_dlpack(array if not isinstance(array, np.ndarray) else array.copy())
            for name, array in arrays.items()
        }


def needed(module: str, what: str, install: str) -> Any:
    """Import and return a module; raise `PackageMissing` with what to install where it is not there."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise PackageMissing(
            coded("GE3002", f'{what} needs the package {module}.  Install it: pip install "{install}"')
        ) from None
