"""Keys as the GPU's threads measure, pack, mark, count and find them: what one thread after another finds too."""

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.choices import skipping
from gpuetl.engines.cudf.codegen.device_headers import closed_source
from gpuetl.engines.cudf.columns import string_codes
from gpuetl.engines.cudf.columns.arrays import numbers_where
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow, to_arrow
from gpuetl.engines.cudf.columns.keys import Key, Keys, keys_of
from gpuetl.engines.cudf.columns.order import sort_rows
from gpuetl.engines.cudf.columns.packed_keys import Layout, measured, packed
from gpuetl.engines.cudf.columns.string_codes import dictionary_codes
from gpuetl.engines.cudf.relational import aggregate_reduction
from gpuetl.engines.cudf.relational import join_lookup as lookups
from gpuetl.engines.cudf.relational.aggregate_reduction import reduced
from gpuetl.engines.cudf.relational.grouping import Groups
from gpuetl.engines.cudf.relational.join_lookup import JoinKeys, KeyCodes, count_codes, lookup_of, paired
from gpuetl.engines.cudf.relational.sorted_aggregates import count_distinct
from gpuetl.expressions.functions import FUNCTIONS
from gpuetl.expressions.ir import Call, Column
from gpuetl.plan.node import SortKey
from gpuetl.types.data_types import FLOAT64, INT64

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
HOST, GPU = HostMachine(), EmulatedMachine()
LIMITS = np.iinfo(np.int64)


def frame(machine=HOST, **columns):
    """Return columns of one length in the machine's memory."""
    vectors = {name: from_arrow(pa.chunked_array([values]), machine) for name, values in columns.items()}
    return Frame(vectors, len(next(iter(columns.values()))))


def keys_in(values, dtype, *key):
    """Return a single column as the keys of its rows."""
    made = frame(x=pa.array(values, dtype))
    return keys_of(made.columns, [SortKey("x", *key)], made.rows, HOST)


@pytest.mark.parametrize(
    ("values", "dtype", "bits", "width"),
    [
        ([5, 6, 8], "int64", (2,), 8),
        ([LIMITS.min, LIMITS.max], "int64", (64,), 64),
        ([-1, 255], "int32", (9,), 16),
        ([7, 7], "int64", (0,), None),
        ([None, 7], "int64", (1, 0), 8),
        ([None, None], "int64", (0, 0), None),
        ([0.0, -0.0], "float64", (0,), None),
        ([1.0, float("nan")], "float32", (31,), 32),
    ],
)
def test_components_take_the_bits_that_their_range_needs(values, dtype, bits, width):
    """And words are the narrowest that hold them."""
    keys = keys_in(values, dtype)
    layout = measured(keys, HOST)
    assert layout.bits == bits
    assert [8 * word.dtype.itemsize for word in packed(keys, layout, HOST)] == [width] * (width is not None)


def test_components_are_whole_in_words():
    """Those that do not fit beside others begin the next word; those without bits are in none."""
    layout = Layout((0,) * 5, (30, 0, 30, 10, 64), in_order=False)
    assert layout.packed_integers == [[0, 2], [3], [4]]
    assert layout.shift([0, 2], 0) == 30


@pytest.mark.parametrize(("values", "descending", "in_order"), [
    ([1, 2, 2, None], False, True), ([3, 1], False, False), ([3, 1], True, True), ([None, 1], False, False),
])  # fmt: skip
def test_order_is_noticed(values, descending, in_order):
    """Nulls are last both ways."""
    assert measured(keys_in(values, "int64", descending), HOST).in_order is in_order


def random_frame(rows, seed, machine):
    """Return columns of few values: a with nulls, b of floats, d of long decimals."""
    draws = np.random.default_rng(seed)
    a = pa.array(draws.integers(-3, 9, rows), "int64", mask=draws.random(rows) < 0.2)
    b = pa.array(draws.choice([0.0, -0.0, 1.5, np.nan, -np.inf], rows))
    d = pa.array([int(x) * 10**25 for x in draws.integers(-2, 3, rows)], pa.decimal128(38, 0))
    return frame(machine, a=a, b=b, d=d)


@pytest.mark.parametrize("rows", [1, 31, 500])
def test_the_gpu_s_threads_sort_as_one_thread_does(rows):
    """By one word, and by several."""
    for keys in ([SortKey("a"), SortKey("b", True)], [SortKey("b"), SortKey("d"), SortKey("a", True, True)]):
        for leading in range(len(keys) + 1):
            one, many = (sort_rows(random_frame(rows, 1, m), keys, leading, False, m) for m in (HOST, GPU))
            for name in ("rows", "new_group", "new_value", "ties"):
                np.testing.assert_array_equal(HOST.host(getattr(one, name)), GPU.host(getattr(many, name)))


@pytest.mark.parametrize("rows", [0, 1, 1023, 1024, 5000])
def test_marked_rows_are_numbered(rows):
    """Also where no row is marked, or every one."""
    marks = (np.random.default_rng(0).random(rows) < 0.3).astype("uint8")
    for each in (marks, marks * 0, marks * 0 + 1):
        for machine in (HOST, GPU):
            found = numbers_where(machine.arrays.asarray(each), machine)
            np.testing.assert_array_equal(machine.host(found), np.flatnonzero(each))


@pytest.mark.parametrize("machine", [HOST, GPU], ids=["host", "gpu"])
@pytest.mark.parametrize("tries", [0, 1, 32])
def test_texts_are_numbered_in_the_order_of_their_bytes(monkeypatch, machine, tries):
    """Also where no small table holds them, and for texts of more than 32 bytes."""
    monkeypatch.setattr(string_codes, "MOST_TRIES", tries)
    assert_numbered(machine, tries)


@pytest.mark.parametrize("machine", [HOST, GPU], ids=["host", "gpu"])
def test_texts_that_a_table_does_not_hold_go_to_a_larger_one(monkeypatch, machine):
    """The first has 4 slots for 10 texts."""
    monkeypatch.setattr(string_codes, "SMALL_SLOTS", (4, 256))
    assert_numbered(machine, 4)


@pytest.mark.parametrize("machine", [HOST, GPU], ids=["host", "gpu"])
def test_texts_of_one_hash_are_told_apart(monkeypatch, machine):
    """By their bytes."""
    alike = lambda program: closed_source(program).replace("table_hash(text.value)", "table_hash(text.value) % 3")  # noqa: E731
    monkeypatch.setattr(machine, "closed", lambda program: machine.compiled(alike(program)))
    assert_numbered(machine, 5)


def assert_numbered(machine, seed):
    """Number 300 texts."""
    draws = np.random.default_rng(seed)
    pool = ["", "a", "b", "é", "ab", "\U0001f600", "x" * 31, "x" * 32, "x" * 70 + "y", "x" * 70 + "z", None]
    drawn = [pool[place] for place in draws.integers(0, len(pool), 300)]
    vector = from_arrow(pa.chunked_array([pa.array(drawn, "string")]), machine)
    numbers = dictionary_codes(vector, machine).data
    order = {text: place for place, text in enumerate(sorted({t for t in drawn if t is not None}, key=str.encode))}
    assert [n for n, t in zip(numbers.tolist(), drawn, strict=True) if t is not None] == [
        order[t] for t in drawn if t is not None
    ]
    nulls = from_arrow(pa.chunked_array([pa.array([None, None], "string")]), machine)
    assert len(dictionary_codes(nulls, machine).data) == 2


@pytest.mark.parametrize("skipped", [(), ("join_by_table",), ("join_by_table", "join_by_hash")], ids="-".join)
@pytest.mark.parametrize("columns", [["a"], ["b", "d"]], ids="-".join)
def test_the_gpu_s_threads_find_what_one_thread_finds(skipped, columns):
    """The row that has the key where it is but one; elsewhere a slot, the same for equal keys."""
    for machine in (HOST, GPU):
        frames = random_frame(200, 1, machine), random_frame(12, 2, machine)
        sides = [Keys(tuple(Key(f.columns[c], False) for c in columns), f.rows) for f in frames]
        left, right = (to_rows(f, columns, machine) for f in frames)
        with skipping(skipped):
            lookup = lookup_of(JoinKeys(*sides, nulls_equal=False), machine)
        known = [key for key in right if None not in key]
        assert lookup.repeated == (len(known) > len(set(known)))
        slots, count = lookup.find(sides[0], slots=True)
        assert int(count[0]) == sum(key in known for key in left)
        for slot, key in zip(slots.tolist(), left, strict=True):
            assert [other for other, at in zip(right, lookup.slots.tolist(), strict=True) if at == slot >= 0] == [
                other for other in right if other == key and None not in key
            ]
        owners, _ = lookup.find(sides[0], slots=False)
        assert [right[row] if row >= 0 else None for row in owners.tolist()] == [
            k if k in known else None for k in left
        ]


def to_rows(made, columns, machine):
    """Return rows as tuples, with one zero and one NaN."""
    lists = [to_arrow(made.columns[name], machine).to_pylist() for name in columns]
    return [tuple("nan" if v != v else v for v in row) for row in zip(*lists, strict=True)]


@pytest.mark.parametrize("skipped", [(), ("group_by_table", "count_by_bits", "notice_order")], ids="-".join)
@pytest.mark.parametrize("rows", [1, 40, 700])
def test_the_gpu_s_threads_group_as_one_thread_does(monkeypatch, skipped, rows):
    """Also where a group has so many chunks that they are merged in steps; floats have the same bits in every run."""
    monkeypatch.setattr(aggregate_reduction, "CHUNK", 16)
    monkeypatch.setattr(aggregate_reduction, "MERGED", 2)
    calls = {name: Call(FUNCTIONS["aggregate", f], (Column(x, dtype),), dtype_of) for name, f, x, dtype, dtype_of in [
        ("n", "count", "a", INT64, INT64), ("t", "sum", "a", INT64, INT64), ("m", "max", "b", FLOAT64, FLOAT64),
    ]}  # fmt: skip
    answers = []
    for machine in (HOST, GPU):
        with skipping(skipped):
            made = random_frame(rows, 3, machine)
            groups = Groups.by(made, ["b"], machine)
            distinct = count_distinct(groups, Call(FUNCTIONS["aggregate", "count_distinct"], calls["n"].args, INT64))
        results = {**groups.keys(["b"]), **reduced(groups, calls), "u": distinct}
        answers.append({name: str(to_arrow(vector, machine).to_pylist()) for name, vector in results.items()})
    assert answers[0] == answers[1]


@pytest.mark.parametrize("machine", [HOST, GPU], ids=["host", "gpu"])
@pytest.mark.parametrize("outer", [False, True], ids=["inner", "outer"])
def test_rows_are_paired_with_as_many_partners_as_they_have(machine, outer):
    """Few or many of them, or none; the right rows of a left one come in their order."""
    right = np.array([2, -1, *[0] * 70, 2, 2], np.int32)
    left = np.array([1, 0, 2, -1, 0, 3], np.int32)
    asarray = machine.arrays.asarray
    d_left, d_right = asarray(left), asarray(right)
    counts = count_codes(d_right, 4, machine)
    repeats = np.maximum(machine.host(counts)[left], int(outer))
    ends = np.cumsum(repeats)
    codes, total = KeyCodes(d_left, d_right, 4), int(ends[-1])
    pairs = paired(codes, counts, asarray(repeats), asarray(ends), total, machine)
    expected = [
        (row, partner)
        for row, code in enumerate(left)
        for partner in (np.flatnonzero(right == code) if code >= 0 and code in right else [-1] * outer)
    ]
    assert [*zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)] == expected


def test_the_largest_sides_are_looked_up_by_code_too(monkeypatch):
    """Where keys range narrowly: how many slots more a side of so many rows might have makes no difference."""
    monkeypatch.setattr(lookups, "LARGEST_TABLE", 8)
    monkeypatch.setattr(lookups, "SMALL_TABLE", 1)
    for distinct, by_code in ((8, True), (9, False)):
        values = from_arrow(pa.array(np.arange(40) % distinct), HOST)
        side = Keys((Key(values, False),), values.rows)
        assert (lookup_of(JoinKeys(side, side, nulls_equal=False), HOST).layout is not None) == by_code
