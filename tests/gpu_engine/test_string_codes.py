"""Columns of few distinct texts by numbers: where they come from, and what they go through beside plain ones."""

import random

import numpy as np
import pyarrow as pa
import pytest

from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.choices import skipping
from gpuetl.engines.cudf.codegen import evaluate as of_rows
from gpuetl.engines.cudf.codegen.evaluate import alone, evaluate
from gpuetl.engines.cudf.columns.concat import shared_codes, stacked
from gpuetl.engines.cudf.columns.gather import take
from gpuetl.engines.cudf.columns.interchange import from_arrow, single_row, to_arrow
from gpuetl.engines.cudf.columns.string_codes import FEW, with_dictionary
from gpuetl.engines.cudf.io.parquet_reader import checked
from gpuetl.expressions.parse import parse_expression
from gpuetl.expressions.resolve import resolve
from gpuetl.expressions.scope import Scope
from gpuetl.types.data_types import BOOL, STRING

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")
HOST, GPU = HostMachine(), EmulatedMachine()
TEXTS = ["b", None, "", "é", "e\u0301", "😀", "a", "b", "B", None, "ab", "", "a longer text than the others are"]


def plain(values):
    return from_arrow(pa.array(values, STRING), HOST)


def coded(values):
    vector = with_dictionary(plain(values), HOST)
    assert vector.dictionary
    return vector


def values_of(vector):
    return to_arrow(vector, HOST).to_pylist()


def drawn(rows, distinct, seed=0):
    draws = random.Random(seed)
    words = ["".join(draws.choice("abcdé😀") for _ in range(draws.randrange(1, 20))) for _ in range(distinct)]
    return [draws.choice([*words, None]) for _ in range(rows)]


@pytest.mark.parametrize("machine", [HOST, GPU], ids=["host", "gpu"])
@pytest.mark.parametrize("values", [TEXTS, [None, None], [""], ["x"] * 70, drawn(600, 90)], ids=str)
def test_a_dictionary_has_the_distinct_texts_in_order(values, machine):
    """Whatever thread comes first."""
    column = with_dictionary(from_arrow(pa.array(values, STRING), machine), machine)
    assert to_arrow(column.dictionary, machine).to_pylist() == sorted({v for v in values if v is not None})
    assert column.data.dtype == np.int32
    assert to_arrow(column, machine).to_pylist() == values


def test_texts_that_seldom_repeat_stay_as_they_are():
    """The first rows tell."""
    assert with_dictionary(plain([str(row) for row in range(FEW + 1)]), HOST).dictionary is None
    assert coded([str(row) for row in range(FEW)] * 2).dictionary.rows == FEW


def test_more_texts_than_the_sample_shows_stay_as_they_are(monkeypatch):
    """A table that becomes too full is given up."""
    monkeypatch.setattr("gpuetl.engines.cudf.columns.string_codes.SAMPLE", 64)
    monkeypatch.setattr("gpuetl.engines.cudf.columns.string_codes.MAX_DICTIONARY_STRINGS", 64)
    assert with_dictionary(plain(["a"] * 64 + [str(row) for row in range(500)]), HOST).dictionary is None
    assert coded(["a"] * 64 + [str(row % 50) for row in range(500)]).dictionary.rows == 51


def test_the_choice_can_be_left_out():
    """Then texts are as they were read."""
    with skipping(["string_codes"]):
        assert checked({"s": plain(TEXTS)}, HOST)["s"].dictionary is None
    assert checked({"s": plain(TEXTS)}, HOST)["s"].dictionary


def test_other_bytes_are_refused_with_their_row():
    """Only the distinct texts are looked at, but it is the column's row that is told."""
    wrong = pa.array([b"a", None, b"\xff", b"a"]).view(STRING)
    with pytest.raises(ValueError, match="column 's' is not UTF-8 in row 2"):
        checked({"s": from_arrow(wrong, HOST)}, HOST)


def test_the_first_column_with_other_bytes_is_refused():
    """Texts with and without a dictionary, and those of lists, are looked at together."""
    right, wrong = pa.array(["a", "b"]), pa.array([b"a", b"\xff"]).view(STRING)
    lists = pa.ListArray.from_arrays([0, 1, 2], wrong)
    columns = {name: from_arrow(array, HOST) for name, array in {"r": right, "l": lists, "w": wrong}.items()}
    assert list(checked({"r": columns["r"]}, HOST)) == ["r"]
    with pytest.raises(ValueError, match="column 'l' is not UTF-8 in row 1"):
        checked(columns, HOST)
    with skipping(["string_codes"]), pytest.raises(ValueError, match="column 'w' is not UTF-8 in row 1"):
        checked({"w": columns["w"], "l": columns["l"]}, HOST)


@pytest.mark.parametrize("rows", [[], [3], [5, 5, -1, 0, 12], [-1, -1]])
def test_only_numbers_are_gathered(rows):
    """Minus one is null."""
    column = coded(TEXTS)
    got = take({"": column}, np.array(rows, "int32"), HOST)[""]
    assert got.dictionary is column.dictionary
    assert values_of(got) == [None if row < 0 else TEXTS[row] for row in rows]


def test_a_single_row_is_one_of_the_column():
    """As errors show it."""
    assert [values_of(single_row(coded(TEXTS), row, HOST)) for row in range(3)] == [["b"], [None], [""]]


@pytest.mark.parametrize("has_dictionary", [True, False])
def test_columns_of_other_dictionaries_get_one(has_dictionary):
    """And nulls alone need none."""
    parts = [["b", "a"], TEXTS, [None, None], ["a", "é", None], ["b", "a"]]
    columns = [coded(values) for values in parts]
    columns[2] = plain(parts[2])
    if not has_dictionary:
        columns.append(plain(parts[0]))
        parts.append(parts[0])
    got = stacked(columns, HOST)
    assert (got.dictionary is not None) is has_dictionary
    assert values_of(got) == [text for part in parts for text in part]


def test_columns_of_one_dictionary_keep_it():
    """It is not even looked at."""
    column = coded(TEXTS)
    assert stacked([column, column], HOST).dictionary is column.dictionary


def test_dictionaries_that_are_too_many_together_are_left(monkeypatch):
    """Their texts are written out."""
    monkeypatch.setattr("gpuetl.engines.cudf.columns.concat.MAX_DICTIONARY_STRINGS", 3)
    got = stacked([coded(["a", "b"]), coded(["c", "d", None])], HOST)
    assert got.dictionary is None
    assert values_of(got) == ["a", "b", "c", "d", None]


@pytest.mark.parametrize("left", [plain, coded])
@pytest.mark.parametrize("right", [plain, coded])
def test_keys_of_two_sides_are_numbered_together(left, right):
    """In the order of their bytes, however they lie."""
    sides = [["b", None, "a", "", "zz"], ["é", "a", None, "zz"]]
    numbers = [vector.data.tolist() for vector in shared_codes([left(sides[0]), right(sides[1])], HOST)]
    pairs = {text: n for own, ns in zip(sides, numbers, strict=True) for text, n in zip(own, ns, strict=True) if text}
    assert sorted(pairs, key=pairs.get) == ["a", "b", "zz", "é"]
    assert numbers[0][2] == numbers[1][1]


def test_keys_of_one_dictionary_are_its_numbers():
    """Nothing is numbered anew."""
    column = coded(TEXTS)
    assert shared_codes([column, column], HOST)[1].data is column.data


@pytest.mark.parametrize(("texts", "numbers"), [(["b", "", "a", "b"], [2, 0, 1, 2]), ([], [])])
def test_keys_of_one_column_without_a_dictionary_are_numbered_once(texts, numbers):
    """As a table's are that is joined with itself."""
    column = plain(texts)
    left, right = shared_codes([column, column], HOST)
    assert left is right
    assert left.data.tolist() == numbers


EXPRESSIONS = {
    "'x'": True,
    "CASE WHEN b THEN 'high' WHEN s = 'a' THEN 'é' ELSE 'low' END": True,
    "CASE WHEN b THEN 'high' END": True,
    "CASE WHEN b THEN s ELSE 'other' END": True,
    "CASE WHEN b THEN s ELSE t END": True,
    "coalesce(s, 'ab')": True,
    "coalesce(s, t, 'none')": True,
    "coalesce(CASE WHEN b THEN NULL ELSE t END, s)": True,
    "upper(s)": True,
    "s || '-' || 'x'": True,
    "concat_ws('-', s, 'x', s)": True,
    "s || '-' || coalesce(s, 'null')": False,
    "CASE WHEN s IS NULL THEN 'none' ELSE upper(s) END": True,
    "s || t": False,
    "CASE WHEN b THEN s ELSE p END": False,
    "coalesce(p, s)": False,
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expressions_read_and_give_numbers(text):
    """The values are those of plain columns."""
    draws = random.Random(1)
    values = {
        "s": TEXTS * 4,
        "t": drawn(52, 5),
        "p": drawn(52, 40),
        "b": [draws.choice([True, False, None]) for _ in range(52)],
    }
    types = {"s": STRING, "t": STRING, "p": STRING, "b": BOOL}
    columns = {name: from_arrow(pa.array(values[name], dtype), HOST) for name, dtype in types.items()}
    expr = resolve(parse_expression(text), Scope(types, {}))
    with skipping(["string_codes"]):
        expected = evaluate({"": expr}, columns, 52, HOST)[""]
    assert expected.dictionary is None
    got = evaluate({"": expr}, columns | {name: coded(values[name]) for name in "st"}, 52, HOST)[""]
    assert (got.dictionary is not None) is EXPRESSIONS[text]
    assert values_of(got) == values_of(expected)


SEARCHES = {
    "regexp_full_match(s, '[a-z]+')": [13],
    "coalesce(NOT regexp_full_match(s, '[a-b]'), false)": [13],
    "s LIKE 'a%' OR s IS NULL": [13],
    "regexp_count(s, 'a') + regexp_count(t, 'a')": [],
    "s = 'a'": [],
    "length(s) > 1": [],
}


@pytest.mark.parametrize("text", SEARCHES)
def test_each_text_of_a_dictionary_is_searched_once(text, monkeypatch):
    """And the null that may be among the rows: the values are those of plain columns."""
    searched = []
    monkeypatch.setattr(of_rows, "alone", lambda *given: searched.append(given[2]) or alone(*given))
    values = {"s": [*TEXTS, "c", "d", "e"] * 4, "t": drawn(64, 5)}
    types = {"s": STRING, "t": STRING}
    expr = resolve(parse_expression(text), Scope(types, {}))
    expected = evaluate({"": expr}, {name: plain(column) for name, column in values.items()}, 64, HOST)[""]
    assert not searched
    got = evaluate({"": expr}, {name: coded(column) for name, column in values.items()}, 64, HOST)[""]
    assert searched == SEARCHES[text]
    assert values_of(got) == values_of(expected)


@pytest.mark.parametrize("longest", [3, 20, 200, 3000])
def test_the_gpu_s_threads_copy_texts_as_one_thread_does(longest):
    """Short ones are staged, long ones are not."""
    draws = random.Random(longest)
    texts = [draws.choice([None, "x" * draws.randrange(longest), "é"]) for _ in range(300)]
    rows = np.array([draws.randrange(-1, 300) for _ in range(400)], "int32")
    got = take({"": from_arrow(pa.array(texts, STRING), GPU)}, rows, GPU)[""]
    assert to_arrow(got, GPU).to_pylist() == [None if row < 0 else texts[row] for row in rows]


@pytest.mark.parametrize("longest", [3, 20, 400])
def test_the_gpu_s_threads_write_texts_as_one_thread_does(longest):
    """Short ones are staged, long ones are not."""
    texts = [*drawn(300, 300, longest), "y" * longest, None]
    columns = {"s": from_arrow(pa.array(texts, STRING), GPU)}
    expr = resolve(parse_expression("'<' || s || '>'"), Scope({"s": STRING}, {}))
    got = evaluate({"": expr}, columns, len(texts), GPU)[""]
    assert to_arrow(got, GPU).to_pylist() == [None if text is None else f"<{text}>" for text in texts]
