"""The closed set's kernels over keys against Python: components of every type, nulls and direction, and any number of them."""

import random
import struct
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from conftest import skip_where_it_cannot_run
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.choices import skipping
from gpuetl.engines.cudf.columns import packed_keys as words_module
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.columns.keys import KERNEL_COMPONENTS, MOST_COMPONENTS, Key, Keys, Layout
from gpuetl.engines.cudf.columns.order import sort_rows
from gpuetl.engines.cudf.columns.packed_keys import MOST_OUTPUTS, mark_columns, mark_words, measured, packed
from gpuetl.engines.cudf.relational.join_lookup import JoinKeys, SortedLookup, TableLookup, lookup_of
from gpuetl.engines.registry import load_backend
from gpuetl.plan.node import SortKey

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")
ON_CPU = [pytest.param(made, marks=needs_compiler) for made in (HostMachine, EmulatedMachine)]
SIGN, ALL = 1 << 63, (1 << 64) - 1
NAN = float("nan")
LONG, SHORT = pa.decimal128(38, 0), pa.decimal128(18, 0)
POOLS = {
    pa.bool_(): [False, True], pa.int8(): [-128, -1, 0, 127], pa.int16(): [-32768, 7, 32767],
    pa.int32(): [-(2**31), -1, 0, 2**31 - 1], pa.int64(): [-(2**63), -1, 0, 5, 2**63 - 1], pa.uint8(): [0, 128, 255],
    pa.uint16(): [0, 65535], pa.uint32(): [3, 2**32 - 1], pa.uint64(): [0, 2**63, 2**64 - 1],
    pa.float32(): [-float("inf"), -1.5, -0.0, 0.0, 1e-45, float("inf"), NAN],
    pa.float64(): [-float("inf"), -1.5, -0.0, 0.0, 5e-324, float("inf"), NAN],
    SHORT: [-(10**17), 0, 10**17], LONG: [-(10**37), -1, 0, 2**64 - 1, 2**64, 10**37], pa.date32(): [-1, 0, 20000],
}  # fmt: skip
ROWS = [1, 31, 33, 256, 257, 700]


@pytest.fixture(params=[*ON_CPU, pytest.param("cudf", marks=pytest.mark.gpu)])
def machine(request):
    """The CPU's side of kernels, the GPU's, and a GPU."""
    if request.param != "cudf":
        return request.param()
    skip_where_it_cannot_run(request.param)
    return load_backend(request.param).machine


def key_of(values, dtype, machine, flagged=False, descending=False, nulls_first=False):
    """Return values, None for nulls, as a key."""
    stored = pa.array(values, pa.int32()).cast(dtype) if dtype == pa.date32() else pa.array(values, dtype)
    return Key(from_arrow(pa.chunked_array([stored]), machine), flagged, descending, nulls_first)


def components_of(value, dtype, flagged=False, descending=False, nulls_first=False):
    """Return the components of a value; None for those of a null that are not known."""
    flag = [int((value is None) != nulls_first)] * flagged
    found = ordered(value, dtype)
    return flag + [None if value is None else ALL - component if descending else component for component in found]


def ordered(value, dtype):
    """Return a value as unsigned numbers in the order of values."""
    if dtype == LONG:
        return [None, None] if value is None else [(value >> 64) + SIGN, value & ALL]
    if value is None:
        return [None]
    if pa.types.is_floating(dtype):
        bits = 32 if dtype == pa.float32() else 64
        if value != value:
            return [(1 << bits) - 1]
        stored = struct.unpack("<Q" if bits == 64 else "<I", struct.pack("<d" if bits == 64 else "<f", value + 0.0))[0]
        sign = 1 << (bits - 1)
        return [(1 << bits) - 1 - stored if stored & sign else stored | sign]
    unsigned = dtype == pa.bool_() or pa.types.is_unsigned_integer(dtype)
    return [int(value) + (0 if unsigned else SIGN)]


def random_keys(components, rows, seed, machine, few=False):
    """Return keys of so many components, of random types, and each row's components."""
    draws = random.Random(seed)
    keys, columns = [], []
    while len(columns) < components:
        dtype = draws.choice([t for t in POOLS if t != LONG or components - len(columns) > 1])
        nullable = draws.random() < 0.5
        flagged = nullable and components - len(columns) > 2
        how = {"flagged": flagged, "descending": draws.random() < 0.5, "nulls_first": draws.random() < 0.5}
        pool = [*(POOLS[dtype][:2] if few else POOLS[dtype]), *[None] * nullable]
        values = [draws.choice(pool) for _ in range(rows)]
        keys.append(key_of(values, dtype, machine, **how))
        columns += zip(*(components_of(value, dtype, **how) for value in values), strict=True)
    return keys, list(zip(*columns, strict=True))


def known(row):
    """Return components as kernels compare them: those that are not known are 0."""
    return [component or 0 for component in row]


def expected_layout(rows):
    """Return the layout of rows of components."""
    least, bits = [], []
    for components in zip(*rows, strict=True):
        there = [component for component in components if component is not None]
        least.append(min(there, default=ALL))
        bits.append((max(there, default=0) - least[-1]).bit_length() if there else 0)
    return Layout(tuple(least), tuple(bits), all(known(x) <= known(y) for x, y in pairwise(rows)))


def expected_words(rows, layout):
    """Return the words of rows."""
    return [
        [
            sum((row[d] - layout.least[d] if row[d] is not None else 0) << layout.shift(word, d) for d in word)
            for row in rows
        ]
        for word in layout.packed_integers
    ]


@pytest.mark.parametrize(
    ("dtype", "value", "components"),
    [
        ("int8", -128, [SIGN - 128]), ("int8", 127, [SIGN + 127]), ("int16", -1, [SIGN - 1]), ("bool", True, [1]),
        ("int32", -(2**31), [SIGN - 2**31]), ("int64", -(2**63), [0]), ("int64", 2**63 - 1, [ALL]),
        ("uint8", 255, [255]), ("uint16", 65535, [65535]), ("uint32", 2**32 - 1, [2**32 - 1]), ("uint64", ALL, [ALL]),
        ("float32", -1.0, [0x407FFFFF]), ("float32", -0.0, [0x80000000]), ("float32", NAN, [0xFFFFFFFF]),
        ("float64", 1.0, [0xBFF0000000000000]), ("float64", -0.0, [SIGN]), ("float64", NAN, [ALL]),
        (LONG, -1, [SIGN - 1, ALL]), (LONG, 2**64, [SIGN + 1, 0]), (SHORT, -1, [SIGN - 1]),
    ],
    ids=str,
)  # fmt: skip
def test_a_value_has_components_of_its_own(machine, dtype, value, components):
    """In the order of the contract: one zero, and NaN the greatest; the other way round where descending."""
    dtype = pa.type_for_alias(dtype) if isinstance(dtype, str) else dtype
    for descending in (False, True):
        keys = Keys((key_of([value], dtype, machine, descending=descending),), 1)
        expected = tuple(ALL - component for component in components) if descending else tuple(components)
        assert measured(keys, machine) == Layout(expected, (0,) * len(components), True)


@pytest.mark.parametrize("nulls_first", [False, True])
def test_a_flag_says_where_nulls_stand(machine, nulls_first):
    """The component of a null's value is not measured."""
    keys = Keys((key_of([7, None], pa.int64(), machine, True, False, nulls_first),), 2)
    assert measured(keys, machine) == Layout((0, SIGN + 7), (1, 0), not nulls_first)


@pytest.mark.part(6)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("components", [*KERNEL_COMPONENTS, 5, 9, 17, 40])
def test_keys_are_measured_and_packed(machine, components, rows):
    """Of any number of components, whole in their words."""
    keys, expected = random_keys(components, rows, components * rows, machine)
    keys = Keys(tuple(keys), rows)
    layout = measured(keys, machine)
    assert layout == expected_layout(expected)
    words = packed(keys, layout, machine)
    assert [machine.host(word).tolist() for word in words] == expected_words(expected, layout)


@pytest.mark.part(2)
@pytest.mark.parametrize("components", [2, 3, 5, 9, 16, 17])
def test_many_rows_are_measured_and_packed_by_few_components(machine, components, monkeypatch):
    """Words are put together in several passes, and rows out of order are found by any of them."""
    monkeypatch.setattr(words_module, "MANY_ROWS", 1)
    keys, expected = random_keys(components, 300, components, machine)
    keys = Keys(tuple(keys), 300)
    layout = measured(keys, machine)
    assert layout == expected_layout(expected)
    assert [machine.host(word).tolist() for word in packed(keys, layout, machine)] == expected_words(expected, layout)
    for place in {0, 1, components // 2, components - 1}:
        for swapped in (None, 1, 255, 299):
            values = np.arange(300)
            if swapped:
                values[[swapped - 1, swapped]] = values[[swapped, swapped - 1]]
            columns = [values if at == place else np.zeros(300, np.int64) for at in range(components)]
            own = tuple(key_of(column, pa.int64(), machine) for column in columns)
            assert measured(Keys(own, 300), machine).in_order is (swapped is None)


def test_components_of_a_word_lie_side_by_side_whatever_packs_them(machine, monkeypatch):
    """Five components of 2, 3, 4, 5 and 6 bits: a word of 20 bits, in passes of two components."""
    monkeypatch.setattr(words_module, "MANY_ROWS", 1)
    rows = [[0] * 5, [3, 7, 15, 31, 63], [1, 2, 3, 4, 5]]
    columns = list(zip(*rows, strict=True))
    keys = Keys(tuple(key_of(column, pa.int64(), machine) for column in columns), 3)
    (word,) = packed(keys, measured(keys, machine), machine)
    assert word.dtype == "uint32"
    assert machine.host(word).tolist() == [0, (1 << 20) - 1, 1 << 18 | 2 << 15 | 3 << 11 | 4 << 6 | 5]


@pytest.mark.parametrize("number", ["int32", "int64"])
@pytest.mark.parametrize("components", [1, 4, 17])
def test_rows_that_are_selected_are_measured_and_packed(machine, components, number):
    """Some of them twice, in any order."""
    keys, rows = random_keys(components, 300, components, machine)
    numbers = np.random.default_rng(0).integers(0, 300, 411).astype(number)
    expected = [rows[number] for number in numbers]
    keys = Keys(tuple(keys), 411, machine.arrays.asarray(numbers))
    layout = measured(keys, machine)
    assert layout == expected_layout(expected)
    assert [machine.host(word).tolist() for word in packed(keys, layout, machine)] == expected_words(expected, layout)


@pytest.mark.part(4)
@pytest.mark.parametrize("components", [1, 2, 7, 16, 17, 35])
def test_one_row_out_of_order_is_noticed(machine, components):
    """At the ends of warps and rounds, in the last component as in the first; and none where all are in order."""
    rows = 700
    for place in (0, components - 1):
        for swapped in (None, 1, 31, 32, 64, 255, 256, 512, 699):
            values = np.arange(rows)
            if swapped:
                values[[swapped - 1, swapped]] = values[[swapped, swapped - 1]]
            columns = [values if at == place else np.zeros(rows, np.int64) for at in range(components)]
            keys = tuple(key_of(column, pa.int64(), machine) for column in columns)
            assert measured(Keys(keys, rows), machine).in_order is (swapped is None)


@pytest.mark.part(2)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("components", [1, 2, 3, 4, 8, 16, 20, 33])
def test_rows_that_differ_from_the_one_before_are_marked(machine, components, rows):
    """In the leading keys, or in any; those that do in none are counted."""
    keys, found = random_keys(components, rows, rows + components, machine, few=True)
    repeated = np.sort(np.random.default_rng(rows).integers(0, rows, rows))
    chosen, numbers = [known(found[row]) for row in repeated], machine.arrays.asarray(repeated.astype("int32"))
    for leading in {0, 1, len(keys) // 2, len(keys)}:
        marks = mark_columns(Keys(tuple(keys), rows, numbers), leading, machine)
        count = sum(key.components for key in keys[:leading])
        groups = [1, *(int(x[:count] != y[:count]) for x, y in pairwise(chosen))]
        values = [1, *(int(x != y) for x, y in pairwise(chosen))]
        assert machine.host(marks.groups).tolist() == groups
        assert machine.host(marks.values).tolist() == values
        assert int(marks.ties[0]) == rows - sum(values)


@pytest.mark.parametrize("components", [2, 9, 20, 40])
@pytest.mark.parametrize("leading", [0, 1, 3])
def test_words_are_marked_in_the_order_of_rows(machine, components, leading):
    """Groups may end within a word."""
    keys, found = random_keys(components, 500, components, machine, few=True)
    keys = Keys(tuple(keys), 500)
    layout = measured(keys, machine)
    words = packed(keys, layout, machine)
    order = machine.sorted_order(words)
    marks = mark_words(words, keys, leading, layout, order, [], machine)
    # A value that is not known is packed as the least one: no flag tells them apart.
    known_as = [least if bits else None for least, bits in zip(layout.least, layout.bits, strict=True)]
    chosen = [
        [other if component is None else component for component, other in zip(found[row], known_as, strict=True)]
        for row in machine.host(order)
    ]
    count = sum(key.components for key in keys.keys[:leading])
    groups = [1, *(int(known(x[:count]) != known(y[:count])) for x, y in pairwise(chosen))]
    values = [1, *(int(known(x) != known(y)) for x, y in pairwise(chosen))]
    assert machine.host(marks.values).tolist() == values
    assert machine.host(marks.groups).tolist() == groups


def test_more_columns_than_a_kernel_writes_are_sorted(machine):
    """Those that are computed from words, and those that are gathered."""
    count, rows = MOST_OUTPUTS + 12, 90
    columns = {f"c{at}": pa.array([(row * 7 + at) % 5 > 2 for row in range(rows)]) for at in range(count)}
    columns |= {"last": pa.array([row * 37 % rows for row in range(rows)])}
    made = Frame({name: from_arrow(pa.chunked_array([values]), machine) for name, values in columns.items()}, rows)
    order = sort_rows(made, [SortKey(name) for name in columns], 1, False, machine, whole=True)
    got = {name: to_arrow(vector, machine).to_pylist() for name, vector in order.apply(made, machine).columns.items()}
    expected = sorted(zip(*(values.to_pylist() for values in columns.values()), strict=True))
    assert list(zip(*got.values(), strict=True)) == expected
    assert len(order.columns) == MOST_OUTPUTS


@pytest.mark.parametrize("skipped", [(), ("join_by_table",)], ids=["any", "by hash"])
@pytest.mark.parametrize("nulls_equal", [False, True])
@pytest.mark.parametrize("components", [1, 2, 3, 4, 6, 12, 16, 18])
def test_keys_of_any_number_of_components_are_found(machine, components, nulls_equal, skipped):
    """Those of more than a kernel takes are sorted."""
    draws = random.Random(components)
    flagged = nulls_equal and components > 1
    types = [draws.choice([t for t in POOLS if t != LONG]) for _ in range(components - flagged)]
    keys = {}
    for side, rows in (("left", 300), ("right", 40)):
        pools = [POOLS[dtype][:2] for dtype in types]
        if flagged:
            pools[0] = [*pools[0], None]
        keys[side] = [[draws.choice(pool) for pool in pools] for _ in range(rows)]
    sides = [
        Keys(tuple(
            key_of([row[at] for row in keys[side]], dtype, machine, flagged=flagged and at == 0)
            for at, dtype in enumerate(types)
        ), len(keys[side])) for side in keys
    ]  # fmt: skip
    with skipping(skipped):
        lookup = lookup_of(JoinKeys(*sides, nulls_equal), machine)
    assert isinstance(lookup, SortedLookup if components > MOST_COMPONENTS else TableLookup)
    as_compared = lambda row: tuple(tuple(ordered(value, dtype)) for value, dtype in zip(row, types, strict=True))  # noqa: E731
    right = [as_compared(row) for row in keys["right"]]
    owners, count = lookup.find(sides[0], slots=False)
    found = [right[row] if row >= 0 else None for row in machine.host(owners).tolist()]
    expected = [key if key in right else None for key in map(as_compared, keys["left"])]
    assert found == expected
    assert int(count[0]) == sum(key is not None for key in expected)
    assert lookup.repeated == (len(set(right)) < len(right))


@pytest.mark.parametrize("types", [("int8", "int64"), ("int64", "int16"), ("uint64", "uint8"), ("uint8", "uint32")])
def test_keys_of_two_widths_are_compared_by_their_values(machine, types):
    """Not by the bits that both have."""
    left, right = ([*range(100), 2**7 + 2**8, 2**31, 2**40][: 100 if t.endswith("8") else 101] for t in types)
    sides = [
        Keys((key_of(v, pa.type_for_alias(t), machine),), len(v)) for v, t in zip((left, right), types, strict=True)
    ]
    for skipped in ((), ("join_by_table",)):
        with skipping(skipped):
            owners, _ = lookup_of(JoinKeys(*sides, nulls_equal=False), machine).find(sides[0], slots=False)
        assert machine.host(owners).tolist() == [right.index(value) if value in right else -1 for value in left]
