"""The rows of a stage, handed over to the libraries that users go on with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from gpuetl.engines.interface import Backend
from gpuetl.errors import EvaluationError
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.run.batches import needed, quantile_dmatrix, to_tensors, torch_dataset
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
        return to_tensors(torch, self.backend.to_arrays(self._held()))

    def to_jax(self) -> dict[str, Any]:
        """Return the columns as JAX arrays by their names: of the cudf engine on its memory, by DLPack.

        JAX has 64-bit types only if its option `jax_enable_x64` is on.  Without it JAX would cut int64 to 32 bits, so
        columns of 64 bits are refused.

        Raises
        ------
        EvaluationError
            For a column that is not of numbers or booleans, or has a null; for one of 64 bits that JAX would cut.
        PackageMissing
            Without the package jax.
        """
        jax = needed("jax", "to_jax", "jax")
        arrays = self.backend.to_arrays(self._held())
        for name, array in arrays.items():
            if array.dtype.itemsize == 8 and not jax.config.jax_enable_x64:
                hint = 'Call jax.config.update("jax_enable_x64", True), or cast it to 32 bits in a step before'
                message = f"column '{name}' is {array.dtype}, and JAX would cut it to 32 bits.  {hint}"
                raise EvaluationError(coded("GE3008", message))
        return {
            name: jax.dlpack.from_dlpack(array.copy() if isinstance(array, np.ndarray) else array)
            for name, array in arrays.items()
        }

    def torch_dataset(
        self, batch_rows: int = 65_536, *, features: Sequence[str] | None = None, label: str | None = None,
        matrix: bool = False, shuffle: bool = False, seed: int = 0,
    ) -> Any:  # fmt: skip
        """Return a PyTorch `IterableDataset` of batches of exactly `batch_rows` rows, but for the last one.

        A batch is a dictionary of tensors by column; with `matrix` it is one tensor of float32, a column each.  With
        `label` it is a pair: the features, and the tensor of that column.  `features` are the columns in order, by
        default all others.  Tensors lie on the engine's memory, on the GPU if it has one.  Give the dataset to a
        `DataLoader` with `batch_size=None`.

        With `shuffle`, the rows of each epoch come in another order, which `seed` and the device decide.

        Raises
        ------
        InvalidPipeline
            For an unknown column, or a `batch_rows` below 1.
        EvaluationError
            For a column that is not of numbers or booleans, or has a null.
        PackageMissing
            Without the package torch.
        """
        return torch_dataset(self, batch_rows, features, label, matrix, shuffle, seed)

    def to_quantile_dmatrix(
        self, label: str, *, features: Sequence[str] | None = None, weight: str | None = None,
        batch_rows: int = 1_000_000, **options: Any,
    ) -> Any:  # fmt: skip
        """Return an XGBoost `QuantileDMatrix`: on the GPU with the cudf engine, by batches of rows.

        `features` are the columns in their order, by default all but the label and the weight.  A null of a feature is
        a missing value.  `options` are those of `QuantileDMatrix`, such as `max_bin` and `ref`.

        Raises
        ------
        InvalidPipeline
            For an unknown column, or a `batch_rows` below 1.
        EvaluationError
            For a column that is not of numbers or booleans, for a label or a weight with a null, and without rows.
        PackageMissing
            Without the package xgboost.
        """
        return quantile_dmatrix(self, label, features, weight, batch_rows, options)

    def arrays(self, columns: Sequence[str]) -> dict[str, Any]:
        """Return some columns as arrays on the engine's memory: CuPy's of the cudf engine, else NumPy's, read-only.

        Raises
        ------
        EvaluationError
            For a column that is not of numbers or booleans, or has a null.
        """
        return self.backend.to_arrays(self._held(), columns)

    def to_cudf_or_none(self) -> Any:
        """Return a cuDF frame on the engine's memory; None where that is host memory."""
        return None if self.frame is None else self.backend.to_cudf(self.frame)
