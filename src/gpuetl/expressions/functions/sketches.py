"""Estimates from sketches: a small state a group, whose merge gives the same whatever rows met where.

`approx_count_distinct` is HyperLogLog with 4,096 registers over `hash(x)` (P. Flajolet et al. 2007), read by the improved
estimator of O. Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", 2017.  The standard error is 1.6 %:
about 68 of 100 estimates are within 1.6 % of the exact count, 95 within 3.2 %.  10 values are counted exactly in 99 of 100
cases.  A group's state is 4 bytes for each register that a value has set, so 16 KiB at most.

`approx_quantile` counts values by their sign, exponent and first 8 significant bits, as HdrHistogram (G. Tene) and mappings
of DDSketch do (C. Masson, J. E. Rim, H. K. Lee 2019).  The error is at most 1/256 of the exact quantile, where the two values
next to it have one sign.  A group's state is 8 bytes for each such number that occurs: 128 between 1 and 2, and 1,280
between 1 and 1,000.
"""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from gpuetl.expressions.functions.aggregates import counted, of_texts, quantile_type
from gpuetl.expressions.functions.function import Function, anything, fixed
from gpuetl.types.data_types import FLOAT64, INT64

Aggregate = partial(Function, kind="aggregate", nulls="own")

# A register of HyperLogLog is the greatest place of the first one bit among hashes that begin alike.  A state lists the
# registers that are not 0, ascending, each as one int32: its number, and in the lowest bits the place.

REGISTER_BITS = 12
"""The first bits of a hash, which number its register."""
REGISTERS = 1 << REGISTER_BITS
MOST_PLACE = 64 - REGISTER_BITS + 1
"""The place of the first one bit where the rest of a hash has none."""
PLACE_BITS = 6
REGISTER_LIST = pa.list_(pa.int32())

# A bucket of values is a number that sorts as they do.  A state lists buckets, ascending, each with its count in one
# int64.

DROPPED_BITS = 45
"""The last bits of a float64, which a value is rounded to: 52 - 7."""
INFINITE_BUCKET = 0x7FF << (52 - DROPPED_BITS)
"""The bucket of infinity; the lesser ones are of finite values, NaN's is greater."""
BUCKETS_BEFORE = 1 << (63 - DROPPED_BITS)
"""What is added to a bucket, which negative values have below 0."""
COUNT_BITS = 40
BUCKET_LIST = pa.list_(INT64)

FUNCTIONS = (
    Aggregate("approx_count_distinct", "x", counted,
              "About how many distinct values there are that are not null: HyperLogLog with 4,096 registers, a standard error of 1.6 %.  "
              "The same on every engine, for every order and split of the rows.",
              "approx_count_distinct(x)", 2, nested=True, rewrite=of_texts),
    Aggregate("approx_quantile", "x q!", quantile_type,
              "`quantile(x, q)` of the values rounded to 8 significant bits, so within 1/256 (0.4 %) of it where the two "
              "values next to it have one sign; integers up to 256 are exact.", "approx_quantile(x, 0.75)", 1.5),
)  # fmt: skip
"""The examples are over x = 1, 1, 2, null, in the order of x."""

REGISTERS_OF = Aggregate("distinct_registers", "x", anything(REGISTER_LIST), "The registers of some rows.", "", None)
DISTINCT_OF_REGISTERS = Aggregate(
    "distinct_of_registers", "registers", fixed(REGISTER_LIST, returns=INT64), "The estimate of merged registers.", "",
    None, nested=True,
)  # fmt: skip
BUCKETS_OF = Aggregate("value_buckets", "x", anything(BUCKET_LIST), "The counts by bucket of some rows.", "", None)
QUANTILE_OF_BUCKETS = Aggregate(
    "quantile_of_buckets", "buckets q!", fixed(BUCKET_LIST, FLOAT64, returns=FLOAT64), "The quantile of merged counts.",
    "", None, nested=True,
)  # fmt: skip
"""Not for users: what the partitions give, and what merges it."""

INTERNAL = {
    function.name: function for function in (REGISTERS_OF, DISTINCT_OF_REGISTERS, BUCKETS_OF, QUANTILE_OF_BUCKETS)
}
STATE_BYTES = {REGISTERS_OF.name: 4 * REGISTERS, BUCKETS_OF.name: 8 * 1280}
"""The bytes of a group's state: of all registers, and of buckets of values over a factor of 1,000."""
