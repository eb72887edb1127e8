"""Hashes and digests in CUDA, compiled for the CPU."""

import hashlib

import pyarrow as pa
import pytest

from gpu_engine.differential import assert_same, computed
from gpu_engine.host_machine import COMPILER
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column, Literal
from gpuetl.types.data_types import INT64, NULL, STRING

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
TEXTS = ["aé😀\x00b"[: length % 6] + "0123456789" * (length // 10) + "x" * (length % 10) for length in range(200)]


def call(name, *args, dtype=INT64):
    """Return the call of a scalar function."""
    return Call(FUNCTIONS["scalar", name], args, dtype)


def test_text_of_any_length_is_hashed_as_the_pandas_engine_hashes_it():
    """Stripes of 32 bytes, words, halves and bytes that are left."""
    assert_same(call("hash", Column("x", STRING)), pa.table({"x": [*TEXTS, None]}))


def test_texts_that_begin_at_any_byte_have_the_same_hash():
    """The place of a text in its column does not matter."""
    repeated = [text for pad in range(9) for text in ("-" * pad, TEXTS[77])]
    hashes = computed(call("hash", Column("x", STRING)), pa.table({"x": repeated}))
    assert len(set(hashes.to_pylist()[1::2])) == 1


def test_hash_of_several_values_takes_the_hash_so_far_as_its_seed():
    """Columns of different types, nulls and a constant."""
    table = pa.table({
        "i": pa.array([1, None, -1], pa.int8()), "f": [0.0, -0.0, float("nan")], "s": ["a", None, ""],
        "d": pa.array([None, "1.50", "-1.50"]).cast(pa.decimal128(30, 2)), "n": pa.nulls(3),
    })  # fmt: skip
    columns = [Column(name, table.schema.field(name).type) for name in table.column_names]
    assert_same(call("hash", *columns, Literal("end", STRING), Literal(None, NULL)), table)
    assert_same(call("hash", *columns[::-1]), table)


def test_equal_numbers_of_any_width_have_equal_hashes():
    """Integers of every width, and floats of both."""
    for types in (
        (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64()),
        (pa.float32(), pa.float64()),
    ):
        hashes = {computed(call("hash", Column("x", t)), pa.table({"x": pa.array([100], t)}))[0].as_py() for t in types}
        assert len(hashes) == 1


@pytest.mark.parametrize("buckets", [1, 7, 2**63 - 1])
def test_bucket_is_the_unsigned_hash_modulo_its_number(buckets):
    """Null has a bucket too."""
    assert_same(call("bucket", Column("x", STRING), Literal(buckets, INT64)), pa.table({"x": [*TEXTS[:20], None]}))


@pytest.mark.parametrize(("name", "algorithm"), [("md5", hashlib.md5), ("sha256", hashlib.sha256)])
def test_digest_of_a_text_of_any_length_is_hashlibs(name, algorithm):
    """Lengths at which the padding takes another block, a text of many blocks, and a null."""
    texts = [*TEXTS, "long" * 10_000]
    digests = computed(call(name, Column("x", STRING), dtype=STRING), pa.table({"x": [*texts, None]}))
    assert digests.to_pylist() == [*(algorithm(text.encode()).hexdigest() for text in texts), None]
