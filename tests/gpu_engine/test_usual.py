"""Programs of usual expressions and window functions, which are built with the closed set."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl
from gpuetl import expr
from gpuetl.engines.cudf.programs.plan_programs import CLOSED_SET, PlanWalk, closed_set, usual_programs
from gpuetl.options import RunOptions
from gpuetl.run.planning import lowered


def test_each_is_there_once() -> None:
    """Under a name of its own, as a part of the closed set."""
    names, sources = zip(*usual_programs(), strict=True)
    assert len(set(names)) == len(set(sources)) == len(sources)
    those = {program.text: program for program in closed_set()}
    assert {those[text].file for text in sources} == {CLOSED_SET}


@pytest.mark.parametrize(
    "call", ["rolling_sum(n, 7)", "rolling_mean(f, 3)", "rolling_min(i, 2)", "rolling_max(f, interval '1 day')"]
)
def test_a_plan_asks_for_the_program_of_a_frame(pipeline: gpuetl.Pipeline, call: str) -> None:
    """Whatever its length and the names of columns are."""
    table = rows(pipeline).window("k", "t", new=expr(call))
    assert {name.split("(")[0] for name in usual_of(table)} == {call.split("(", maxsplit=1)[0], "row_number"}


@pytest.mark.parametrize(
    "sql", ["upper(s)", "lower(s)", "trim(s)", "s IS NOT NULL", "f IS NOT NULL", "true", "'constant'"]
)
def test_a_plan_asks_for_the_program_of_an_expression(pipeline: gpuetl.Pipeline, sql: str) -> None:
    """It is all that the step compiles."""
    sources = listed(rows(pipeline).select(new=expr(sql)))
    assert len(sources) == 1
    assert set(sources) <= {text for _, text in usual_programs()}


def rows(pipeline: gpuetl.Pipeline) -> gpuetl.Table:
    """Return a source that has more than a tile's rows."""
    count = 2000
    columns = {
        "k": pa.array([place % 7 for place in range(count)], pa.int32()),
        "t": pa.array([place * 1000 for place in range(count)], pa.timestamp("us", "UTC")),
        "s": pa.array([f"text {place}" for place in range(count)]),
        "i": pa.array(range(count), pa.int32()),
        "n": pa.array(range(count), pa.int64()),
        "f": pa.array(map(float, range(count)), pa.float64()),
    }
    pq.write_table(pa.table(columns), pipeline.root / "rows.parquet")
    return pipeline.read_parquet("rows", "rows.parquet")


def listed(table: gpuetl.Table) -> list[str]:
    """Return the texts of a plan."""
    table.stage("s")
    walk = PlanWalk(lowered(table.pipeline.plan({}).keeping(["s"]), RunOptions(), "cudf")[0])
    return [text.source for text in walk.sources()]


def usual_of(table: gpuetl.Table) -> list[str]:
    """Return the names of usual programs among those of a plan."""
    sources = set(listed(table))
    return [name for name, text in usual_programs() if text in sources]
