"""hash, bucket, md5, sha256: defined to the bit."""

import hashlib
import random
import struct
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from expressions.evaluation import table, typed, value, values
from gpuetl import InvalidExpression
from gpuetl.engines.pandas.expressions.functions.hashing import BLOCK_ROWS, hash_bytes, hash_words
from tables import INF, INT64_MAX, INT64_MIN, NAN

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261,
)  # fmt: skip


def rotated(x, by):
    return ((x << by) | (x >> (64 - by))) & MASK


def rounded(lane, word):
    return rotated((lane + word * P2) & MASK, 31) * P1 & MASK


def little(data):
    return int.from_bytes(data, "little")


def xxh64(data, seed=0):
    """The specification, step by step."""
    length, h = len(data), (seed + P5) & MASK
    if length >= 32:
        lanes = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        while len(data) >= 32:
            lanes = [rounded(lane, little(data[8 * i : 8 * i + 8])) for i, lane in enumerate(lanes)]
            data = data[32:]
        h = sum(rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & MASK
        for lane in lanes:
            h = ((h ^ rounded(0, lane)) * P1 + P4) & MASK
    h = (h + length) & MASK
    while len(data) >= 8:
        h, data = (rotated(h ^ rounded(0, little(data[:8])), 27) * P1 + P4) & MASK, data[8:]
    if len(data) >= 4:
        h, data = (rotated(h ^ (little(data[:4]) * P1 & MASK), 23) * P2 + P3) & MASK, data[4:]
    for byte in data:
        h = rotated(h ^ (byte * P5 & MASK), 11) * P1 & MASK
    h = (h ^ (h >> 33)) * P2 & MASK
    h = (h ^ (h >> 29)) * P3 & MASK
    return h ^ (h >> 32)


def signed(bits):
    return bits - (1 << 64) if bits >> 63 else bits


def eight(number):
    return struct.pack("<q", number)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", 0xEF46DB3751D8E999),
        (b"a", 0xD24EC4F1A98C6E5B),
        (b"abc", 0x44BC2CF5AD770999),
        (b"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1),
    ],
)
def test_the_twin_gives_the_published_values(text, expected):
    assert xxh64(text) == expected
    assert value(f"hash('{text.decode()}')") == signed(expected)


def test_strings_of_every_length_are_hashed_with_any_seed():
    rng = random.Random(1)
    texts = [rng.randbytes(length) for length in [*range(132), 1000, 4096, 4127]]
    rng.shuffle(texts)
    lengths = np.array([len(text) for text in texts])
    data, starts = np.frombuffer(b"".join(texts), np.uint8), np.cumsum(lengths) - lengths
    for seed in (0, 1, MASK):
        got = hash_bytes(data, starts, lengths, np.array([seed], np.uint64))
        assert got.tolist() == [xxh64(text, seed) for text in texts]
    seeds = [rng.randrange(1 << 64) for _ in texts]
    got = hash_bytes(data, starts, lengths, np.array(seeds, np.uint64))
    assert got.tolist() == [xxh64(text, seed) for text, seed in zip(texts, seeds, strict=True)]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_words_are_hashed_as_their_bytes(count):
    words = [np.array([0, 1, MASK, 0x0123456789ABCDEF], np.uint64) + np.uint64(i) for i in range(count)]
    expected = [xxh64(b"".join(struct.pack("<Q", word[i]) for word in words), 7) for i in range(4)]
    assert hash_words(words, np.array([7], np.uint64)).tolist() == expected


@pytest.mark.parametrize(
    ("dtype", "items", "data"),
    [
        ("int8", [-128, 0], [eight(-128), eight(0)]),
        ("int64", [INT64_MIN, INT64_MAX, -1], [eight(INT64_MIN), eight(INT64_MAX), b"\xff" * 8]),
        ("uint64", [2**64 - 1, 1], [b"\xff" * 8, eight(1)]),
        ("bool", [True, False], [eight(1), eight(0)]),
        ("float64", [1.5, INF, -INF], [struct.pack("<d", x) for x in (1.5, INF, -INF)]),
        ("float64", [-0.0, 0.0, NAN], [bytes(8), bytes(8), struct.pack("<Q", 0x7FF8000000000000)]),
        ("float32", [0.1, -0.0], [struct.pack("<d", struct.unpack("<f", struct.pack("<f", 0.1))[0]), bytes(8)]),
        ("date", [date(1970, 1, 2), date(1969, 12, 31)], [eight(1), eight(-1)]),
        ("timestamp", [datetime(1970, 1, 1, 0, 0, 1)], [eight(1_000_000)]),
        ("timestamp[Europe/Zurich]", [datetime(1970, 1, 1, 0, 0, 1)], [eight(1_000_000)]),
        ("duration", [timedelta(microseconds=-7)], [eight(-7)]),
        (
            "decimal(5,2)",
            [Decimal("1.50"), Decimal("-0.01")],
            [x.to_bytes(16, "little", signed=True) for x in (150, -1)],
        ),
        ("decimal(38,0)", [Decimal(10**37)], [(10**37).to_bytes(16, "little")]),
        ("string", ["", "añb", "𝄞", "é"], [x.encode() for x in ("", "añb", "𝄞", "é")]),
    ],
)
def test_every_type_is_hashed_as_its_bytes(dtype, items, data):
    expected = [signed(xxh64(one)) for one in data]
    assert values("hash(x)", table(x=(dtype, items))) == expected
    with_null = table(x=(dtype, [None, *items, None])).slice(1)
    assert values("hash(x)", with_null) == [*expected, signed(xxh64(b"\xff"))]
    assert values("hash(x)", table(x=(dtype, [None]))) == [signed(xxh64(b"\xff"))]
    assert values("hash(x)", table(x=(dtype, []))) == []


def test_another_nan_is_the_same_nan():
    nans = np.array([0x7FF8000000000001, 0xFFF8000000000000], np.uint64).view(np.float64)
    expected = signed(xxh64(struct.pack("<Q", 0x7FF8000000000000)))
    assert values("hash(x)", pa.table({"x": nans})) == [expected] * 2


def chained(*data):
    h = 0
    for one in data:
        h = xxh64(one, h)
    return signed(h)


def test_each_hash_is_the_seed_of_the_next():
    frame = table(a=("int64", [1, None, 3]), s=("string", ["x", "", None]))
    assert values("hash(a, s)", frame) == [
        chained(eight(1), b"x"), chained(b"\xff", b""), chained(eight(3), b"\xff"),
    ]  # fmt: skip
    assert values("hash(7, a, 'k', s)", frame)[2] == chained(eight(7), eight(3), b"k", b"\xff")
    assert values("hash(a, NULL)", frame)[0] == chained(eight(1), b"\xff")
    assert value("hash(1, NULL, 'x')") == chained(eight(1), b"\xff", b"x")
    assert values("hash(a, s)", frame)[1] != values("hash(s, a)", frame)[1]


def test_columns_of_nulls_and_of_several_chunks_are_hashed():
    frame = pa.table({"n": pa.nulls(3), "s": pa.chunked_array([["a"], ["b", None]])})
    assert values("hash(n, s)", frame) == [chained(b"\xff", b"a"), chained(b"\xff", b"b"), chained(b"\xff", b"\xff")]


def test_rows_are_hashed_alike_in_every_block():
    rows = BLOCK_ROWS * 2 + 3
    frame = pa.table({"x": pa.array(np.arange(rows)), "s": pa.array([str(i) for i in range(rows)])})
    got = values("hash(x, s)", frame)
    for row in (0, BLOCK_ROWS - 1, BLOCK_ROWS, rows - 1):
        assert got[row] == chained(eight(row), str(row).encode())


def test_a_bucket_is_the_unsigned_hash_modulo_the_count():
    frame = table(s=("string", ["a", "", None]))
    assert values("bucket(s, 7)", frame) == [xxh64(b"a") % 7, xxh64(b"") % 7, xxh64(b"\xff") % 7]
    assert values("bucket(s, 1)", frame) == [0, 0, 0]
    assert value(f"bucket('a', {INT64_MAX})") == xxh64(b"a") % INT64_MAX
    assert values("bucket(hash(s, s), 5)", frame)[0] == xxh64(struct.pack("<q", chained(b"a", b"a"))) % 5


@pytest.mark.parametrize(("count", "got"), [("0", "0"), ("-1", "-1"), ("1.5", "float64"), ("'4'", "string")])
def test_a_number_of_buckets_is_positive(count, got):
    with pytest.raises(InvalidExpression, match="takes a number of buckets from 1, got"):
        typed(f"bucket(x, {count})", {"x": pa.int64()})
    with pytest.raises(InvalidExpression, match="takes a constant"):
        typed("bucket(x, x)", {"x": pa.int64()})


@pytest.mark.parametrize("name", ["md5", "sha1", "sha256"])
def test_digests_are_those_of_the_utf8_bytes(name):
    texts = ["", "a", None, "añ𝄞", "a", "x" * 200]
    expected = [None if text is None else hashlib.new(name, text.encode()).hexdigest() for text in texts]
    frame = pa.table({"s": pa.chunked_array([texts[:2], texts[2:]], pa.string())})
    assert values(f"{name}(s)", frame) == expected
    assert values(f"{name}(s)", frame.slice(0, 0)) == []
    assert values(f"{name}(s)", table(s=("string", [None, None]))) == [None, None]
    assert value(f"{name}(NULL)") is None


@pytest.mark.parametrize("call", ["md5(x)", "sha1(x)", "sha256(x)"])
def test_digests_are_of_strings(call):
    with pytest.raises(InvalidExpression, match="takes binary or string, got int64"):
        typed(call, {"x": pa.int64()})
