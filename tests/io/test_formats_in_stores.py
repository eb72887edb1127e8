"""Formats other than Parquet and CSV, read from a store of objects in memory, on every engine."""

import io

import fastavro
import openpyxl
import pyarrow as pa
import pytest
from pyarrow import orc

import gpuetl as ge
from clusters import needs_this_process
from gpuetl.options import RunOptions
from places.test_filesystems import MemoryFilesystem, registered

ROWS = [{"x": 1, "s": "a"}, {"x": 2, "s": None}, {"x": 3, "s": "c"}]
TABLE = pa.Table.from_pylist(ROWS)


def orc_bytes():
    file = io.BytesIO()
    orc.write_table(TABLE, file)
    return file.getvalue()


def arrow_bytes():
    file = io.BytesIO()
    with pa.ipc.new_file(file, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=2)
    return file.getvalue()


def avro_bytes():
    file = io.BytesIO()
    fields = [{"name": "x", "type": "long"}, {"name": "s", "type": ["null", "string"]}]
    fastavro.writer(file, {"type": "record", "name": "r", "fields": fields}, ROWS, sync_interval=1)
    return file.getvalue()


def excel_bytes():
    file, workbook = io.BytesIO(), openpyxl.Workbook()
    for row in (["x", "s"], *(list(row.values()) for row in ROWS)):
        workbook.active.append(row)
    workbook.save(file)
    return file.getvalue()


LINES = b'{"x":1,"s":"a"}\n{"x":2}\n{"x":3,"s":"c"}\n'
OBJECTS = {
    "json": ("a.jsonl", LINES),
    "json packed": ("a.jsonl.zst", bytes(pa.Codec("zstd").compress(LINES))),
    "orc": ("a.orc", orc_bytes()),
    "arrow": ("a.arrow", arrow_bytes()),
    "avro": ("a.avro", avro_bytes()),
    "excel": ("a.xlsx", excel_bytes()),
}


@pytest.mark.parametrize("partition_rows", [2, None])
@pytest.mark.parametrize("name", OBJECTS)
def test_objects_of_a_store_are_read(engine, tmp_path, name, partition_rows):
    needs_this_process(engine, "filesystem")
    file, data = OBJECTS[name]
    form = name.split()[0]
    with registered("mem", MemoryFilesystem()) as store:
        store.put(f"shop/{form}/{file}", data)
        text = f"""
gpuetl: 1
name: p
sources: {{t: {{{form}: "mem://shop/{form}", filename: file}}}}
stages: {{s: {{from: t, steps: [{{filter: x > 0}}]}}}}
"""
        done = ge.loads(text, tmp_path).run(engine=engine, options=RunOptions(partition_rows=partition_rows))
        assert done["s"].to_arrow().to_pylist() == [{**row, "file": f"mem://shop/{form}/{file}"} for row in ROWS]
