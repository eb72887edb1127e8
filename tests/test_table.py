"""Tables and pipelines built in Python: a call is checked as the same key in a file is."""

import copy
import re

import pytest

from gpuetl import InvalidPipeline, Pipeline, col, count, lit, row_number
from gpuetl.expressions.syntax import Constant
from tables import table

ROWS = table({"a": "int64", "b": "int64"}, (1, 2), (3, 4))


@pytest.fixture
def t(source):
    """A table of two columns."""
    return source(ROWS)


def message_of(call):
    with pytest.raises(InvalidPipeline) as caught:
        call()
    return str(caught.value)


KERNEL = ("k.cu", "k", "a", {"c": "float64"}, "k.py:k")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.join(t, "a", how="outer"), "join: how: takes one of inner, left, right, full, semi, anti, cross"),
        (lambda t: t.join(t, "a", how="lefft"), "Did you mean 'left'?"),
        (lambda t: t.join(t, "a", validate="m:1"), "join: validate: takes one of one_to_one"),
        (lambda t: t.join(t, []), "join: on: takes a column, a list of columns"),
        (lambda t: t.join(t, {}), "join: on: takes a column, a list of columns"),
        (lambda t: t.join(t, {"a": "a", "b": "a"}), "join: on: the right column 'a' is named twice"),
        (lambda t: t.write_parquet("o", "o", mode="overwite"), "Did you mean 'overwrite'?"),
        (lambda t: t.write_parquet("o", "o", mod="append"), "unknown key 'mod'"),
        (lambda t: t.distinct("a", keep="last"), "distinct: keep: takes one of any, first, got 'last'"),
        (lambda t: t.distinct([]), "distinct: on: takes a name or a list of names, got none"),
        (lambda t: t.limit(-1), "limit: count: takes a whole number from 0, got -1"),
        (lambda t: t.limit("2"), "limit: count: takes a whole number, got text '2'"),
        (lambda t: t.select(), "Keep at least one column."),
        (lambda t: t.with_columns(), "with_columns: columns: takes a map with at least one entry"),
        (lambda t: t.sort(), "sort: by: takes a column or a list of columns"),
        (lambda t: t.cast(a="int46"), "cast: unknown type 'int46'"),
        (
            lambda t: t.kernel(*KERNEL, kind="row"),
            "kernel: kind: takes one of rows, groups, elementwise, reduction, scan, table, got 'row'",
        ),
        (lambda t: t.kernel(*KERNEL, nulls="drop"), "kernel: nulls: takes one of propagate, forbid, masks"),
        (lambda t: t.limit(1).stage("a b"), "'a b' is not a valid name for stages"),
        (lambda t: t.write_parquet("a-b", "o"), "'a-b' is not a valid name for sinks"),
        (lambda t: t.pipeline.param("1st", "int64"), "'1st' is not a valid name for parameters"),
        (lambda t: t.pipeline.param("p", "int46"), "parameter 'p': unknown type 'int46'"),
        (lambda t: t.pipeline.param("p", "int64", "x"), "parameter 'p': default: 'x' is not a valid int64"),
        (lambda t: t.pipeline.read_parquet("a.b", "o"), "'a.b' is not a valid name for sources"),
        (lambda t: t.pipeline.read_parquet("s", "o", filtre="a"), "unknown key 'filtre'"),
        (lambda t: t.pipeline.read_csv("s", "o", {}), "source 's': takes a map with at least one entry"),
        (lambda t: t.drop(col("a")), "drop: takes a name, got Expression"),
        (lambda t: t.select("a", "a"), "select: 'a' is named twice"),
        (lambda t: t.sort(1), "sort: by: takes a name, got a number '1'"),
        (lambda t: t.distinct([["a"]]), "distinct: on: takes a name, got a list"),
        (lambda t: t.explode(["a"]), "explode: column: takes a name, got a list"),
        (lambda t: t.rename(["a"]), "rename: takes a map of names, got a list"),
        (lambda t: t.join(t, [["a"]]), "join: on: takes a name, got a list"),
        (lambda t: t.join("t", "a"), "pipeline.table('name') is the table of a source or stage."),
        (lambda t: t.union([t, "t"]), "union: takes a table, got str"),
        (lambda t: t.aggregate([["a"]], n=count()), "aggregate: by: takes a name, got a list"),
        (lambda t: t.window("a", 1, n=row_number()), "window: order_by: takes a name, got a number '1'"),
        (lambda t: t.sample(0.5, by=1), "sample: by: takes a name, got a number '1'"),
        (lambda t: t.write_parquet("o", "o", partition_by=[["a"]]), "sink 'o': takes a name, got a list"),
        (
            lambda t: t.pipeline.read_parquet("s", "o", columns=[1]),
            "source 's': columns: takes a name, got a number '1'",
        ),
    ],
)
def test_a_wrong_value_is_reported_at_the_call(t, call, message):
    assert message in message_of(lambda: call(t))


def test_tables_of_two_pipelines_do_not_join(t):
    other = Pipeline("other").read_parquet("u", "u")
    assert "join: 'u' belongs to pipeline 'other'" in message_of(lambda: t.join(other, "a"))


@pytest.mark.parametrize("keep", ["t", ["t"], (name for name in ["t"])])
def test_keep_takes_one_name_or_any_iterable(t, keep):
    assert list(t.pipeline.run(keep=keep).results) == ["t"]


@pytest.mark.parametrize(
    "steps",
    [
        lambda t, *names: t.select(*names),
        lambda t, *names: t.drop(*names),
        lambda t, *names: t.sort(*names),
        lambda t, *names: t.distinct(*names),
    ],
    ids=["select", "drop", "sort", "distinct"],
)
def test_names_may_be_given_one_by_one_or_as_a_list(t, steps):
    """A list in their place is the same step."""
    assert steps(t, "a", "b").steps == steps(t, ["a", "b"]).steps == steps(t, "a", ["b"]).steps


def test_tables_of_a_union_may_be_given_as_a_list(source, t):
    """A list in their place is the same step."""
    u, v = source(ROWS, "u"), source(ROWS, "v")
    assert t.union(u, v).steps == t.union([u, v]).steps


@pytest.mark.parametrize("verb", ["aggregate", "window"])
def test_a_text_is_no_call_of_an_aggregate_or_a_window(t, verb):
    """Elsewhere it is a constant; here hardly anyone means one, and who does can say so."""
    assert message_of(lambda: getattr(t, verb)(total="sum(a)")) == (
        f"{verb}: total: takes an expression, got the string 'sum(a)'\n"
        "Write expr('sum(a)'), or lit('sum(a)') for a constant."
    )
    (step,) = getattr(t, verb)(total=lit("sum(a)")).steps
    assert step.columns["total"].syntax == Constant("sum(a)")


def test_a_text_is_no_key_in_a_map(t):
    """It would be a constant, and all rows one group."""
    assert message_of(lambda: t.aggregate({"k": "a"}, n=col("a").count())) == (
        "aggregate: by: k: takes an expression, got the string 'a'\nWrite col('a'), or expr('a') for SQL."
    )


@pytest.mark.parametrize("verb", ["select", "with_columns"])
def test_a_text_that_is_the_name_of_a_column_is_refused(t, verb):
    """In Polars it is the column."""
    message = message_of(lambda: getattr(t, verb)(k="a").collect(engine="pandas"))
    assert "the string 'a' is the name of a column, too" in message
    assert message.endswith("Write col('a') for the column, or lit('a') for the string.")
    assert set(getattr(t, verb)(k=lit("a")).collect(engine="pandas").to_arrow()["k"].to_pylist()) == {"a"}


@pytest.mark.parametrize("verb", ["aggregate", "window", "with_columns"])
def test_columns_in_a_dict_are_refused(t, verb):
    """YAML has them under `columns`, and in Python they are keywords."""
    assert message_of(lambda: getattr(t, verb)(columns={"total": col("a").sum()})) == (
        "columns: takes an expression, got a dict\nGive each column as a keyword, or write **{…} instead of columns={…}."
    )


def test_what_is_wrong_in_python_names_the_line_of_the_script(t):
    """A cast or an order that was given in Python."""
    t.cast(z="int8").stage("s")
    t.write_parquet("o", "o", sort_by="z")
    text = re.sub(r"\S*test_table\.py:\d+", "test_table.py", message_of(t.pipeline.plan))
    assert text == (
        "test_table.py: stage 's', step 1: unknown column 'z'\n    t.cast(z=\"int8\").stage(\"s\")\nColumns: a, b.\n\n"
        'test_table.py: sink \'o\': unknown column \'z\'\n    t.write_parquet("o", "o", sort_by="z")\nColumns: a, b.'
    )


@pytest.mark.parametrize(
    ("method", "meant"),
    [("groupby", "aggregate"), ("order_by", "sort"), ("drop_duplicates", "distinct"), ("filtr", "filter")],
)
def test_a_method_of_another_name_is_reported_with_ours(t, method, meant):
    """The words of pandas, Polars and Spark are hinted at as in YAML."""
    with pytest.raises(AttributeError) as caught:
        getattr(t, method)
    assert str(caught.value) == f"a table has no method '{method}'\nDid you mean '{meant}'?"


def test_a_table_can_be_copied_and_asked_for_what_it_has_not(t):
    """The hint does not stand in the way of Python's own questions."""
    assert copy.copy(t).steps == t.steps
    assert not hasattr(t, "anything")
