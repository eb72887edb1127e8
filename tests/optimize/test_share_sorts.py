"""share_sorts: rows in order are not sorted again."""

import shutil
from pathlib import Path

import pytest

from gpuetl import col, expr, row_number
from gpuetl.optimize.share_sorts import share_sorts
from gpuetl.plan.graph import walk_graph
from plans import assert_optimized_same, kept_plan

FILES = Path(__file__).parent.parent / "kernel_files"


def number(t, by, *order):
    return t.window(by, order, **{f"n{len(t.steps)}": row_number()})


def running_sum(t, *, by, order_by, output):
    return t.kernel(
        "sums.cu", "running_sum", ["x"], {output: "float64"}, "sums.py:running_sum", by=by, order_by=order_by
    )


def scaled_sum(t, output):
    outputs = {output: "float64", "positive": "bool"}
    return t.kernel("sums.cu", "scaled_sum", ["x", "k"], outputs, "sums.py:scaled_sum", args={"scale": expr("1.0")})


@pytest.fixture
def floats(t, tmp_path):
    """Rows whose x is a float, as the kernels take it."""
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    return t.with_columns(x=col("x").cast("float64"))


def test_a_column_that_a_kernel_replaces_unread_keeps_its_place(pipeline, floats):
    named = floats.rename({"s": "total"}).select("total", "k", "x")
    running_sum(named, by="k", order_by=["x"], output="total").stage("result")
    assert assert_optimized_same(pipeline)["result"].column_names == ["total", "k", "x"]


@pytest.fixture
def marks(pipeline):
    """Returns the marks of the plan's sorts and windows, from the source on."""

    def of(steps):
        steps.stage("result")
        nodes = walk_graph(*share_sorts(kept_plan(pipeline)).roots)
        return [node.presorted for node in nodes if hasattr(node, "presorted")]

    return of


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (lambda t: t.sort("x", "k").sort("x"), [False, True]),
        (lambda t: t.sort("x").sort("x", "k"), [False, False]),
        (lambda t: t.sort("x").sort("x desc"), [False, False]),
        (lambda t: t.sort("x").sort("x nulls first"), [False, False]),
        (lambda t: number(t.sort("k", "x"), "k", "x"), [False, True]),
        (lambda t: number(t.sort("k desc", "x"), "k", "x"), [False, False]),
        (lambda t: number(number(t, "k", "x", "s"), "k", "x"), [False, True]),
        (lambda t: number(number(t, "k", "x"), (), "k", "x"), [False, True]),
        (lambda t: number(number(t, "k", "x"), "x", "k"), [False, False]),
        (lambda t: number(t.sort("k", "x").filter(expr("x > 1")).limit(3), "k", "x"), [False, True]),
        (lambda t: number(t.sort("k", "x").rename({"k": "j"}), "j", "x"), [False, True]),
        (lambda t: number(t.sort("k", "x").with_columns(x=-col("x")), "k", "x"), [False, False]),
        (lambda t: number(t.sort("k", "x").with_columns(x=-col("x")), (), "k"), [False, True]),
        (lambda t: number(t.sort("k", "x").distinct("k", "x"), "k", "x"), [False, False]),
    ],
)
def test_an_order_is_used_where_it_is_there(t, marks, pipeline, steps, expected):
    assert marks(steps(t)) == expected


def test_the_order_of_a_join_s_left_side_is_not_promised(t, u, marks):
    assert marks(t.sort("k").join(u, "k").sort("k")) == [False, False]


@pytest.mark.parametrize(("output", "expected"), [("total", [False, True]), ("x", [False, False])])
def test_a_rows_kernel_keeps_the_order_but_of_what_it_replaces(floats, marks, output, expected):
    got = marks(scaled_sum(floats.sort("x"), output).sort("x"))
    assert [mark for i, mark in enumerate(got) if i != 1] == expected


@pytest.mark.parametrize(("output", "expected"), [("total", [False, True]), ("k", [False, False])])
def test_a_groups_kernel_leaves_its_order_but_of_what_it_replaces(floats, marks, output, expected):
    assert marks(running_sum(floats, by="k", order_by="x", output=output).sort("k")) == expected


def test_a_groups_kernel_that_replaces_its_key_still_needs_it_sorted(floats, marks):
    assert marks(running_sum(floats.sort("x"), by="k", order_by="x", output="k")) == [False, False]


def test_answers_stay(t, pipeline):
    number(number(t.sort("k", "x"), "k", "x", "s"), "k", "x", "s").sort("k", "x").stage("result")
    assert_optimized_same(pipeline, ordered=False)
