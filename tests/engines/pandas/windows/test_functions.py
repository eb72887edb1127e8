"""Window functions of the CPU backend: literal answers, and agreement with plain Python loops."""

from math import inf, isfinite, isnan, nan
from sys import float_info
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.pandas.windows import reference
from gpuetl.engines.pandas.columns.column import Masked
from gpuetl.engines.pandas.relational import segmented_scans as segments_module
from gpuetl.engines.pandas.relational.segmented_scans import Segments, integer_frame_sums
from gpuetl.engines.pandas.relational.window_functions import WINDOW_FUNCTIONS, WindowRows

MIN, MAX = -(2**63), 2**63 - 1
SECOND = 1_000_000


def column(values, dtype=float):
    """A column with None for null, and something unlikely under every null."""
    valid = np.array([value is not None for value in values], bool)
    return Masked(np.array([77 if value is None else value for value in values], dtype), valid)


def segmented(lengths, times=None, block_rows=64, new_value=None):
    starts = np.cumsum([0, *lengths], dtype=np.int64)
    time = None if times is None else column(times, np.int64)
    return WindowRows(Segments(starts[:-1], int(starts[-1]), block_rows), time, new_value)


def tied(*segments):
    """Rows of segments given as the keys of their rows."""
    changes = [i == 0 or keys[i] != keys[i - 1] for keys in segments for i in range(len(keys))]
    return segmented(map(len, segments), new_value=np.array(changes, bool))


def listed(result):
    pairs = zip(result.values.tolist(), result.valid.tolist(), strict=True)
    return [value if valid else None for value, valid in pairs]


def same(got, expected, tolerance=0.0):
    if got is None or expected is None:
        return got is expected
    if isinstance(expected, float) and not isfinite(expected):
        return got == expected or (isnan(got) and isnan(expected))
    return abs(got - expected) <= tolerance


def assert_lists(got, expected, tolerances=None):
    assert len(got) == len(expected)
    tolerances = tolerances or [0.0] * len(got)
    wrong = [i for i, triple in enumerate(zip(got, expected, tolerances, strict=True)) if not same(*triple)]
    assert not wrong, f"rows {wrong}: got {[got[i] for i in wrong]}, expected {[expected[i] for i in wrong]}"


def window(name, rows, *arguments):
    return listed(WINDOW_FUNCTIONS[name](rows, *arguments))


RANKS = {"rank", "dense_rank", "percent_rank", "cume_dist", "ntile"}
PAIRS = {"rolling_covar_samp", "rolling_covar_pop", "rolling_corr"}
OF_STATE = {"ewm_moment"}
WITHOUT_COLUMN = {"row_number", "session_id", *RANKS}
THREE_AND_TWO = [1.0, None, 3.0, None, nan]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("cum_count", (), [1, None, 2, None, 1]),
        ("cum_sum", (), [1.0, None, 4.0, None, nan]),
        ("cum_mean", (), [1.0, None, 2.0, None, nan]),
        ("cum_min", (), [1.0, None, 1.0, None, nan]),
        ("cum_max", (), [1.0, None, 3.0, None, nan]),
        ("lag", (), [None, 1.0, None, None, None]),
        ("lag", (0,), THREE_AND_TWO),
        ("lag", (2,), [None, None, 1.0, None, None]),
        ("lag", (99,), [None] * 5),
        ("lead", (), [None, 3.0, None, nan, None]),
        ("lead", (2,), [3.0, None, None, None, None]),
        ("lead", (99,), [None] * 5),
        ("first", (), [1.0, 1.0, 1.0, None, None]),
        ("last", (), [3.0, 3.0, 3.0, nan, nan]),
        ("ffill", (), [1.0, 1.0, 3.0, None, nan]),
        ("bfill", (), [1.0, 3.0, 3.0, nan, nan]),
        ("lag", (1, True), [None, 1.0, 1.0, None, None]),
        ("lag", (2, True), [None] * 5),
        ("lag", (0, True), THREE_AND_TWO),
        ("lead", (1, True), [3.0, 3.0, None, nan, None]),
        ("lead", (99, True), [None] * 5),
        ("first", (True,), [1.0, 1.0, 1.0, nan, nan]),
        ("last", (True,), [3.0, 3.0, 3.0, nan, nan]),
        ("nth_value", (3,), [3.0, 3.0, 3.0, None, None]),
        ("nth_value", (1, True), [1.0, 1.0, 1.0, nan, nan]),
        ("cum_prod", (), [1.0, None, 3.0, None, nan]),
        ("pct_change", (), [None] * 5),
        ("pct_change", (2,), [None, None, 2.0, None, None]),
        ("ewm_mean", (None, 3.0), [1.0, None, 2.0, None, nan]),
        ("ewm_mean", (None, None, 0.25), [1.0, None, 1.5, None, nan]),
        ("ewm_mean", (None, None, 1.0), [1.0, None, 3.0, None, nan]),
        ("diff", (), [None] * 5),
        ("diff", (2,), [None, None, 2.0, None, None]),
        ("ewm_mean", (1.0,), [1.0, None, 2.0, None, nan]),
        ("decayed_sum", (1.0,), [1.0, None, 3.5, None, nan]),
    ],
)
def test_a_function_skips_nulls_and_stays_in_its_segment(name, arguments, expected):
    assert_lists(window(name, segmented([3, 2]), column(THREE_AND_TWO), *arguments), expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rolling_count", [1, 1, 1, 0, 1]),
        ("rolling_sum", [1.0, 1.0, 3.0, None, nan]),
        ("rolling_mean", [1.0, 1.0, 3.0, None, nan]),
        ("rolling_min", [1.0, 1.0, 3.0, None, nan]),
        ("rolling_max", [1.0, 1.0, 3.0, None, nan]),
        ("rolling_std", [None] * 5),
        ("rolling_var", [None] * 5),
        ("rolling_median", [1.0, 1.0, 3.0, None, nan]),
        ("rolling_count_distinct", [1, 1, 1, 0, 1]),
        ("rolling_first", [1.0, 1.0, None, None, None]),
        ("rolling_last", [1.0, None, 3.0, None, nan]),
        ("rolling_nth_value", [None, None, 3.0, None, nan]),
    ],
)
def test_a_rolling_function_gives_the_frames_value_also_where_x_is_null(name, expected):
    rows = segmented([3, 2])
    assert_lists(window(name, rows, column(THREE_AND_TWO), rows.segments.frame_starts_by_rows(2)), expected)


def test_row_number_restarts_in_each_segment():
    assert window("row_number", segmented([3, 1, 2])) == [1, 2, 3, 1, 1, 2]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rank", [1, 2, 2, 4, 1, 1, 1]),
        ("dense_rank", [1, 2, 2, 3, 1, 1, 1]),
        ("percent_rank", [0.0, 1 / 3, 1 / 3, 1.0, 0.0, 0.0, 0.0]),
        ("cume_dist", [0.25, 0.75, 0.75, 1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_rows_that_tie_share_their_rank(name, expected):
    assert window(name, tied("abbc", "bb", "c")) == expected


@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (1, [1, 1, 1, 1, 1, 1, 1]),
        (2, [1, 1, 1, 2, 2, 1, 2]),
        (3, [1, 1, 2, 2, 3, 1, 2]),
        (9, [1, 2, 3, 4, 5, 1, 2]),
        (MAX, [1, 2, 3, 4, 5, 1, 2]),
    ],
)
def test_tiles_differ_by_one_row_at_most_and_the_first_are_the_longer_ones(n, expected):
    assert window("ntile", segmented([5, 2]), n) == expected


def test_a_product_s_overflow_is_distinguished_from_one_that_is_followed_by_a_zero():
    assert window("cum_prod", segmented([4]), column([MAX, 0, MAX, MAX], np.int64)) == [MAX, 0, 0, 0]
    assert window("cum_prod", segmented([3]), column([MIN, 1, 1], np.int64)) == [MIN, MIN, MIN]
    for values, row in [([MIN, -1, 0], 1), ([-1, MIN, 0], 1), ([2**32, 2**31, 0], 1), ([2**32, 2**31, 2], 1)]:
        with pytest.raises(OverflowError, match=f"cum_prod leaves int64 at row {row}"):
            window("cum_prod", segmented([3]), column(values, np.int64))


def test_a_product_of_floats_is_that_of_all_its_factors_whatever_its_parts_are():
    x = column([1e200, 1e200, 1e-300, 0.0, inf, 1e-200, 1e-200, 1e300, -5e-324, 2.0])
    expected = [1e200, inf, 1e100, 0.0, nan, 1e-200, 0.0, 1e-100, -0.0, -0.0]
    assert_lists(window("cum_prod", segmented([5, 5]), x), expected, [1e86] * 5 + [1e-113] * 5)


def test_a_relative_change_is_that_of_ieee_division():
    x = column([0.0, 0.0, 3.0, -inf, inf, 1.0, 2**60])
    assert_lists(window("pct_change", segmented([7]), x), [None, nan, inf, -inf, nan, -1.0, 2.0**60 - 1])


def test_a_span_and_an_alpha_count_rows_whatever_the_time():
    rows = segmented([3], [0, 10**9, None])
    for arguments in [(None, 3.0), (None, None, 0.5)]:
        assert window("ewm_mean", rows, column([8.0, 0.0, 4.0]), *arguments) == [8.0, 4.0, 4.0]


def test_rolling_std_divides_by_one_less_than_the_count():
    rows = segmented([4, 2])
    x = column([1.0, 3.0, None, 7.0, 5.0, 5.0])
    result = window("rolling_std", rows, x, rows.segments.frame_starts_by_rows(3))
    assert_lists(result, [None, 2**0.5, 2**0.5, 8**0.5, None, 0.0], [1e-15] * 6)


def test_rolling_std_does_not_cancel_under_a_large_mean():
    rows = segmented([3])
    frames = rows.segments.frame_starts_by_rows(3)
    assert window("rolling_std", rows, column([1e9, 1e9 + 1, 1e9 + 2]), frames) == [None, 0.5**0.5, 1.0]


def test_moments_of_pairs_neither_cancel_nor_count_half_a_pair():
    rows = segmented([5, 2])
    x = column([1e9, 1e9 + 1, None, 1e9 + 2, inf, 3.0, 3.0])
    y = column([1e9, 1e9 + 2, 7.0, 1e9 - 2, 1.0, 1.0, 2.0])
    frames = rows.segments.frame_starts_by_rows(4)
    assert_lists(window("rolling_covar_samp", rows, x, y, frames), [None, 1.0, 1.0, -1.0, nan, None, 0.0])
    assert_lists(window("rolling_covar_pop", rows, x, y, frames), [0.0, 0.5, 0.5, -2 / 3, nan, 0.0, 0.0], [1e-15] * 7)
    assert_lists(window("rolling_corr", rows, x, y, frames), [None, 1.0, 1.0, -0.5, nan, None, nan], [1e-15] * 7)


@pytest.mark.parametrize("values", [[inf, 1.0, 2.0], [1.0, inf, 2.0], [1.0, 2.0, -inf], [inf, None, inf]])
def test_rolling_std_of_a_frame_with_an_inf_is_nan(values):
    rows = segmented([3])
    assert isnan(window("rolling_std", rows, column(values), rows.segments.frame_starts_by_rows(3))[2])


def test_what_leaves_a_frame_leaves_no_trace():
    rows = segmented([5, 1])
    x = column([inf, 1.0, nan, 2.0, 3.0, 1e308])
    frames = rows.segments.frame_starts_by_rows(2)
    assert_lists(window("rolling_sum", rows, x, frames), [inf, inf, nan, nan, 5.0, 1e308])
    assert_lists(window("rolling_mean", rows, x, frames), [inf, inf, nan, nan, 2.5, 1e308])
    assert_lists(window("rolling_min", rows, x, frames), [inf, 1.0, 1.0, 2.0, 2.0, 1e308])
    assert_lists(window("rolling_max", rows, x, frames), [inf, inf, nan, nan, 3.0, 1e308])


def test_an_infinite_sum_stays_in_its_segment():
    x = column([1e308, 1e308, 1.0, inf, -inf, 1.0, 2.0])
    assert_lists(window("cum_sum", segmented([2, 4, 1]), x), [1e308, inf, 1.0, inf, nan, nan, 2.0])


def test_cum_min_ignores_nan_unless_all_are_and_cum_max_keeps_it():
    x = column([nan, 2.0, nan, 1.0, 5.0, nan, 4.0])
    assert_lists(window("cum_min", segmented([4, 3]), x), [nan, 2.0, 2.0, 1.0, 5.0, 5.0, 4.0])
    assert_lists(window("cum_max", segmented([4, 3]), x), [nan, nan, nan, nan, 5.0, nan, nan])


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (np.bool_, [True, None, False, True]),
        (np.int8, [-128, None, 127, -3]),
        (np.uint64, [2**64 - 1, None, 0, 9]),
        (np.int64, [MAX, None, MIN, 2**53 + 1]),
        (np.float32, [0.5, None, -inf, 2.0]),
    ],
)
def test_min_max_and_shifts_keep_the_type(dtype, values):
    rows, x = segmented([4]), column(values, dtype)
    a, _, c, d = values
    frames = rows.segments.frame_starts_by_rows(2)
    expected = {
        "cum_min": [a, None, min(a, c), min(a, c, d)],
        "cum_max": [a, None, max(a, c), max(a, c, d)],
        "rolling_min": [a, a, c, min(c, d)],
        "rolling_max": [a, a, c, max(c, d)],
        "lag": [None, a, None, c],
        "lead": [None, c, d, None],
        "first": [a] * 4,
        "last": [d] * 4,
        "ffill": [a, a, c, d],
    }
    for name, answer in expected.items():
        result = WINDOW_FUNCTIONS[name](rows, x, *([frames] if name.startswith("rolling") else []))
        assert (result.values.dtype, listed(result)) == (np.dtype(dtype), answer), name


def test_ewm_mean_by_time_halves_the_weight_of_the_past_every_half_life():
    times = [0, 10 * SECOND, 30 * SECOND, None, 0, 0]
    x = column([8.0, 0.0, 4.0, 9.0, 1.0, 5.0])
    result = window("ewm_mean", segmented([4, 2], times), x, 10.0)
    assert_lists(result, [8.0, 4.0, 4.0, None, 1.0, 1.0], [1e-14] * 6)


def test_ewm_mean_counts_time_from_the_last_row_that_is_not_null():
    x = column([8.0, None, 0.0])
    assert_lists(window("ewm_mean", segmented([3], [0, 5 * SECOND, 10 * SECOND]), x, 10.0), [8.0, None, 4.0])


def test_ewm_mean_is_exact_for_steps_far_below_the_half_life():
    result = window("ewm_mean", segmented([2], [0, 1]), column([0.0, 1.0]), 1e12)
    assert result[1] == pytest.approx(np.log(2) * 1e-18, rel=1e-12, abs=0)


def test_decayed_sum_by_time_halves_the_past_every_half_life():
    rows = segmented([3], [0, 10 * SECOND, 30 * SECOND])
    assert window("decayed_sum", rows, column([8, 1, 1], int), 10.0) == [8.0, 5.0, 2.25]


@pytest.mark.parametrize("name", ["ewm_mean", "decayed_sum"])
def test_a_decay_that_underflows_forgets_numbers_but_neither_inf_nor_nan(name):
    times = [0, MAX, 0, MAX, 0, MAX]
    result = window(name, segmented([2, 2, 2], times), column([1.0, 2.0, inf, 2.0, nan, 2.0]), 1e-3)
    assert_lists(result, [1.0, 2.0, inf, inf, nan, nan])


@pytest.mark.parametrize("name", ["ewm_mean", "decayed_sum"])
def test_opposite_infinities_decay_to_nan(name):
    assert_lists(window(name, segmented([3]), column([inf, 1.0, -inf]), 1.0), [inf, inf, nan])


def test_a_session_ends_after_a_gap_strictly_longer_than_the_limit():
    rows = segmented([5, 2, 1], [0, 10, 21, 21, None, MIN, MAX, None])
    assert window("session_id", rows, 10) == [0, 0, 1, 1, None, 0, 1, None]


def test_a_session_sees_a_microsecond_beyond_what_a_float_resolves():
    assert window("session_id", segmented([3], [2**60, 2**60 + 10, 2**60 + 21]), 10) == [0, 0, 1]


def test_a_frame_by_interval_includes_its_older_end():
    rows = segmented([5, 2], [0, 10, 10, 20, 21, 5, 5])
    assert rows.segments.frame_starts_by_interval(rows.time, 10).tolist() == [0, 0, 0, 1, 3, 5, 5]
    assert rows.segments.frame_starts_by_interval(rows.time, 0).tolist() == [0, 1, 1, 3, 4, 5, 5]


def test_rows_of_null_time_form_a_frame_of_their_own():
    rows = segmented([4, 2], [3, MAX, None, None, None, None])
    assert rows.segments.frame_starts_by_interval(rows.time, MAX).tolist() == [0, 0, 2, 2, 4, 4]


def test_a_frame_by_interval_does_not_wrap_at_the_ends_of_int64():
    rows = segmented([4], [MIN, MIN + 1, 0, MAX])
    assert rows.segments.frame_starts_by_interval(rows.time, MAX).tolist() == [0, 0, 1, 2]


def test_a_frame_by_rows_is_partial_at_the_segments_start():
    rows = segmented([4, 2])
    assert rows.segments.frame_starts_by_rows(3).tolist() == [0, 0, 0, 1, 4, 4]
    assert rows.segments.frame_starts_by_rows(10**30).tolist() == [0, 0, 0, 0, 4, 4]


@pytest.mark.parametrize(
    ("name", "arguments", "values", "row"),
    [
        ("cum_sum", (), [MAX, 1, -1, MAX, 1, 0], 4),
        ("cum_sum", (), [MAX, MIN, -1, MIN, -1, -1], 2),
        ("diff", (), [MAX, MIN, 0, 0, 0, 0], 1),
        ("diff", (2,), [0, 0, 0, MIN, 1, 1], 5),
    ],
)
def test_an_overflow_is_an_error_with_its_first_row(name, arguments, values, row):
    lengths = [1, 2, 3] if name == "cum_sum" else [3, 3]
    with pytest.raises(OverflowError, match=f"{name} leaves int64 at row {row}") as raised:
        window(name, segmented(lengths), column(values, np.int64), *arguments)
    assert raised.value.args[1] == row


def test_integer_sums_reach_both_ends_of_int64_and_ignore_what_lies_under_a_null():
    x = Masked(np.array([MAX, 5, MIN, 1, MAX]), np.array([True, False, True, True, False]))
    assert window("cum_sum", segmented([2, 3]), x) == [MAX, None, MIN, MIN + 1, None]
    x = column([0, MAX, MIN, MIN, -1], np.int64)
    assert window("diff", segmented([5]), x, 3) == [None, None, None, MIN, MIN]


def test_a_difference_with_a_null_cannot_overflow():
    assert window("diff", segmented([3]), column([MIN, None, MAX], np.int64)) == [None, None, None]


def test_a_rolling_sum_fits_although_its_partial_sums_do_not():
    rows = segmented([4])
    x = column([MAX, MAX, MIN, MIN], np.int64)
    frames = np.array([0, 1, 0, 0])
    assert window("rolling_sum", rows, x, frames) == [MAX, MAX, MAX - 1, -2]
    with pytest.raises(OverflowError, match="row 1"):
        window("rolling_sum", rows, x, rows.segments.frame_starts_by_rows(2))


@pytest.mark.parametrize("name", sorted(WINDOW_FUNCTIONS.keys() - OF_STATE))
def test_no_rows_give_no_rows(name):
    rows = segmented([], times=[])
    parameters = {
        "ewm_mean": [1.0],
        "ewm_var": [1.0],
        "ewm_std": [1.0],
        "decayed_sum": [1.0],
        "session_id": [5],
        "ntile": [2],
        "nth_value": [2],
    }.get(name, [])
    parameters = [rows.segments.frame_starts_by_rows(3)] if name.startswith("rolling") else parameters
    parameters += [0.5] if name == "rolling_quantile" else []
    columns = [] if name in WITHOUT_COLUMN else [column([])] * (1 + (name in PAIRS))
    assert window(name, rows, *columns, *parameters) == []
    assert rows.segments.frame_starts_by_interval(rows.time, 3).tolist() == []


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        ("lag", (column([1.0]), -1), ValueError, "lag: offset must be 0 or more, got -1"),
        ("ewm_mean", (column([1.0]), 0.0), ValueError, "half_life must be .* got 0.0"),
        ("decayed_sum", (column([1.0]), nan), ValueError, "half_life"),
        ("ewm_mean", (column([1.0]), None, 0.5), ValueError, "span must be from 1 to inf, got 0.5"),
        ("ewm_mean", (column([1.0]), None, None, 0.0), ValueError, "alpha must be .* got 0.0"),
        ("ewm_mean", (column([1.0]), None, None, nan), ValueError, "alpha must be .* got nan"),
        ("ewm_mean", (column([1.0]),), ValueError, "alpha must be .* got None"),
        ("ntile", (0,), ValueError, "ntile: n must be 1 or more, got 0"),
        ("session_id", (5,), ValueError, "session_id needs a date or timestamp"),
        ("session_id", (-5,), ValueError, "gap must be 0 or more"),
        ("cum_sum", (column([1], np.int32),), TypeError, "cum_sum takes int64 or float64, got int32"),
        ("rolling_count", (column([1.0]), np.array([1])), ValueError, "every frame must start in"),
        ("rolling_sum", (column([1.0]), np.array([-1])), ValueError, "every frame must start in"),
    ],
)
def test_an_argument_outside_its_domain_is_refused(name, arguments, error, message):
    with pytest.raises(error, match=message):
        WINDOW_FUNCTIONS[name](segmented([1]), *arguments)


@pytest.mark.parametrize(("starts", "n_rows"), [([1], 2), ([0, 0], 2), ([0, 2], 2), ([], 2), ([0], 0)])
def test_segments_that_are_empty_or_leave_rows_out_are_refused(starts, n_rows):
    with pytest.raises(ValueError, match="segment starts must ascend strictly from 0"):
        Segments(np.array(starts, np.int64), n_rows)


def test_a_column_whose_mask_has_another_length_is_refused():
    with pytest.raises(ValueError, match="the same length"):
        Masked(np.zeros(2), np.ones(3, bool))


def extend_span(left, right):
    """Combine (first row, last row, rows): not commutative, and wrong once a row is lost or repeated."""
    return left[0], right[1], left[2] + right[2]


@pytest.mark.parametrize("lengths", [[100_000], [1] * 1000, [65, 1, 64, 64 * 64 + 1, 63, 2]])
def test_a_scan_takes_every_row_of_its_segment_once_and_in_order(lengths):
    segments = segmented(lengths).segments
    row = np.arange(segments.n_rows)
    spans = segments.scan(extend_span, row, row, np.ones_like(row))
    for got, expected in zip(spans, (segments.first_row, row, segments.position + 1), strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("rows", [1, 2, 1000, 10**9])
def test_a_frame_takes_every_row_of_its_own_once_and_in_order(rows):
    segments = segmented([100_000, 1, 500]).segments
    row, first = np.arange(segments.n_rows), segments.frame_starts_by_rows(rows)
    spans = segments.reduce_frames(extend_span, first, row, row, np.ones_like(row))
    for got, expected in zip(spans, (first, row, row - first + 1), strict=True):
        np.testing.assert_array_equal(got, expected)


finite = st.floats(-1e6, 1e6, allow_subnormal=False)
nullable = st.none() | finite
float_lists = st.sampled_from([finite, nullable, nullable | st.sampled_from([nan, inf, -inf])])
digits = st.integers(-9, 9)
int_lists = st.sampled_from([digits, digits | st.none(), st.integers(MIN, MAX) | st.none()])
instants = st.sampled_from([st.integers(0, 40), st.integers(0, 10**8), st.integers(MIN, MAX)])


@st.composite
def segment_lists(draw, elements):
    """Lists of values, one per segment, some longer than the square of the block size."""
    element = draw(elements)
    return draw(st.lists(st.lists(element, min_size=1, max_size=24), max_size=5))


@st.composite
def time_lists(draw, xs):
    """Ascending times with nulls last for each segment of `xs`."""
    instant = draw(instants)
    drawn = [draw(st.lists(st.none() | instant, min_size=len(x), max_size=len(x))) for x in xs]
    return [sorted(times, key=lambda time: (time is None, time or 0)) for times in drawn]


def tolerances(xs, name, expected):
    """4 * n * eps of sum |x| of each row's segment, for its rounding in any order; of what grows otherwise, of that.

    Below the least normal number a square has fewer digits.
    """
    finite = [[abs(x) for x in segment if x is not None and isfinite(x)] for segment in xs]
    sizes = [sum(f) for x, f in zip(xs, finite, strict=True) for _ in x]
    if name in ("rolling_var", "ewm_var"):
        sizes = [size**2 for size in sizes]
    if name == "ewm_std":  # the root of what cancels
        sizes = [size * 2.0**26 for size in sizes]
    if name in ("cum_prod", "pct_change"):
        sizes = [1 + abs(value) if value is not None and isfinite(value) else 0.0 for value in expected]
    counts = [len(x) for x in xs for _ in x]
    return [4 * (count + 2) * 2.0**-52 * (size + float_info.min) for count, size in zip(counts, sizes, strict=True)]


def flat(lists):
    return [value for values in lists for value in values]


def assert_like_its_twin(name, rows, xs, times, dtype, engine_arguments, twin_arguments):
    """Compare with the twin of each segment; a value outside int64 has to be an error with its row."""
    calls = zip(xs, times, twin_arguments, strict=True)
    expected = flat(getattr(reference, name)(x, time, *arguments) for x, time, arguments in calls)
    columns = [] if name in WITHOUT_COLUMN else [column(flat(xs), dtype)]
    overflows = [i for i, value in enumerate(expected) if isinstance(value, int) and not MIN <= value <= MAX]
    if overflows:
        with pytest.raises(OverflowError) as raised:
            window(name, rows, *columns, *engine_arguments)
        assert raised.value.args[1] == overflows[0]
    else:
        got = window(name, rows, *columns, *engine_arguments)
        assert_lists(got, expected, tolerances(xs, name, expected) if dtype is float else None)


FRAMELESS = sorted(
    name for name in WINDOW_FUNCTIONS if not name.startswith("rolling") and name not in {*RANKS, *OF_STATE}
)
ROLLING = sorted(name for name in WINDOW_FUNCTIONS if name.startswith("rolling") and name not in PAIRS)
ROUNDED = {
    "rolling_median",
    "rolling_quantile",
    "cum_mean",
    "ewm_mean",
    "ewm_var",
    "ewm_std",
    "decayed_sum",
    "interpolate",
    "pct_change",
    "rolling_mean",
    "rolling_var",
    "rolling_std",
}
HALF_LIVES = st.sampled_from([1e-3, 0.7, 3.0, 3600.0])
PARAMETERS = {
    "lag": st.tuples(st.integers(0, 30), st.booleans()),
    "lead": st.tuples(st.integers(0, 30), st.booleans()),
    "first": st.tuples(st.booleans()),
    "last": st.tuples(st.booleans()),
    "nth_value": st.tuples(st.integers(1, 4), st.booleans()),
    "diff": st.tuples(st.integers(0, 3)),
    "pct_change": st.tuples(st.integers(0, 3)),
    "ewm_mean": st.tuples(HALF_LIVES)
    | st.tuples(st.none(), st.sampled_from([1.0, 1.5, 30.0]))
    | st.tuples(st.none(), st.none(), st.sampled_from([1e-9, 0.3, 1.0])),
    **dict.fromkeys(
        ("ewm_var", "ewm_std"),
        st.tuples(st.sampled_from([3.0, 3600.0]), st.none(), st.none(), st.booleans(), st.booleans(), st.booleans())
        | st.tuples(
            st.none(), st.sampled_from([1.0, 1.5, 30.0]), st.none(), st.booleans(), st.booleans(), st.booleans()
        ),
    ),
    "decayed_sum": st.tuples(HALF_LIVES),
    "session_id": st.tuples(st.integers(0, 50) | st.integers(0, 2**64)),
}


def typed_segments(data, name):
    dtype = float if name in ROUNDED else data.draw(st.sampled_from([float, np.int64]))
    return dtype, data.draw(segment_lists(float_lists if dtype is float else int_lists))


@pytest.mark.part(6)
@pytest.mark.parametrize("name", FRAMELESS)
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_a_function_agrees_with_its_loop(name, data):
    dtype, xs = typed_segments(data, name)
    is_timed = name == "session_id" or data.draw(st.booleans())
    times = data.draw(time_lists(xs)) if is_timed else [None] * len(xs)
    rows = segmented(map(len, xs), flat(times) if is_timed else None, data.draw(st.integers(2, 4)))
    arguments = data.draw(PARAMETERS[name]) if name in PARAMETERS else ()
    assert_like_its_twin(name, rows, xs, times, dtype, arguments, [arguments] * len(xs))


@pytest.mark.parametrize("name", sorted(RANKS))
@settings(deadline=None, max_examples=25)
@given(
    segments=st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=24).map(sorted), max_size=5), n=st.integers(1, 9)
)
def test_a_rank_agrees_with_its_loop(name, segments, n):
    arguments = [n] if name == "ntile" else []
    expected = flat(getattr(reference, name)(keys, *arguments) for keys in segments)
    assert window(name, tied(*segments), *arguments) == expected


@pytest.mark.part(6)
@pytest.mark.parametrize("name", ROLLING)
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_a_rolling_function_agrees_with_its_loop(name, data):
    dtype, xs = typed_segments(data, name)
    times = data.draw(time_lists(xs))
    rows = segmented(map(len, xs), flat(times))
    if data.draw(st.booleans()):
        size = data.draw(st.integers(1, 30))
        frames = [reference.frame_starts_by_rows(len(x), size) for x in xs]
        first = rows.segments.frame_starts_by_rows(size)
    else:
        interval = data.draw(st.integers(0, 30) | st.integers(0, MAX))
        frames = [reference.frame_starts_by_interval(time, interval) for time in times]
        with patch.object(segments_module, "CHUNK_ROWS", data.draw(st.integers(1, 9))):
            first = rows.segments.frame_starts_by_interval(rows.time, interval)
    offsets = rows.segments.starts.tolist()
    assert first.tolist() == flat([[o + f for f in frame] for o, frame in zip(offsets, frames, strict=True)])
    with patch.object(segments_module, "CHUNK_ROWS", data.draw(st.integers(1, 9))):
        more = [0.3] if name == "rolling_quantile" else []
        assert_like_its_twin(name, rows, xs, times, dtype, [first, *more], [[frame, *more] for frame in frames])


def test_integer_frame_sums_wrap_without_a_warning_and_count_bools():
    wrapped = integer_frame_sums(np.array([MAX, MAX, 2]), np.array([0, 0, 0]))
    assert wrapped.tolist() == [MAX, -2, 0]
    assert integer_frame_sums(np.array([True, False, True]), np.array([0, 1, 0])).tolist() == [1, 0, 2]
