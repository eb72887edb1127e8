"""Parquet files of the CPU engines: which columns have a dictionary."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gpuetl.formats.parquet_rows import SAMPLE_ROWS, write_parquet

ROWS = 4 * SAMPLE_ROWS
RANDOM = np.random.default_rng(1)
DISTINCT = RANDOM.permutation(ROWS)


def encodings(path, table):
    write_parquet(table, path)
    assert pq.read_table(path).equals(table)
    group = pq.read_metadata(path).row_group(0)
    columns = [group.column(place) for place in range(group.num_columns)]
    return {column.path_in_schema: "RLE_DICTIONARY" in column.encodings for column in columns}


@pytest.mark.parametrize(
    ("values", "has_dictionary"),
    [
        (pa.array(DISTINCT), False),
        (pa.array(DISTINCT.astype(str)), False),
        (pa.array(DISTINCT, mask=DISTINCT % 3 == 0), False),
        (pa.array(DISTINCT / 7), False),
        (pa.array(DISTINCT // 100), True),
        (pa.array((DISTINCT // 100).astype(str)), True),
        (pa.array(np.sort(DISTINCT // 10)), True),
        (pa.nulls(ROWS, pa.int64()), True),
        (pa.array([[number] for number in DISTINCT.tolist()]), True),
    ],
)
def test_columns_whose_values_mostly_differ_have_no_dictionary(tmp_path, values, has_dictionary):
    """It would be given up after a megabyte, and costs up to 32 MB until then."""
    table = pa.table(
        {"few.values": pa.array(DISTINCT % 5), "x": pa.chunked_array([values[: ROWS // 3], values[ROWS // 3 :]])}
    )
    few, x = encodings(tmp_path / "x.parquet", table).items()
    assert few == ("few.values", True)
    assert x[1] == has_dictionary


def test_few_rows_have_dictionaries(tmp_path):
    found = encodings(tmp_path / "x.parquet", pa.table({"x": DISTINCT[:100], "y": [None] * 100}))
    assert found == {"x": True, "y": True}


def test_a_table_of_distinct_values_has_no_dictionary_at_all(tmp_path):
    assert encodings(tmp_path / "x.parquet", pa.table({"x": DISTINCT, "y": DISTINCT * 3})) == {"x": False, "y": False}
