"""Keys packed into words, and sorted by them."""

from __future__ import annotations

import numpy as np
import pytest

from gpuetl.engines.pandas.columns.order import argsort_packed, pack_keys

LEAST, GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


def by_lexsort(digits):
    return np.lexsort([np.asarray(d) for d in digits][::-1])


@pytest.mark.parametrize(
    "digits",
    [
        [[3, 1, 2, 1]],
        [[5, 5, 5]],
        [[]],
        [[7]],
        [[GREATEST, LEAST, 0, -1, LEAST, GREATEST]],
        [[1, 0, 1, 0], [GREATEST, 4, LEAST, 4]],
        [[GREATEST, LEAST, GREATEST], [1, 1, 0], [LEAST, GREATEST, LEAST]],
        [[0, 0, 0], [2, 2, 2], [9, 8, 9]],
    ],
)
def test_rows_are_sorted_stably_by_all_keys(digits):
    keys = [np.array(digit, np.int64) for digit in digits]
    assert argsort_packed(pack_keys(keys)).tolist() == by_lexsort(keys).tolist()


@pytest.mark.parametrize("spans", [(10, 10), (1 << 40, 1 << 30), (1 << 62, 3), (1 << 62, 1 << 62), (1, 1 << 50, 7)])
def test_random_keys_of_any_range_sort_as_lexsort_does(spans):
    rng = np.random.default_rng(sum(spans))
    keys = [rng.integers(-span, span, 5_000) for span in spans]
    assert argsort_packed(pack_keys(keys)).tolist() == by_lexsort(keys).tolist()


def test_keys_whose_ranges_fit_share_a_word():
    small, wide = np.array([0, 1 << 20]), np.array([0, 1 << 50])
    assert [word.bits for word in pack_keys([small, small, wide])] == [42, 51]
