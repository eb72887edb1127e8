"""Texts numbered by 8 bytes: in the order of their bytes, and not at all where these do not tell them apart."""

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl import RunOptions, expr
from gpuetl.engines.cudf.columns import string_codes
from gpuetl.engines.cudf.columns.interchange import from_arrow
from gpuetl.engines.cudf.columns.string_codes import TooManyStrings, codes_by_suffixes, dictionary_codes
from gpuetl.testing import assert_same

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")


@pytest.fixture(params=[HostMachine, EmulatedMachine], ids=lambda kind: kind.__name__)
def machine(request):
    return request.param()


def numbers(texts, machine, kind="string"):
    found = codes_by_suffixes(from_arrow(pa.chunked_array([pa.array(texts, kind)]), machine), machine)
    return None if found is None else machine.host(found).tolist()


@pytest.mark.parametrize("kind", ["string", "large_string"])
@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["b", "", "a", "ab", "b", ""], [3, 0, 1, 2, 3, 0]),
        (["id0000000002", "id0001000000", "id0000000002", "id0000000001"], [1, 2, 1, 0]),
        (["é", "z", "ÿ", "a", "日本"], [2, 1, 3, 0, 4]),
        (["x" * 16 + "b", "x" * 16 + "a", "x" * 16], [2, 1, 0]),
        (["x" * 16 + "abcdefgh", "x" * 16 + "abcdefgg", "x" * 16], [2, 1, 0]),
        (["a\0b", "a", "ab"], [1, 0, 2]),
        (["aaaaaaaa", "aaaaaaa", "bbbbbbbb"], [1, 0, 2]),
        (["same"] * 5, [0] * 5),
    ],
)
def test_numbers_are_in_the_order_of_bytes(machine, texts, expected, kind):
    assert numbers(texts, machine, kind) == expected


@pytest.mark.parametrize(
    "texts",
    [
        ["a", "a\0"],
        ["id0000000001", "ix0000000001"],
        ["x" * 17 + "12345678", "x" * 17],
        ["", "123456789"],
        ["a\0\0", "b"],
    ],
)
def test_texts_that_8_bytes_do_not_tell_apart_are_not_numbered(machine, texts):
    """A byte 0 at the end, another prefix, a long one, and texts without the prefix; the other way numbers them."""
    assert numbers(texts, machine) is None
    others = dictionary_codes(from_arrow(pa.chunked_array([texts]), machine), machine)
    assert machine.host(others.data).tolist() == [sorted(texts).index(text) for text in texts]


def test_a_text_behind_the_sample_may_have_another_prefix(machine, monkeypatch):
    monkeypatch.setattr(string_codes, "SAMPLE", 2)
    assert numbers(["id0000000001", "id0000000002", "id0000000003"], machine) == [0, 1, 2]
    assert numbers(["id0000000001", "id0000000002", "x"], machine) is None


@pytest.mark.parametrize(("texts", "expected"), [([None, "b", None, "a", "b"], [1, 0, 1]), ([None, None], [])])
def test_nulls_have_any_number(machine, texts, expected):
    found = numbers(texts, machine)
    assert [number for number, text in zip(found, texts, strict=True) if text is not None] == expected
    assert set(found) <= {0, 1}


def test_larger_tables_take_more_texts(machine, monkeypatch):
    """Of 100 texts those of 16 and 64 slots have too many."""
    texts = [f"key {number:04}" for number in np.random.default_rng(1).permutation(100)]
    monkeypatch.setattr(string_codes, "SLOTS", (16, 64, 256))
    assert numbers(texts, machine) == [int(text.split()[1]) for text in texts]
    monkeypatch.setattr(string_codes, "SLOTS", (16, 64))
    with pytest.raises(TooManyStrings):
        numbers(texts, machine)
    others = dictionary_codes(from_arrow(pa.chunked_array([texts]), machine), machine)
    assert machine.host(others.data).tolist() == [int(text.split()[1]) for text in texts]


def test_groups_joins_and_orders_of_texts_are_those_of_the_oracle(source, pipeline):
    draws = np.random.default_rng(5)
    keys = [None if draws.random() < 0.1 else f"id{draws.integers(0, 300):010}" for _ in range(900)]
    rows = source(pa.table({"k": keys, "x": range(900)}))
    rows.aggregate("k", n=expr("count(*)"), t=expr("sum(x)")).stage("groups")
    rows.sort("k desc", "x").stage("sorted")
    others = source(pa.table({"k": [f"id{number:010}" for number in range(0, 600, 3)], "y": range(200)}), "u")
    rows.join(others, "k", "left").stage("joined")
    ways = {"suffixes": RunOptions(), "hashes": RunOptions(skip_passes=("number_strings_by_suffix", "string_codes"))}
    ways["without codes"] = RunOptions(skip_passes=("string_codes",))
    assert_same(pipeline, "cudf-on-cpu", partitions=ways)
