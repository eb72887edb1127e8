"""kernel: columns from a user's CUDA kernel, whose meaning is its NumPy twin."""

import os
import shutil
import sys
from datetime import datetime
from pathlib import Path

import pytest

from gpuetl import RunFailed, col, expr, lit, param
from gpuetl.spec.steps.python_file import syntax_tree
from tables import NAN, table

FILES = Path(__file__).parent.parent / "kernel_files"
TYPES = {"x": "float64", "n": "int64"}
ROWS = [(1.0, 1), (None, 2), (-2.0, None), (NAN, 4), (3.0, -9)]
GROUPED = {"k": "string", "t": "int64", "x": "float64"}
GROUPED_ROWS = [
    ("b", 1, 5.0),
    ("a", 2, 1.0),
    (None, 1, 7.0),
    ("a", 1, 2.0),
    ("b", 2, None),
    ("a", 3, 4.0),
    ("c", 1, None),
]


@pytest.fixture(autouse=True)
def files(tmp_path):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)


def rows_kernel(t, **changes):
    keys = {
        "cuda": "sums.cu", "entry": "scaled_sum", "inputs": ["x", "n"],
        "outputs": {"total": "float64", "positive": "bool"},
        "args": {"scale": lit(2.0)}, "reference": "sums.py:scaled_sum",
    }  # fmt: skip
    return t.kernel(**{**keys, **changes})


def groups_kernel(t, **changes):
    keys = {
        "cuda": "sums.cu", "entry": "running_sum", "inputs": ["x"], "outputs": {"total": "float64"},
        "by": "k", "order_by": "t",
        "reference": "sums.py:running_sum",
    }  # fmt: skip
    return t.kernel(**{**keys, **changes})


def masks_kernel(t):
    return t.kernel(
        "sums.cu", "filled", "x", {"y": "float64"}, "sums.py:filled", args={"value": lit(-1.0)}, nulls="masks"
    )


def test_a_rows_kernel_adds_its_outputs_and_null_inputs_give_null(source, check):
    outputs = [(3.0, True), (None, None), (None, None), (NAN, False), (-3.0, False)]
    expected = table(
        {**TYPES, "total": "float64", "positive": "bool"},
        *((*a, *b) for a, b in zip(ROWS, outputs, strict=True)),
    )
    check(rows_kernel(source(table(TYPES, *ROWS))), expected, ordered=True)


def test_an_argument_may_be_a_parameter(source, check, pipeline):
    pipeline.param("scale", "float64", default=10.0)
    t = rows_kernel(source(table(TYPES, (1.0, 1))), args={"scale": param("scale")}).select("total")
    check(t, table({"total": "float64"}, (11.0,)))
    check(t, table({"total": "float64"}, (3.0,)), params={"scale": 2.0})


def test_an_output_may_take_a_column_s_place(source, check):
    t = source(table(TYPES, *ROWS))
    steps = rows_kernel(t.rename({"n": "total"}), inputs=["x", "total"]).select("total", "x")
    check(
        steps,
        table(
            {"total": "float64", "x": "float64"},
            (3.0, 1.0),
            (None, None),
            (None, -2.0),
            (NAN, NAN),
            (-3.0, 3.0),
        ),
    )


def test_a_groups_kernel_sees_the_rows_of_each_group_in_order(source, check):
    expected = table(
        {**GROUPED, "total": "float64"},
        ("a", 1, 2.0, 2.0), ("a", 2, 1.0, 3.0), ("a", 3, 4.0, 7.0), ("b", 1, 5.0, 5.0), ("b", 2, None, None),
        ("c", 1, None, None), (None, 1, 7.0, 7.0),
    )  # fmt: skip
    check(groups_kernel(source(table(GROUPED, *GROUPED_ROWS))), expected)


def test_a_groups_kernel_leaves_rows_in_the_groups_order(source, pipeline):
    groups_kernel(source(table(GROUPED, *GROUPED_ROWS))).select("k", "t").stage("s")
    rows = pipeline.run(engine="pandas")["s"].to_arrow().to_pylist()
    assert [(row["k"], row["t"]) for row in rows] == [
        ("a", 1),
        ("a", 2),
        ("a", 3),
        ("b", 1),
        ("b", 2),
        ("c", 1),
        (None, 1),
    ]


def test_a_groups_kernel_without_by_sees_one_group(source, check):
    t = source(table(GROUPED, *GROUPED_ROWS)).with_columns(t=expr("CASE WHEN k = 'a' THEN t ELSE t + 10 END"))
    steps = groups_kernel(t.filter(expr("k = 'a' OR x = 5")), by=()).select("t", "total")
    check(
        steps,
        table({"t": "int64", "total": "float64"}, (1, 2.0), (2, 3.0), (3, 7.0), (11, 12.0)),
        ordered=True,
    )


@pytest.mark.part(2)
@pytest.mark.parametrize("rows", [[], [("a", 1, 2.0)], [(None, None, None)] * 3])
def test_a_groups_kernel_of_zero_rows_one_or_nulls(source, check, rows):
    expected = table({**GROUPED, "total": "float64"}, *((*row, row[2]) for row in rows))
    check(groups_kernel(source(table(GROUPED, *rows))), expected)


@pytest.mark.parametrize("rows", [[], [(1.0, 1)], [(None, None)] * 3])
def test_a_rows_kernel_of_zero_rows_one_or_nulls(source, check, rows):
    types = {**TYPES, "total": "float64", "positive": "bool"}
    expected = table(types, *((x, n, x and 2 * x + n, x and True) for x, n in rows))
    check(rows_kernel(source(table(TYPES, *rows))), expected)


def test_a_kernel_may_forbid_nulls(source, check, failure):
    t = source(table(TYPES, (1.0, 1), (2.0, 2), (3.0, None)))
    check(
        rows_kernel(t.filter(expr("n IS NOT NULL")), nulls="forbid").select("total"),
        table({"total": "float64"}, (3.0,), (6.0,)),
    )
    message = failure(rows_kernel(t, nulls="forbid"), RunFailed)
    assert message.startswith(
        "stage 'result', step 1: kernel 'scaled_sum' forbids nulls, and input 'n' is null\nRow 3 of "
    )
    assert message.endswith(": x = 3.0, n = null\nFilter them out, or set nulls: propagate.")


def test_a_kernel_may_take_masks_and_make_its_own_nulls(source, check):
    t = source(table({"x": "float64"}, (1.0,), (None,), (-2.0,), (0.0,)))
    expected = table({"x": "float64", "y": "float64"}, (1.0, 1.0), (None, None), (-2.0, None), (0.0, 0.0))
    check(masks_kernel(t), expected, ordered=True)


def test_times_reach_a_kernel_as_integers_of_their_unit(source, check, tmp_path):
    (tmp_path / "later.cu").write_text(
        'extern "C" __global__ void later(const long long* t, long long* u, long long n_rows) { '
        "for (long long i = 0; i < n_rows; ++i) u[i] = t[i] + 1000000; }"
    )
    (tmp_path / "later.py").write_text("def later(t):\n    return {'u': t + 1_000_000}\n")
    t = source(table({"t": "timestamp"}, (datetime(2024, 1, 1),), (None,), (datetime(1969, 12, 31, 23, 59, 59),)))
    expected = table({"u": "timestamp"}, (datetime(2024, 1, 1, 0, 0, 1),), (None,), (datetime(1970, 1, 1),))
    check(t.kernel("later.cu", "later", "t", {"u": "timestamp"}, "later.py:later").select("u"), expected)


def test_what_a_rows_kernel_replaces_is_not_in_the_old_order_any_more(source, check):
    t = source(table(TYPES, (3.0, 0), (1.0, 0), (2.0, 0), (4.0, 0))).sort("x")
    steps = (
        rows_kernel(t.rename({"x": "total"}), inputs=["total", "n"], args={"scale": lit(-1.0)})
        .sort("total")
        .select("total")
    )
    check(steps, table({"total": "float64"}, (-4.0,), (-3.0,), (-2.0,), (-1.0,)), ordered=True)


def test_what_a_rows_kernel_replaces_is_not_partitioned_any_more(source, check):
    t = source(table({"total": "float64", "n": "int64"}, (1.0, 0), (2.0, 0), (3.0, 0), (4.0, 0), (2.0, 0)))
    distinct = t.distinct("total")
    halved = rows_kernel(distinct, inputs=["total", "n"], args={"scale": lit(0.0)})
    check(halved.aggregate("total", n=expr("count(*)")), table({"total": "float64", "n": "int64"}, (0.0, 4)))


def test_what_a_groups_kernel_replaces_is_not_its_key_any_more(source, check):
    t = source(
        table(
            {"total": "float64", "t": "int64", "x": "float64"},
            (1.0, 1, 5.0),
            (1.0, 2, 5.0),
            (2.0, 1, 5.0),
            (3.0, 1, 2.0),
        )
    )
    steps = groups_kernel(t, by="total").filter(col("total") > 4).sort("total").select("total")
    check(steps, table({"total": "float64"}, (5.0,), (5.0,), (10.0,)), ordered=True)


@pytest.mark.parametrize(
    ("make", "changes", "message"),
    [
        (
            rows_kernel,
            {"inputs": ["n", "x"]},
            "kernel 'scaled_sum': input 'n' must be float64, got int64.  Cast it, or declare int64",
        ),
        (
            rows_kernel,
            {"inputs": ["x"]},
            "kernel 'scaled_sum' has 6 parameters, the step gives 5: input 'x', output 'total'",
        ),
        (
            rows_kernel,
            {"outputs": {"total": "float32", "positive": "bool"}},
            "output 'total' must be float64, got float32",
        ),
        (
            rows_kernel,
            {"outputs": {"total": "string", "positive": "bool"}},
            "a string column cannot reach a kernel",
        ),
        (
            rows_kernel,
            {"entry": "scaled"},
            "sums.cu has no kernel 'scaled'.  It has: scaled_sum, running_sum, filled",
        ),
        (rows_kernel, {"cuda": "none.cu"}, "none.cu: No such file or directory"),
        (rows_kernel, {"reference": "none.py:f"}, "none.py does not exist\nWrite the kernel in NumPy there."),
        (rows_kernel, {"reference": "sums.py:scaled_sun"}, "has no function 'scaled_sun'\nFunctions: filled,"),
        (rows_kernel, {"args": {"scael": lit(2.0)}}, "the twin has no argument 'scael'\nArguments: n, scale, x."),
        (rows_kernel, {"args": {"scale": lit("2")}}, "argument 'scale' is a string\nKernels take numbers."),
        (rows_kernel, {"reference": "sums.py"}, "reference 'sums.py' is not file.py:function"),
        (rows_kernel, {"inputs": ["x", "m"]}, "unknown column 'm'"),
        (rows_kernel, {"args": {"scale": col("x")}}, "unknown column 'x'"),
        (rows_kernel, {"kind": "rows", "order_by": "x"}, "a kernel over rows has no by and order_by"),
        (groups_kernel, {"order_by": ()}, "a kernel over groups needs order_by"),
    ],
)
def test_a_declaration_that_does_not_fit_is_refused(source, problem, make, changes, message):
    text = problem(make(source(table({**TYPES, **GROUPED})), **changes))
    assert "stage 'wrong_1', step 1: " in text
    assert message in text


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("sums.py:too_short", "too_short: output 'total' has shape (0,), and must have (1,)"),
        ("sums.py:too_narrow", "too_narrow: output 'total' is float32, declared is float64"),
        ("sums.py:other_names", "other_names returned ['sum']; declared are ['total']"),
        ("sums.py:raises", "raises in sums.py raised ValueError: no such luck"),
        ("sums.py:nothing", "nothing returned a NoneType, not a dict of arrays"),
        (
            "sums.py:scaled_sum",
            "scaled_sum in sums.py raised TypeError: scaled_sum() missing 1 required positional argument",
        ),
        ("broken.py:f", "broken.py: RuntimeError: not today"),
    ],
)
@pytest.mark.parametrize("engine", ["pandas"], indirect=True)
def test_a_twin_that_breaks_the_contract_is_reported(source, failure, reference, message):
    text = failure(groups_kernel(source(table(GROUPED, ("a", 1, 1.0))), reference=reference), RunFailed)
    assert text.startswith("stage 'result', step 1: ")
    assert message in text


@pytest.mark.parametrize("engine", ["pandas"], indirect=True)
def test_a_twin_that_was_edited_is_run_as_it_is_now(source, pipeline, tmp_path, monkeypatch, engine):
    """Also one of the same size, within one second, which Python's own compiled files do not tell apart."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    twin, text = tmp_path / "sums.py", (tmp_path / "sums.py").read_text()
    rows_kernel(source(table(TYPES, (1.0, 1)))).stage("s")
    totals = []
    for changed in (text, text.replace("scale * x", "scale - x")):
        twin.write_text(changed)
        os.utime(twin, (10**9, 10**9))
        totals.append(pipeline.run(engine=engine)["s"].to_arrow()["total"].to_pylist())
    assert totals == [[3.0], [2.0]]
    assert not (tmp_path / "__pycache__").exists()


def test_ties_in_the_order_are_noted(source, pipeline):
    groups_kernel(source(table(GROUPED, ("a", 1, 1.0), ("a", 1, 2.0), ("b", 1, 3.0)))).stage("s")
    notes = pipeline.run(engine="pandas").report.notes
    assert notes == ("stage 's', step 1: some rows tie in (k, t); add a column to the order that tells them apart",)


def test_a_twin_that_changes_is_looked_at_again(tmp_path):
    text, path = b"def k(x): return x\n", tmp_path / "k.py"
    assert syntax_tree(text, path) is syntax_tree(text, path)
    assert [item.name for item in syntax_tree(text.replace(b"k(", b"m("), path).body] == ["m"]
    for _ in range(2):
        with pytest.raises(SyntaxError):
            syntax_tree(b"def k(x\n", path)
