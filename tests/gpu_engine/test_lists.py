"""Lists on the GPU engine: chosen, split, taken apart, exploded, with the answers of the pandas engine."""

import random

import pyarrow as pa
import pytest

from fuzz.data import TYPES, pool
from gpu_engine.differential import assert_same, computed
from gpu_engine.host_machine import COMPILER
from gpu_engine.test_columns import MACHINE, uploaded
from gpuetl.engines.cudf.columns.interchange import to_arrow
from gpuetl.engines.cudf.gpu_operation import run_operation
from gpuetl.engines.cudf.relational import row_operations
from gpuetl.engines.pandas.relational.row_operations import explode_lists
from gpuetl.errors import EvaluationError
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.plan.node import Node
from gpuetl.plan.nodes import Explode
from gpuetl.records import dataclass
from gpuetl.types.nested_types import is_list
from gpuetl.types.schema import Schema

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")

ROWS = pa.table(
    {
        "x": pa.array([[1, 2], None, [], [None], [3, None, 1], [4]], pa.list_(pa.int64())),
        "y": pa.array([[9], [8, None], None, [7], [], None], pa.list_(pa.int64())),
        "s": pa.array([["a", ""], ["é", None], None, [], ["😀b"], [None]], pa.list_(pa.string())),
        "t": pa.array(["a,b", "", None, ",", "é,,𝄞", "a"]),
        "i": pa.array([0, 1, None, -1, 2, 300]),
        "b": pa.array([True, False, None, True, False, True]),
    }
)


def typed(sql):
    """Return an expression over the columns of ROWS."""
    scope = Scope(dict(zip(ROWS.column_names, ROWS.schema.types, strict=True)), {}, ("scalar",))
    return resolve(parse_expression(sql), scope)


@pytest.mark.parametrize(
    "sql",
    [
        "x", "coalesce(x, y)", "coalesce(y, x, CAST(NULL AS list<int64>))", "coalesce(CAST(NULL AS list<int64>), y)",
        "CASE WHEN b THEN x ELSE y END", "CASE WHEN b THEN x WHEN NOT b THEN NULL ELSE y END", "CASE WHEN b THEN x END",
        "CASE WHEN b THEN s ELSE split(t, ',') END", "coalesce(split(t, ',,'), s)", "split('a,b', ',')",
        "split(upper(t), 'B')", "split(CASE WHEN b THEN trim(t) ELSE '-' END, ',')", "CAST(NULL AS list<string>)",
        "CASE WHEN list_length(x) > 1 THEN x ELSE coalesce(y, x) END", "CAST(x AS list<int64>)",
        "list_length(CASE WHEN b THEN x ELSE y END)", "list_get(split(t, ','), -1)", "list_get(coalesce(x, y), i)",
        "upper(list_get(s, 0))", "list_contains(s, t || 'b')", "list_length(CAST(NULL AS list<int64>))",
        "list_get(NULL, 0)", "coalesce(x, y) IS NULL", "CAST(NULL AS list<int64>) IS NULL", "list_contains(coalesce(x, y), i)",
        "list_get(x, CAST(i AS int8))", "CASE WHEN b AND i < 2 THEN list_get(coalesce(x, y), CAST(i AS int8)) END",
        "split(CASE WHEN i < 300 THEN CAST(CAST(i AS int8) AS string) END, '1')",
        "CASE WHEN i < 300 THEN split(CAST(CAST(i AS int8) AS string), '1') ELSE s END",
        "list_length(CASE WHEN i < 300 THEN split(CAST(CAST(i AS int8) AS string), '1') END)",
        "CAST(list_get(coalesce(y, x), 0) + 9223372036854775800 AS int64)",
    ],
)  # fmt: skip
def test_lists_are_those_of_the_pandas_engine(sql):
    assert_same(typed(sql), ROWS)
    assert_same(typed(sql), ROWS.slice(1, 2))


@pytest.mark.parametrize("sql", ["coalesce(x, y)", "split(t, ',')", "split('a,b', ',')", "CASE WHEN b THEN x END"])
def test_no_rows_give_no_lists(sql):
    assert computed(typed(sql), ROWS.slice(0, 0)).to_pylist() == []


@dataclass(frozen=True, eq=False, kw_only=True)
class Given(Node):
    """Rows of a schema."""

    columns: Schema

    def output_schema(self, *schemas):
        return self.columns


def exploded(rows, keep_empty, index=""):
    """Explode `x` on both engines, and return the rows of both."""
    source = Given(columns=Schema(zip(rows.column_names, rows.schema.types, strict=True)))
    operation = Explode(source=source, column="x", keep_empty=keep_empty, index=index)
    made = run_operation(operation, MACHINE, uploaded(rows))
    assert tuple(made.columns) == operation.schema.names
    expected = explode_lists(operation, rows)
    assert made.rows == expected.num_rows
    got = pa.table([to_arrow(v, MACHINE) for v in made.columns.values()], schema=operation.schema.to_arrow())
    return str(got.to_pydict()), str(expected.to_pydict())


@pytest.mark.parametrize("keep_empty", [True, False])
@pytest.mark.parametrize("name", [name for name in TYPES if is_list(TYPES[name])])
def test_each_element_gets_a_row(name, keep_empty):
    draws = random.Random(name)
    lists = [draws.choice([*pool(TYPES[name], wild=True), None]) for _ in range(80)]
    others = {f"c{place}": pa.array((pool(t, wild=True) * 80)[:80], t) for place, t in enumerate(TYPES.values())}
    rows = pa.table({"x": pa.array(lists, TYPES[name]), **others})
    got, expected = exploded(rows, keep_empty, "i")
    assert got == expected


@pytest.mark.parametrize("keep_empty", [True, False])
@pytest.mark.parametrize("lists", [[], [None], [[]], [None, [], [None]], [[1, 2]], [[], [1], []]])
def test_lists_of_few_elements_are_exploded(lists, keep_empty):
    rows = pa.table({"x": pa.array(lists, pa.list_(pa.int64())), "k": pa.array(range(len(lists)))})
    for index in ("", "i"):
        got, expected = exploded(rows, keep_empty, index)
        assert got == expected
    got, expected = exploded(rows.select(["x"]), keep_empty)
    assert got == expected


@pytest.mark.parametrize(
    "dtype",
    [pa.bool_(), pa.int8(), pa.date32(), pa.timestamp("us"), pa.decimal128(5, 2), pa.decimal128(38, 4), pa.null()],
)
def test_elements_of_every_type_are_exploded(dtype):
    elements = [] if pa.types.is_null(dtype) else pool(dtype, wild=True)
    rows = pa.table({"x": pa.array([elements, None, [None, *elements[:1]]], pa.list_(dtype))})
    got, expected = exploded(rows, keep_empty=True)
    assert got == expected


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(row_operations, "MAX_ROWS", 2)
    with pytest.raises(EvaluationError, match="the explode would have 9 rows, more than 2"):
        exploded(ROWS.select(["x"]), keep_empty=True)
