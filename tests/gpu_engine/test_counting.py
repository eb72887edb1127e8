"""Groups found by counts of their keys: those that comparing rows finds, whatever the keys."""

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl import RunOptions, expr
from gpuetl.choices import skipping
from gpuetl.engines.cudf.columns.frame import Frame
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.relational import grouping
from gpuetl.engines.cudf.relational.grouping import (
    Groups,
    are_countable,
    cached_counts,
    most_sampled,
    ranked,
    shared_counts,
)
from gpuetl.testing import assert_same
from tables import NAN, table

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
ENGINE = "cudf-on-cpu"


@pytest.fixture(params=[HostMachine, EmulatedMachine], ids=lambda kind: kind.__name__)
def machine(request):
    return request.param()


def on(machine, values, dtype):
    return machine.arrays.asarray(np.array(values, dtype))


@pytest.mark.parametrize(
    ("counts_of", "dtype", "bits"),
    [
        (shared_counts, "uint8", 8),
        (shared_counts, "uint16", 12),
        (shared_counts, "uint16", 14),
        (shared_counts, "uint16", 16),
        (cached_counts, "uint32", 14),
    ],
)
def test_rows_are_counted_by_their_code(machine, counts_of, dtype, bits):
    """The least and the greatest code, parts of the table, and rows that fill no word of 8 bytes."""
    for rows in (2100, 2101, 2107, 3):
        given = np.random.default_rng(rows).integers(0, 1 << bits, rows)
        given[[0, rows - 1]] = 0, (1 << bits) - 1
        counts = counts_of(on(machine, given, dtype), bits, machine)
        assert machine.host(counts).tolist() == np.bincount(given, minlength=1 << bits).tolist()
    assert machine.host(counts_of(on(machine, [7, 5, 7, 0], dtype), 3, machine)).tolist() == [1, 0, 0, 0, 0, 1, 0, 2]


def test_each_block_counts_some_codes_of_some_rows():
    """As many blocks as parts, fewer, more, and no multiple of them."""
    machine, given = EmulatedMachine(), np.random.default_rng(7).integers(0, 1 << 16, 3001)
    for blocks in (1, 7, 8, 9, 24, 37):
        counts = machine.arrays.zeros(1 << 16, "int32")
        arguments = [len(given), 1 << 16, on(machine, given, "uint16"), counts]
        machine.launch_blocks(machine.closed("counting"), "tally_uint16", blocks, 64, arguments)
        assert machine.host(counts).tolist() == np.bincount(given, minlength=1 << 16).tolist()


@pytest.mark.parametrize("size", [2, 256, 1000, 1 << 13])
def test_codes_are_ranked_by_their_counts(machine, size):
    """Groups are numbered in the order of their codes; one code, no gaps, and many."""
    for share in (0.1, 1.0):
        draws = np.random.default_rng(size)
        given = np.where(draws.random(size) < share, draws.integers(1, 9, size), 0)
        given[-1] = 3
        rows = int(given.sum())
        ranks, starts = ranked(on(machine, given, "int32"), rows, machine)
        taken = given > 0
        assert machine.host(ranks)[taken].tolist() == list(range(taken.sum()))
        assert machine.host(starts).tolist() == [0, *np.cumsum(given[taken]).tolist()]
        assert starts.dtype == "int64"


def test_codes_of_very_many_rows_are_not_counted_but_for_one(machine, monkeypatch):
    """A sample shows them: additions to one count would come one by one; those of one code are made in registers."""
    monkeypatch.setattr(grouping, "SAMPLED", 8)
    monkeypatch.setattr(grouping, "MOST_SAMPLED", 3)
    assert cached_counts(on(machine, [1, 2] * 12, "uint32"), 13, machine) is None
    counts = cached_counts(on(machine, [1, 2, 3, 4] * 6, "uint32"), 13, machine)
    assert machine.host(counts)[:6].tolist() == [0, 6, 6, 6, 6, 0]
    assert cached_counts(on(machine, [1] * 23, "uint32"), 13, machine) is not None
    often = on(machine, [5, 5, 5, 0, 5, 5, 5, 5, 7] * 40, "uint32")
    assert most_sampled(often, machine)[0] == 5
    assert machine.host(cached_counts(often, 13, machine))[:9].tolist() == [40, 0, 0, 0, 0, 280, 0, 40, 0]


@pytest.mark.parametrize(("given", "expected"), [([4] * 8, (4, 8, 0)), ([9, 1, 1, 3, 1, 3, 1, 2], (1, 4, 2))])
def test_a_sample_has_its_most_frequent_codes(machine, given, expected, monkeypatch):
    monkeypatch.setattr(grouping, "SAMPLED", 8)
    assert most_sampled(on(machine, given, "uint32"), machine) == expected


@pytest.mark.parametrize(
    ("bits", "rows", "expected"),
    [(16, 0, True), (17, 100, False), (17, 1 << 21, True), (24, 1 << 28, True), (25, 1 << 30, False)],
)
def test_codes_are_counted_where_they_are_few_or_have_many_rows(bits, rows, expected):
    assert are_countable(bits, rows) is expected


def groups_of(columns, keys, machine):
    frame = Frame({name: from_arrow(pa.chunked_array([values]), machine) for name, values in columns.items()}, 6)
    return Groups.by(frame, keys, machine)


KEYS = {
    "integers": {"k": pa.array([70_000, 5, 70_000, None, 5, 40_000], "int64")},
    "dates": {"k": pa.array([60_000, 5, 60_000, None, 5, 40_000], "int32").cast("date32")},
    "two": {"k": pa.array([200, 5, 200, None, 5, 100], "int16"), "l": pa.array([200, 0, 200, 1, 0, 100], "int32")},
}


@pytest.mark.part(2)
@pytest.mark.parametrize("keys", list(KEYS))
def test_groups_are_in_the_order_of_their_keys(machine, keys, monkeypatch):
    """Null is the last group; each row knows its group; the sorted way says the same."""
    monkeypatch.setattr(grouping, "SMALL_TABLE", 1 << 18)
    groups = groups_of(KEYS[keys], list(KEYS[keys]), machine)
    assert groups.table
    assert machine.host(groups.rows).tolist() == [1, 4, 5, 0, 2, 3]
    assert machine.host(groups.starts).tolist() == [0, 2, 3, 5, 6]
    assert machine.host(groups.codes).tolist() == [2, 0, 2, 3, 0, 1]
    with skipping(["group_by_counts"]):
        others = groups_of(KEYS[keys], list(KEYS[keys]), machine)
    assert not others.table
    for ours, theirs in ((groups.rows, others.rows), (groups.starts, others.starts), (groups.codes, others.codes)):
        assert machine.host(ours).tolist() == machine.host(theirs).tolist()
        assert ours.dtype == theirs.dtype


def drawn(rows, kind):
    """Return rows of keys that range over some thousands, and of values of each type."""
    draws = np.random.default_rng(rows)
    keys = draws.integers(0, 9000, max(rows // 3, 1))
    columns = {
        "k": pa.array([None if key % 50 == 0 else int(key) * 3 - 9000 for key in draws.choice(keys, rows)], "int64"),
        "x": pa.array([draws.choice([None, NAN, -0.0, 0.0, 0.1, 0.2, 1e17]) for _ in range(rows)], "float64"),
        "i": pa.array([None if i % 7 == 0 else int(i) for i in draws.integers(-(2**31), 2**31, rows)], "int64"),
        "d": pa.array(draws.integers(-999, 999, rows).tolist(), "int64").cast(pa.decimal128(21, 2)),
        "s": pa.array([None if i == 3 else f"text {i}" for i in draws.integers(0, 9, rows)]),
        "b": pa.array([None if i == 2 else bool(i) for i in draws.integers(0, 3, rows)]),
    }
    if kind == "texts":
        columns["k"] = pa.array([None if key is None else f"key {key:06}" for key in columns["k"].to_pylist()])
    return pa.table(columns)


CALLS = {
    "c": "count(*)", "cx": "count(x)", "sx": "sum(x)", "mx": "mean(x)", "lx": "min(x)", "gx": "max(x)", "si": "sum(i)",
    "mi": "mean(i)", "li": "min(i)", "gi": "max(i)", "sd": "sum(d)", "md": "mean(d)", "ld": "min(d)", "ls": "min(s)",
    "u": "count(distinct s)", "q": "median(x)", "z": "mode(s)", "vi": "var(i)", "any": "any(b)", "e": "max_by(s, i)",
}  # fmt: skip


@pytest.mark.part(3)
@pytest.mark.parametrize("kind", ["integers", "texts"])
@pytest.mark.parametrize("rows", [0, 1, 2, 700])
def test_aggregates_are_those_of_the_oracle(source, pipeline, kind, rows):
    """Many keys, in one partition and in several, by counts and sorted."""
    source(drawn(rows, kind)).aggregate("k", **{name: expr(text) for name, text in CALLS.items()}).stage("out")
    ways = {"counts": RunOptions(), "sorted": RunOptions(skip_passes=("group_by_counts",))}
    assert_same(pipeline, ENGINE, partitions=ways | {"2 rows": RunOptions(partition_rows=max(2, rows // 3))})


def test_sums_of_floats_have_the_same_bits_by_counts_and_sorted(source, pipeline):
    """Additions come in the same order: 0.1 and 1e17 add up to different numbers in others."""
    source(drawn(3000, "integers")).aggregate("k", t=expr("sum(x)"), m=expr("mean(x)"), v=expr("var(x)")).stage("out")
    found = [
        pipeline.run(engine=ENGINE, keep="out", options=RunOptions(skip_passes=skipped))["out"].to_arrow()
        for skipped in ((), ("group_by_counts",))
    ]
    bits = [
        [column.to_numpy(zero_copy_only=False).view("int64").tolist() for column in each.columns[1:]] for each in found
    ]
    assert found[0]["k"].equals(found[1]["k"])
    assert bits[0] == bits[1]


def test_literal_groups(source, pipeline):
    rows = table({"k": "int64", "x": "float64", "i": "int32"}, (90_000, 1.5, 1), (None, 2.0, None), (90_000, None, 3), (7, -0.0, 4), (50_000, NAN, 5))  # fmt: skip
    calls = {"n": "count(*)", "t": "sum(x)", "least": "min(x)", "i": "sum(i)"}
    source(rows).aggregate("k", **{name: expr(text) for name, text in calls.items()}).stage("out")
    found = pipeline.run(engine=ENGINE, keep="out")["out"].to_arrow().to_pylist()
    assert str(found) == (
        "[{'k': 7, 'n': 1, 't': 0.0, 'least': 0.0, 'i': 4}, {'k': 50000, 'n': 1, 't': nan, 'least': nan, 'i': 5}, "
        "{'k': 90000, 'n': 2, 't': 1.5, 'least': 1.5, 'i': 4}, {'k': None, 'n': 1, 't': 2.0, 'least': 2.0, 'i': None}]"
    )
