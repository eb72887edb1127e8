"""A file format, which only these tests know: one class and one entry of the registry, on every engine."""

import re

import pyarrow as pa
import pytest

import gpuetl as ge
from clusters import needs_this_process
from gpuetl.engines.registry import load_backend
from gpuetl.format_options import BOOLEAN, NO_OPTIONS, FormatOptions, option, whole_number
from gpuetl.formats.format import Format, Piece
from gpuetl.formats.registry import FORMATS
from gpuetl.options import RunOptions
from gpuetl.places.open_file import opened
from gpuetl.plan.graph import walk_graph
from gpuetl.plan.nodes import Read
from gpuetl.records import dataclass
from gpuetl.types.data_types import language_type, type_name
from tables import table

ROWS = table({"k": "string", "x": "int32"}, ("a", 1), ("b", 2), ("a", None), ("ü", 4), ("b", 5))


@dataclass(frozen=True)
class BatchesReadOptions(FormatOptions):
    """Options of sources."""

    lenient: bool = option(BOOLEAN, False, "read no more than the first batch")


@dataclass(frozen=True)
class BatchesWriteOptions(FormatOptions):
    """Options of sinks."""

    batch_rows: int = option(whole_number(1, 100), 2, "the rows of a batch")


class BatchesFormat(Format):
    """Files of Arrow's IPC format, read batch by batch."""

    name = "batches"
    title = "Batches"
    suffixes = (".batches", ".bat")
    read_options = BatchesReadOptions
    write_options = BatchesWriteOptions

    def stored(self, dataset, file):
        """Return the types of the file's schema."""
        with opened(file.path, file.state) as source, pa.ipc.open_file(source.read_bytes()) as reader:
            return dict(zip(reader.schema.names, reader.schema.types, strict=True))

    def pieces(self, dataset, file):
        """Return the batches."""
        with opened(file.path, file.state) as source, pa.ipc.open_file(source.read_bytes()) as reader:
            last = 1 if BatchesReadOptions.of(dataset.options).lenient else reader.num_record_batches
            batches = [reader.get_batch(number) for number in range(last)]
        return [Piece(batch.num_rows, {"": batch.nbytes}) for batch in batches]

    def read(self, dataset, file, pieces, columns):
        """Read some batches."""
        with opened(file.path, file.state) as source, pa.ipc.open_file(source.read_bytes()) as reader:
            rows = pa.Table.from_batches(map(reader.get_batch, pieces), reader.schema)
        return rows.select([name for name in columns if name in rows.column_names])

    def write(self, table, path, options=NO_OPTIONS):
        """Write batches of two rows, or as many as the option says."""
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=BatchesWriteOptions.of(options).batch_rows)

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
    assert "on_bad_row is an option of CSV and JSON sources" in str(caught.value)
    assert "Take it out.  Options of Batches sources: lenient." in str(caught.value)
    assert "verify_pages is an option of Parquet sources" in str(caught.value)


def test_an_unknown_key_names_the_format(lake):
    with pytest.raises(
        ge.GpuetlError, match="needs exactly one of parquet, csv, json, orc, arrow, avro, excel, batches: the path"
    ):
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


OPTIONS = """\
gpuetl: 1
name: p
sources:
  t: {batches: lake, schema: {k: string, x: int64}, lenient: true}
stages:
  s:
    from: t
    steps:
      - limit: 10
sinks:
  out: {batches: out.batches, from: s, batch_rows: 1}
"""


def test_options_of_a_format_reach_its_reader_and_writer(engine, lake):
    needs_this_process(engine, "format")
    ge.loads(OPTIONS, lake).run(engine=engine)
    with pa.ipc.open_file(lake / "out.batches") as reader:
        batches = [reader.get_batch(number).num_rows for number in range(reader.num_record_batches)]
        assert batches == [1, 1, 1, 1]  # the first batches of both files, of two rows


def test_options_of_a_format_are_the_same_in_python(lake):
    loaded = ge.loads(OPTIONS, lake)
    pipeline = ge.Pipeline("p", root=lake)
    t = pipeline._source("t", "batches", "lake", {"schema": {"k": "string", "x": "int64"}, "lenient": True})
    t.limit(10).stage("s")
    pipeline.add_sink("out", "batches", "out.batches", "s", batch_rows=1)
    assert pipeline.spec == loaded.spec
    assert ge.loads(pipeline.to_yaml(), lake).spec == loaded.spec
    assert "batch_rows: 1" in pipeline.to_yaml()


def test_options_count_in_a_plan_s_fingerprint(lake):
    assert ge.loads(OPTIONS, lake).fingerprint != ge.loads(OPTIONS.replace(", lenient: true", ""), lake).fingerprint
    default = OPTIONS.replace("lenient: true", "lenient: false")
    assert ge.loads(default, lake).fingerprint == ge.loads(OPTIONS.replace(", lenient: true", ""), lake).fingerprint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("lenient: true", "lenient: 1"), "lenient: takes true or false, got a number '1'"),
        (("batch_rows: 1", "batch_rows: 0"), "batch_rows: takes a whole number from 1 to 100, got 0"),
        (("batch_rows: 1", "lenient: true"), "unknown key 'lenient'"),
    ],
)
def test_an_option_that_is_not_taken_is_refused(lake, change, message):
    with pytest.raises(ge.InvalidPipeline, match=message):
        ge.loads(OPTIONS.replace(*change), lake).plan()


@pytest.mark.parametrize(("key", "value"), [("delimiter", "';'"), ("nulls", "[NA]"), ("delimiter", "','")])
def test_an_option_of_csv_on_a_parquet_source_is_an_error(tmp_path, key, value):
    text = f"gpuetl: 1\nname: p\nsources:\n  t: {{parquet: t.parquet, {key}: {value}}}\n"
    with pytest.raises(ge.InvalidPipeline) as caught:
        ge.loads(text, tmp_path, name="p.yaml").plan()
    assert f"p.yaml:4:27: source 't': {key} is an option of CSV" in str(caught.value)
    assert "Take it out.  Options of Parquet sources: verify_checksums, verify_pages." in str(caught.value)


def test_an_option_of_csv_on_a_parquet_source_is_an_error_in_python(tmp_path):
    with pytest.raises(ge.InvalidPipeline, match="source 't': delimiter is an option of CSV sources"):
        ge.Pipeline("p", root=tmp_path).read_parquet("t", "t.parquet", delimiter=";")
