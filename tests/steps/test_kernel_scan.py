"""kernel: scans of a user's own operator, written in the pipeline, whose meaning is their NumPy twin."""

import shutil
from datetime import datetime
from pathlib import Path

import pytest

from gpuetl import InvalidPipeline, RunFailed, col, lit, loads, row_number
from tables import NAN, table

FILES = Path(__file__).parent.parent / "kernel_files"
TYPES = {"k": "string", "t": "int64", "x": "float64", "n": "int64"}
ROWS = [
    ("b", 1, 5.0, 5), ("a", 2, 1.0, -1), (None, 1, 7.0, 7), ("a", 1, 2.0, 2), ("b", 2, None, None), ("a", 3, 6.0, 4),
    ("c", 1, None, None), ("b", 3, 1.0, 3),
]  # fmt: skip


@pytest.fixture(autouse=True)
def files(tmp_path):
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)


def product(t, **changes):
    keys = {
        "inputs": "n", "outputs": {"product": "int64"}, "reference": "strings.py:running_product",
        "combine": "product = a.product * b.product;", "identity": "product = 1;", "by": "k", "order_by": "t",
    }  # fmt: skip
    return t.scan_kernel(**{**keys, **changes})


def mean(t, **changes):
    keys = {
        "inputs": "x", "outputs": {"mean": "float64", "rows": "int64"}, "reference": "strings.py:running_mean",
        "state": {"sum": "float64", "count": "int64"}, "identity": "sum = 0; count = 0;",
        "map": "sum = scale * x;\ncount = 1;", "combine": "sum = a.sum + b.sum;\ncount = a.count + b.count;",
        "post": "mean = sum / count;\nrows = count;", "by": "k", "order_by": "t", "args": {"scale": lit(1.0)},
    }  # fmt: skip
    return t.scan_kernel(**{**keys, **changes})


def test_a_scan_combines_the_rows_of_a_group_up_to_each_and_nulls_neither_count_nor_get_a_value(source, check):
    """One input is its own state; rows of several partitions meet."""
    expected = table(
        {**TYPES, "product": "int64"},
        ("a", 1, 2.0, 2, 2), ("a", 2, 1.0, -1, -2), ("a", 3, 6.0, 4, -8), ("b", 1, 5.0, 5, 5),
        ("b", 2, None, None, None), ("b", 3, 1.0, 3, 15), ("c", 1, None, None, None), (None, 1, 7.0, 7, 7),
    )  # fmt: skip
    check(product(source(table(TYPES, *ROWS))), expected)


def test_a_scan_s_state_may_have_fields_of_several_types(source, check):
    """`post` makes the outputs of them."""
    expected = table(
        {"k": "string", "t": "int64", "mean": "float64", "rows": "int64"},
        ("a", 1, 2.0, 1), ("a", 2, 1.5, 2), ("a", 3, 3.0, 3), ("b", 1, 5.0, 1), ("b", 2, None, None),
        ("b", 3, 3.0, 2), ("c", 1, None, None), (None, 1, 7.0, 1),
    )  # fmt: skip
    check(mean(source(table(TYPES, *ROWS))).select("k", "t", "mean", "rows"), expected)


def test_a_scan_leaves_rows_in_the_groups_order_and_a_window_after_it_does_not_sort(source, pipeline):
    """As windows do."""
    t = mean(product(source(table(TYPES, *ROWS)))).window(by="k", order_by="t", row=row_number())
    t.select("k", "t").stage("s")
    rows = pipeline.run(engine="pandas")["s"].to_arrow().to_pylist()
    order = [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("b", 3), ("c", 1), (None, 1)]
    assert [(row["k"], row["t"]) for row in rows] == order
    assert pipeline.explain().count("already in order") == 2


def test_an_operator_need_not_commute(source, check):
    """Page's CUSUM: what is over the usual adds up, and begins again from 0."""
    late = [5, -20, 30, 0, -4, 50, None, -90, 11]
    t = source(table({"t": "int64", "late": "int64"}, *enumerate(late)))
    steps = t.scan_kernel(
        "late", {"strain": "int64"}, "strings.py:strain", order_by="t", args={"usual": lit(10)},
        state={"total": "int64", "least": "int64"}, identity="total = 0; least = -(1LL << 62);",
        map="total = late - usual; least = 0;",
        combine="total = a.total + b.total;\nconst int64_t low = a.least + b.total;\nleast = low > b.least ? low : b.least;",
        post="strain = total > least ? total : least;",
    )  # fmt: skip
    strain = [0, 0, 20, 10, 0, 40, None, 0, 1]
    check(steps.select("strain"), table({"strain": "int64"}, *((value,) for value in strain)), ordered=True)


def test_an_operator_takes_arguments_and_times(source, check):
    """What has decayed by the time of the next row; times are microseconds."""
    at = [datetime(2024, 1, 1, 0, 0, second) for second in (0, 1, 3, 4)]
    t = source(table({"t": "timestamp", "x": "float64"}, *zip(at, [8.0, None, 1.0, 0.5], strict=True)))
    steps = t.scan_kernel(
        ["t", "x"], {"worth": "float64"}, "strings.py:trail", order_by="t", args={"half_life": lit(1e6)},
        state={"worth": "float64", "last": "timestamp"}, identity="worth = 0; last = INT64_LEAST;",
        map="worth = x; last = t;",
        combine="last = a.last > b.last ? a.last : b.last;\nworth = b.worth;\nif (a.worth == 0) return;\n"
        "worth += a.worth * exp2((a.last - last) / half_life);",
    ).select("worth")  # fmt: skip
    check(steps, table({"worth": "float64"}, (8.0,), (None,), (2.0,), (1.5,)), ordered=True)


def test_a_scan_may_take_masks_and_make_its_own_nulls(source, check):
    """The last value that there was."""
    t = source(table(TYPES, *ROWS, ("b", 0, None, 0)))
    steps = t.scan_kernel(
        "x", {"y": "float64"}, "strings.py:latest", nulls="masks", by="k", order_by="t",
        state={"value": "float64", "seen": "bool"}, identity="seen = false;", map="value = x; seen = x_valid;",
        combine="value = b.seen ? b.value : a.value;\nseen = a.seen || b.seen;", post="y = value; y_valid = seen;",
    )  # fmt: skip
    expected = table(
        {"k": "string", "t": "int64", "y": "float64"},
        ("a", 1, 2.0), ("a", 2, 1.0), ("a", 3, 6.0), ("b", 0, None), ("b", 1, 5.0), ("b", 2, 5.0), ("b", 3, 1.0),
        ("c", 1, None), (None, 1, 7.0),
    )  # fmt: skip
    check(steps.select("k", "t", "y"), expected)


def test_a_scan_may_forbid_nulls(source, failure):
    """As other kernels."""
    message = failure(product(source(table(TYPES, ("a", 1, None, None))), nulls="forbid"), RunFailed)
    assert "kernel 'running_product' forbids nulls, and input 'n' is null\nFilter them out" in message


def test_several_inputs_with_nulls_give_null_where_any_is(source, check):
    """And do not count there."""
    t = source(table(TYPES, ("a", 1, 1.0, None), ("a", 2, 2.0, 1), ("a", 3, None, 3), ("a", 4, 4.0, 5)))
    steps = mean(t, inputs=["x", "n"], reference="strings.py:mean_of_two", map="sum = scale * x + n; count = 1;")
    expected = table({"mean": "float64"}, (None,), (3.0,), (None,), (6.0,))
    check(steps.select("mean"), expected, ordered=True)


def test_nan_and_infinities_stay_in_their_group(source, check):
    """And in the rows after them."""
    rows = [("a", 1, 1.0, 0), ("a", 2, NAN, 0), ("a", 3, 1.0, 0), ("b", 1, float("inf"), 0), ("c", 1, -0.0, 0)]
    expected = table({"mean": "float64"}, (1.0,), (NAN,), (NAN,), (float("inf"),), (0.0,))
    check(mean(source(table(TYPES, *rows))).select("mean"), expected, ordered=False)


@pytest.mark.parametrize("rows", [[], [("a", 1, 2.0, 2)], [(None, None, None, None)] * 3])
def test_a_scan_of_zero_rows_one_or_nulls(source, check, rows):
    """A typed result."""
    check(product(source(table(TYPES, *rows))), table({**TYPES, "product": "int64"}, *((*row, row[3]) for row in rows)))


def test_many_rows_of_one_group_and_descending_order(source, check):
    """More than a block of the twin's and a row of each power of two."""
    t = source(table({"t": "int64", "n": "int64"}, *((i, -1) for i in range(300))))
    steps = product(t, by=(), order_by="t desc").select("t", "product")
    check(steps, table({"t": "int64", "product": "int64"}, *((i, (-1) ** (300 - i)) for i in range(300))))


@pytest.mark.parametrize("order", ["0 - t", -col("t")], ids=["text", "python"])
def test_the_order_may_be_an_expression(source, check, order):
    t = source(
        table({"k": "string", "t": "int64", "n": "int64"}, ("a", 1, 2), ("b", 1, 3), ("a", 2, 5), ("a", 3, None))
    )
    expected = table(
        {"k": "string", "t": "int64", "n": "int64", "product": "int64"},
        ("a", 3, None, None), ("a", 2, 5, 5), ("a", 1, 2, 10), ("b", 1, 3, 3),
    )  # fmt: skip
    check(product(t, order_by=order), expected)


def test_an_output_may_take_a_column_s_place(source, check):
    """Also that of the input."""
    t = source(table({"t": "int64", "n": "int64"}, (1, 3), (2, 5)))
    state = {"all": "int64"}
    texts = {"map": "all = n;", "combine": "all = a.all * b.all;", "identity": "all = 1;", "post": "n = all;"}
    steps = product(t, by=(), state=state, **texts, outputs={"n": "int64"}, reference="strings.py:product_of_n")
    check(steps, table({"t": "int64", "n": "int64"}, (1, 3), (2, 15)))


def test_ties_in_the_order_are_noted(source, pipeline, engine):
    """What they come to depends on their order."""
    product(source(table(TYPES, ("a", 1, 1.0, 2), ("a", 1, 1.0, 3)))).stage("s")
    notes = pipeline.run(engine=engine, keep=["s"]).report.notes
    assert notes == ("stage 's', step 1: some rows tie in (k, t); add a column to the order that tells them apart",)


def test_a_filter_by_keys_may_run_before_a_scan(source, check):
    """It drops whole groups."""
    t = product(source(table(TYPES, *ROWS))).filter(col("k") == "b").select("t", "product")
    check(t, table({"t": "int64", "product": "int64"}, (1, 5), (2, None), (3, 15)))


TEXT = """\
gpuetl: 1
name: texts
sources: {t: {parquet: t.parquet}}
stages:
  s:
    from: t
    steps:
      - kernel:
          state: {sum: float64, count: int64}
          identity: sum = 0; count = 0;
          map: |
            sum = scale * x;
            count = 1;
          combine: |
            sum = a.sum + b.sum;
            count = a.count + b.count;
          post: |
            mean = sum / count;
            rows = count;
          inputs: x
          outputs: {mean: float64, rows: int64}
          args: {scale: 1.0}
          by: k
          order_by: t
          reference: strings.py:running_mean
      - kernel:
          {combine: product = a.product * b.product;, identity: product = 1;, inputs: n, outputs: {product: int64},
           by: k, order_by: t, reference: "strings.py:running_product"}
"""


def test_a_scan_goes_from_yaml_to_python_and_back(source, pipeline, tmp_path):
    """All three have one plan."""
    product(mean(source(table(TYPES, *ROWS)))).stage("s")
    read = loads(TEXT, tmp_path)
    assert loads(read.to_yaml(), tmp_path).fingerprint == read.fingerprint
    assert read.fingerprint == pipeline.fingerprint
    for before, after in (("count: int64}", "count: int32}"), ("a.count + b.count", "b.count + a.count")):
        assert loads(TEXT.replace(before, after), tmp_path).fingerprint != read.fingerprint


@pytest.mark.parametrize(
    ("make", "changes", "message"),
    [
        (product, {"order_by": ()}, "a scan needs order_by"),
        (product, {"inputs": "m"}, "unknown column 'm'"),
        (product, {"inputs": "k"}, "'k': a string column cannot reach a kernel"),
        (product, {"inputs": ["x", "n"]}, "the key 'map' is missing\nIt makes one state of a row's inputs."),
        (product, {"combine": "product = a.product;"}, "combine does not use b"),
        (product, {"combine": "p = a.p * b.p;"}, "combine does not set the state's field 'product'"),
        (product, {"map": "p = n;"}, "map does not set the state's field 'product'"),
        (product, {"post": "product = 2;"}, "the key 'state' is missing"),
        (product, {"state": {"product": "int32"}}, "output 'product' is int64, and the state has no such field"),
        (product, {"state": {"n": "int64"}}, "state's field 'n' and input 'n' are both 'n' in the kernel; rename one"),
        (product, {"state": {"product": "int64", "a": "int8"}}, "the state's field 'a' has the name of a state that"),
        (product, {"args": {"b": lit(1)}}, "argument 'b' has the name of a state that is combined"),
        (mean, {"state": {"sum": "float64", "count": "string"}}, "'count': a string column cannot reach a kernel"),
        (mean, {"outputs": {"mean": "float64", "rows": "int64", "y": "int8"}}, "post does not set output 'y'"),
        (mean, {"outputs": {"sum": "float64"}}, "state's field 'sum' and output 'sum' are both 'sum' in the kernel"),
        (mean, {"reference": "strings.py:runing_mean"}, "strings.py has no function 'runing_mean'"),
    ],
)
def test_scans_that_do_not_fit_are_refused(source, problem, make, changes, message):
    """Before anything runs."""
    text = problem(make(source(table(TYPES)), **changes))
    assert "stage 'wrong_1', step 1: " in text
    assert message in text


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("combine: y = a.y + b.y;", "the key 'identity' is missing"),
        ("kind: scan, identity: y = 0;", "the key 'combine' is missing\n"),
        ("combine: y = a.y + b.y;, identity: y = 0;, reduce: a + b", "a kernel of kind scan has no reduce"),
        ("combine: y = a.y + b.y;, identity: y = 0;, block: 32", "a kernel of kind scan has no block"),
        ("reduce: a + b, identity: 0, state: {y: int64}", "a kernel of kind reduction has no state"),
    ],
)
def test_keys_of_other_kinds_are_refused(source, tmp_path, keys, message):
    """Each kind has its own."""
    source(table(TYPES))
    head = TEXT[: TEXT.index("      - kernel")]
    keys = f"inputs: x, outputs: {{y: float64}}, reference: 'strings.py:norm', {keys}, order_by: t"
    with pytest.raises(InvalidPipeline) as caught:
        loads(f"{head}      - kernel: {{{keys}}}\n", tmp_path).plan()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("twin", "message"),
    [
        ("integers_of_floats", "TypeError: combine gave float64 for field 0 of the state, which is int64"),
        ("one_field_too_many", "ValueError: combine gave 2 fields of a state that has 1"),
    ],
)
def test_a_twin_that_changes_the_state_s_types_is_reported(source, pipeline, twin, message):
    """Nothing is rounded in silence."""
    product(source(table(TYPES, *ROWS)), reference=f"strings.py:{twin}").stage("s")
    with pytest.raises(RunFailed) as caught:
        pipeline.run(engine="pandas")
    assert message in str(caught.value)
