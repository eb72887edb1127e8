"""Errors of runs: the whole text that a user reads, the same on every engine, and no library frame in it."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gpuetl
from gpuetl import GpuetlError, Pipeline, RunFailed, RunOptions, expr, loads
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.errors import Place, Problem
from messages import without_codes

HEAD = """\
gpuetl: 1
name: p
sources:
  t: {parquet: t.parquet}
  u: {parquet: u.parquet}
stages:
  clean:
    from: t
    steps:
      - filter: a > 1
"""
BIG = 2**62
CASES = {
    "overflow": (
        "      - with_columns: {x: a + 1, y: b * a}\n",
        """\
        p.yaml:11:37: stage 'clean', step 2: column 'y': b * a has no result, for 4611686018427387904, 5: overflow of int64
            - with_columns: {x: a + 1, y: b * a}
                                          ^^^^^
        Row 5 of ROOT/t.parquet (row group 2): b = 4611686018427387904, a = 5
        Cast an operand to decimal(38, 0) or float64, or filter such rows out.""",
    ),
    "filter": (
        "      - select: [a, s]\n      - filter: a < 9 AND CAST(s AS int64) > 3\n",
        """\
        p.yaml:12:17: stage 'clean', step 3: CAST(s AS int64) has no result, for x: not a valid int64
            - filter: a < 9 AND CAST(s AS int64) > 3
                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        Row 3 of ROOT/t.parquet (row group 1): s = 'x'
        TRY_CAST gives null instead.""",
    ),
    "cast": (
        "      - cast:\n          b: int32\n",
        """\
        p.yaml:12:11: stage 'clean', step 2: column 'b': CAST(b AS int32) has no result, for 4611686018427387904: \
int32 cannot hold it exactly
            b: int32
            ^
        Row 5 of ROOT/t.parquet (row group 2): b = 4611686018427387904
        TRY_CAST gives null instead.""",
    ),
    "constant": (
        "      - with_columns: {y: \"CAST('one' AS int64)\"}\n",
        """\
        p.yaml:11:27: stage 'clean', step 2: column 'y': CAST('one' AS int64) has no result, for one: not a valid int64
            - with_columns: {y: "CAST('one' AS int64)"}
                                ^^^^^^^^^^^^^^^^^^^^^^
        TRY_CAST gives null instead.""",
    ),
    "sum": (
        "      - aggregate: {columns: {n: count(*), total: sum(b)}}\n",
        """\
        p.yaml:11:51: stage 'clean', step 2: column 'total': sum leaves int64; cast the column to float64 or decimal
            - aggregate: {columns: {n: count(*), total: sum(b)}}
                                                        ^^^^^^""",
    ),
    "running sum": (
        "      - window: {order_by: a, columns: {y: cum_sum(b)}}\n",
        """\
        p.yaml:11:44: stage 'clean', step 2: column 'y': cum_sum leaves int64; cast the column to float64 or decimal
            - window: {order_by: a, columns: {y: cum_sum(b)}}
                                                 ^^^^^^^^^^
        The row: a = 6, b = 4611686018427387904""",
    ),
    "join": (
        "      - join: {with: u, on: k, validate: many_to_one}\n",
        """\
        p.yaml:11:9: stage 'clean', step 2: the join is not many_to_one: k repeats on the right side, k = 'm' is in more \
than one row.  Make the keys distinct, or relax validate
            - join: {with: u, on: k, validate: many_to_one}
              ^^^^""",
    ),
    "nulls of a kernel": (
        "      - kernel: {body: z = v;, inputs: [v], outputs: {z: float64}, reference: 'twin.py:wrong', nulls: forbid}\n",
        """\
        p.yaml:11:9: stage 'clean', step 2: kernel 'wrong' forbids nulls, and input 'v' is null
            - kernel: {body: z = v;, inputs: [v], outputs: {z: float64}, reference: 'twin.py:wrong', nulls: forbid}
              ^^^^^^
        Row 4 of ROOT/t.parquet (row group 1): v = null
        Filter them out, or set nulls: propagate.""",
    ),
}  # fmt: skip
TWIN = """\
import numpy as np


def wrong(v):
    return {"z": share(v)}


def share(v):
    return np.asarray(v) / {}["total"]
"""


@pytest.fixture
def root(tmp_path):
    """A folder with two small sources and a twin."""
    rows = {
        "a": [1, 2, 3, 4, 5, 6], "b": [1, 1, 1, 1, BIG, BIG], "k": ["m", "m", "n", "n", "o", "o"],
        "s": ["x", "2", "x", "4", "5", None], "v": [1.0, 1.5, 2.0, None, 3.0, 4.0],
    }  # fmt: skip
    pq.write_table(pa.table(rows), tmp_path / "t.parquet", row_group_size=2)
    pq.write_table(pa.table({"k": ["m", "n", "m"]}), tmp_path / "u.parquet")
    (tmp_path / "twin.py").write_text(TWIN)
    return tmp_path


def failed(pipeline, engine, **options):
    """Run a pipeline that fails; return the error, whose text travels between processes as it is."""
    with pytest.raises(GpuetlError) as caught:
        pipeline.run(engine=engine, options=RunOptions(**options))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    return caught.value


@pytest.mark.part(2)
@pytest.mark.parametrize(("steps", "message"), CASES.values(), ids=CASES)
def test_a_failing_run_points_at_the_text_and_the_row(root, engine, ways, steps, message):
    """In one partition or several, optimized and as written."""
    pipeline, expected = loads(HEAD + steps, root, "p.yaml"), dedent(message).replace("ROOT", str(root))
    for optimize in ways:
        assert str(failed(pipeline, engine, optimize=optimize, partition_rows=6)) == expected
    if steps != CASES["nulls of a kernel"][0]:
        got = str(failed(pipeline, engine, partition_rows=2, broadcast_bytes=0))
        assert got == expected or "overflow" in expected  # of two partitions that fail either may be first


@pytest.mark.parametrize("engine", ["pandas", "dask"])
def test_an_exception_in_a_twin_shows_its_line(root, engine, request):
    if engine == "dask":
        request.getfixturevalue("cluster")
    step = "      - kernel: {body: z = v;, inputs: [v], outputs: {z: float64}, reference: 'twin.py:wrong'}\n"
    error = failed(loads(HEAD + step, root, "p.yaml"), engine)
    assert str(error) == (
        "p.yaml:11:9: stage 'clean', step 2: wrong in twin.py raised KeyError: 'total'\n"
        f"    {step.strip()}\n      ^^^^^^\n"
        f"{root}/twin.py:9:\n"
        '    return np.asarray(v) / {}["total"]'
    )
    if engine == "pandas":
        assert isinstance(error.__cause__, KeyError)
        assert error.__cause__.__traceback__.tb_frame.f_code.co_name == "wrong"


def test_a_twin_that_does_not_load_shows_its_line(root):
    (root / "twin.py").write_text("def wrong(v):\n    return {'z': v}\n\n\nSCALE = read()\n")
    step = "      - kernel: {body: z = v;, inputs: [v], outputs: {z: float64}, reference: 'twin.py:wrong'}\n"
    with pytest.raises(GpuetlError) as caught:
        loads(HEAD + step, root, "p.yaml").run(engine="pandas")
    first, *_, place, line = str(caught.value).splitlines()
    assert first.endswith("twin.py: NameError: name 'read' is not defined")
    assert (place, line) == (f"{root}/twin.py:5:", "    SCALE = read()")


def test_a_kernel_that_does_not_compile_points_at_its_line(root):
    pytest.importorskip("gpu_engine.host_machine")
    from gpu_engine.host_machine import ON_CPU

    step = "      - kernel: {body: z = w;, inputs: [v], outputs: {z: float64}, reference: 'twin.py:wrong'}\n"
    first, line, caret, *shown = str(failed(loads(HEAD + step, root, "p.yaml"), ON_CPU)).splitlines()
    assert first.startswith("p.yaml:11:9: stage 'clean', step 2: kernel 'wrong' does not compile: body:1: ")
    assert "error" not in first
    assert line.strip() == step.strip()
    assert caret == "      ^^^^^^"
    assert shown[0].strip() == "z = w;"


def test_a_sink_that_exists_points_at_its_path(root):
    (root / "out.csv").write_text("kept\n")
    text = HEAD + "sinks:\n  o: {csv: out.csv, from: clean}\n"
    assert str(failed(loads(text, root, "p.yaml"), "pandas")) == (
        f"p.yaml:12:12: sink 'o': {root}/out.csv exists.  "
        "Choose mode: overwrite, append or replace_partitions, or remove it.\n"
        "    o: {csv: out.csv, from: clean}\n"
        "             ^^^^^^^"
    )


def test_the_filter_of_a_source_is_pointed_at(root):
    text = HEAD.replace("t: {parquet: t.parquet}", 't: {parquet: t.parquet, filter: "CAST(s AS int64) > 0"}')
    assert str(failed(loads(text, root, "p.yaml"), "pandas")) == (
        "p.yaml:4:35: source 't': CAST(s AS int64) has no result, for x: not a valid int64\n"
        '    t: {parquet: t.parquet, filter: "CAST(s AS int64) > 0"}\n'
        f"                                    {'^' * 22}\n"
        f"Row 1 of {root}/t.parquet (row group 0): s = 'x'\n"
        "TRY_CAST gives null instead."
    )


def test_a_file_that_is_not_parquet_points_at_its_source(root):
    pipeline = loads(HEAD, root, "p.yaml")
    pipeline.plan()
    data = bytearray((root / "t.parquet").read_bytes())
    data[4:400] = bytes(396)
    (root / "t.parquet").write_bytes(bytes(data))
    first, line, caret, _, hint = str(failed(pipeline, "pandas")).splitlines()
    assert first.startswith(f"p.yaml:4:16: source 't': cannot read {root}/t.parquet: it is damaged, or not")
    assert (line, caret) == ("    t: {parquet: t.parquet}", "                 ^^^^^^^^^")
    assert hint == "Check the file, or take it out of the source's path."


def test_what_nobody_expects_names_the_step_and_what_to_report(root, monkeypatch, local_engine):
    """It is no bare traceback: the error that came up is the cause."""
    from gpuetl.engines.cudf.cudf_engine import CudfBackend

    def broken(*_):
        raise KeyError("offsets")

    monkeypatch.setattr(PandasBackend, "run", broken)
    monkeypatch.setattr(CudfBackend, "run", broken)
    error = failed(loads(HEAD, root, "p.yaml"), local_engine)
    first, *_, last = str(error).splitlines()
    assert first == "p.yaml:10:17: stage 'clean', step 1: gpuetl failed unexpectedly: KeyError: 'offsets'"
    assert last.startswith("This is a bug in gpuetl ")
    assert "gpuetl/executors/runner.py:" in last
    assert isinstance(error.__cause__, KeyError)


SCRIPT = """\
import gpuetl
from gpuetl import col, expr

p = gpuetl.Pipeline("p")
t = p.read_parquet("t", "t.parquet")


def features(table):
    return table.with_columns(y=expr("a * b"))


features(t.filter(col("a") > 1)).stage("out")
{last}
"""
SCRIPTS = {
    "run": (
        'p.run(engine="pandas")',
        """\
        Traceback (most recent call last):
          File "ROOT/script.py", line 13, in <module>
            p.run(engine="pandas")
        gpuetl.errors.RunFailed: script.py:9: stage 'out', step 2: column 'y': a * b has no result, for 5, \
4611686018427387904: overflow of int64
            return table.with_columns(y=expr("a * b"))
        Row 5 of t.parquet (row group 2): a = 5, b = 4611686018427387904
        Cast an operand to decimal(38, 0) or float64, or filter such rows out.
        """,
    ),
    "plan": (
        't.select("nope").stage("wrong").pipeline.plan()',
        """\
        Traceback (most recent call last):
          File "ROOT/script.py", line 13, in <module>
            t.select("nope").stage("wrong").pipeline.plan()
        gpuetl.errors.InvalidPipeline: script.py:13: stage 'wrong', step 1: unknown column 'nope'
            t.select("nope").stage("wrong").pipeline.plan()
        Columns: a, b, k, s, v.
        """,
    ),
    "context": (
        'try:\n    {}["x"]\nexcept KeyError:\n    t.limit("one")',
        """\
        Traceback (most recent call last):
          File "ROOT/script.py", line 14, in <module>
            {}["x"]
            ~~^^^^^
        KeyError: 'x'

        During handling of the above exception, another exception occurred:

        Traceback (most recent call last):
          File "ROOT/script.py", line 16, in <module>
            t.limit("one")
        gpuetl.errors.InvalidPipeline: limit: count: takes a whole number, got text 'one'
        """,
    ),
}


@pytest.mark.part(3)
@pytest.mark.parametrize(("last", "message"), SCRIPTS.values(), ids=SCRIPTS)
def test_a_script_shows_its_own_lines_and_none_of_gpuetl(root, last, message):
    (root / "script.py").write_text(SCRIPT.replace("{last}", last))
    done = subprocess.run(
        [sys.executable, root / "script.py"], cwd=root, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(gpuetl.__file__).parents[1])},
    )  # fmt: skip
    assert done.returncode == 1
    assert without_codes(done.stderr) == dedent(message).replace("ROOT", str(root))


def test_notebooks_show_the_same(root):
    """By the method that IPython asks for lines."""
    p = Pipeline("p", root=root)
    p.read_parquet("t", "t.parquet").with_columns(y=expr("a * b")).stage("out")
    with pytest.raises(RunFailed) as caught:
        p.run(engine="pandas")
    lines = caught.value._render_traceback_()
    assert not [line for line in lines if "gpuetl/executors" in line or "gpuetl/backends" in line]
    assert lines[-1].startswith("Cast an operand")


def test_a_place_without_a_text_shows_no_line():
    """As of what was typed into Python's own prompt."""
    assert str(Problem("wrong", place=Place("<stdin>", 3, 0, ""))) == "<stdin>:3: wrong"
