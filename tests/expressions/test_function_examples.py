"""The function table's own examples: each evaluates to its result on the CPU backend, and nothing lacks a handler."""

import math
from datetime import datetime

import pyarrow as pa
import pytest

from expressions.evaluation import aggregated, table, value, values, windowed
from gpuetl.engines.pandas.expressions.functions import SCALARS
from gpuetl.engines.pandas.relational.aggregate import AGGREGATES
from gpuetl.engines.pandas.relational.window_functions import WINDOW_FUNCTIONS
from gpuetl.expressions.functions import ALIASES, FUNCTIONS, INTERNAL, MODULES, maps
from gpuetl.expressions.functions.aggregates import ORDERED
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.syntax import Apply, Constant, Name
from gpuetl.expressions.unparse import to_sql
from gpuetl.types.data_types import literal_type

EXPANDED = {f.name for f in FUNCTIONS.values() if f.expansion}  # they are computed by others
EVALUATED_APART = {
    "case",
    "coalesce",
    "list_transform",
    "list_reduce",
} | EXPANDED  # the first two decide which rows their operands see
FOUR_ROWS = table(x=("int64", [1, 1, 2, None]))
ORDERLESS = frozenset(["qcut"])
"""Window functions over aggregates of the group, which need no order."""
FOUR_HOURS = table(
    ts=("timestamp", [datetime(2013, 1, 1, h, m) for h, m in ((0, 0), (1, 0), (2, 30), (3, 0))]),
    x=("int64", [1, 2, None, 4]),
)


def functions(kind):
    return [pytest.param(f, id=f.name) for (of_kind, _), f in FUNCTIONS.items() if of_kind == kind]


def assert_equal(got, expected):
    """Types and values are equal; floats to the last few bits."""
    if isinstance(expected, float):
        assert type(got) is float
        assert math.isclose(got, expected, rel_tol=1e-15)
    else:
        assert (type(got), got) == (type(expected), expected)


A_MAP = pa.table({"m": pa.array([[("a", 1), ("b", 2)]] * 3, pa.map_(pa.string(), pa.int64()))})
"""Of the examples of maps, of which there are no constants."""


@pytest.mark.parametrize("function", functions("scalar"))
def test_scalar_example_of_constants_gives_its_result(function):
    got = values(function.example, A_MAP)[0] if function in maps.FUNCTIONS else value(function.example)
    assert_equal(got, function.result)


@pytest.mark.part(2)
@pytest.mark.parametrize("function", functions("scalar"))
def test_scalar_example_over_columns_gives_its_result_in_every_row(function):
    syntax = parse_expression(function.example)
    over_columns, columns = with_columns(syntax)
    frame = pa.table(
        {
            "m": A_MAP["m"],
            "row": pa.array([1, 2, 3]),
            **{n: pa.array([v] * 3, literal_type(v)) for n, v in columns.items()},
        }
    )
    for got in values(to_sql(over_columns), frame):
        assert_equal(got, function.result)


def with_columns(syntax):
    """Put columns in the place of constants, where the function does not ask for a constant; returns their values."""
    columns = {}

    def replaced(node, constant=False):
        if isinstance(node, Constant) and not constant:
            name = f"c{len(columns)}"
            columns[name] = node.value
            return Name(name)
        if isinstance(node, Apply) and not constant:  # a list of constants is one
            marks = [slot.constant for slot in FUNCTIONS["scalar", ALIASES.get(node.function, node.function)].arguments]
            marks += [False] * (len(node.args) - len(marks))
            keywords = tuple((name, replaced(value)) for name, value in node.keywords)
            return Apply(node.function, tuple(map(replaced, node.args, marks)), keywords)
        return node

    return replaced(syntax), columns


@pytest.mark.parametrize("function", functions("aggregate"))
def test_aggregate_example_gives_its_result(function):
    order = ["x"] if function.name in ORDERED else []
    (got,) = aggregated(function.example, FOUR_ROWS.take([3, 1, 2, 0]), order_by=order)
    assert_equal(got, function.result)


@pytest.mark.parametrize("function", functions("window"))
def test_window_example_gives_its_result(function):
    order = [] if function.name in ORDERLESS else ["ts"]
    got = windowed(function.example, FOUR_HOURS.take([2, 0, 3, 1]) if order else FOUR_HOURS, order)
    assert len(got) == 4
    for one, expected in zip(got, function.result, strict=True):
        assert_equal(one, expected)


@pytest.mark.parametrize(
    ("kind", "handlers", "apart"),
    [("scalar", SCALARS, EVALUATED_APART), ("aggregate", AGGREGATES, set()), ("window", WINDOW_FUNCTIONS, set())],
)
def test_every_function_has_a_handler_and_every_handler_a_function(kind, handlers, apart):
    own = {name for (of_kind, name), function in FUNCTIONS.items() if of_kind == kind and not function.definition}
    assert own == {*handlers, *apart} - set(INTERNAL)


def test_no_two_modules_define_the_same_function():
    assert sum(len(module.FUNCTIONS) for module in MODULES) == len(FUNCTIONS)


def test_aliases_stand_for_functions_and_hide_none():
    names = {name for _, name in FUNCTIONS}
    assert set(ALIASES.values()) <= names
    assert not set(ALIASES) & names


@pytest.mark.parametrize("function", [pytest.param(f, id=f"{f.kind}-{f.name}") for f in FUNCTIONS.values()])
def test_every_function_has_a_sentence_and_an_example_that_calls_it(function):
    assert function.doc.endswith(".")
    syntax = parse_expression(function.example)
    assert function.name in names_called(syntax)


def names_called(syntax):
    if not isinstance(syntax, Apply):
        return set()
    inner = [*syntax.args, *(value for _, value in syntax.keywords)]
    return {syntax.function}.union(*map(names_called, inner))
