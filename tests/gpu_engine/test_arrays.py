"""Kernels over arrays: prefix sums, values by number, choices and validity words, in literal rows and in many."""

import numpy as np
import pyarrow as pa
import pytest

from conftest import skip_where_it_cannot_run
from gpu_engine.emulated_machine import EmulatedMachine
from gpu_engine.host_machine import COMPILER, HostMachine
from gpuetl.engines.cudf.columns import arrays
from gpuetl.engines.cudf.columns.interchange import from_strings
from gpuetl.engines.cudf.columns.string_dictionaries import decoded_bytes
from gpuetl.engines.cudf.columns.validity import valid_words
from gpuetl.engines.cudf.columns.vector import Vector
from gpuetl.engines.cudf.relational.join import first_of_most
from gpuetl.engines.registry import load_backend

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++")
ON_CPU = [pytest.param(made, marks=needs_compiler) for made in (HostMachine, EmulatedMachine)]
COUNTS = [0, 1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 2048, 8191, 8192, 8193, 20_000]
"""Rows that fill no warp, no part, no block, or a little more."""
KINDS = [
    ("uint8", "int32"), ("int32", "int32"), ("int32", "int64"), ("int64", "int32"), ("int64", "int64"),
]  # fmt: skip


@pytest.fixture(params=[*ON_CPU, pytest.param("cudf", marks=pytest.mark.gpu)])
def machine(request):
    """The CPU's side of kernels, the GPU's, and a GPU."""
    if request.param != "cudf":
        return request.param()
    skip_where_it_cannot_run(request.param)
    return load_backend(request.param).machine


def array(machine, values, dtype="int32"):
    """Return values on the device."""
    return machine.arrays.asarray(np.array(values, dtype))


def words(machine, valid):
    """Return truth values as validity words, and bits behind the last row that nobody may look at."""
    bits = np.ones(-(-len(valid) // 32) * 32, np.uint8)
    bits[: len(valid)] = valid
    return machine.arrays.asarray(np.packbits(bits, bitorder="little").view(np.uint32))


def listed(machine, made):
    """Return what is on the device."""
    return machine.host(made).tolist()


def test_sums_are_those_of_the_values_up_to_each(machine):
    values = array(machine, [3, 0, -5, 7])
    assert listed(machine, arrays.scan(values, machine)) == [3, 3, -2, 5]
    assert listed(machine, arrays.scan(values, machine, before=True)) == [0, 3, 3, -2]
    assert listed(machine, arrays.scan(values, machine, "int32", first=-1)) == [2, 2, -3, 4]


@pytest.mark.part(2)
@pytest.mark.parametrize(("dtype", "kind"), KINDS)
@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("count", COUNTS)
def test_sums_of_any_number_of_values(machine, dtype, kind, before, count):
    """Of parts of one warp, of several, and of several blocks; those that leave 32 bits go around."""
    draws = np.random.default_rng(count)
    values = draws.integers(0, 256, count) if dtype == "uint8" else draws.integers(-(1 << 30), (1 << 31) - 1, count)
    expected = np.concatenate([[0], np.cumsum(values)])[int(not before) :][:count] + 5
    made = arrays.scan(array(machine, values, dtype), machine, kind, before, first=5)
    assert str(made.dtype) == kind
    assert np.array_equal(machine.host(made), expected.astype(kind))


@pytest.mark.parametrize("most", [3, 8, 17])
def test_parts_are_longer_where_there_are_many_rows(machine, monkeypatch, most):
    """Of 17 parts three blocks write the sums, and the last of them has one."""
    monkeypatch.setattr(arrays, "MOST_PARTS", most)
    values = np.random.default_rng(0).integers(-9, 99, 18_000)
    made = arrays.scan(array(machine, values, "int64"), machine)
    assert np.array_equal(machine.host(made), np.cumsum(values))


@pytest.mark.gpu
@pytest.mark.parametrize(("dtype", "kind"), KINDS)
def test_sums_of_very_many_values_are_the_same_each_time(dtype, kind):
    """More than 2^31 in all, of 2^27 rows."""
    skip_where_it_cannot_run("cudf")
    machine, rows = load_backend("cudf").machine, (1 << 27) + 77
    values = np.random.default_rng(0).integers(0, 100, rows).astype(dtype)
    expected = np.cumsum(values, dtype="int64").astype(kind)
    for _ in range(3):
        assert np.array_equal(machine.host(arrays.scan(machine.arrays.asarray(values), machine, kind)), expected)


def test_numbers_in_a_row(machine):
    assert listed(machine, arrays.iota(4, machine)) == [0, 1, 2, 3]
    assert listed(machine, arrays.iota(3, machine, "int64", step=1 << 32)) == [0, 1 << 32, 1 << 33]
    assert listed(machine, arrays.iota(0, machine)) == []


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "uint64"])
@pytest.mark.parametrize("count", [0, 1, 70])
def test_one_value_many_times(machine, dtype, count):
    assert listed(machine, arrays.filled(count, 9, dtype, machine)) == [9] * count
    assert listed(machine, arrays.filled(count, -1, dtype, machine)) == [int(np.array(-1).astype(dtype))] * count


@pytest.mark.parametrize(
    ("dtype", "number"),
    [("uint8", "int32"), ("int16", "int32"), ("float32", "int64"), ("int32", "uint8"), ("int32", "uint16"),
     ("int32", "int32"), ("float64", "int32")],
)  # fmt: skip
@pytest.mark.parametrize("count", COUNTS)
def test_values_are_picked_by_number(machine, dtype, number, count):
    """Those of every width; a number that is not signed is never missing."""
    draws = np.random.default_rng(count)
    values, numbers = draws.integers(0, 99, 200).astype(dtype), draws.integers(0, 200, count).astype(number)
    if number.startswith("int"):
        numbers[::3] = -1
    made = arrays.pick(array(machine, values, dtype), array(machine, numbers, number), machine)
    assert np.array_equal(machine.host(made), np.where(numbers.astype("int64") < 0, 0, values[numbers]).astype(dtype))


def test_missing_numbers_give_a_constant_also_where_nothing_can_be_picked(machine):
    numbers = array(machine, [1, -1, 0])
    assert listed(machine, arrays.pick(array(machine, [10, 20]), numbers, machine, missing=-7)) == [20, -7, 10]
    none = array(machine, [-1, -1])
    assert listed(machine, arrays.pick(array(machine, []), none, machine, missing=-7)) == [-7, -7]


@pytest.mark.parametrize("number", ["int32", "int64"])
def test_values_go_to_places(machine, number):
    """Or the places' own numbers, or marks; a negative place is none."""
    places = array(machine, [4, -1, 0], number)
    made = arrays.filled(5, -9, "int32", machine)
    arrays.scatter(made, places, machine, array(machine, [7, 8, 9]))
    assert listed(machine, made) == [9, -9, -9, -9, 7]
    arrays.scatter(made, places, machine)
    assert listed(machine, made) == [2, -9, -9, -9, 0]
    marks = machine.arrays.zeros(5, "uint8")
    arrays.set_marks(marks, places, machine)
    assert listed(machine, marks) == [1, 0, 0, 0, 1]


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32", "int64", "float64"])
def test_nulls_are_replaced(machine, dtype):
    """By their bits; without words nothing is."""
    values = array(machine, [1, 2, 3] * 20, dtype)
    valid = words(machine, [True, False, True] * 20)
    assert listed(machine, arrays.choose(valid, values, 0, machine)) == [1, 0, 3] * 20
    assert listed(machine, arrays.choose(None, values, 0, machine)) == [1, 2, 3] * 20


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_numbers_are_shifted_converted_and_left_out(machine, dtype, kind):
    values = array(machine, [0, 5, 6, 9, 12], dtype)
    made = machine.arrays.empty(5, kind)
    arrays.shifted(values, -10, made, machine)
    assert listed(machine, made) == [-10, -5, -4, -1, 2]
    converted = arrays.converted(values, kind, machine)
    assert (listed(machine, converted), str(converted.dtype)) == ([0, 5, 6, 9, 12], kind)
    assert listed(machine, arrays.every(values, 0, 2, 4, machine)) == [0, 6, 12, 12]
    assert listed(machine, arrays.every(values, 1, 3, 2, machine)) == [5, 12]


def test_arrays_one_behind_another(machine):
    parts = [array(machine, each) for each in ([1, 2], [], [3])]
    assert listed(machine, arrays.joined(parts, machine)) == [1, 2, 3]
    assert arrays.joined(parts[:1], machine) is parts[0]
    assert listed(machine, arrays.with_last(parts[0], 9, machine)) == [1, 2, 9]
    measures = [array(machine, [[1, 2], [3, 4]], "uint64"), array(machine, [-5], "int64")]
    assert [each.tolist() for each in arrays.host_numbers(measures, machine)] == [[1, 2, 3, 4], [-5]]
    assert arrays.host_numbers([], machine) == []


def test_marks(machine):
    left, right = array(machine, [1, 1, 0, 0], "uint8"), array(machine, [1, 0, 1, 0], "uint8")
    assert listed(machine, arrays.mark_both(left, right, machine)) == [1, 0, 0, 0]
    assert listed(machine, arrays.mark_changes(array(machine, [4, 4, 5, 5, 4]), machine)) == [1, 0, 1, 0, 1]
    assert listed(machine, arrays.mark_not_negative(array(machine, [-1, 0, 1]), machine)) == [0, 1, 1]


@pytest.mark.parametrize("rows", [1, 31, 32, 33, 1000])
@pytest.mark.parametrize("columns", [0, 1, 2, 3])
def test_validity_words_are_joined_as_words(machine, rows, columns):
    """No bit behind the last row is set, and the padding is empty."""
    valid = np.random.default_rng(rows).random((columns, rows)) < 0.7
    all_valid = valid.all(axis=0)
    made, nulls = valid_words([words(machine, each) for each in valid], rows, machine)
    bits = np.unpackbits(machine.host(made).view(np.uint8), bitorder="little")
    assert bits[:rows].tolist() == all_valid.tolist()
    assert not bits[rows:].any()
    assert int(nulls[0]) == rows - np.count_nonzero(all_valid)
    flags = machine.arrays.empty(rows, "uint8")
    arrays.unpack(made, flags, machine)
    assert listed(machine, flags) == all_valid.astype(int).tolist()


def test_words_of_some_columns_only(machine):
    """A column without nulls has none."""
    own = words(machine, [True, False])
    made, nulls = valid_words([None, own, None], 2, machine)
    assert (int(made[0]), int(nulls[0])) == (1, 1)


@pytest.mark.parametrize("count", COUNTS)
def test_numbers_are_counted(machine, count):
    numbers = np.random.default_rng(count).integers(-5, 99, count)
    d_numbers = array(machine, numbers)
    assert arrays.count_not_negative(d_numbers, machine) == np.count_nonzero(numbers >= 0)
    assert arrays.count_numbers(array(machine, np.abs(numbers)), machine) == max(np.abs(numbers), default=-1) + 1


def launched(machine, program, entry, rows, arguments, **made):
    """Run a kernel over rows, and return the arrays that it makes, which come last; each is a dtype and a count."""
    outputs = [machine.arrays.zeros(count, dtype) for dtype, count in made.values()]
    machine.launch(machine.closed(program), entry, rows, [rows, *arguments, *outputs])
    return [listed(machine, output) for output in outputs]


@pytest.mark.parametrize("number", ["int32", "int64"])
def test_elements_of_lists_that_are_gathered(machine, number):
    """Lists of 2, 0 and 3 elements; those of row 2, of no row, of row 0 and of row 1."""
    offsets, rows, starts = array(machine, [0, 2, 2, 5]), array(machine, [2, -1, 0, 1], number), [0, 3, 3, 5, 5]
    arguments = [4, array(machine, starts), offsets, rows]
    assert launched(machine, "lists", f"list_elements_{number}", 5, arguments, n=("int32", 5)) == [[2, 3, 4, 0, 1]]


@pytest.mark.parametrize("least", [0, 1])
def test_lists_are_exploded(machine, least):
    """Of 2, 0, 1 and 2 elements, of which the last list is null."""
    offsets, valid = array(machine, [0, 2, 2, 3, 5]), words(machine, [True, True, True, False])
    (repeats,) = launched(machine, "lists", "measure_lists", 4, [least, offsets, valid], repeats=("int64", 4))
    assert repeats == [2, least, 1, least]
    total, ends = sum(repeats), array(machine, np.cumsum(repeats), "int64")
    made = {
        "numbers": ("int32", total),
        "places": ("int64", total),
        "elements": ("int32", total),
        "found": ("uint8", total),
    }
    assert launched(machine, "lists", "explode", total, [4, ends, offsets, valid], **made) == (
        [[0, 0, 1, 2, 3], [0, 1, 0, 0, 0], [0, 1, -1, 2, -1], [1, 1, 0, 1, 0]]
        if least
        else [[0, 0, 2], [0, 1, 0], [0, 1, 2], [1, 1, 1]]
    )


def test_lists_of_several_columns_are_chosen(machine):
    choice = arrays.filled(4, -1, "int64", machine)
    for column, valid in ((1, [True, True, False, False]), (0, [False, True, True, False])):
        launched(machine, "lists", "choose_list", 4, [column, words(machine, valid), choice])
    assert listed(machine, choice) == [1, 0, 0, -1]
    assert launched(machine, "lists", "place_lists", 4, [choice], places=("int64", 4)) == [[4, 1, 2, -1]]


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32"])
def test_rows_are_numbered_by_their_hash(machine, dtype):
    """The hash has no sign; a piece may be empty."""
    hashes = array(machine, [5, -1, 8, 3, 0], "int64")  # 2^64 - 1 is a multiple of 5, and of 3
    (numbers,) = launched(machine, "exchange", f"number_pieces_{dtype}", 5, [5, hashes], numbers=(dtype, 5))
    assert numbers == [0, 0, 3, 3, 0]
    arguments = [5, array(machine, numbers, dtype), array(machine, [0, 1, 4, 2, 3])]
    assert launched(machine, "exchange", f"find_ends_{dtype}", 5, arguments, ends=("int64", 5)) == [[3, 3, 3, 5, 5]]


@pytest.mark.parametrize("least", [0, 1])
def test_partners_are_counted(machine, least):
    arguments = [least, array(machine, [1, -1, 0, 2]), array(machine, [4, 0, 2, 0], "int64")]
    (repeats,) = launched(machine, "pairs", "count_partners", 4, arguments, repeats=("int64", 4))
    assert repeats == [least, least, 4, 2]


def test_all_pairs(machine):
    made = {"left": ("int32", 6), "right": ("int32", 6)}
    assert launched(machine, "pairs", "pair_all", 6, [3], **made) == [[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]]


@pytest.mark.parametrize(("codes", "found"), [(0, [7, -1, -1, 5]), (1, [2, -1, -1, 0])])
def test_owners_are_found(machine, codes, found):
    arguments = [codes, array(machine, [2, -1, 1, 0]), array(machine, [5, -1, 7])]
    made = launched(machine, "pairs", "find_owners", 4, arguments, found=("int32", 4), count=("uint64", 1))
    assert made == [found, [2]]


def test_the_first_row_of_the_most_frequent_code(machine):
    """By one side's counts, or by the pairs of both; rows without a code are last."""
    codes = array(machine, [-1, 1, 0, 2, 0])
    counts = [array(machine, each, "int64") for each in ([2, 5, 5, 0], [4, 0, 1, 0])]
    assert first_of_most(codes, counts[:1], machine) == 1
    assert first_of_most(codes, counts, machine) == 2
    assert first_of_most(array(machine, [-1, -1]), counts, machine) == 0


def test_runs_of_more_rows_come_first(machine):
    made = launched(machine, "groups", "count_others", 3, [9, array(machine, [0, 4, 5])], others=("uint32", 3))
    assert made == [[5, 8, 5]]


def test_bytes_of_texts_by_number(machine):
    """A null has the bytes of the first text; an estimate may."""
    dictionary = from_strings(["aaa", "é", ""], machine)
    numbers, valid = array(machine, [0, 1, 2, 1]), words(machine, [True, True, True, False])
    coded = Vector(pa.string(), 4, numbers, dictionary=dictionary)
    assert decoded_bytes(coded, machine) - coded.nbytes == 3 + 2 + 0 + 2
    coded = Vector(pa.string(), 4, numbers, valid, 1, dictionary=dictionary)
    assert decoded_bytes(coded, machine) - coded.nbytes == 3 + 2 + 0 + 3
