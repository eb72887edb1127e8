"""An engine's answers against the oracle's: the plan as it is written, on pandas, in one partition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf
from typing import Any

import pyarrow as pa

from gpuetl.engines.registry import ORACLE
from gpuetl.errors import Problems
from gpuetl.options import RunOptions
from gpuetl.pipeline import Pipeline
from gpuetl.verify.tolerance import ROUNDING, Tolerance, assert_tables_equal

LAYOUTS: Mapping[str, RunOptions] = {
    "one partition": RunOptions(),
    "2 rows a partition": RunOptions(partition_rows=2, carried_share=inf),
    "2 rows a partition, no broadcast": RunOptions(partition_rows=2, broadcast_bytes=0, skip_passes=("keys_apart",)),
}
"""Ways to split rows.  Partitions are made of whole row groups: tests write files with small ones."""


def assert_same(
    pipeline: Pipeline,
    engine: str = ORACLE,
    params: Mapping[str, Any] | None = None,
    *,
    partitions: Mapping[str, RunOptions] = LAYOUTS,
    keep: Iterable[str] | None = None,
    ordered: bool = False,
    tolerance: Tolerance = ROUNDING,
) -> dict[str, pa.Table]:
    """Raise `AssertionError` unless `engine` gives the oracle's rows, optimized or not, in every layout.

    Compares the stages to `keep`, by default those that no other stage reads, under each of the options in
    `partitions`, whose names stand in messages.  Say `ordered` where every one of those stages ends in an
    order without ties.  No sink is written.  Returns the oracle's rows by stage.
    """
    unwritten = without_sinks(pipeline, params)
    kept = tuple(unwritten.plan(params).last_stages() if keep is None else keep)
    expected = answers(unwritten, ORACLE, params, kept, RunOptions(optimize=False))
    compared = [RunOptions(optimize=False)] if engine == ORACLE else []
    for layout, options in partitions.items():
        as_written = replace(options, optimize=False, skip_passes=())  # it leaves out all passes
        for optimized, way in ((True, replace(options, optimize=True)), (False, as_written)):
            if way in compared:
                continue
            compared.append(way)
            got = answers(unwritten, engine, params, kept, way)
            for name, table in got.items():
                what = f"stage '{name}' on {engine}, {layout}, {'optimized' if optimized else 'as written'}"
                assert_tables_equal(table, expected[name], ordered, tolerance=tolerance, what=what)
    return expected


def answers(
    pipeline: Pipeline,
    engine: str,
    params: Mapping[str, Any] | None,
    keep: tuple[str, ...],
    options: RunOptions,
) -> dict[str, pa.Table]:
    """Run the pipeline and return the rows of the stages to keep."""
    run = pipeline.run(params, engine=engine, keep=keep, options=options)
    return {name: run[name].to_arrow() for name in keep}


def without_sinks(pipeline: Pipeline, params: Mapping[str, Any] | None) -> Pipeline:
    """Return the pipeline without its sinks; raise `InvalidPipeline` where anything of it is wrong."""
    pipeline.plan(params)
    return Pipeline.from_spec(replace(pipeline.spec, sinks={}), pipeline.root, Problems())
