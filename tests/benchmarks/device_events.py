"""Events in device memory, for what is measured there."""

from __future__ import annotations

import cupy
import pyarrow as pa

from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.machine import Machine

USERS, CATEGORIES = 1_000_000, 20


def events(rows: int, machine: Machine) -> Frame:
    """Make events: users, of whom some have most; moments of a month in no order; 2 % of the amounts null.

    Categories are numbers in a dictionary, as they are read.
    """
    draws = cupy.random.default_rng(1)
    valid = cupy.packbits((draws.random(-(-rows // 512) * 512) >= 0.02).astype("uint8"), bitorder="little")
    missing = rows - int(cupy.unpackbits(valid, bitorder="little")[:rows].sum())
    codes = draws.integers(0, CATEGORIES, rows, "int64").astype("int32")
    names = from_arrow(pa.chunked_array([[f"category {code:02}" for code in range(CATEGORIES)]]), machine)
    return Frame({
        "user_id": Vector(pa.int64(), rows, (draws.random(rows) ** 3 * USERS).astype("int64")),
        "ts": Vector(pa.timestamp("us"), rows, (draws.random(rows) * 2.6e12).astype("int64") + 1_700_000_000_000_000),
        "amount": Vector(pa.float64(), rows, draws.random(rows) * 1000, valid.view("uint32"), missing),
        "quantity": Vector(pa.int32(), rows, draws.integers(1, 10, rows, "int64").astype("int32")),
        "lat": Vector(pa.float32(), rows, (draws.random(rows) * 180 - 90).astype("float32")),
        "lon": Vector(pa.float32(), rows, (draws.random(rows) * 360 - 180).astype("float32")),
        "category": Vector(pa.string(), rows, codes, dictionary=names),
    }, rows)  # fmt: skip
