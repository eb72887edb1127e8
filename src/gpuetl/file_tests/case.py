"""A test made ready to run: the given rows in place of the sources, the expected ones in the types of their columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from gpuetl.errors import InvalidPipeline, Problems, have_hint
from gpuetl.expressions.ir import Expr
from gpuetl.formats.frames import SLICE_ROWS
from gpuetl.formats.registry import format_named
from gpuetl.formats.rejected import without_rejected
from gpuetl.messages import coded
from gpuetl.places.storage import is_secret
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Read
from gpuetl.plan.plan import Plan, promised_order
from gpuetl.records import dataclass
from gpuetl.spec.bind import bind_source
from gpuetl.spec.deferred import with_values
from gpuetl.spec.definition import PipelineDefinition
from gpuetl.spec.model import FrameSpec, PipelineSpec, SinkSpec, SourceSpec
from gpuetl.spec.parameters import bind_parameters
from gpuetl.spec.tests import Cell, RowsFile, RowsSpec, TestSpec
from gpuetl.spec.values import BadValue, node_of
from gpuetl.types.data_types import BOOL, DATE, FLOAT64, INT64, STRING, TIMESTAMP, DataType, type_name
from gpuetl.types.schema import Schema
from gpuetl.verify.keys import stage_keys


class Unwritten(PipelineDefinition):
    """A pipeline that writes no sink; of its contracts it checks those of the relations in `wanted`, and below them."""

    wanted: tuple[str, ...] = ()

    def plan(self, params: Mapping[str, Any] | None = None, **keys: Any) -> Plan:
        """Return the plan without its sinks, whose keys are checked all the same."""
        plan, needed = super().plan(params, **keys), self.needed()
        rules = tuple(rule for rule in plan.rules if rule.stage in needed)
        counts = {name for rule in rules for name in (rule.counts, rule.stage)}
        checks = {name: node for name, node in plan.checks.items() if name in counts}
        return replace(plan, sinks={}, rules=rules, checks=checks, state=None)

    def needed(self) -> set[str]:
        """Return the wanted sources and stages, and those that they read."""
        found: set[str] = set()
        ahead = list(self.wanted)
        while ahead:
            name = without_rejected(ahead.pop())
            if name not in found and name in self.spec.stages:
                ahead += self.spec.stages[name].reads
            found.add(name)
        return found


@dataclass(frozen=True)
class ExpectedRows:
    """The rows that a relation should have, in the columns that the test names.

    Parameters
    ----------
    rows
        Without a column where the test expects no row, and names none.
    keys
        Columns by which the relation's rows are told apart.
    order
        Columns in whose order the rows must come.
    tolerance
        How far floats may differ; None is by rounding.
    """

    rows: pa.Table
    keys: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    tolerance: float | None = None


@dataclass(frozen=True)
class Case:
    """A test that can run: a pipeline on the given rows, which writes no sink, and what is expected of relations.

    `notes` say of which sources the types were taken from the given values.
    """

    name: str
    pipeline: PipelineDefinition
    params: Mapping[str, Any]
    expected: Mapping[str, ExpectedRows]
    failure: str
    keep: tuple[str, ...]
    notes: tuple[str, ...] = ()


def prepared_cases(
    pipeline: PipelineDefinition,
    tests: Iterable[TestSpec],
    params: Mapping[str, Any],
    problems: Problems,
    *,
    slice_rows: int | None = None,
    unbound: bool = False,
) -> list[Case]:
    """Return the tests that have no mistake; the mistakes of the others are kept.

    `params` are values for parameters that a test gives none.  The given rows of a source are in partitions of
    `slice_rows`, or in one.  With `unbound` tests are checked and cannot run: required parameters may be without a
    value, and tables have no rows.
    """
    cases = []
    for test in tests:
        found = Problems()
        try:
            case = _Preparation(pipeline, test, found, slice_rows or SLICE_ROWS, unbound).case(params)
        except InvalidPipeline as error:  # of the pipeline itself, which is the same in every test
            found.found += [problem for problem in error.problems if problem not in found.found]
        if found.found:
            problems.found += [problem for problem in found.found if problem not in problems.found]
        else:
            cases.append(case)
    return cases


def without_secrets(sink: SinkSpec, spec: PipelineSpec) -> SinkSpec:
    """Return a sink without secrets of its store, which are not needed where nothing is written."""
    options = (*spec.storage.get(sink.storage, ()), *sink.storage_options)
    if not options or (sink.storage and sink.storage_options):
        return sink
    return replace(sink, storage="", storage_options=tuple(one for one in options if not is_secret(one.name)))


class _Preparation:
    """Makes one test ready; `unknown` has the sources without rows whose columns are not known, and why."""

    def __init__(
        self, pipeline: PipelineDefinition, test: TestSpec, problems: Problems, slice_rows: int, unbound: bool
    ) -> None:
        self.pipeline, self.test, self.problems = pipeline, test, problems
        self.slice_rows, self.unbound = slice_rows, unbound
        self.unknown: dict[str, str] = {}
        self.notes: list[str] = []
        self.spec = pipeline.spec

    def case(self, params: Mapping[str, Any]) -> Case:
        """Return the case; raise `InvalidPipeline` for what is wrong with the pipeline."""
        spec = self.pipeline.spec
        values = self.values(params)
        parameters = bind_parameters(spec.parameters, values, need_all=False)
        spec = self.spec = with_values(spec, parameters, self.problems)
        for name in self.test.given:
            if name not in spec.sources and name not in spec.unreadable:
                hint = f"'{name}' is a stage: give rows for the sources that it reads." if name in spec.stages else ""
                self.problem(
                    coded("GE1020", f"unknown source '{name}'"),
                    hint or have_hint(name, spec.sources, noun="Sources"),
                    name,
                    "given",
                )
        sources = {name: self.source(name, source, parameters) for name, source in spec.sources.items()}
        known = {name: source for name, source in sources.items() if source is not None}
        sinks = {name: without_secrets(sink, spec) for name, sink in spec.sinks.items()}
        replaced = replace(spec, sources=known, sinks=sinks, unreadable=spec.unreadable | self.unknown.keys(), tests=())
        unwritten = Unwritten.from_spec(replaced, self.pipeline.root, Problems())
        plan = unwritten.plan(values, unbound=self.unbound or bool(self.problems.found))
        expected = {name: self.expected(name, rows, plan) for name, rows in self.test.expect.items()}
        runnable = [name for name, node in {**plan.sources, **plan.stages}.items() if not reads_unknown(node)]
        keep = unwritten.wanted = tuple(self.test.expect) or tuple(runnable)
        return Case(str(self.test.name), unwritten, values, {n: e for n, e in expected.items() if e is not None},
                    self.test.failure, keep, tuple(self.notes))  # fmt: skip

    def problem(self, message: str, hint: str, at: object, *where: str) -> None:
        node = node_of(at) or node_of(self.test.name)
        within = ", ".join((f"test '{self.test.name}'", *where))
        self.problems.add(message, hint, node.place() if node else None, within)

    def values(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of parameters: the test's own, then those given for all tests."""
        declared, values = self.pipeline.spec.parameters, dict(params)
        for name, cell in self.test.params.items():
            if name not in declared:
                self.problem(
                    coded("GE1021", f"unknown parameter '{name}'"), have_hint(name, declared, noun="Parameters"), name
                )
                continue
            try:
                values[str(name)] = cell.read(declared[name].dtype)
            except BadValue as error:
                self.problem(coded("GE1017", f"parameter '{name}': {error.message}"), error.hint, error)
        missing = [name for name, spec in declared.items() if spec.required and name not in values]
        for name in () if self.unbound else missing:
            if name not in self.test.params:
                hint = f"Add it to the test's params, or give it with -p {name}=VALUE."
                self.problem(
                    coded("GE1016", f"parameter '{name}' ({type_name(declared[name].dtype)}) has no value"), hint, None
                )
        return values

    def source(
        self, name: str, source: SourceSpec | FrameSpec, parameters: Mapping[str, Expr]
    ) -> SourceSpec | FrameSpec | None:
        """Return what stands in a source's place; None where it has no rows, and no columns that are known."""
        given = self.test.given.get(name)
        schema, reason = self.schema(name, source, parameters)
        if isinstance(given, RowsFile):
            types = {} if schema is None else dict(schema)
            left = tuple(name for name in source.exclude if name in types)
            if isinstance(source, SourceSpec) and source.format == given.format:
                source = replace(source, storage="", storage_options=())  # those of the source's own files
                return replace(source, path=given.path, schema=types, partitions={}, filename="", exclude=left)
            return SourceSpec(
                given.format, given.path, types, columns=source.columns, exclude=left, filter=source.filter
            )
        if schema is None:
            if given is None or not given.columns:
                self.unknown[name] = reason
                return None
            schema = self.inferred(name, given, reason)
        elif given is not None:
            self.known_columns(given, schema, f"given '{name}'")
        rows = no_rows(schema) if given is None else self.table(given, schema, f"given '{name}'")
        quarantines = isinstance(source, SourceSpec) and source.options.quarantines
        left = tuple(name for name in source.exclude if name in schema)
        return FrameSpec(rows, source.columns, source.filter, self.slice_rows, quarantines, left)

    def schema(
        self, name: str, source: SourceSpec | FrameSpec, parameters: Mapping[str, Expr]
    ) -> tuple[Schema | None, str]:
        """Return a source's columns, of its schema or its files; None, with the reason, where these are not known."""
        if isinstance(source, FrameSpec):
            return Schema.of_arrow(source.table.schema), ""
        found = Problems()
        node = bind_source(name, self.spec, parameters, self.pipeline.root, "test", found)
        read = next((below for below in walk_graph(node) if isinstance(below, Read)), None)
        if read is not None:
            return read.dataset.schema, ""
        if not format_named(source.format).states_types:  # it has no files that tell: the pipeline itself is wrong
            self.problems.found += found.found
        return None, found.found[0].message if found.found else "its path needs the value of a parameter"

    def inferred(self, name: str, given: RowsSpec, reason: str) -> Schema:
        """Return the columns that the given values tell."""
        columns: dict[str, DataType] = {}
        for place, column in enumerate(given.columns):
            try:
                columns[column] = inferred_type(row[place] for row in given.rows)
            except ValueError as error:
                hint = f"Declare it: a schema on source '{name}' declares the types of all its columns."
                self.problem(
                    coded("GE1605", f"the type of column '{column}' is not known: {error}"),
                    hint,
                    column,
                    f"given '{name}'",
                )
                columns[column] = pa.null()
        listed = ", ".join(f"{column}: {type_name(dtype)}" for column, dtype in columns.items())
        self.notes.append(f"source '{name}': types are those of the given values ({listed}), since {reason}")
        return Schema(columns)

    def known_columns(self, rows: RowsSpec, schema: Schema, where: str) -> None:
        for name in rows.columns:
            if name not in schema and not schema.open:
                self.problem(coded("GE1003", f"unknown column '{name}'"), have_hint(name, schema), name, where)

    def table(self, rows: RowsSpec, schema: Schema, where: str) -> pa.Table:
        """Return rows in the columns of a schema; one that a row leaves out is null.

        Where nothing will run the values are checked, and none is kept: to make arrays of them, Arrow imports pandas.
        """
        places = {str(name): place for place, name in enumerate(rows.columns)}
        values = {}
        for name, dtype in schema.items():
            cells = (row[places[name]] if name in places else None for row in rows.rows)
            values[name] = [self.value(cell, name, dtype, where) for cell in cells]
        if self.unbound:
            return no_rows(schema)
        return pa.table({name: pa.array(values[name], dtype) for name, dtype in schema.items()}, schema.to_arrow())

    def value(self, cell: Cell | None, name: str, dtype: DataType, where: str) -> Any:
        try:
            return cell.read(dtype) if cell else None
        except BadValue as error:
            self.problem(coded("GE1605", f"column '{name}': {error.message}"), error.hint, error, where)
            return None

    def expected(self, name: str, rows: RowsSpec, plan: Plan) -> ExpectedRows | None:
        """Return what is expected of a source or stage of the plan."""
        where, node = f"expect '{name}'", None
        unknown = name in self.unknown or name in self.pipeline.spec.unreadable
        try:
            node = None if unknown else plan.keeping([name]).kept[name]
        except InvalidPipeline as error:
            self.problem(coded("GE1020", f"unknown source or stage '{name}'"), error.problems[0].hint, name, "expect")
            return None
        if node is None or reads_unknown(node):
            for source, reason in self.unknown.items():
                message = coded("GE1605", f"source '{source}' is not given, and its columns are not known: {reason}")
                self.problem(message, "Give rows for it, or declare its schema.", name, where)
            return None  # else it waits for the value of a parameter, or what is wrong is told
        self.known_columns(rows, node.schema, where)
        schema = Schema((str(n), node.schema[n]) for n in rows.columns if n in node.schema)
        order: tuple[str, ...] = ()
        if rows.ordered is None:
            order = tuple(column for column in promised_order(node) if column in schema)
        elif rows.ordered:
            order = schema.names
        keys = tuple(column for column in stage_keys(node) if column in schema)
        return ExpectedRows(self.table(rows, schema, where), keys, order, rows.tolerance)


def no_rows(schema: Schema) -> pa.Table:
    """Return a table of a schema's columns."""
    return pa.table([pa.nulls(0, dtype) for dtype in schema.values()], schema=schema.to_arrow())


def reads_unknown(node: Node) -> bool:
    """Return whether a relation is of a source whose columns are not known."""
    return any(below.schema.open for below in walk_graph(node))


_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TEXTS: tuple[tuple[re.Pattern[str], DataType], ...] = (
    (re.compile(_DATE), DATE),
    (re.compile(_DATE + r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"), TIMESTAMP),
    (
        re.compile(_DATE + r"[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:?[0-9]{2})"),
        pa.timestamp("us", "UTC"),
    ),
)
"""What strings are taken for, where all of a column are."""


def inferred_type(cells: Iterable[Cell | None]) -> DataType:
    """Return the type that the values of a column tell: bool, int64, float64, date, timestamp, string, or a list.

    Raises
    ------
    ValueError
        Worded, where all values are null, or of kinds that do not go together.
    """
    values = [cell for cell in cells if cell is not None and cell.value is not None]
    kinds = {type(cell.value) for cell in values}
    if kinds == {tuple}:
        return pa.list_(inferred_type(item for cell in values for item in cell.value))
    if kinds == {str}:
        cell_values = [cell.value for cell in values]
        return next((dtype for form, dtype in _TEXTS if all(map(form.fullmatch, cell_values))), STRING)
    types = ({bool}, BOOL), ({int}, INT64), ({float}, FLOAT64), ({int, float}, FLOAT64)
    for having, dtype in types:
        if kinds == having:
            return dtype
    if not values:
        raise ValueError("every value is null")
    raise ValueError(f"{values[0]} and {next(c for c in values if type(c.value) is not type(values[0].value))} differ")
