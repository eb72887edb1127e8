"""A frame as several files of a folder, which are encoded together."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpu_engine.host_machine import COMPILER, HostMachine
from gpu_engine.test_parquet_sink import SMALL, table_of, uploaded
from gpuetl.engines.cudf.columns.string_codes import with_dictionary
from gpuetl.engines.cudf.io import parquet_writer, row_groups
from gpuetl.engines.cudf.io.parquet_writer import Part, parts_of, write_parquet, write_part
from gpuetl.types.schema import Schema

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
MACHINE = HostMachine()


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """A file has a row group of 256 rows."""
    monkeypatch.setattr(parquet_writer, "LEAST_PART_ROWS", 256)


def files_of(table, folder, frame=None, layout=SMALL):
    """Write a table's files by threads; return their readers, in order."""
    made = parts_of(frame or uploaded(table), Schema.of_arrow(table.schema), MACHINE, layout)
    paths = [folder / f"{number}.parquet" for number in range(len(made))]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write_part, made, paths))
    assert not made[0].whole.encoded, "what was encoded is held"
    return [pq.ParquetFile(path) for path in paths]


@pytest.mark.part(6)
@pytest.mark.parametrize("nulls", [0, 2])
@pytest.mark.parametrize("rows", [257, 1024, 1025, 2900])
def test_files_have_all_rows_in_order_as_one_file_has_them(tmp_path, rows, nulls):
    """Of every type, with fewer files than are encoded together, as many, and more."""
    table = table_of(rows, nulls, seed=rows)
    files = files_of(table, tmp_path)
    assert [file.metadata.num_rows for file in files] == [min(256, rows - start) for start in range(0, rows, 256)]
    assert [file.metadata.num_row_groups for file in files] == [1] * len(files)
    write_parquet(uploaded(table), Schema.of_arrow(table.schema), tmp_path / "alone", MACHINE, layout=SMALL)
    alone = pq.ParquetFile(tmp_path / "alone")
    assert str(pa.concat_tables([file.read() for file in files]).to_pylist()) == str(alone.read().to_pylist())
    for number, file in enumerate(files):
        groups = file.metadata.row_group(0), alone.metadata.row_group(number)
        for column, name in enumerate(table.column_names):
            own, same = (group.column(column).statistics for group in groups)
            assert repr(own.to_dict()) == repr(same.to_dict()), name


def test_files_of_several_row_groups(tmp_path):
    """Sixteen files at most: each then has more groups."""
    table = pa.table({"x": list(range(256 * 40)), "y": [None, 1.5, 2.5, None] * 64 * 40})
    files = files_of(table, tmp_path, layout=replace(SMALL, batch_rows=1024))
    assert [file.metadata.num_row_groups for file in files] == [3] * 13 + [1]
    assert pa.concat_tables([file.read() for file in files]).equals(table)


def test_texts_with_a_dictionary_and_without(tmp_path):
    """A dictionary that a column has is in every file; one that is found is so in those that are encoded together."""
    texts = [f"text {row % 5}" for row in range(1500)]
    table = pa.table({"known": texts, "found": texts, "many": [f"{row * 7919:09}" for row in range(1500)]})
    frame = uploaded(table)
    frame = frame.updated({"known": with_dictionary(frame.columns["known"], MACHINE)})
    assert frame.columns["known"].dictionary is not None
    files = files_of(table, tmp_path, frame)
    assert pa.concat_tables([file.read() for file in files]).equals(table)
    assert all("RLE_DICTIONARY" in file.metadata.row_group(0).column(0).encodings for file in files)


def test_texts_in_order_have_a_dictionary_a_file(tmp_path):
    """One of several files would be in each of their row groups."""
    texts = [f"text {row // 16:09}" for row in range(4096)]
    table = pa.table({"x": texts})
    write_parquet(
        uploaded(table.slice(0, 256)), Schema.of_arrow(table.schema), tmp_path / "alone", MACHINE, layout=SMALL
    )
    files = files_of(table, tmp_path)
    assert pa.concat_tables([file.read() for file in files]).equals(table)
    (alone, first) = (
        pq.read_metadata(path).row_group(0).total_byte_size for path in (tmp_path / "alone", tmp_path / "0.parquet")
    )
    assert first == alone


def test_files_of_more_rows_than_a_batch_are_encoded_batch_by_batch(tmp_path):
    """Each by itself: measures of several batches would take as much memory as the frame."""
    table = pa.table({"x": list(range(256 * 40)), "y": [None, 1.5, 2.5, None] * 64 * 40})
    layout = replace(SMALL, batch_rows=512)
    made = parts_of(uploaded(table), Schema.of_arrow(table.schema), MACHINE, layout)
    assert [frame.rows for frame in made] == [768] * 13 + [256]
    for number, frame in enumerate(made):
        write_parquet(
            frame, Schema.of_arrow(table.schema), tmp_path / f"{number:02}", MACHINE, alone=False, layout=layout
        )
    assert pa.concat_tables(pq.read_table(path) for path in sorted(tmp_path.iterdir())).equals(table)


def test_few_rows_are_one_file():
    frame = uploaded(pa.table({"x": list(range(256))}))
    assert parts_of(frame, Schema({"x": pa.int64()}), MACHINE, SMALL) == [frame]


def test_a_file_can_be_tried_again_where_memory_was_short(tmp_path, monkeypatch):
    """Before anything is encoded, and when it is."""
    table = pa.table({"x": list(range(1000))})
    made = parts_of(uploaded(table), Schema({"x": pa.int64()}), MACHINE, SMALL)
    assert [part.rows for part in made] == [256, 256, 256, 232]
    assert all(isinstance(part, Part) for part in made)

    def fail(*_, **__):
        raise MemoryError

    for owner, name in ((row_groups.Rows, "measured"), (HostMachine, "written_file")):
        with monkeypatch.context() as failing:
            failing.setattr(owner, name, fail)
            with pytest.raises(MemoryError):
                write_part(made[0], tmp_path / "0.parquet")
    for number, part in enumerate(made):
        write_part(part, tmp_path / f"{number}.parquet")
    assert pq.read_table(tmp_path)["x"].to_pylist() == list(range(1000))
    assert not made[0].whole.encoded


def test_texts_that_no_page_holds_are_refused_by_each_file(tmp_path, monkeypatch):
    monkeypatch.setattr(row_groups, "LIMIT", 1000)
    monkeypatch.setattr(row_groups, "MOST_PAGE_BYTES", 500)
    table = pa.table({"x": [f"{row:040}" for row in range(600)]})
    for part in parts_of(uploaded(table), Schema.of_arrow(table.schema), MACHINE, SMALL):
        with pytest.raises(pa.ArrowInvalid, match="32 texts have 1,408 bytes"):
            write_part(part, tmp_path / "x.parquet")
