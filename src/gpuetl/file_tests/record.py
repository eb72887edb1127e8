"""A test from real rows: a few rows of the sources that give rows of a stage, and what comes of them.

The sources are sampled so that rows that meet stay together (`verify.sample`).  The largest sample is cut to its first
rows, as many as give the stage rows, and rows of the others that change nothing are left out: most at once, where no
key of a join finds them, the rest by trial.  So the test is small, and it is right whatever was left out, because what
it expects is computed from the rows that it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from gpuetl.engines.registry import ORACLE, choose_engine
from gpuetl.errors import GpuetlError, InvalidPipeline, Problems
from gpuetl.file_tests.case import Unwritten
from gpuetl.formats.rejected import RejectedRows
from gpuetl.messages import coded
from gpuetl.optimize import optimize
from gpuetl.options import RunOptions
from gpuetl.output_files import write_whole
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import AsofJoin, Join, Project, Read, passing
from gpuetl.plan.plan import Plan
from gpuetl.run.pipeline_run import RunRequest, run_pipeline
from gpuetl.spec.definition import PipelineDefinition
from gpuetl.spec.document import plain_node, read_document
from gpuetl.spec.model import FrameSpec, SourceSpec
from gpuetl.spec.parameters import parse_value
from gpuetl.spec.read import read_pipeline_text
from gpuetl.spec.tests import Cell, RowsSpec, TestSpec, read_cell, write_test
from gpuetl.spec.values import Text
from gpuetl.spec.write import secret_parameters, yaml_text
from gpuetl.verify.compare import Contract, compare_tables
from gpuetl.verify.sample import Traced, sample_filters, source_rows, traced_columns
from gpuetl.verify.verification import answers

GROWTH = 8
"""How many times the rows that are asked for are sampled, and how many times more where the stage has none."""
MOST_TRIALS = 200
"""Trials by which rows that change nothing are found: each runs the stage on the few rows that are left."""
Rows = Mapping[str, pa.Table]


def recorded_test(
    pipeline: PipelineDefinition, stage: str, rows: int, params: Mapping[str, Any], engine: str, options: RunOptions
) -> TestSpec:
    """Return a test that expects at most `rows` rows of a stage, or as few as one row of the largest source gives.

    Raises
    ------
    InvalidPipeline
        For a pipeline or name that is wrong, a stage that has no row, and values that a test cannot write.
    """
    plan = replace(pipeline.plan(params), sinks={}, checks={}, rules=()).keeping([stage])
    given, largest = sampled_rows(plan, stage, rows, engine, options)
    trial = _Trial(pipeline, plan, stage, params)
    if largest is not None:
        given = trial.cut(given, largest, rows)
    given = trial.reduced(given, joined_columns(plan))
    expected = trial.rows(given)
    again = trial.rows(given)
    steady = [name for name in expected.column_names if expected.column(name).equals(again.column(name))
              or compare_tables(again.select([name]), expected.select([name]), Contract()) is None]  # fmt: skip
    declared, secret = pipeline.spec.parameters, secret_parameters(pipeline.spec)
    values: dict[str, Cell] = {
        Text(name): cell_of(parse_value(value, declared[name].dtype))
        for name, value in params.items()
        if name not in secret
    }
    return TestSpec(
        Text(unused_name(f"{stage} of real rows", pipeline)),
        values,
        {Text(name): rows_of(without_null_columns(table)) for name, table in given.items() if table.num_rows},
        {Text(stage): rows_of(expected.select(steady))},
    )


def unused_name(name: str, pipeline: PipelineDefinition) -> str:
    """Return the name, with a number where a test has it."""
    names = {str(test.name) for test in pipeline.spec.tests}
    numbered = (f"{name} {number}" for number in range(2, len(names) + 3))
    return name if name not in names else next(other for other in numbered if other not in names)


def sampled_rows(
    plan: Plan, stage: str, rows: int, engine: str, options: RunOptions
) -> tuple[dict[str, pa.Table], str | None]:
    """Return rows of each source that the stage reads, in the columns that it needs, and the largest source's name.

    The sample grows until the stage has a row.
    """
    name = choose_engine(engine).name
    options.cluster.check_engine(name)
    needed = needed_columns(plan)
    reads = {node.origin.name: node for node in walk_graph(*plan.roots)
             if isinstance(node, Read) and not isinstance(node.dataset, RejectedRows)}  # fmt: skip
    sizes = {source: source_rows(node) for source, node in reads.items()}
    largest = max(sizes, key=lambda source: sizes[source], default=None)
    rows *= GROWTH
    while True:
        filters, _ = sample_filters(plan, rows)
        sampled = plan.rewrite(lambda node: filters.get(id(node), node))  # noqa: B023  called before it changes
        projections: dict[str, Node] = {}
        for source, node in reads.items():
            above = filters.get(id(node), node)
            columns = passing(node.schema.select(needed.get(source, ()) or node.columns[:1]))
            projections[source] = Project(source=above, columns=columns, origin=node.origin)
        kept = {**sampled.kept, **{f":given:{source}": node for source, node in projections.items()}}
        found = answers(replace(sampled, kept=kept), name, options, None).rows
        if found[stage].num_rows:
            return {source: found[f":given:{source}"] for source in reads}, largest
        if largest is None or rows >= sizes[largest]:
            raise InvalidPipeline.because(
                coded("GE1607", f"stage '{stage}' has no rows, so it gives no test"), "Choose a stage that has rows."
            )
        rows *= GROWTH


def needed_columns(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return the columns that a plan reads of each source, in the source's order."""
    found: dict[str, set[str]] = {}
    for node in optimize(plan).plan.nodes:
        if isinstance(node, Read):
            found.setdefault(node.origin.name, set()).update(node.columns)
    reads = (node for node in plan.nodes if isinstance(node, Read))
    return {n.origin.name: tuple(c for c in n.columns if c in found.get(n.origin.name, ())) for n in reads}


def joined_columns(plan: Plan) -> list[tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]]:
    """Return the columns of sources that meet in joins: of the left side, and of the right, by source and name."""
    names = {id(node): node.origin.name for node in plan.nodes if isinstance(node, Read)}
    traced: dict[int, Traced] = {}
    pairs = []
    for node in plan.nodes:
        inputs = [traced[id(child)] for child in node.inputs]
        if isinstance(node, Join | AsofJoin):
            for left, right in zip(node.left_on, node.right_on, strict=True):
                sides = (inputs[0].get(left, frozenset()), inputs[1].get(right, frozenset()))
                a, b = (frozenset((names[read], column) for read, column in side) for side in sides)
                pairs.append((a, b))
        traced[id(node)] = traced_columns(node, inputs)
    return pairs


class _Trial:
    """Runs a stage on rows in memory, on the pandas engine."""

    def __init__(self, pipeline: PipelineDefinition, plan: Plan, stage: str, params: Mapping[str, Any]) -> None:
        self.pipeline, self.stage, self.params = pipeline, stage, params
        self.left = MOST_TRIALS
        self.choice = choose_engine(ORACLE)
        self.schemas = {name: next(n for n in walk_graph(node) if isinstance(n, Read)).dataset.schema.to_arrow()
                        for name, node in plan.sources.items()}  # fmt: skip

    def rows(self, given: Rows) -> pa.Table:
        """Return the stage's rows."""
        sources = {name: self.frame(name, given.get(name)) for name in self.pipeline.spec.sources}
        spec = replace(self.pipeline.spec, sources=sources, tests=())
        unwritten = Unwritten.from_spec(spec, self.pipeline.root, Problems())
        unwritten.wanted = (self.stage,)
        return run_pipeline(unwritten, self.params, self.choice, RunRequest([self.stage]), None, None)[
            self.stage
        ].to_arrow()

    def frame(self, name: str, rows: pa.Table | None) -> FrameSpec:
        """Return a source of rows, in all of its columns; those that are not there are null."""
        source, schema = self.pipeline.spec.sources[name], self.schemas[name]
        count = 0 if rows is None else rows.num_rows
        columns = [
            rows.column(field.name) if rows is not None and field.name in rows.column_names
            else pa.nulls(count, field.type)
            for field in schema
        ]  # fmt: skip
        quarantines = isinstance(source, SourceSpec) and source.options.quarantines
        left = tuple(column for column in source.exclude if column in schema.names)
        table = pa.table(columns, schema=schema)
        return FrameSpec(table, source.columns, source.filter, quarantines=quarantines, exclude=left)

    def cut(self, given: Rows, largest: str, most: int) -> dict[str, pa.Table]:
        """Keep the first rows of the largest source: as few as give the stage a row, and at most `most` of them."""
        rows = given[largest]

        def count(length: int) -> int:
            return int(self.rows({**given, largest: rows.slice(0, length)}).num_rows)

        low, high = 0, min(most, rows.num_rows)
        while not (found := count(high)) and high < rows.num_rows:
            low, high = high, min(2 * high, rows.num_rows)
        while found > most and high - low > 1:  # `low` rows give none or few enough, `high` too many
            middle = (low + high) // 2
            here = count(middle)
            low, high = (middle, high) if here <= most else (low, middle)
        if found > most and low and count(low):
            high = low
        return {**given, largest: rows.slice(0, high)}

    def reduced(self, given: Rows, joined: Iterable[tuple[Any, Any]]) -> dict[str, pa.Table]:
        """Leave out rows without which the stage's are the same."""
        expected = self.rows(given)
        rows = dict(given)

        def same(trial: Rows) -> bool:
            self.left -= 1
            try:
                return compare_tables(self.rows(trial), expected, Contract()) is None
            except GpuetlError:
                return False

        for left, right in joined:
            for (source, column), others in ((pair, right) for pair in left):
                for other, key in others:
                    values = rows[source].column(column).combine_chunks()
                    if other != source and values.type == rows[other].schema.field(key).type:
                        filtered = rows[other].filter(pc.is_in(rows[other].column(key), value_set=values))
                        if filtered.num_rows < rows[other].num_rows and same({**rows, other: filtered}):
                            rows[other] = filtered
        for name in sorted(rows, key=lambda name: -rows[name].num_rows):
            kept = self.needed(rows[name].num_rows, lambda numbers, name=name: same(  # type: ignore[misc]
                {**rows, name: rows[name].take(pa.array(numbers, pa.int64()))}))  # fmt: skip
            rows[name] = rows[name].take(pa.array(kept, pa.int64()))
        return rows

    def needed(self, count: int, same: Callable[[Sequence[int]], bool]) -> list[int]:
        """Return the rows that are left when all pieces are out that change nothing: large ones first, then smaller."""
        kept, size = list(range(count)), count
        while size >= 1:
            start = 0
            while start < len(kept) and self.left > 0:
                without = kept[:start] + kept[start + size :]
                if same(without):
                    kept = without
                else:
                    start += size
            size //= 2
        return kept


def without_null_columns(rows: pa.Table) -> pa.Table:
    """Leave out columns that have no value: what a test does not give is null."""
    return rows.select([name for name in rows.column_names if rows.column(name).null_count < rows.num_rows])


def rows_of(table: pa.Table) -> RowsSpec:
    """Return the rows of a table as they are written."""
    columns = []
    for name in table.column_names:
        try:
            columns.append([cell_of(value) for value in table.column(name).to_pylist()])
        except (OverflowError, ValueError):
            message = coded(
                "GE1607", f"column '{name}' has times before year 1 or after 9999, which a test cannot write"
            )
            raise InvalidPipeline.because(message, "Filter them out, or write the test by hand.") from None
    return RowsSpec(tuple(map(Text, table.column_names)), tuple(zip(*columns, strict=True)), as_maps=False)


def cell_of(value: Any) -> Cell:
    """Return a Python value as a cell; times of a zone in UTC."""
    from datetime import UTC, datetime

    if isinstance(value, list):
        return Cell(tuple(map(cell_of, value)))
    is_timestamp = isinstance(value, datetime) and value.tzinfo is not None
    return read_cell(plain_node(value.astimezone(UTC) if is_timestamp else value))


def text_of(test: TestSpec) -> str:
    """Return a test as an item of the section `tests`."""
    return yaml_text([write_test(test)])


def file_with(text: str, name: str, item: str, test: TestSpec) -> str:
    """Return a file's text with one more test: at the end of its section `tests`, or in a new one at its end.

    Raises
    ------
    InvalidPipeline
        Where the section is not written as a list of lines, so that the test has no place there.
    """
    problems = Problems()
    root = read_document(text, name, problems)
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if root is None or "tests" not in root.value:
        added = "".join([*lines, "\ntests:\n", item])
    else:
        begin = root.keys["tests"].line
        ends = [place.line - 1 for place in root.keys.values() if place.line > begin]
        end = min(ends, default=len(lines))
        while end > begin and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
            end -= 1
        tests = root.value["tests"].value
        indent = tests[0].column - 2 if tests else 2
        moved = "".join(" " * indent + line[2:] for line in item.splitlines(keepends=True))
        added = "".join([*lines[:end], moved, *lines[end:]])
    again = read_pipeline_text(added, name, problems, Path(name).parent)
    if problems.found or again is None or again.tests[-1:] != (test,):
        hint = "Begin each test there with - name: on a separate line, or add what the command prints by hand."
        raise InvalidPipeline.because(coded("GE1607", f"the test has no place in the section tests of {name}"), hint)
    return added


def write_into(path: Path, test: TestSpec) -> None:
    """Add a test to a pipeline's file."""
    text = path.read_text(encoding="utf-8")
    write_whole(path, file_with(text, str(path), text_of(test), test).encode())
