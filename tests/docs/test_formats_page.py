"""The table of types in docs/formats.md is true."""

from pathlib import Path

import pytest

from gpuetl.engines.cudf.io.parquet_reader import type_reason
from gpuetl.engines.cudf.io.parquet_writer import has_encoding
from gpuetl.formats.registry import format_named
from gpuetl.types.data_types import parse_type

PAGE = (Path(__file__).parents[2] / "docs/formats.md").read_text(encoding="utf-8")
FORMATS = ("parquet", "csv", "json", "orc", "arrow")
TYPES = (
    "bool", "int64", "float64", "decimal(12,2)", "string", "date", "timestamp", "timestamp[UTC]", "timestamp_ns",
    "duration", "time", "binary", "uuid", "list<int64>", "list<struct<a: int64>>", "struct<a: int64>",
    "map<string, int64>",
)  # fmt: skip


def row(name):
    """Return the line of a type: which sinks hold it, and what a GPU decodes and encodes of Parquet."""
    dtype = parse_type(name)
    is_list = name.startswith("list")
    held = (form.holds(dtype) and (form.holds_lists or not is_list) for form in map(format_named, FORMATS))
    words = ["yes" if each else "no" for each in (*held, not type_reason(dtype, dtype), has_encoding(dtype))]
    return f"| `{name}` | {' | '.join(words)} |"


@pytest.mark.parametrize("name", TYPES)
def test_the_line_of_a_type_is_true(name):
    assert row(name) in PAGE.splitlines()
