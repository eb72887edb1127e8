"""Why a value has no result is said in the same words by both engines, none of which are a library's."""

from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from gpu_engine.host_machine import COMPILER, host_backend
from gpuetl.engines.no_result import NoResult
from gpuetl.engines.pandas.pandas_engine import PandasBackend
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.formats.frames import FrameDataset
from gpuetl.plan.nodes import Project, Read

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")

ROWS = pa.table({
    "i": [2**63 - 1], "u": pa.array([2**64 - 1], pa.uint64()), "f": [1.5], "big": [1e300], "s": ["x1"],
    "day": pa.array([2**31 - 1], pa.int32()).cast(pa.date32()), "d": [Decimal("12.25")],
    "big_t": pa.array([2**63 - 1]).cast(pa.timestamp("us")), "t": pa.array([datetime(2024, 3, 31, 2, 30, tzinfo=UTC)], pa.timestamp("us")),
})  # fmt: skip
GREATEST = "9223372036854775807"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("i + 1", f"i + 1 has no result, for {GREATEST}, 1: overflow of int64"),
        ("CAST(i AS int8)", f"CAST(i AS int8) has no result, for {GREATEST}: int8 cannot hold it exactly"),
        ("u + 1", "u has no result, for 18446744073709551615: int64 cannot hold it exactly"),
        ("CAST(f AS bool)", "CAST(f AS bool) has no result, for 1.5: neither 0 nor 1"),
        ("CAST(big AS float32)", "CAST(big AS float32) has no result, for 1e+300: beyond the range of float32"),
        ("CAST(s AS timestamp)", "CAST(s AS timestamp) has no result, for x1: not a valid timestamp"),
        ("CAST(d AS decimal(5,1))", "CAST(d AS decimal(5,1)) has no result, for 12.25: more than 1 decimals"),
        ("CAST(d AS decimal(2,1))", "CAST(d AS decimal(2,1)) has no result, for 12.25: overflow of decimal(2,1)"),
        (
            "CAST(t AS date)",
            "CAST(t AS date) has no result, for 2024-03-31 02:30:00: it has a time of day; use to_date",
        ),
        ("day + 1", "day + 1 has no result, for 5881580-07-11, 1: the result is beyond the range of dates"),
        (
            "big_t + INTERVAL '1 month'",
            "big_t + INTERVAL '1 month' has no result, for 294247-01-10 4:00:54.775807, 1 month: the result is beyond the range of timestamps",
        ),
        (
            "t AT TIME ZONE 'Europe/Berlin'",
            "t AT TIME ZONE 'Europe/Berlin' has no result, for 2024-03-31 02:30:00, Europe/Berlin: "
            "the zone's clock never shows it; see assume_zone's nonexistent",
        ),
    ],
)
def test_both_engines_give_the_same_reason(sql, message):
    read = Read(dataset=FrameDataset.of("t", ROWS), columns=tuple(ROWS.column_names))
    project = Project(source=read, columns={"y": resolve(parse_expression(sql), Scope(read.schema, {}))})
    for backend in (PandasBackend(), host_backend()):
        with pytest.raises(NoResult) as caught:
            backend.run(project, backend.from_arrow(ROWS))
        assert (caught.value.what, caught.value.output, caught.value.row) == (message, "y", 0)
