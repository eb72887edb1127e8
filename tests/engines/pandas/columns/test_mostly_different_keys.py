"""Keys that mostly differ are sorted, others hashed: the numbers are the same."""

import numpy as np
import pyarrow as pa
import pytest

from gpuetl.engines.pandas.columns import keys, order

ROWS = 1 << 15


def columns(seed, distinct):
    """Return columns of as many distinct values: wide integers, floats with both zeros and NaN, strings."""
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, distinct, ROWS)
    wide = rng.integers(-(1 << 62), 1 << 62, distinct)[chosen]
    floats = rng.random(distinct)[chosen]
    floats[:9:3], floats[1:9:3], floats[9:12] = 0.0, -0.0, np.nan
    return wide, floats, np.array([f"name-{number}" for number in wide])


def numbered_by_hand(*values):
    """Number the rows by a dictionary, in order of first appearance; return the first rows, too."""
    seen, codes = {}, []
    for row in zip(*(value.tolist() for value in values), strict=True):
        key = tuple("nan" if value != value else value for value in row)
        codes.append(seen.setdefault(key, len(seen)))
    first = [codes.index(number) for number in (0, len(seen) // 2, len(seen) - 1)]
    return codes, len(seen), first


@pytest.mark.part(2)
@pytest.mark.parametrize("distinct", [10, ROWS // 8, ROWS * 4])
@pytest.mark.parametrize("chosen", [(0,), (1,), (2,), (0, 1), (1, 0, 2)])
def test_groups_are_numbered_as_they_appear(distinct, chosen):
    made = columns(3, distinct)
    values = [made[place] for place in chosen]
    groups = keys.encode_keys([pa.array(value) for value in values], ROWS)
    codes, count, (first, middle, last) = numbered_by_hand(*values)
    assert groups.codes.tolist() == codes
    assert groups.count == count
    assert groups.first_rows[[0, count // 2, count - 1]].tolist() == [first, middle, last]


@pytest.mark.parametrize("has_nulls", [False, True])
@pytest.mark.parametrize("distinct", [10, ROWS // 8, ROWS * 4])
def test_ranks_of_strings_are_their_places_in_order(distinct, has_nulls):
    texts = columns(5, distinct)[2].tolist()
    texts = [None, *texts[1:]] if has_nulls else texts
    ascending = sorted({text for text in texts if text is not None})
    places = {text: place for place, text in enumerate(ascending)} | {None: 0}
    ranked = order.rank_values(pa.array(texts, pa.string()))
    assert ranked.ranks.tolist() == [places[text] for text in texts]
    assert ranked.values.to_pylist() == ascending
    assert ranked.valid.tolist() == [text is not None for text in texts]


def test_which_way_is_taken_is_known_from_a_sample():
    rng = np.random.default_rng(1)
    assert keys.mostly_differs(rng.integers(0, 1 << 60, ROWS))
    assert not keys.mostly_differs(rng.integers(0, 100, ROWS))
    assert not keys.mostly_differs(rng.integers(0, 1 << 60, 100))  # few are hashed
    assert order.strings_mostly_differ(pa.array([str(number) for number in range(ROWS)]))
    assert not order.strings_mostly_differ(pa.array(["a", "b"] * (ROWS // 2)))


@pytest.mark.parametrize("rows", [50_000, 1_000_000])
@pytest.mark.parametrize(("equal", "expected"), [(0.0, True), (0.1, True), (1.0, False), (2.0, False)])
def test_strings_of_two_rows_each_do_not_mostly_differ(rows, equal, expected):
    """A sample of them has few repeats, and sorting them all would take up to twice as long as a dictionary."""
    numbers = np.arange(rows) if not equal else np.random.default_rng(1).integers(0, int(rows / equal), rows)
    assert order.strings_mostly_differ(pa.array(numbers).cast(pa.string())) == expected
