"""Errors of pipelines in Python show the user's own lines, in scripts and in IPython, and no frame of the library."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import gpuetl
from left_to_full import after
from messages import without_codes

BEGIN = """\
import pyarrow as pa
from gpuetl import Pipeline, col, when

pipeline = Pipeline("script")
t = pipeline.from_frame("t", pa.table({"a": [1, 2]}))

def cleaned(table):
    return table.filtr(col("a") > 1)

"""
LINE = BEGIN.count("\n") + 1
CASES = {
    "a method": ('t.filtr(col("a") > 1)', "UnknownMethod: a table has no method 'filtr'\nDid you mean 'filter'?"),
    "a function": ('col("a").uper()', "UnknownMethod: an expression has no method 'uper'\nDid you mean 'upper'?"),
    "a boolean": (
        "t.filter(0 < col('a') < 2)",
        "MisusedExpression: an expression cannot be used as a Python boolean: use & | ~ instead of and, or, not\n"
        "Write (a > 1) & (a < 3) for 1 < a < 3.",
    ),
    "a type": ('col("a").cast("int46")', "InvalidType: unknown type 'int46'"),
    "a string": (
        't.with_columns(b=when(col("a") > 1).then("x"))',
        "InvalidExpression: then got the string 'x', which may be a column or a constant\n"
        "Write col('x') for the column, or lit('x') for the string.",
    ),
    "a key": ('t.write_parquet("out", "out", mod="append")', None),
}
ENVIRONMENT = {"PYTHONPATH": os.pathsep.join([str(Path(gpuetl.__file__).parents[1]), *sys.path])}


def ran(command, folder):
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, **ENVIRONMENT, "IPYTHONDIR": str(folder / "ipython"), "NO_COLOR": "1"},
    )  # fmt: skip
    return done.returncode, without_codes(done.stdout), without_codes(done.stderr)


@pytest.mark.part(4)
@pytest.mark.parametrize(("line", "message"), after(3, CASES.values(), "more lines of Python that fail"), ids=CASES)
def test_a_script_shows_its_line_alone(tmp_path, line, message):
    (tmp_path / "script.py").write_text(BEGIN + line + "\n")
    code, _, err = ran(["script.py"], tmp_path)
    assert code == 1
    first, place, shown, *rest = err.splitlines()
    assert first == "Traceback (most recent call last):"
    assert place.endswith(f'script.py", line {LINE}, in <module>')
    assert shown.strip() == line
    assert err.count("  File ") == 1
    if message:
        assert "\n".join(rest).endswith(f"gpuetl.errors.{message}")
    assert "src/gpuetl" not in err


def test_a_function_of_a_chain_is_shown(tmp_path):
    (tmp_path / "script.py").write_text(f"{BEGIN}t.pipe(cleaned)\n")
    _, _, err = ran(["script.py"], tmp_path)
    places = [line.strip().partition('script.py"')[2] for line in err.splitlines() if line.startswith("  File ")]
    assert places == [f", line {LINE}, in <module>", ", line 8, in cleaned"]
    assert "src/gpuetl" not in err


@pytest.mark.part(6)
@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (
            't = t.filter(col("b") > 1)\nt.stage("s")\npipeline.plan()',
            "script.py:{first}: stage 's', step 1: unknown column 'b'\n    t = t.filter(col(\"b\") > 1)\nColumns: a.",
        ),
        (
            't = t.with_columns(b=col("a").sum().over("c"))\nt.stage("s")\npipeline.plan()',
            "script.py:{first}: stage 's', step 1: unknown column 'c'\n    t = t.with_columns(b=col(\"a\").sum().over(\"c\"))\n"
            "Columns: a.",
        ),
        (
            't = t.group_by("a").agg((col("z") + 1).alias("y"))\nt.stage("s")\npipeline.plan()',
            "script.py:{first}: stage 's', step 1: unknown column 'z'\n    t = t.group_by(\"a\").agg((col(\"z\") + 1).alias(\"y\"))\n"
            "Columns: a.",
        ),
        (
            't = t.with_columns((col("a") * 10**18 * 9).alias("b"))\nt.stage("s")\npipeline.run(engine="pandas")',
            "script.py:{first}: stage 's', step 1: column 'b': a * 1000000000000000000 * 9 has no result",
        ),
    ],
)  # fmt: skip
def test_what_is_found_later_names_the_line_of_its_step(tmp_path, lines, shown):
    (tmp_path / "script.py").write_text(BEGIN + lines + "\n")
    code, _, err = ran(["script.py"], tmp_path)
    assert code == 1
    assert shown.format(first=LINE) in err
    assert "src/gpuetl" not in err
    assert err.count("  File ") == 1


@pytest.mark.part(5)
@pytest.mark.parametrize(("line", "message"), after(3, CASES.values(), "more lines of Python that fail"), ids=CASES)
def test_ipython_shows_the_cell_alone(tmp_path, line, message):
    (tmp_path / "script.py").write_text(BEGIN)
    code = f"exec(open('script.py').read())\nget_ipython().run_cell({line!r});"
    _, out, err = ran(["-m", "IPython", "--colors=NoColor", "--simple-prompt", "-c", code], tmp_path)
    text = out + err
    assert line in text
    assert "src/gpuetl" not in text
    if message:
        assert message.splitlines()[0].partition(": ")[2] in text


def test_a_table_of_pandas_style_names_is_told_ours(tmp_path):
    (tmp_path / "script.py").write_text(BEGIN + 't.group_by("a").sum("a")\n')
    _, _, err = ran(["script.py"], tmp_path)
    assert err.endswith(
        dedent("""\
        gpuetl.errors.UnknownMethod: a group has no method 'sum'
        Write agg(col('x').sum().alias('name')).
        """)
    )
