"""What a `Table` computes of its rows: the first ones, all, their number, statistics; for notebooks and scripts.

Every call runs what the table needs and nothing else.  No sink is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gpuetl.errors import GpuetlError, InvalidPipeline
from gpuetl.messages import coded, cut, one_line

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from gpuetl.options import RunOptions
    from gpuetl.pipeline import Pipeline
    from gpuetl.run.results import Result
    from gpuetl.run.table_evaluation import TableQuery
    from gpuetl.spec.expect.rules import Rule
    from gpuetl.spec.steps import Step
    from gpuetl.spec.values import Located
    from gpuetl.telemetry.recorder import WantedProgress
    from gpuetl.types.schema import Schema

Params = Mapping[str, Any]


class TableResults:
    """The part of a `Table` that computes rows.

    Rows stay in `gpuetl.result_cache`, in host memory.  They are computed again when a file, a frame, a kernel, a
    parameter or a step has changed.  `params`, `engine` and `options` are those of `Pipeline.run`.
    """

    pipeline: Pipeline
    origin: str
    steps: tuple[Step, ...]
    expectations: tuple[Rule, ...]
    nodes: tuple[Located | None, ...]

    def head(
        self, n: int = 10, *, params: Params | None = None, engine: str = "auto", options: RunOptions | None = None
    ) -> Result:
        """Return the first rows, and read no more of the files than they need.

        Contracts are not checked: you see the rows of a stage that breaks one.

            >>> flights.filter(col("dep_delay") > 60).head(3)
        """
        from gpuetl.run.table_evaluation import first_rows

        if not isinstance(n, int) or isinstance(n, bool) or n < 0:
            raise InvalidPipeline.because(coded("GE3008", f"head takes a whole number from 0, got {n!r}"))
        return first_rows(self._query(params, options), n, engine)

    def collect(
        self,
        *,
        params: Params | None = None,
        engine: str = "auto",
        options: RunOptions | None = None,
        progress: WantedProgress = None,
    ) -> Result:
        """Return all rows: `collect().to_arrow()`, `.to_pandas()`, `.to_polars()`, `.to_cudf()`.

        Raises
        ------
        RunFailed
            With the stage and step.
        ContractBroken
            For a stage on the way whose contract does not hold.
        """
        from gpuetl.run.table_evaluation import all_rows

        return all_rows(self._query(params, options, progress), engine)

    def count(self, *, params: Params | None = None, engine: str = "auto", options: RunOptions | None = None) -> int:
        """Return the number of rows; columns that no step needs are not read."""
        from gpuetl.run.table_evaluation import row_count

        return row_count(self._query(params, options), engine)

    def describe(
        self, *, params: Params | None = None, engine: str = "auto", options: RunOptions | None = None
    ) -> Result:
        """Return a row for each column: its type, nulls, mean, standard deviation, least and greatest value, quartiles.

        Quartiles and the median are exact.  What a type does not have is null, such as the mean of strings.
        """
        from gpuetl.run.table_statistics import described

        return described(self._query(params, options), engine)

    def show(
        self, n: int = 10, *, params: Params | None = None, engine: str = "auto", options: RunOptions | None = None
    ) -> None:
        """Print the first rows, and how much of them is kept in memory."""
        from gpuetl.report.text_tables import rows_text
        from gpuetl.run.result_cache import result_cache

        result = self.head(n, params=params, engine=engine, options=options)
        table = result.to_arrow()
        print(rows_text(table, table.num_rows))
        for warning in result.warnings:
            print(f"Warning: {warning}")
        print(f"Kept for later cells: {result_cache.summary}.")

    @property
    def schema(self) -> Schema:
        """The columns and their types; of files, metadata alone is read."""
        from gpuetl.run.table_evaluation import schema_of

        return schema_of(self._query(None, None))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema)

    def explain(
        self, *, params: Params | None = None, engine: str = "auto", options: RunOptions | None = None
    ) -> str:  # fmt: skip
        """Return the physical plan of the rows as text: what is read and what is expected."""
        from gpuetl.run.table_evaluation import explained_query

        return explained_query(self._query(params, options), engine)

    def to_arrow(self, *, params: Params | None = None, engine: str = "auto") -> pa.Table:
        """Return all rows as an Arrow table."""
        return self.collect(params=params, engine=engine).to_arrow()

    def to_pandas(self, *, params: Params | None = None, engine: str = "auto") -> pd.DataFrame:
        """Return all rows as a pandas frame of Arrow types."""
        return self.collect(params=params, engine=engine).to_pandas()

    def to_polars(self, *, params: Params | None = None, engine: str = "auto") -> Any:
        """Return all rows as a Polars frame."""
        return self.collect(params=params, engine=engine).to_polars()

    def to_cudf(self, *, params: Params | None = None, engine: str = "auto") -> Any:
        """Return all rows as a cuDF frame."""
        return self.collect(params=params, engine=engine).to_cudf()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return all rows as a PyCapsule of Arrow's C stream, for libraries that read it."""
        return self.collect().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """Name the table and its steps; nothing is read."""
        steps = f": {self._steps_text()}" if self.steps or self.expectations else ""
        return f"<Table {self.origin} of pipeline {self.pipeline.spec.name}{steps}>"

    def _repr_html_(self) -> str:
        from gpuetl.report.notebook_pages import error_page, table_page
        from gpuetl.run.table_evaluation import kept_rows

        try:
            query, schema = self._query(None, None), self.schema
            rows = None if query.lacks_values else kept_rows(query)
        except GpuetlError as error:  # IPython hides errors of what it shows
            return error_page(error)
        table, total = (rows.table, rows.table.num_rows if rows.is_whole else None) if rows else (None, None)
        return table_page(self.origin, self._steps_text(), schema, table, total)

    def _steps_text(self) -> str:
        """Return the steps as in YAML, on one line."""
        from gpuetl.report.pipeline_graph import written_text

        parts: list[tuple[str, Step | Rule]] = [(step.verb, step) for step in self.steps]
        parts += [("expect", rule) for rule in self.expectations]
        return " → ".join(f"{verb} {cut(one_line(written_text(part)))}".rstrip() for verb, part in parts)

    def _query(
        self, params: Params | None, options: RunOptions | None, progress: WantedProgress = None
    ) -> TableQuery:  # fmt: skip
        from gpuetl.spec.model import StageSpec
        from gpuetl.spec.values import Text

        stage = None
        if self.steps or self.expectations:
            stage = StageSpec(Text(self.origin), self.steps, self.expectations, self.nodes)
        return self.pipeline.query_of(self.origin, stage, params or {}, options, progress)
