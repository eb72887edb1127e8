"""kernel: {python: …}: columns from a user's Python function over frames."""

import shutil
from datetime import date
from pathlib import Path

import pytest

from generate_language import rows_of
from gpu_engine.host_machine import ON_CPU
from gpuetl import InvalidPipeline, RunFailed, RunOptions, col, lit, load, param
from gpuetl.spec.language_page.python_kernels import EXAMPLES
from tables import NAN, table

FILES = Path(__file__).parent.parent / "kernel_files"
TYPES = {"x": "float64", "n": "int64"}
ROWS = [(1.5, 1), (None, 2**53 + 1), (-2.0, None), (0.0, 4), (3.0, -9)]
GROUPED = {"k": "string", "t": "int64", "x": "float64"}
GROUPED_ROWS = [("b", 1, 6.0), ("a", 2, 1.0), (None, 1, 7.0), ("a", 1, 2.0), ("b", 2, None), ("a", 3, 5.0)]
SCORED = {"y": "float64", "long": "bool"}


@pytest.fixture(autouse=True)
def files(tmp_path):
    shutil.copy(FILES / "frames.py", tmp_path)


def scored(t, name="score", **changes):
    return t.python_kernel(f"frames.py:{name}", ["x", "n"], SCORED, **{"args": {"factor": lit(2.0)}, **changes})


@pytest.mark.parametrize(
    "keys",
    [
        {"name": "score"},
        {"name": "arrow_score", "frame": "arrow"},
        {"name": "score", "timeout": "20s"},
        {"name": "score", "frame": "cudf", "reference": "frames.py:score"},
    ],
    ids=["pandas", "arrow", "timed", "cudf"],
)
def test_a_function_gets_all_rows_with_their_nulls(source, check, keys):
    outputs = [(3.0, False), (None, True), (-4.0, None), (0.0, True), (6.0, False)]
    rows = [(*a, *b) for a, b in zip(ROWS, outputs, strict=True)]
    check(scored(source(table(TYPES, *ROWS)), **keys), table({**TYPES, **SCORED}, *rows), ordered=True)


def test_a_function_may_see_whole_rows_only(source, check):
    outputs = [(3.0, False), (None, None), (None, None), (0.0, True), (6.0, False)]
    rows = [(*a, *b) for a, b in zip(ROWS, outputs, strict=True)]
    check(
        scored(source(table(TYPES, *ROWS)), "framed", nulls="propagate"),
        table({**TYPES, **SCORED}, *rows),
        ordered=True,
    )


@pytest.mark.parametrize("keys", [{}, {"frame": "cudf", "reference": "frames.py:share"}], ids=["pandas", "cudf"])
def test_a_function_gets_the_rows_of_each_group(source, check, keys):
    t = source(table(GROUPED, *GROUPED_ROWS)).python_kernel(
        "frames.py:share", "x", {"share": "float64"}, by="k", **keys
    )
    expected = table(
        {**GROUPED, "share": "float64"},
        ("a", 1, 2.0, 0.25), ("a", 2, 1.0, 0.125), ("a", 3, 5.0, 0.625), ("b", 1, 6.0, 1.0), ("b", 2, None, None),
        (None, 1, 7.0, 1.0),
    )  # fmt: skip
    check(t, expected)


@pytest.mark.parametrize(
    "keys",
    [{}, {"python": "frames.py:arrow_running", "frame": "arrow"}, {"frame": "cudf", "reference": "frames.py:running"}],
    ids=["pandas", "arrow", "cudf"],
)
def test_the_rows_of_a_group_are_in_order(source, check, keys):
    keys = {"python": "frames.py:running", **keys}
    t = source(table(GROUPED, *GROUPED_ROWS))
    t = t.python_kernel(inputs="x", outputs={"total": "float64"}, by="k", order_by="t desc", **keys)
    expected = table(
        {**GROUPED, "total": "float64"},
        ("a", 3, 5.0, 5.0), ("a", 2, 1.0, 6.0), ("a", 1, 2.0, 8.0), ("b", 2, None, 0.0), ("b", 1, 6.0, 6.0),
        (None, 1, 7.0, 7.0),
    )  # fmt: skip
    check(t, expected)


def test_the_order_may_be_an_expression(source, check):
    t = source(table(GROUPED, *GROUPED_ROWS))
    t = t.python_kernel("frames.py:running", "x", {"total": "float64"}, by="k", order_by=["t % 2", "t desc"])
    expected = table(
        {**GROUPED, "total": "float64"},
        ("a", 2, 1.0, 1.0), ("a", 3, 5.0, 6.0), ("a", 1, 2.0, 8.0), ("b", 2, None, 0.0), ("b", 1, 6.0, 6.0),
        (None, 1, 7.0, 7.0),
    )  # fmt: skip
    check(t, expected)


def test_an_order_alone_makes_one_group_whose_whole_rows_are_seen(source, check):
    t = source(table(GROUPED, ("b", 3, 6.0), ("a", 2, 1.0), ("c", 4, None), ("a", 1, 2.0)))
    t = t.python_kernel("frames.py:running", "x", {"total": "float64"}, order_by="t", nulls="propagate")
    expected = table({"t": "int64", "total": "float64"}, (1, 2.0), (2, 3.0), (3, 9.0), (4, None))
    check(t.select("t", "total"), expected, ordered=True)


@pytest.mark.parametrize("rows", [[], [("a", 1, 2.0)], [(None, None, None)] * 3])
def test_zero_rows_one_or_nulls(source, check, rows):
    t = source(table(GROUPED, *rows)).python_kernel("frames.py:share", "x", {"share": "float64"}, by="k")
    shares = [x and 1.0 for _, _, x in rows]
    check(t, table({**GROUPED, "share": "float64"}, *((*row, s) for row, s in zip(rows, shares, strict=True))))


def test_arrow_keeps_nan_and_pandas_makes_nulls_of_it(source, check):
    t = source(table(TYPES, (NAN, 1), (None, 1)))
    expected = table({**TYPES, **SCORED}, (NAN, 1, NAN, False), (None, 1, None, False))
    check(scored(t, "arrow_score", frame="arrow"), expected, ordered=True)
    expected = table({**TYPES, **SCORED}, (NAN, 1, None, False), (None, 1, None, False))
    check(scored(t), expected, ordered=True)


def test_outputs_and_arguments_have_any_type(source, check, pipeline):
    pipeline.param("word", "string", default="x")
    t = source(table({"k": "string"}, ("a",), (None,)))
    outputs = {"name": "string", "day": "date", "both": "list<string>"}
    steps = t.python_kernel("frames.py:describe", "k", outputs, args={"word": param("word")})
    day = date(2026, 1, 2)
    expected = table({"k": "string", **outputs}, ("a", "a-x", day, ["x", "x"]), (None, "none-x", day, ["x", "x"]))
    check(steps, expected, ordered=True)


def test_yaml_and_explain(tmp_path):
    (tmp_path / "in.csv").write_text("x,n\n1.5,4\n")
    (tmp_path / "p.yaml").write_text("""\
gpuetl: 1
name: test
sources:
  t: {csv: in.csv, schema: {x: float64, n: int64}}
stages:
  s:
    from: t
    steps:
      - kernel: {python: frames.py:score, inputs: [x, n], outputs: {y: float64, long: bool}, timeout: 30 s, by: n}
""")
    pipeline = load(tmp_path / "p.yaml")
    assert pipeline.run(engine="pandas", keep=["s"])["s"].to_arrow().to_pylist() == [
        {"x": 1.5, "n": 4, "y": 1.5, "long": True}
    ]
    assert "PythonKernel score(x, n) gives y: float64, long: bool by n; on the CPU, over pandas frames" in (
        pipeline.explain(engine="pandas")
    )
    again = pipeline.to_yaml()
    assert "timeout: 30 s" in again
    assert "nulls" not in again
    assert "reference" not in again


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"python": "none.py:f"}, "none.py does not exist\nWrite the function there."),
        ({"python": "frames.py:scoer"}, "frames.py has no function 'scoer'\nFunctions: "),
        ({"python": "frames.py"}, "python 'frames.py' is not file.py:function"),
        ({"args": {"facotr": lit(2.0)}}, "the function has no argument 'facotr'\nArguments: factor, frame."),
        ({"args": {"factor": col("x")}}, "unknown column 'x'"),
        ({"inputs": ["x", "m"]}, "unknown column 'm'"),
        ({"frame": "cudf"}, "a function over cuDF frames needs a reference\nreference names the same over pandas"),
        ({"reference": "frames.py:score"}, "a function over pandas frames has no reference\nThe same function runs"),
        (
            {"nulls": "masks"},
            "a Python kernel has no nulls: masks\nIts frames have nulls of their own.  It takes pass,",
        ),
        (
            {"frame": "cudf", "reference": "frames.py:score", "outputs": {"y": "struct<a: int64>"}},
            "'y' is struct<a: int64>, and cuDF frames have no such column here\nWrite frame: arrow,",
        ),
    ],
)
def test_a_declaration_that_does_not_fit_is_refused(source, problem, changes, message):
    keys = {"python": "frames.py:score", "inputs": ["x", "n"], "outputs": SCORED, **changes}
    assert message in problem(source(table(TYPES)).python_kernel(**keys))


def test_a_time_limit_that_is_none_is_refused(source):
    with pytest.raises(InvalidPipeline, match="timeout: takes a time such as 30s, 5 min or 500 ms, got text 'soon'"):
        scored(source(table(TYPES)), timeout="soon")


def test_a_result_that_is_not_declared_is_refused(source, pipeline, local_engine):
    t, out = source(table({"k": "string", "x": "float64"}, ("a", 1.0), ("b", 2.0), ("b", 1.0))), {"y": "float64"}
    cases = {
        "other_names": "other_names in frames.py returned the columns z, and the outputs are y",
        "shorter": "shorter in frames.py gave 2 rows for output 'y', and its frame has 3",
        "sorted_rows": "gave output 'y' with another index than its frame has, which is 0 to 2\n",
        "integers": "integers in frames.py gave output 'y' as int64, and float64 is declared",
        "words": "words in frames.py gave output 'y', which is not float64: ",
        "nothing": "nothing in frames.py returned a NoneType, and not a pandas frame or a dict of columns",
        "constant": "constant in frames.py gave a float for output 'y', and not a column",
    }
    for name, message in cases.items():
        assert message in failed(pipeline, t.python_kernel(f"frames.py:{name}", "x", out), local_engine)
    text = failed(pipeline, t.python_kernel("frames.py:raises", "x", out, by="k"), local_engine)
    assert "raises in frames.py, group k = 'b', raised ValueError: no such luck" in text
    assert text.endswith('frames.py:90:\n    raise ValueError("no such luck")')
    text = failed(pipeline, t.python_kernel("frames.py:with_null", "x", out, nulls="forbid"), local_engine)
    assert "with_null gave null for output 'y', and the step forbids nulls\n" in text
    assert "t.parquet (row group 0): x = 1.0\nGive a value, or set nulls: pass." in text
    nulls = source(table({"x": "float64"}, (1.0,), (None,)), "nulls").python_kernel(
        "frames.py:raises", "x", out, nulls="forbid"
    )
    text = failed(pipeline, nulls, local_engine)
    assert "kernel 'raises' forbids nulls, and input 'x' is null\n" in text
    assert "x = null" in text


def failed(pipeline, steps, engine, **options):
    name = steps.named()
    with pytest.raises(RunFailed) as error:
        pipeline.run(engine=engine, keep=[name], options=RunOptions(**options))
    return str(error.value)


def test_a_function_that_takes_too_long_ends_with_its_line(source, pipeline, local_engine):
    t, out = source(table({"x": "float64"}, (1.0,))), {"y": "float64"}
    text = failed(pipeline, t.python_kernel("frames.py:endless", "x", out, timeout="50ms"), local_engine)
    assert "step 1: endless in frames.py did not end within 0.05 s\n" in text
    assert "frames.py:97:\n    time.sleep(0.001)\n" in text
    assert text.endswith("raise the limit: timeout of the step, --kernel-timeout of the run.")
    text = failed(pipeline, t.python_kernel("frames.py:asleep", "x", out), local_engine, kernel_timeout_s=0.05)
    assert "asleep in frames.py did not end within 0.05 s" in text


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.steps.split()[3])
def test_the_examples_of_the_page_are_the_same_on_every_engine(local_engine, example):
    assert rows_of(example, local_engine) == rows_of(example)


def test_the_report_says_what_was_copied_to_the_host(source, pipeline):
    t = source(table({"x": "float64"}, (1.0,)))
    t.python_kernel("frames.py:running", "x", {"total": "float64"}).stage("s")
    report = pipeline.run(engine=ON_CPU).report
    assert any("running takes pandas frames: its inputs were copied to the host" in note for note in report.notes)
