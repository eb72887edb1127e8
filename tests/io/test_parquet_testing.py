"""Files of github.com/apache/parquet-testing, by many writers: read as pyarrow reads them, or refused with a reason.

The files are not here.  Check the repository out, at the commit below or a later one, and run
`PARQUET_TESTING=/path/to/checkout pytest tests/io/test_parquet_testing.py`.
"""

import os
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl import GpuetlError, Pipeline
from gpuetl.formats.nested_arrays import in_type
from gpuetl.testing import assert_tables_equal
from gpuetl.types.data_types import language_type

COMMIT = "1a2a75127be06fc0123f03ebd36c966f7beda27d"
FOLDER = Path(os.environ.get("PARQUET_TESTING") or "/no/such/folder")
FILES = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if ".parquet" in path.suffixes)
GOOD = [name for name in FILES if not name.startswith("bad_data/") and not name.endswith(".json")]
BAD = [name for name in FILES if name.startswith("bad_data/")]

LOSES_NANOSECONDS = "would lose data"
REFUSED = {
    "data/incorrect_map_schema.parquet": "Map keys must be annotated as required",
    "data/int96_from_spark.parquet": "microseconds do not hold the INT96 time in row 5",
    "data/large_string_map.brotli.parquet": "its reader does not support what it holds",
    "shredded_variant/case-033.parquet": LOSES_NANOSECONDS,
    "shredded_variant/case-034.parquet": LOSES_NANOSECONDS,
    "shredded_variant/case-035.parquet": LOSES_NANOSECONDS,
    "shredded_variant/case-036.parquet": LOSES_NANOSECONDS,
}
"""Why a good file is not read; those whose names end in `.encrypted` are encrypted."""


def read(name, engine):
    pipeline = Pipeline("test", root=(FOLDER / name).parent)
    pipeline.read_parquet("t", Path(name).name)
    return pipeline.run(engine=engine, keep=["t"])["t"].to_arrow()


@pytest.mark.skipif(not FILES, reason="needs PARQUET_TESTING, a checkout of github.com/apache/parquet-testing")
def test_the_files_are_there():
    assert len(GOOD) >= 212
    assert set(REFUSED) <= set(GOOD)


@pytest.mark.parametrize("name", GOOD)
def test_a_good_file_is_read_as_pyarrow_reads_it_or_refused_with_a_reason(name, local_engine):
    reason = "is encrypted, and gpuetl has no keys" if name.endswith(".encrypted") else REFUSED.get(name)
    if reason:
        with pytest.raises(GpuetlError, match=reason):
            read(name, local_engine)
        return
    with pq.ParquetFile(FOLDER / name) as file:
        stored = file.read()
    columns = zip(stored.column_names, stored.columns, strict=True)
    expected = pa.table({name: in_type(column, language_type(column.type)) for name, column in columns})
    assert_tables_equal(read(name, local_engine), expected, ordered=True)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_read_or_refused(name, local_engine):
    with suppress(GpuetlError):
        read(name, local_engine)
