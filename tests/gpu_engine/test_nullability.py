"""Kernels learn at run time which columns have nulls: their text is the same, and results without nulls have no words."""

import pyarrow as pa
import pytest

from expressions.evaluation import typed
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, ON_CPU, HostMachine
from gpuetl import expr
from gpuetl.engines.cudf.codegen.evaluate import evaluate
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
ROWS = 70
"""More than two validity words."""


class RecordingMachine(HostMachine):
    """Keeps texts, and the arguments of launches."""

    def __init__(self):
        self.sources, self.launches = [], []

    def compiled(self, source):
        self.sources.append(source)
        return super().compiled(source)

    def launch(self, module, entry, rows, arguments):
        self.launches.append((entry, arguments))
        super().launch(module, entry, rows, arguments)


def frame(nullable):
    """A table of rows, of which every third is null where columns are nullable, and the types."""
    columns = {
        "x": pa.array(range(ROWS), pa.int64()),
        "f": pa.array([row / 2 for row in range(ROWS)]),
        "d": pa.array([10 * row for row in range(ROWS)]).cast(pa.decimal128(30, 1)),
        "s": pa.array([f"text {row}" for row in range(ROWS)]),
        "l": pa.array([[row, None] for row in range(ROWS)], pa.list_(pa.int64())),
    }
    if nullable:
        missing = pa.array([row % 3 == 0 for row in range(ROWS)])
        columns = {name: pa.compute.if_else(missing, None, column) for name, column in columns.items()}
    return pa.table(columns)


def evaluated(sql, table, machine):
    """Evaluate an expression; returns the column."""
    types = dict(zip(table.column_names, table.schema.types, strict=True))
    columns = {name: from_arrow(table.column(name), machine) for name in table.column_names}
    return evaluate({"": typed(sql, types)}, columns, table.num_rows, machine)[""]


@pytest.mark.parametrize(
    "sql",
    [
        "x + 1", "f * 2 > x", "d + x", "CASE WHEN x > 3 THEN f ELSE 0.0 END", "coalesce(x, -1)", "s || '!'",
        "upper(s)", "length(s)", "list_length(l)", "list_get(l, 0)", "x IS NULL", "split(s, ' ')",
    ],
)  # fmt: skip
def test_columns_with_and_without_nulls_are_read_by_the_same_text(sql):
    texts = []
    for nullable in (False, True):
        machine = RecordingMachine()
        evaluated(sql, frame(nullable), machine)
        texts.append(machine.sources)
    assert texts[0]
    assert texts[0] == texts[1]


def test_windows_over_columns_with_and_without_nulls_are_the_same_text(pipeline, monkeypatch):
    calls = {"total": "cum_sum(x)", "before": "lag(f)", "mean": "rolling_mean(f, 3)", "faded": "decayed_sum(f, 2)"}
    texts, compiled = [], HostMachine.compiled
    for nullable in (False, True):
        rows = pipeline.from_frame(f"t{nullable}", frame(nullable).append_column("k", pa.array(range(ROWS))))
        rows.window(order_by="k", **{name: expr(call) for name, call in calls.items()}).stage(f"s{nullable}")
        found = []
        monkeypatch.setattr(
            HostMachine, "compiled", lambda self, text, found=found: found.append(text) or compiled(self, text)
        )
        pipeline.run(engine=ON_CPU, keep=f"s{nullable}")
        texts.append(found)
    assert texts[0]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("sql", ["f > 3.0", "CASE WHEN f > 3.0 THEN x ELSE 0 END", "coalesce(f, x)", "x IS NULL"])
def test_without_nulls_nothing_is_counted_and_no_words_are_written(sql):
    """The host waits for no kernel then."""
    machine = RecordingMachine()
    made = evaluated(sql, frame(nullable=False), machine)
    ((entry, arguments),) = machine.launches
    buffers = [each for each in arguments[1:] if not isinstance(each, int)]
    assert (entry, made.valid, made.nulls) == ("compute", None, 0)
    assert buffers[-1] is made.data
    assert not [each for each in buffers if str(each.dtype) in ("uint32", "uint64")]


def test_of_several_results_each_has_words_only_if_its_columns_have_nulls():
    """Their kernel is one."""
    machine, table = RecordingMachine(), pa.table({"x": [1, None, 3], "y": [10, 20, 30]})
    types = {"x": pa.int64(), "y": pa.int64()}
    columns = {name: from_arrow(table.column(name), machine) for name in types}
    exprs = {name: typed(sql, types) for name, sql in {"a": "y + 1", "b": "x + 1", "c": "y > 10"}.items()}
    made = evaluate(exprs, columns, 3, machine)
    assert {name: to_arrow(column, machine).to_pylist() for name, column in made.items()} == {
        "a": [11, 21, 31], "b": [2, None, 4], "c": [False, True, True],
    }  # fmt: skip
    assert [column.valid is None for column in made.values()] == [True, False, True]
    assert len(machine.launches) == 1


@pytest.mark.parametrize("machine", [HostMachine, EmulatedMachine])
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("x + y", [11, None, 33, 44]),
        ("CASE WHEN y > 20 THEN x ELSE y END", [10, 20, 3, 4]),
        ("CASE WHEN x > 2 THEN y END", [None, None, 30, 40]),
        ("CASE WHEN y > 30 THEN y ELSE x END", [1, None, 3, 40]),
        ("coalesce(x, y)", [1, 20, 3, 4]),
        ("coalesce(y, x)", [10, 20, 30, 40]),
        ("coalesce(nullif(y, 10), x)", [1, 20, 30, 40]),
        ("coalesce(nullif(x, 1), x)", [1, None, 3, 4]),
        ("nullif(y, 20)", [10, None, 30, 40]),
        ("x IS NULL", [False, True, False, False]),
        ("y IS NULL", [False, False, False, False]),
    ],
)
def test_some_columns_have_nulls_and_others_have_none(sql, expected, machine):
    table, host = pa.table({"x": [1, None, 3, 4], "y": [10, 20, 30, 40]}), machine()
    made = evaluated(sql, table, host)
    assert to_arrow(made, host).to_pylist() == expected
    assert made.nulls == expected.count(None)
    assert (made.valid is None) == (None not in expected)
