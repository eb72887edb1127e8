"""Keys of two sides as codes: equal keys get equal codes, whatever their type, their range and the side they are on."""

import numpy as np
import pyarrow as pa
import pytest

from gpuetl.engines.pandas.relational.join_keys import (
    BLOCK_ROWS,
    MAX_SIZE,
    Codes,
    Lookup,
    combined,
    dense,
    encode_sides,
)
from tables import INT64_MAX, INT64_MIN, NAN

TOP = 2**64 - 1


def bits(*values):
    return np.array(values, np.uint64)


@pytest.mark.parametrize("known", [(), (0,), (TOP,), (0, TOP, 5, 5), tuple(range(100))])
def test_a_lookup_finds_what_is_there_and_nothing_else(known):
    lookup = Lookup.of(bits(*known))
    assert lookup.count == len(set(known))
    assert sorted(lookup.find(bits(*dict.fromkeys(known))).tolist()) == list(range(lookup.count))
    assert lookup.find(bits(*(v for v in (0, 1, TOP, TOP - 1, 101) if v not in known))).tolist() == [-1] * (
        5 - len({0, 1, TOP, TOP - 1, 101} & set(known))
    )


def test_the_greatest_hash_is_not_taken_for_the_guard(monkeypatch):
    monkeypatch.setattr("gpuetl.engines.pandas.relational.join_keys.mix_bits", lambda patterns: patterns)
    assert Lookup.of(bits(1, 2)).find(bits(TOP, 2)).tolist() == [-1, 1]
    assert Lookup.of(bits(TOP, 2)).find(bits(TOP, 2, 3)).tolist() == [1, 0, -1]
    assert Lookup.of(bits(*range(50))).find(bits(49, 0, 50)).tolist() == [49, 0, -1]  # all in one bucket


def test_a_lookup_of_many_blocks_finds_equal_values_at_equal_places():
    values = np.random.default_rng(0).integers(0, 1 << 63, 2 * BLOCK_ROWS + 3, np.uint64)
    lookup = Lookup.of(values)
    places = lookup.find(values)
    assert places.min() == 0
    assert len(np.unique(places)) == lookup.count == len(np.unique(values))
    assert (places[values.argsort()][1:] != places[values.argsort()][:-1]).sum() == lookup.count - 1
    assert (lookup.find(values + np.uint64(1 << 63)) == -1).all()


SIDES = [
    (pa.array([1, None, 5], pa.int8()), pa.array([5, 7, None, 1, -(2**40)], pa.int64())),
    (pa.array([INT64_MAX, INT64_MIN, None, 0]), pa.array([0, INT64_MIN, 5, None])),
    (pa.array([TOP, 0], pa.uint64()), pa.array([0, TOP, 1], pa.uint64())),
    (pa.array([TOP], pa.uint64()), pa.array([0, TOP, TOP - 1], pa.uint64())),
    (pa.array([-0.0, NAN, None, 1.5]), pa.array([0.0, -NAN, None, 1.5, 2.5])),
    (pa.array(["a", None, ""]), pa.array(["", "b", None, "a"])),
    (pa.array([True, None]), pa.array([False, None, True])),
    (pa.nulls(2), pa.nulls(3)),
    (pa.array([], pa.string()), pa.array(["x", None])),
    (pa.array([None, None], pa.int64()), pa.array([0, None])),
]


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("nulls_equal", [False, True])
@pytest.mark.parametrize("sides", [*SIDES, *((b, a) for a, b in SIDES)])
def test_codes_are_equal_where_keys_are(sides, nulls_equal, columns):
    codes = encode_sides(*([side] * columns for side in sides), nulls_equal)
    base, other = ([key(value, nulls_equal) for value in side.to_pylist()] for side in sides)
    assert [code >= 0 for code in codes.base] == [value != "none" for value in base]
    assert [[a == b >= 0 for b in codes.other] for a in codes.base.tolist()] == [
        [a == b != "none" for b in other] for a in base
    ]
    assert max([-1, *codes.base, *codes.other]) < codes.size


def key(value, nulls_equal):
    if value is None:
        return "null" if nulls_equal else "none"
    return "nan" if value != value else value


def test_pairs_of_codes_beyond_the_range_are_numbered_anew():
    wide = Codes(np.array([0, MAX_SIZE - 1, 5, -1]), np.array([MAX_SIZE - 1, 5, 6]), MAX_SIZE)
    pairs = combined(wide, wide)
    assert pairs.size == 9
    assert pairs.base[-1] == -1
    assert [pairs.base.tolist().index(code) if code >= 0 else None for code in pairs.other] == [1, 2, None]
    assert dense(Codes(np.array([-1]), np.array([-1, 3]), MAX_SIZE)).other.tolist() == [-1, -1]
