"""Statistics of sinks' columns: relations that are added to the plan of a run, and what their rows say.

They are written in the language and bound as any pipeline, so that every engine computes them, in any number of
partitions.  Bins of a histogram need the least and the greatest value first: a sink's rows wait for these, and are
spilled where memory is short.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pyarrow as pa

from gpuetl.errors import Problems
from gpuetl.expressions.ir import Column
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Project, Read, Write
from gpuetl.plan.plan import Plan
from gpuetl.report.column_statistics import ColumnStatistics, Histogram
from gpuetl.spec.definition import PipelineDefinition
from gpuetl.spec.model import FrameSpec, PipelineSpec
from gpuetl.spec.read import read_pipeline_text
from gpuetl.telemetry.origin import Origin
from gpuetl.telemetry.recorder import Recorder
from gpuetl.types.data_types import BOOL, STRING, DataType, is_number, is_temporal, type_name
from gpuetl.types.nested_types import is_nested
from gpuetl.value_texts import shown

BINS = 20
TOP = 5
"""The most frequent values of strings and booleans that are kept."""
KIND = "statistics"
"""The kind of the origin of nodes, by sink: an error names them `statistics 'out'`."""
ROWS = "rows"
SUMMARY = "summary"


class StatisticsColumn(NamedTuple):
    """A column of a sink: its name there, its type, and the name by which statistics call it."""

    name: str
    dtype: DataType
    key: str

    @property
    def number(self) -> str:
        """The expression of the value as a float64, by which it has its place in a histogram; empty without one."""
        if is_number(self.dtype):
            return f"{self.key} / 1"
        if is_temporal(self.dtype) and not pa.types.is_time(self.dtype):
            return f"epoch({self.key})"
        return ""

    @property
    def has_top(self) -> bool:
        """Whether the most frequent values are of interest."""
        return self.dtype in (BOOL, STRING)

    @property
    def is_comparable(self) -> bool:
        """Whether values are compared: of nested and binary types only nulls are counted."""
        return not is_nested(self.dtype) and (bool(self.number) or self.has_top)


def columns_of_sink(write: Write) -> tuple[StatisticsColumn, ...]:
    """Return the columns that a sink writes."""
    return tuple(
        StatisticsColumn(name, dtype, f"c{place}") for place, (name, dtype) in enumerate(write.source.schema.items())
    )


def with_column_statistics(plan: Plan, recorder: Recorder) -> Plan:
    """Return a plan that also computes the statistics of its sinks' columns, next to what expectations count.

    A run that writes no sink has a note that there are none.
    """
    if not plan.sinks:
        recorder.note("there are no statistics of columns: the run writes no sink")
    checks = dict(plan.checks)
    for name, write in plan.sinks.items():
        if isinstance(write, Write):
            checks |= {f"{KIND} {name}: {part}": node for part, node in statistics_nodes(name, write).items()}
    return replace(plan, checks=checks)


def statistics_nodes(sink: str, write: Write) -> dict[str, Node]:
    """Return the nodes of a sink's statistics: `summary` of one row, and one for each histogram and top values."""
    columns = columns_of_sink(write)
    origin = Origin(KIND, sink)
    rows = Project(
        source=write.source, columns={one.key: Column(one.name, one.dtype) for one in columns}, origin=origin
    )
    empty = pa.schema([(one.key, one.dtype) for one in columns]).empty_table()
    bound = PipelineDefinition.from_spec(statistics_spec(columns, empty), ".", Problems()).plan()
    wanted = {name: node for name, node in bound.stages.items() if name not in ("numbered", "binned")}
    graft = replace(bound, sinks={}, kept=wanted, checks={}, rules=())
    done = graft.rewrite(lambda node: rows if isinstance(node, Read) else replace(node, origin=origin))
    return dict(done.kept)


def statistics_spec(columns: tuple[StatisticsColumn, ...], empty: pa.Table) -> PipelineSpec:
    """Return the pipeline that computes the statistics of a source `rows`."""
    text = json.dumps({"gpuetl": 1, "name": "statistics", "stages": dict(statistics_stages(columns))})
    problems = Problems()
    spec = read_pipeline_text(text, "column statistics", problems)
    problems.check()
    assert spec is not None
    return replace(spec, sources={ROWS: FrameSpec(empty)})


def statistics_stages(columns: tuple[StatisticsColumn, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the stages by name."""
    summary = {"n": "count(*)"}
    for one in columns:
        summary[f"{one.key}_count"] = f"count({one.key})"
        if one.is_comparable:
            summary[f"{one.key}_distinct"] = f"count(DISTINCT {one.key})"
            summary |= {f"{one.key}_{call}": f"{call}({one.key})" for call in ("min", "max")}
    yield SUMMARY, {"from": ROWS, "steps": [{"aggregate": {"columns": summary}}]}
    if numbered := [one for one in columns if one.number]:
        yield from histogram_stages(numbered)
    for one in columns:
        if one.has_top:
            count = {"aggregate": {"by": [one.key], "columns": {"n": "count(*)"}}}
            steps = [{"filter": f"{one.key} IS NOT NULL"}, count, {"sort": ["n desc", one.key]}, {"limit": TOP}]
            yield f"top_{one.key}", {"from": ROWS, "steps": steps}


def histogram_stages(columns: list[StatisticsColumn]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the stages of histograms: values as numbers, their bounds, the bin of each, and rows by bin.

    Halves of values are subtracted, whose difference is always finite.
    """
    values = {f"{one.key}_v": f"CASE WHEN is_finite({one.number}) THEN {one.number} END" for one in columns}
    yield "numbered", {"from": ROWS, "steps": [{"select": values}]}
    bounds = {
        f"{one.key}_{bound}": f"{call}({one.key}_v)"
        for one in columns
        for bound, call in (("lo", "min"), ("hi", "max"))
    }
    yield "bounds", {"from": "numbered", "steps": [{"aggregate": {"columns": bounds}}]}
    yield (
        "binned",
        {
            "from": "numbered",
            "steps": [
                {"join": {"with": "bounds", "how": "cross"}},
                {"select": {f"{one.key}_bin": bin_of(one.key) for one in columns}},
            ],
        },
    )
    for one in columns:
        count = {"aggregate": {"by": [f"{one.key}_bin"], "columns": {"n": "count(*)"}}}
        yield (
            f"histogram_{one.key}",
            {"from": "binned", "steps": [{"filter": f"{one.key}_bin IS NOT NULL"}, count]},
        )


def bin_of(key: str) -> str:
    """Return the expression of the number of a value's bin."""
    low, high, value = f"{key}_lo / 2", f"{key}_hi / 2", f"{key}_v / 2"
    place = f"floor(({value} - {low}) / ({high} - {low}) * {BINS})"
    several = f"WHEN {key}_v IS NOT NULL AND {key}_hi > {key}_lo THEN least({BINS - 1}, CAST({place} AS int64))"
    return f"CASE {several} WHEN {key}_v IS NOT NULL THEN 0 END"


# What the rows of these relations say.


def column_statistics(plan: Plan, counts: Mapping[str, pa.Table]) -> dict[str, tuple[ColumnStatistics, ...]]:
    """Return the statistics of each sink's columns from what a run counted; nothing where it counted none."""
    found: dict[str, tuple[ColumnStatistics, ...]] = {}
    for sink, write in plan.sinks.items():
        parts = {name.removeprefix(f"{KIND} {sink}: "): table for name, table in counts.items()}
        if isinstance(write, Write) and SUMMARY in parts:
            found[sink] = tuple(statistics_of(one, parts) for one in columns_of_sink(write))
    return found


def statistics_of(column: StatisticsColumn, parts: Mapping[str, pa.Table]) -> ColumnStatistics:
    """Return the statistics of one column."""
    summary = parts[SUMMARY]

    def value(what: str) -> pa.Scalar | None:
        name = f"{column.key}_{what}"
        return summary.column(name)[0] if name in summary.column_names else None

    rows, present = summary.column("n")[0].as_py(), value("count")
    distinct, least, greatest = value("distinct"), value("min"), value("max")
    return ColumnStatistics(
        column.name,
        type_name(column.dtype),
        rows,
        rows - (present.as_py() if present is not None else 0),
        None if distinct is None else distinct.as_py(),
        shown(least) if least is not None and least.is_valid else "",
        shown(greatest) if greatest is not None and greatest.is_valid else "",
        histogram_of(column, parts),
        top_of(column, parts),
    )


def histogram_of(column: StatisticsColumn, parts: Mapping[str, pa.Table]) -> Histogram | None:
    """Return the histogram of a column; None where it has no finite value."""
    bins = parts.get(f"histogram_{column.key}")
    if bins is None or not bins.num_rows:
        return None
    counts = [0] * BINS
    for place, rows in zip(bins.column(f"{column.key}_bin").to_pylist(), bins.column("n").to_pylist(), strict=True):
        counts[place] = rows
    bounds = parts["bounds"]
    low, high = (bounds.column(f"{column.key}_{bound}")[0].as_py() for bound in ("lo", "hi"))
    shown_low, shown_high = f"{low:.6g}", f"{high:.6g}"
    if is_temporal(column.dtype):
        shown_low, shown_high = (shown(parts[SUMMARY].column(f"{column.key}_{call}")[0]) for call in ("min", "max"))
    return Histogram(shown_low, shown_high, tuple(counts))


def top_of(column: StatisticsColumn, parts: Mapping[str, pa.Table]) -> tuple[tuple[str, int], ...]:
    """Return the most frequent values of a column."""
    table = parts.get(f"top_{column.key}")
    if table is None:
        return ()
    return tuple(zip(map(shown, table.column(column.key)), table.column("n").to_pylist(), strict=True))
