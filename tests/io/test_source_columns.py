"""The keys `filename` and `exclude` of sources, for every format on every engine."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

import gpuetl as ge
from gpuetl.optimize import optimize
from gpuetl.options import RunOptions
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import Read

FIRST = pa.table({"k": ["a", "b", "c"], "n": [1, 2, 3], "x": [0.5, 1.5, 2.5]})
SECOND = pa.table({"k": ["d", "e"], "n": [4, 5], "x": [3.5, 4.5]})


def write_json(rows, path):
    path.write_text("".join(f'{{"k":"{row["k"]}","n":{row["n"]},"x":{row["x"]}}}\n' for row in rows.to_pylist()))


def write_arrow(rows, path):
    with pa.ipc.new_file(path, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=2)


SCHEMA = ", schema: {k: string, n: int64, x: float64}"
FORMATS = {
    "parquet": ("", lambda rows, path: pq.write_table(rows, path, row_group_size=2)),
    "csv": (SCHEMA, pyarrow.csv.write_csv),
    "json": ("", write_json),
    "orc": ("", lambda rows, path: orc.write_table(rows, str(path))),
    "arrow": ("", write_arrow),
}
each_format = pytest.mark.parametrize("form", FORMATS)
LAYOUTS = pytest.mark.parametrize("partition_rows", [2, None])


@pytest.fixture
def lake(tmp_path):
    """A folder for each format with two files."""
    for form, (_, write) in FORMATS.items():
        suffix = {"json": "jsonl"}.get(form, form)
        (tmp_path / form / "more").mkdir(parents=True)
        write(FIRST, tmp_path / form / f"1.{suffix}")
        write(SECOND, tmp_path / form / "more" / f"2.{suffix}")
    return tmp_path


def load(lake, form, keys, steps="{limit: 99}"):
    """Return a pipeline that reads a folder."""
    source = f"{form}: {form}{FORMATS[form][0]}{keys}"
    return ge.loads(
        f"gpuetl: 1\nname: p\nsources: {{t: {{{source}}}}}\nstages: {{s: {{from: t, steps: [{steps}]}}}}", lake
    )


def run(lake, form, keys, steps="{limit: 99}", engine="pandas", partition_rows=None):
    """Return the rows."""
    done = load(lake, form, keys, steps).run(engine=engine, options=RunOptions(partition_rows=partition_rows))
    return done["s"].to_arrow().to_pylist()


@pytest.mark.part(4)
@each_format
@LAYOUTS
def test_the_path_of_the_file_is_a_column(engine, lake, form, partition_rows):
    end = {"json": "jsonl"}.get(form, form)
    rows = run(lake, form, ", filename: file", "{select: [n, file]}", engine, partition_rows)
    one, two = f"{lake}/{form}/1.{end}", f"{lake}/{form}/more/2.{end}"
    assert rows == [
        {"n": 1, "file": one}, {"n": 2, "file": one}, {"n": 3, "file": one}, {"n": 4, "file": two}, {"n": 5, "file": two},
    ]  # fmt: skip
    steps = "{filter: file LIKE '%/more/%'}, {aggregate: {by: [file], columns: {n: sum(n)}}}"
    assert run(lake, form, ", filename: file", steps, engine, partition_rows) == [{"file": two, "n": 9}]


@each_format
def test_files_whose_path_a_filter_leaves_out_are_not_read(lake, form):
    end = {"json": "jsonl"}.get(form, form)
    steps = f"{{filter: file = '{lake}/{form}/1.{end}'}}, {{select: [k, n]}}"
    assert run(lake, form, ", filename: file", steps) == FIRST.select(["k", "n"]).to_pylist()
    explained = load(lake, form, ", filename: file", steps).explain(engine="pandas")
    pieces = {"parquet": "2 of 3 row groups", "arrow": "2 of 3 row groups"}.get(form, "1 of 2 row groups")
    assert pieces in explained


@pytest.mark.part(4)
@each_format
@LAYOUTS
def test_all_columns_but_some_are_read(engine, lake, form, partition_rows):
    rows = run(lake, form, ", exclude: [x, k]", engine=engine, partition_rows=partition_rows)
    assert rows == [{"n": number} for number in range(1, 6)]
    rows = run(lake, form, ", exclude: x, filter: x > 1 AND n < 5", engine=engine, partition_rows=partition_rows)
    assert rows == [{"k": "b", "n": 2}, {"k": "c", "n": 3}, {"k": "d", "n": 4}]
    rows = run(
        lake, form, ", exclude: [k, n], filename: f", "{aggregate: {columns: {n: count(f)}}}", engine, partition_rows
    )
    assert rows == [{"n": 5}]


@each_format
@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (", exclude: [xx]", "exclude: unknown column 'xx'"),
        (", exclude: [x], columns: [k]", "columns and exclude cannot be given together"),
        (", filename: n", "which is also the name of the column of paths|the source has a column 'n' already"),
    ],
)
def test_keys_that_cannot_be_are_refused(lake, form, keys, message):
    with pytest.raises(ge.GpuetlError, match=message):
        run(lake, form, keys)


def test_an_unknown_name_has_a_hint(lake):
    with pytest.raises(ge.InvalidPipeline) as caught:
        load(lake, "parquet", ", exclude: [kk]").plan()
    assert "Did you mean 'k'?" in str(caught.value)


def test_a_column_of_a_type_that_is_not_supported_is_left_out(engine, tmp_path):
    pq.write_table(pa.table({"k": [1], "deep": [[[{"x": 1}]]]}), tmp_path / "t.parquet")
    text = "gpuetl: 1\nname: p\nsources: {t: {parquet: t.parquet, exclude: deep}}\nstages: {s: {from: t, steps: [{limit: 9}]}}"
    assert ge.loads(text, tmp_path).run(engine=engine)["s"].to_arrow().to_pylist() == [{"k": 1}]


def test_excluded_columns_are_not_read(lake):
    plan = optimize(load(lake, "parquet", ", exclude: [x]").plan().with_results()).plan
    assert [node.columns for node in walk_graph(*plan.roots) if isinstance(node, Read)] == [("k", "n")]


def test_an_excluded_column_that_a_later_file_lacks_is_no_matter(engine, lake):
    pq.write_table(SECOND.drop_columns(["x"]), lake / "parquet" / "more" / "2.parquet")
    assert [row["n"] for row in run(lake, "parquet", ", exclude: [x]", engine=engine)] == [1, 2, 3, 4, 5]


def test_keys_are_those_of_python_too(lake):
    pipeline = ge.Pipeline("p", root=lake)
    pipeline.read_parquet("t", "parquet", exclude="x", filename="file").select("n", "file").stage("s")
    assert pipeline.run(engine="pandas")["s"].to_arrow().column("file").to_pylist()[0] == f"{lake}/parquet/1.parquet"
    assert "exclude: x" in pipeline.to_yaml()
    assert "filename: file" in pipeline.to_yaml()


def test_given_rows_of_a_test_have_the_path(lake):
    text = """
gpuetl: 1
name: p
sources: {t: {parquet: parquet, exclude: x, filename: file}}
stages: {s: {from: t, steps: [{filter: file = 'a.parquet'}]}}
tests:
  - name: one file
    given: {t: {columns: [k, n, file], rows: [[a, 1, a.parquet], [b, 2, b.parquet]]}}
    expect: {s: {columns: [k, n, file], rows: [[a, 1, a.parquet]]}}
"""
    report = ge.loads(text, lake).test(engine="pandas")
    assert report.passed, str(report)
