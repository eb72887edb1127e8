"""A pipeline's tests as written: rows that are given for sources, and rows that are expected of stages."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, ClassVar, Literal, TypeVar

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from gpuetl.errors import Problems
from gpuetl.expressions.unparse import constant_text
from gpuetl.formats.registry import source_formats
from gpuetl.messages import coded
from gpuetl.records import dataclass
from gpuetl.spec.document import Node
from gpuetl.spec.forms import BOOLEAN, read_name
from gpuetl.spec.parameters import parse_written
from gpuetl.spec.synonyms import keys_hint
from gpuetl.spec.values import BadValue, KeyPlace, Located, Text
from gpuetl.types.data_types import DataType, type_name
from gpuetl.types.nested_types import is_list

T = TypeVar("T")
KEYS = ("name", "params", "given", "expect", "expect_failure")
ROWS_KEYS = ("columns", "rows")
EXPECT_KEYS = (*ROWS_KEYS, "ordered", "tolerance")
TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)
"""Texts that YAML takes for times, and that need no quotes, since they are read as texts."""


@dataclass(frozen=True)
class Cell:
    """One value as it is written: null, true or false, a number, a text, or a tuple of cells for a list.

    `written` are a number's own characters: a decimal is read from these.
    """

    value: Any
    written: str = ""
    node: Located | None = field(default=None, compare=False, repr=False)

    def read(self, dtype: DataType) -> Any:
        """Return the value as a Python object of a column's type; raise `BadValue` where it is none."""
        if self.value is None:
            return None
        if is_list(dtype) != isinstance(self.value, tuple):
            raise BadValue(coded("GE1605", f"{self} is not of type {type_name(dtype)}"), self.node)
        if is_list(dtype):
            return [item.read(dtype.value_type) for item in self.value]
        try:
            return parse_written(self.value, self.written, dtype)
        except ValueError as error:
            raise BadValue(coded("GE1605", str(error)), self.node) from None

    def __str__(self) -> str:
        if isinstance(self.value, tuple):
            return f"the list [{', '.join(map(str, self.value))}]"
        return f"'{self.written or self.value}'"


@dataclass(frozen=True)
class RowsSpec:
    """Rows as they are written: maps of columns to values, or lists beside the names of their columns.

    In a row of maps a column that it leaves out is None.  Of expected rows, `ordered` says whether their order counts
    (None: where the stage is sorted), and `tolerance` how far floats may differ (None: by rounding).
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell | None, ...], ...]
    as_maps: bool = True
    ordered: bool | None = None
    tolerance: float | None = None
    node: Located | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class RowsFile:
    """A file with the rows of a source."""

    format: str
    path: Text


@dataclass(frozen=True)
class TestSpec:
    """One test: values of parameters, rows for sources, and the rows of relations, or the failure, that it expects."""

    __test__: ClassVar[bool] = False  # for pytest, which collects classes of this name

    name: Text
    params: Mapping[str, Cell] = field(default_factory=dict)
    given: Mapping[str, RowsSpec | RowsFile] = field(default_factory=dict)
    expect: Mapping[str, RowsSpec] = field(default_factory=dict)
    failure: str = ""


def read_tests(node: Node | None, problems: Problems) -> tuple[TestSpec, ...]:
    """Read the section `tests`; what is wrong is kept, and the tests without a mistake are returned."""
    if node is None or node.value is None:
        return ()
    if not isinstance(node.value, tuple):
        problems.add(
            coded("GE1008", f"tests takes a list of tests, got {node.kind}"), "Begin each with - name: …", node.place()
        )
        return ()
    tests: dict[str, TestSpec] = {}
    for number, item in enumerate(node.value, 1):
        test = _Reader(problems, f"test {number}").test(item)
        if test is None:
            continue
        if test.name in tests:
            problems.add(
                coded("GE1013", f"a second test is named '{test.name}'"), "Give it a different name.", item.place()
            )
        tests.setdefault(test.name, test)
    return tuple(tests.values())


def given_keys() -> tuple[str, ...]:
    """Return the keys of a source's rows: the rows themselves, or a file."""
    return (*ROWS_KEYS, *sorted(source_formats()))


class _Reader:
    """Reads one test; `within` names it in messages, by its number until its name is known."""

    def __init__(self, problems: Problems, within: str) -> None:
        self.problems, self.within = problems, within

    def test(self, node: Node) -> TestSpec | None:
        before = len(self.problems.found)
        if not isinstance(node.value, dict):
            self.problem(coded("GE1008", f"takes a map, got {node.kind}"), f"keys: {', '.join(KEYS)}.", node)
            return None
        name = self.guarded(read_name, node.value["name"]) if "name" in node.value else None
        if name is not None:
            self.within = f"test '{name}'"
        elif "name" not in node.value:
            self.problem(coded("GE1007", "the key 'name' is missing"), "Say what the test shows.", node)
        self.known_keys(node, KEYS)
        params = {key: self.guarded(read_cell, value) for key, value in self.entries(node, "params")}
        given = {key: self.rows(value, f"given '{key}'", given_keys()) for key, value in self.entries(node, "given")}
        expect = {key: self.rows(value, f"expect '{key}'", EXPECT_KEYS) for key, value in self.entries(node, "expect")}
        failure = self.failure(node)
        if len(self.problems.found) > before or name is None:
            return None
        if bool(expect) == bool(failure):
            what = coded("GE1605", "has both expect and expect_failure" if failure else "expects nothing")
            hint = "Give it expect: rows of stages; or expect_failure: the words of an error."
            self.problem(what, hint, node)
            return None
        return TestSpec(name, params, given, expect, failure)  # type: ignore[arg-type]

    def failure(self, node: Node) -> str:
        if "expect_failure" not in node.value:
            return ""
        return self.guarded(read_name, node.value["expect_failure"]) or ""

    def entries(self, node: Node, section: str) -> Iterator[tuple[str, Node]]:
        """Yield the names of a section, each knowing its place, and what stands there."""
        found = node.value.get(section)
        if found is None or found.value is None:
            return
        if not isinstance(found.value, dict):
            what = {"params": "parameters to values", "given": "sources to rows", "expect": "stages to rows"}[section]
            self.problem(coded("GE1008", f"{section} takes a map of {what}, got {found.kind}"), "", found)
            return
        for name, value in found.items():
            yield Text(name, KeyPlace(found.keys[name])), value

    def rows(self, node: Node, where: str, keys: tuple[str, ...]) -> RowsSpec | RowsFile | None:
        """Read rows in one of their forms: a list of maps, or a map of `keys`."""
        reader = _Reader(self.problems, f"{self.within}, {where}")
        if isinstance(node.value, tuple):
            return reader.maps(node, keys, {})
        if not isinstance(node.value, dict):
            reader.problem(
                coded("GE1008", f"takes a list of rows, got {node.kind}"),
                "Write - {column: value, …}, or [] for none.",
                node,
            )
            return None
        reader.known_keys(node, keys)
        formats = [name for name in sorted(source_formats()) if name in node.value and name in keys]
        if formats:
            return reader.file(node, formats[0])
        if "rows" not in node.value:
            if node.value.keys() <= set(keys):  # an unknown key may be this one, misspelt
                reader.problem(coded("GE1007", "the key 'rows' is missing"), f"keys: {', '.join(keys)}.", node)
            return None
        options = reader.options(node)
        rows = node.value["rows"]
        if not isinstance(rows.value, tuple):
            reader.problem(coded("GE1008", f"rows takes a list, got {rows.kind}"), "", rows)
            return None
        if "columns" in node.value:
            return reader.lists(node.value["columns"], rows, options)
        return reader.maps(rows, keys, options)

    def file(self, node: Node, name: str) -> RowsFile | None:
        if len(node.value) > 1:
            self.problem(
                coded("GE1605", f"{name} is the only key where a file has the rows"), "Leave out the others.", node
            )
        path = self.guarded(read_name, node.value[name])
        return RowsFile(name, path) if path else None

    def options(self, node: Node) -> dict[str, Any]:
        read: dict[str, Any] = {}
        for name, reader in (("ordered", BOOLEAN.read), ("tolerance", read_tolerance)):
            if name in node.value:
                read[name] = self.guarded(reader, node.value[name])
        return read

    def maps(self, node: Node, keys: tuple[str, ...], options: dict[str, Any]) -> RowsSpec | None:
        """Read rows that are maps; expected ones must all have the same columns."""
        columns: dict[str, Text] = {}
        rows: list[dict[str, Cell | None]] = []
        for number, row in enumerate(node.value, 1):
            if not isinstance(row.value, dict):
                hint = "Write {column: value, …}, or lists as rows with columns: [a, b]."
                self.problem(
                    coded("GE1605", f"row {number} takes a map of columns to values, got {row.kind}"), hint, row
                )
                continue
            for name in row.value:
                columns.setdefault(name, Text(name, KeyPlace(row.keys[name])))
            rows.append({name: self.guarded(read_cell, value) for name, value in row.items()})
        if "ordered" in keys:
            for number, row in enumerate(node.value, 1):
                missing = [name for name in columns if isinstance(row.value, dict) and name not in row.value]
                if missing:
                    message = coded("GE1605", f"row {number} leaves out '{missing[0]}', which another row has")
                    self.problem(message, f"Write {missing[0]}: null where null is expected.", row)
        cells = tuple(tuple(row.get(name) for name in columns) for row in rows)
        return RowsSpec(tuple(columns.values()), cells, True, **options, node=node)

    def lists(self, named: Node, node: Node, options: dict[str, Any]) -> RowsSpec | None:
        """Read rows that are lists, in the order of the columns' names."""
        names = named.value if isinstance(named.value, tuple) else (named,)
        columns = tuple(name for item in names if (name := self.guarded(read_name, item)) is not None)
        for place, name in enumerate(columns):
            if name in columns[:place]:
                self.problem(coded("GE1023", f"'{name}' is named twice"), "", name)
        rows: list[tuple[Cell | None, ...]] = []
        for number, row in enumerate(node.value, 1):
            if not isinstance(row.value, tuple):
                self.problem(
                    coded("GE1605", f"row {number} takes a list of values with columns, got {row.kind}"), "", row
                )
            elif len(row.value) != len(names):
                message = coded(
                    "GE1605",
                    f"row {number} has {_counted(len(row.value), 'value')} for {_counted(len(names), 'column')}",
                )
                self.problem(message, f"columns: {', '.join(columns)}.", row)
            else:
                rows.append(tuple(self.guarded(read_cell, item) for item in row.value))
        return RowsSpec(columns, tuple(rows), False, **options, node=node)

    def known_keys(self, node: Node, keys: tuple[str, ...]) -> None:
        for name in node.value:
            if name not in keys:
                self.problem(coded("GE1006", f"unknown key '{name}'"), keys_hint(name, keys), KeyPlace(node.keys[name]))

    def guarded(self, read: Callable[[Node], T], node: Node) -> T | None:
        try:
            return read(node)
        except BadValue as error:
            self.problem(error.message, error.hint, error.node or node)
            return None

    def problem(self, message: str, hint: str, at: Located | Text) -> None:
        located = at.node if isinstance(at, Text) else at
        self.problems.add(message, hint, located.place() if located else None, self.within)


def read_cell(node: Node) -> Cell:
    """Read one value, or a list of values; of Python, dates, times and decimals too, as they are written in YAML."""
    value = node.value
    if isinstance(value, tuple):
        return Cell(tuple(map(read_cell, value)), node=node)
    if isinstance(value, dict):
        raise BadValue(
            coded("GE1605", "a value is a string, a number, true, false, null, or a list of these, got a map"), node
        )
    if isinstance(value, timedelta):
        value = constant_text(value).removeprefix("INTERVAL ").strip("'")
    if isinstance(value, datetime):
        value = value.isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        value = value.isoformat()
    if isinstance(value, Decimal):
        return Cell(float(value), f"{value:f}", node)
    if value is None or isinstance(value, str):
        return Cell(value, "", node)
    if not isinstance(value, bool | int | float):
        raise BadValue(coded("GE1605", f"a {type(value).__name__} is not a YAML value"), node)
    if value != value:
        value = math.nan  # the same object in each cell, which makes cells equal
    return Cell(value, node.written or number_text(value), node)


def number_text(value: float) -> str:
    """Return a number or boolean as YAML writes it: digits that read back as the same."""
    text = repr(value).lower()
    return {"inf": ".inf", "-inf": "-.inf", "nan": ".nan"}.get(text, text)


def read_tolerance(node: Node) -> float:
    """Read how far floats may differ."""
    if isinstance(node.value, bool) or not isinstance(node.value, int | float) or not 0 <= node.value < float("inf"):
        raise BadValue(coded("GE1605", f"tolerance takes a number from 0, got {read_cell(node)}"), node)
    return float(node.value)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


class Plain(str):
    """Characters that YAML writes as they are, without quotes: they resolve to a value of the tag."""

    __slots__ = ("tag",)
    tag: str

    @classmethod
    def of(cls, text: str, tag: Literal["bool", "int", "float", "timestamp"]) -> Plain:
        """Return the characters with their tag."""
        scalar = cls(text)
        scalar.tag = f"tag:yaml.org,2002:{tag}"
        return scalar


def write_test(test: TestSpec) -> dict[str, Any]:
    """Return a test as data for YAML, one row a line."""
    params = {str(name): write_cell(cell) for name, cell in test.params.items()}
    given = {str(name): _write_given(rows) for name, rows in test.given.items()}
    expect = {str(name): write_rows(rows) for name, rows in test.expect.items()}
    failure = {"expect_failure": str(test.failure)} if test.failure else {}
    sections = {"params": params, "given": given, "expect": expect}
    return {"name": str(test.name), **{key: value for key, value in sections.items() if value}, **failure}


def _write_given(rows: RowsSpec | RowsFile) -> Any:
    return {rows.format: str(rows.path)} if isinstance(rows, RowsFile) else write_rows(rows)


def write_rows(spec: RowsSpec) -> Any:
    """Return rows as data for YAML, each in flow style."""
    options = {name: getattr(spec, name) for name in ("ordered", "tolerance") if getattr(spec, name) is not None}
    if not spec.as_maps:
        rows = CommentedSeq(_flowing(CommentedSeq(map(write_cell, row))) for row in spec.rows)
        columns = _flowing(CommentedSeq(map(str, spec.columns)))
        return {"columns": columns, "rows": rows if spec.rows else _flowing(rows), **options}
    maps = CommentedSeq(
        _flowing(CommentedMap((str(n), write_cell(cell)) for n, cell in zip(spec.columns, row, strict=True) if cell))
        for row in spec.rows
    )
    written = maps if spec.rows else _flowing(maps)
    return {"rows": written, **options} if options else written


def write_cell(cell: Cell | None) -> Any:
    """Return a value as data for YAML, which reads back as the same cell."""
    value = cell.value if cell else None
    if isinstance(value, tuple):
        return _flowing(CommentedSeq(map(write_cell, value)))
    if cell is None or value is None:
        return None
    if isinstance(value, str):
        return Plain.of(value, "timestamp") if TIME.fullmatch(value) else str(value)
    return Plain.of(cell.written, "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float")


def _flowing(collection: Any) -> Any:
    collection.fa.set_flow_style()
    return collection
