"""A file format, which only these tests know: one class and one entry of the registry, on every engine."""

import re

import pyarrow as pa
import pytest

import gpuetl as ge
from clusters import needs_this_process
from gpuetl.engines.registry import load_backend
from gpuetl.formats.format import Format, Piece
from gpuetl.formats.registry import FORMATS
from gpuetl.options import RunOptions
from gpuetl.places.open_file import opened
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import Read
from gpuetl.types.data_types import language_type, type_name
from tables import table

ROWS = table({"k": "string", "x": "int32"}, ("a", 1), ("b", 2), ("a", None), ("ü", 4), ("b", 5))


class BatchesFormat(Format):
    """Files of Arrow's IPC format, read batch by batch."""

    name = "batches"
    title = "Batches"
    suffixes = (".batches", ".bat")

    def stored(self, dataset, file):
        """Return the types of the file's schema."""
        with opened(file.path, file.state) as source, pa.ipc.open_file(source.read_bytes()) as reader:
            return dict(zip(reader.schema.names, reader.schema.types, strict=True))

    def pieces(self, dataset, file):
        """Return the batches."""
        with opened(file.path, file.state) as source, pa.ipc.open_file(source.read_bytes()) as reader:
            batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        return [Piece(batch.num_rows, {"": batch.nbytes}) for batch in batches]

    def read(self, dataset, file, pieces, columns):
        """Read some batches."""
        with opened(file.path, file.state) as source, pa.ipc.open_file(source.read_bytes()) as reader:
            rows = pa.Table.from_batches(map(reader.get_batch, pieces), reader.schema)
        return rows.select([name for name in columns if name in rows.column_names])

    def write(self, table, path):
        """Write batches of two rows."""
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)

    def columns_of(self, file):
        """Return the columns with their types."""
        with pa.ipc.open_file(file.for_arrow()) as reader:
            return [f"{field.name} ({type_name(language_type(field.type))})" for field in reader.schema]


@pytest.fixture(autouse=True)
def arrow(monkeypatch):
    """The format, registered while a test lasts."""
    made = BatchesFormat()
    monkeypatch.setitem(FORMATS, made.name, made)
    return made


@pytest.fixture
def lake(arrow, tmp_path):
    """A folder with two files of the format, of both endings, and one of another."""
    (tmp_path / "lake").mkdir()
    arrow.write(ROWS, tmp_path / "lake" / "1.batches")
    arrow.write(table({"k": "string", "x": "int64"}, ("c", 2**40), (None, 7)), tmp_path / "lake" / "2.bat")
    (tmp_path / "lake" / "notes.txt").write_text("not read")
    return tmp_path


def loaded(lake, text):
    """Return a pipeline that reads the folder, with x in 64 bits."""
    source = "gpuetl: 1\nname: p\nsources:\n  t: {batches: lake, schema: {k: string, x: int64}}\n"
    return ge.loads(source + text, lake)


def rows_of(folder):
    """Return the rows of the files that a sink wrote."""
    tables = [pa.ipc.open_file(path).read_all() for path in sorted(folder.rglob("*.batches"))]
    return pa.concat_tables(tables).to_pylist()


@pytest.mark.parametrize("partition_rows", [2, None])
def test_a_format_is_read_and_written(engine, lake, partition_rows):
    needs_this_process(engine, "format")
    pipeline = loaded(
        lake,
        """
stages:
  sums: {from: t, steps: [{filter: x > 1}, {aggregate: {by: [k], columns: {n: count(*), x: sum(x)}}}, {sort: [k]}]}
sinks:
  out: {from: sums, batches: out, mode: overwrite}
  parts: {from: t, batches: parts, partition_by: [k]}
  one: {from: sums, batches: one.batches}
""",
    )
    done = pipeline.run(engine=engine, options=RunOptions(partition_rows=partition_rows))
    expected = [
        {"k": "b", "n": 2, "x": 7},
        {"k": "c", "n": 1, "x": 2**40},
        {"k": "ü", "n": 1, "x": 4},
        {"k": None, "n": 1, "x": 7},
    ]
    assert rows_of(lake / "out") == expected
    assert pa.ipc.open_file(lake / "one.batches").read_all().to_pylist() == expected
    assert sorted(path.name for path in (lake / "parts").iterdir() if path.is_dir() and "=" in path.name) == [
        "k=%C3%BC", "k=__HIVE_DEFAULT_PARTITION__", "k=a", "k=b", "k=c",
    ]  # fmt: skip
    assert {sink.rows for sink in done.report.sinks} == {4, 7}


def test_a_format_is_read_on_the_cpu_where_an_engine_has_no_reader(lake):
    plan = loaded(lake, "stages: {s: {from: t, steps: [{limit: 1}]}}").plan()
    read = next(node for node in walk_graph(*plan.stages.values()) if isinstance(node, Read))
    assert load_backend("cudf-on-cpu").device_of(read) == "CPU"


def test_columns_that_do_not_fit_are_worded(lake, arrow):
    arrow.write(table({"k": "string", "X": "int64"}, ("c", 1)), lake / "lake" / "3.batches")
    with pytest.raises(ge.GpuetlError) as caught:
        loaded(lake, "stages: {s: {from: t, steps: [{limit: 1}]}}").run(engine="pandas")
    assert "3.batches has no column 'x', and the source's schema does" in str(caught.value)
    assert "Did you mean 'X'?  Upper and lower case differ." in str(caught.value)


def test_a_failing_row_is_found_in_its_file(engine, lake):
    needs_this_process(engine, "format")
    text = "stages: {s: {from: t, steps: [{filter: x = 4}, {with_columns: {y: CAST(k AS int64)}}]}}"
    with pytest.raises(ge.GpuetlError) as caught:
        loaded(lake, text).run(engine=engine, options=RunOptions(partition_rows=2))
    assert re.search(r"Row 4 of \S*/lake/1\.batches", str(caught.value))


def test_options_of_other_formats_are_refused(lake):
    text = "gpuetl: 1\nname: p\nsources:\n  t: {batches: lake, schema: {k: string}, on_bad_row: 'null', verify_pages: true}\n"
    with pytest.raises(ge.GpuetlError) as caught:
        ge.loads(text + "stages: {s: {from: t, steps: [{limit: 1}]}}", lake).plan()
    assert "on_bad_row is for CSV files" in str(caught.value)
    assert "Take it out: Batches files state their types." in str(caught.value)
    assert "verify_pages is for Parquet files" in str(caught.value)
    assert "Take it out: Batches files have no pages." in str(caught.value)


def test_an_unknown_key_names_the_format(lake):
    with pytest.raises(ge.GpuetlError, match="needs exactly one of parquet, csv, orc, arrow, batches: the path"):
        ge.loads("gpuetl: 1\nname: p\nsources:\n  t: {schema: {k: string}}\n", lake).plan()


def test_a_folder_without_files_names_all_endings(lake):
    (lake / "empty").mkdir()
    with pytest.raises(ge.GpuetlError, match=r"holds no \.batches or \.bat file"):
        ge.loads(
            "gpuetl: 1\nname: p\nsources:\n  t: {batches: empty}\nstages: {s: {from: t, steps: [{limit: 1}]}}", lake
        ).plan()


def test_files_that_are_added_are_compared(lake):
    text = "sinks: {{out: {{from: {}, batches: out, mode: append}}}}\n"
    loaded(lake, text.format("t")).run(engine="pandas")
    other = "stages: {s: {from: t, steps: [{rename: {x: z}}]}}\n"
    done = loaded(lake, other + text.format("s")).run(engine="pandas")
    assert any("without x (int64), with z (int64)" in warning for warning in done.report.warnings)
