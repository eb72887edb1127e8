"""kernel: statements for a row and reductions, written in the pipeline, whose meaning is their NumPy twin."""

import shutil
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from gpuetl import InvalidPipeline, RunFailed, col, lit, loads, param
from tables import NAN, table

FILES = Path(__file__).parent.parent / "kernel_files"
TYPES = {"x": "float64", "n": "int64"}
ROWS = [(1.0, 1), (None, 2), (-2.0, None), (NAN, 4), (3.0, -9)]
GROUPED = {"k": "string", "x": "float64"}
GROUPED_ROWS = [("b", 3.0), ("a", 1.0), (None, 6.0), ("a", None), ("b", 4.0), ("c", None), ("a", 0.0)]


@pytest.fixture(autouse=True)
def files(tmp_path):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)


def scaled(t, **changes):
    keys = {
        "body": "y = scale * x + n;\npositive = y > 0;", "inputs": ["x", "n"],
        "outputs": {"y": "float64", "positive": "bool"}, "reference": "strings.py:scaled", "args": {"scale": lit(2.0)},
    }  # fmt: skip
    return t.elementwise_kernel(**{**keys, **changes})


def norm(t, **changes):
    keys = {
        "inputs": "x", "outputs": {"norm": "float64"}, "reference": "strings.py:norm", "by": "k",
        "map": "x * x", "reduce": "a + b", "identity": 0, "post": "sqrt(a)",
    }  # fmt: skip
    return t.reduction_kernel(**{**keys, **changes})


def test_statements_for_a_row_add_outputs_and_null_inputs_give_null(source, check):
    """The kernel around them reads and writes rows and nulls."""
    outputs = [(3.0, True), (None, None), (None, None), (NAN, False), (-3.0, False)]
    expected = table(
        {**TYPES, "y": "float64", "positive": "bool"}, *((*a, *b) for a, b in zip(ROWS, outputs, strict=True))
    )
    check(scaled(source(table(TYPES, *ROWS))), expected, ordered=True)


@pytest.mark.parametrize("rows", [[], [(None, None)] * 3])
def test_statements_for_a_row_of_zero_rows_or_nulls(source, check, rows):
    """A typed result."""
    types = {**TYPES, "y": "float64", "positive": "bool"}
    check(scaled(source(table(TYPES, *rows))), table(types, *((None,) * 4 for _ in rows)))


def test_statements_may_return_early(source, check):
    """They are a function's."""
    body = "y = -1; positive = false; if (x < 0) return; y = scale * x + n; positive = y > 0;"
    expected = table({"positive": "bool"}, (True,), (False,))
    check(scaled(source(table(TYPES, (1.0, 1), (-1.0, -7))), body=body).select("positive"), expected)


def test_statements_may_take_masks_and_make_their_own_nulls(source, check):
    """Each value comes with whether it is valid."""
    t = source(table({"x": "float64"}, (1.0,), (None,), (-2.0,), (0.0,)))
    body = "y = x_valid ? x : value; y_valid = y >= 0;"
    steps = t.elementwise_kernel(
        body, "x", {"y": "float64"}, "strings.py:filled", args={"value": lit(-1.0)}, nulls="masks"
    )
    expected = table({"x": "float64", "y": "float64"}, (1.0, 1.0), (None, None), (-2.0, None), (0.0, 0.0))
    check(steps, expected, ordered=True)


def test_statements_may_forbid_nulls(source, failure):
    """As kernels of files."""
    message = failure(scaled(source(table(TYPES, (1.0, 1), (3.0, None))), nulls="forbid"), RunFailed)
    assert message.startswith("stage 'result', step 1: kernel 'scaled' forbids nulls, and input 'n' is null\nRow 2 of ")


def test_times_reach_statements_as_integers_of_their_unit(source, check):
    """Also as arguments."""
    t = source(table({"t": "timestamp"}, (datetime(2024, 1, 1),), (None,), (datetime(1969, 12, 31, 23, 59, 59),)))
    later = lit(timedelta(seconds=1))
    steps = t.elementwise_kernel("u = t + by;", "t", {"u": "timestamp"}, "strings.py:later", args={"by": later})
    expected = table({"u": "timestamp"}, (datetime(2024, 1, 1, 0, 0, 1),), (None,), (datetime(1970, 1, 1),))
    check(steps.select("u"), expected)


def test_an_argument_without_a_value_is_an_error(source, pipeline, failure):
    """Its type has no null."""
    pipeline.param("scale", "float64")
    message = failure(scaled(source(table(TYPES, (1.0, 1))), args={"scale": param("scale")}), RunFailed)
    assert message == "stage 'result', step 1: kernel 'scaled': argument 'scale' is null.  Give the parameter a value"


def test_a_reduction_gives_a_row_a_group_and_null_where_no_row_counts(source, check):
    """As an aggregate does."""
    expected = table({"k": "string", "norm": "float64"}, ("a", 1.0), ("b", 5.0), ("c", None), (None, 6.0))
    check(norm(source(table(GROUPED, *GROUPED_ROWS))), expected)


def test_a_reduction_without_by_gives_one_row(source, check):
    """Also of no rows."""
    t = source(table(GROUPED, *GROUPED_ROWS))
    check(norm(t.filter(col("k") == "b"), by=()), table({"norm": "float64"}, (5.0,)))
    check(norm(t.filter(col("k") == "z"), by=()), table({"norm": "float64"}, (None,)))


def test_a_reduction_of_no_rows_has_no_groups(source, check):
    """A typed result."""
    check(norm(source(table(GROUPED))), table({"k": "string", "norm": "float64"}))


def test_a_reduction_s_keys_are_those_of_an_aggregate(source, check):
    """-0.0 is 0.0, NaN is one group."""
    t = source(table({"k": "float64", "x": "float64"}, (0.0, 3.0), (NAN, 1.0), (-0.0, 4.0), (NAN, None)))
    expected = table({"k": "float64", "norm": "float64"}, (0.0, 5.0), (NAN, 1.0))
    check(norm(t), expected)


def test_a_reduction_of_integers_needs_no_map(source, check):
    """One input is its own map; rows of several chunks and partitions meet."""
    t = source(table({"k": "int64", "n": "int64"}, *((i % 3, i * (-1) ** i) for i in range(40)), (7, -(2**63))))
    keys = {"inputs": "n", "outputs": {"most": "int64"}, "reference": "strings.py:greatest", "map": "", "post": ""}
    steps = norm(t, **keys, reduce="a > b ? a : b", identity="-9223372036854775807LL - 1")
    check(steps, table({"k": "int64", "most": "int64"}, (0, 36), (1, 34), (2, 38), (7, -(2**63))))


def test_a_reduction_takes_arguments(source, check):
    """In map and post."""
    t = source(table(GROUPED, ("a", 3.0), ("a", 4.0)))
    steps = norm(t, map="weight * x * x", args={"weight": lit(4.0)})
    check(steps, table({"k": "string", "norm": "float64"}, ("a", 10.0)))


def test_a_reduction_may_forbid_nulls(source, failure):
    """As other kernels."""
    message = failure(norm(source(table(GROUPED, ("a", None))), nulls="forbid"), RunFailed)
    assert "kernel 'norm' forbids nulls, and input 'x' is null\nRow 1 of " in message


def test_a_filter_by_keys_may_run_before_a_reduction(source, check):
    """It drops whole groups."""
    t = norm(source(table(GROUPED, *GROUPED_ROWS))).filter(col("k") == "b")
    check(t, table({"k": "string", "norm": "float64"}, ("b", 5.0)))


TEXT = """\
gpuetl: 1
name: texts
sources: {rows: {parquet: t.parquet}}
stages:
  s:
    from: rows
    steps:
      - kernel:
          body: |
            y = scale * x + n;
            positive = y > 0;
          inputs: [x, n]
          outputs: {y: float64, positive: bool}
          reference: strings.py:scaled
          args: {scale: 2.0}
      - kernel: {map: y * y, reduce: a + b, identity: 0, post: sqrt(a), inputs: y, outputs: {norm: float64}, by: positive, reference: "strings.py:norm"}
"""


def test_generated_kernels_go_from_yaml_to_python_and_back(source, pipeline, tmp_path):
    """All three have one plan."""
    t = source(table(TYPES, *ROWS))
    norm(scaled(t), inputs="y", map="y * y", by="positive").stage("s")
    read = loads(TEXT.replace("rows", "t"), tmp_path)
    assert loads(read.to_yaml(), tmp_path).fingerprint == read.fingerprint
    assert read.fingerprint == pipeline.fingerprint
    changed = loads(TEXT.replace("rows", "t").replace("identity: 0", "identity: 1"), tmp_path)
    assert changed.fingerprint != read.fingerprint


@pytest.mark.parametrize(
    ("make", "changes", "message"),
    [
        (scaled, {"inputs": ["x", "m"]}, "unknown column 'm'"),
        (scaled, {"outputs": {"y": "float64", "double": "bool"}}, "output 'double' is not a name in C++"),
        (scaled, {"outputs": {"y": "float64", "z": "bool"}}, "the body does not set output 'z'\nWrite z = …;"),
        (scaled, {"outputs": {"y": "string", "positive": "bool"}}, "'y': a string column cannot reach a kernel"),
        (scaled, {"outputs": {"y": "float64", "x": "float64"}}, "output 'x' and input 'x' are both 'x' in the kernel"),
        (scaled, {"args": {"scale": lit("2")}}, "argument 'scale' is a string"),
        (scaled, {"reference": "strings.py:scald"}, "strings.py has no function 'scald'"),
        (norm, {"nulls": "masks"}, "a reduction has no masks"),
        (norm, {"outputs": {"norm": "float64", "more": "float64"}}, "a reduction has one output"),
        (norm, {"outputs": {"k": "float64"}}, "output 'k' is a key too"),
        (norm, {"reduce": "a + 1"}, "reduce does not use b"),
        (norm, {"inputs": ["x", "n"], "map": ""}, "the key 'map' is missing"),
        (norm, {"args": {"a": lit(1.0)}}, "argument 'a' has the name of a value that is reduced"),
        (norm, {"inputs": "k"}, "'k': a string column cannot reach a kernel"),
    ],
)
def test_generated_kernels_that_do_not_fit_are_refused(source, problem, make, changes, message):
    """Before anything runs."""
    text = problem(make(source(table({**TYPES, **GROUPED})), **changes))
    assert "stage 'wrong_1', step 1: " in text
    assert message in text


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("kind: elementwise", "the key 'body' is missing\n"),
        ("body: y = x;, cuda: k.cu", "a kernel of kind elementwise has no cuda"),
        ("body: y = x;, by: n", "a kernel of kind elementwise has no by"),
        ("reduce: a + b", "the key 'identity' is missing"),
        ("reduce: a + b, identity: 0, order_by: x", "a kernel of kind reduction has no order_by"),
        ("cuda: sums.cu", "the key 'entry' is missing"),
        ("body: ''", "body: takes C++ code, got an empty string"),
        ("kind: elementwise, body: [y]", "body: takes C++ code, got a list"),
    ],
)
def test_keys_of_other_kinds_are_refused(source, tmp_path, keys, message):
    """Each kind has its own."""
    source(table(TYPES))
    head = TEXT[: TEXT.index("      - kernel")].replace("rows", "t")
    step = f"      - kernel: {{inputs: x, outputs: {{y: float64}}, reference: 'strings.py:scaled', {keys}}}\n"
    with pytest.raises(InvalidPipeline) as caught:
        loads(head + step, tmp_path).plan()
    assert message in str(caught.value)


def test_dates_are_days(source, check, tmp_path):
    """As integers of 32 bits."""
    (tmp_path / "days.py").write_text("def next_day(d):\n    return {'e': d + d.dtype.type(1)}\n")
    t = source(table({"d": "date"}, (date(1969, 12, 31),)))
    steps = t.elementwise_kernel("e = d + 1;", "d", {"e": "date"}, "days.py:next_day")
    check(steps.select("e"), table({"e": "date"}, (date(1970, 1, 1),)))
