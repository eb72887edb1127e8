// What window functions fold: the states of rows and how they combine, and what a state comes to; see scan.cuh.
//
// A fold here has, instead of `put`, `Maybe<T> result(int64_t row, const State& state)`: scans and frames both use it.
// Its members are the marks, `of` with the columns and constants that it reads, and, if it can fail, `faults`.
#pragma once

#include "scan.cuh"
#include "durations.cuh"
#include "floats.cuh"
#include "words.cuh"

namespace windows {

constexpr int128_t DIGITS_38 = int128_t(uint128_t(0x4B3B4CA85A86C47AULL) << 64 | 0x098A224000000000ULL);  // 10^38
DEVICE bool has_38_digits(int128_t value) { return -DIGITS_38 < value && value < DIGITS_38; }

// ---- which rows -----------------------------------------------------------------------------------------------------

struct Everywhere {
    DEVICE bool operator()(const Marks&, int64_t) const { return true; }
};
struct RunBegins {
    DEVICE bool operator()(const Marks& marks, int64_t row) const { return marks.begins_run(row); }
};
struct RunEnds {
    DEVICE bool operator()(const Marks& marks, int64_t row) const { return marks.ends_run(row); }
};
template <class X>
struct Present {
    X x;
    DEVICE bool operator()(const Marks&, int64_t row) const { return x.valid(row); }
};
template <class ONLY>
struct Chosen {
    ONLY only;
    DEVICE bool operator()(const Marks&, int64_t row) const { return only[row].value; }
};
template <class ONLY, class X>
struct ChosenPresent {
    ONLY only;
    X x;
    DEVICE bool operator()(const Marks&, int64_t row) const { return only[row].value && x.valid(row); }
};

template <class X, class Y>
struct BothPresent {
    X x;
    Y y;
    DEVICE bool operator()(const Marks&, int64_t row) const { return x.valid(row) && y.valid(row); }
};

// Moments in microseconds, dates in days: all days in microseconds would leave int64.
template <class X>
struct Times {
    X x;

    DEVICE bool valid(int64_t row) const { return x.valid(row); }
    DEVICE int64_t at(int64_t row) const { return x.data[row]; }
};

// Two int64 may be 2^64 apart: unsigned.
DEVICE uint64_t elapsed(int64_t from, int64_t to) { return uint64_t(to) - uint64_t(from); }

// Where a group goes on after more than `gap`.  Times ascend with the nulls at one end, so the row before is the last
// that has a time, if any in the group has.
template <class TIME>
struct Breaks {
    TIME time;
    int64_t gap;

    DEVICE bool operator()(const Marks& marks, int64_t row) const {
        if (marks.begins_group(row) || !time.valid(row) || !time.valid(row - 1)) return false;
        return elapsed(time.at(row - 1), time.at(row)) > uint64_t(gap);
    }
};

// ---- rows and counts ------------------------------------------------------------------------------------------------

struct FirstMet {
    int32_t row = -1;
};
DEVICE FirstMet combine(FirstMet earlier, FirstMet later) { return earlier.row < 0 ? later : earlier; }

struct LastMet {
    int32_t row = -1;
};
DEVICE LastMet combine(LastMet earlier, LastMet later) { return later.row < 0 ? earlier : later; }

// A row's number, or -1, as functions of rows and folds give it.
DEVICE int32_t place_of(int32_t row) { return row; }
DEVICE int32_t place_of(Maybe<int32_t> row) { return row.value; }

template <class STATE, class WHERE>
struct RowOf {
    typedef STATE State;
    Marks marks;
    WHERE of;

    DEVICE State at(int64_t row) const { return State{of(marks, row) ? int32_t(row) : -1}; }
    DEVICE Maybe<int32_t> result(int64_t, const State& state) const { return {state.row, state.row >= 0}; }
};

struct Tally {
    int32_t rows = 0;  // fewer than 2^31, as row numbers are
};
DEVICE Tally combine(Tally earlier, Tally later) { return {earlier.rows + later.rows}; }

template <class WHERE>
struct Count {
    typedef Tally State;
    Marks marks;
    WHERE of;

    DEVICE State at(int64_t row) const { return {of(marks, row)}; }
    DEVICE Maybe<int64_t> result(int64_t, const State& state) const { return some(int64_t(state.rows)); }
};

// ---- of a row, by where its group begins and ends -------------------------------------------------------------------

DEVICE Maybe<int64_t> row_number(int64_t row, int32_t first) { return some(row - first + 1); }

// `run` is the first row of those that tie with a row, `end` the last.
DEVICE Maybe<int64_t> rank(int64_t, int32_t first, int32_t run) { return some(int64_t(run) - first + 1); }
DEVICE Maybe<double> percent_rank(int64_t, int32_t first, int32_t last, int32_t run) {
    const int64_t others = int64_t(last) - first;
    return some(double(int64_t(run) - first) / double(others ? others : 1));
}
DEVICE Maybe<double> cume_dist(int64_t, int32_t first, int32_t last, int32_t end) {
    return some(double(int64_t(end) - first + 1) / double(int64_t(last) - first + 1));
}
DEVICE Maybe<int64_t> ntile(int64_t row, int32_t first, int32_t last, int64_t tiles) {
    const int64_t place = row - first, rows = int64_t(last) - first + 1;
    const int64_t size = rows / tiles, longer = rows % tiles, in_longer = longer * (size + 1);
    if (place < in_longer) return some(place / (size + 1) + 1);
    return some(longer + (place - in_longer) / size + 1);
}

// Row numbers; -1 where there is no such row.
DEVICE int32_t row_before(int64_t row, int32_t first, int64_t offset) {
    return row - first >= offset ? int32_t(row - offset) : -1;
}
DEVICE int32_t row_after(int64_t row, int32_t last, int64_t offset) {
    return last - row >= offset ? int32_t(row + offset) : -1;
}
DEVICE int32_t place_in_group(int64_t, int32_t first, int32_t last, int64_t place) {
    return last - first >= place ? int32_t(first + place) : -1;
}
DEVICE int32_t row_of_group(int64_t, int32_t first, const int32_t* rows) { return rows[first]; }
template <class X> DEVICE int32_t row_if_valid(int64_t row, const X& x, int32_t from) { return x.valid(row) ? from : -1; }

// The rows that have a value, numbered over all groups.
struct PresentRows {
    const int32_t* before;  // how many are before each row
    const int32_t* rows;    // their numbers, and behind them one beyond all rows
    int64_t most;           // how many they are at most
};
DEVICE int32_t present_before(int64_t row, int32_t first, const PresentRows& present, int64_t offset) {
    const int64_t number = present.before[row] - offset;
    return number >= 0 && present.rows[number] >= first ? present.rows[number] : -1;
}
DEVICE int32_t present_of_group(int64_t, int32_t first, int32_t last, const PresentRows& present, int64_t place) {
    const int64_t number = present.before[first] + place;
    return number < present.most && present.rows[number] <= last ? present.rows[number] : -1;
}
template <class X>
DEVICE int32_t present_after(int64_t row, const X& x, int32_t last, const PresentRows& present, int64_t offset) {
    const int64_t number = present.before[row] + int64_t(x.valid(row)) + offset - 1;
    return number < present.most && present.rows[number] <= last ? present.rows[number] : -1;
}

DEVICE double less(Fault, double x, double y) { return x - y; }
DEVICE int64_t less(Fault at, int64_t x, int64_t y) {
    const int64_t result = int64_t(uint64_t(x) - uint64_t(y));
    if (((x ^ y) & (x ^ result)) < 0) at(OVERFLOW_);
    return result;
}
DEVICE int64_t less(Fault at, int32_t x, int32_t y) { return subtract(at, x, y); }  // days
DEVICE int128_t less(Fault at, int128_t x, int128_t y) {
    const int128_t result = int128_t(uint128_t(x) - uint128_t(y));
    if (((x ^ y) & (x ^ result)) < 0 || !has_38_digits(result)) at(OVERFLOW_);
    return result;
}

template <class X>
DEVICE auto difference(Fault at, int64_t row, const X& x, int32_t first, int64_t offset) {
    typedef decltype(less(at, x[row].value, x[row].value)) T;
    if (row - first < offset || !x.valid(row) || !x.valid(row - offset)) return none<T>();
    return some(less(at, x[row].value, x[row - offset].value));
}
template <class X>
DEVICE Maybe<double> relative_change(int64_t row, const X& x, int32_t first, int64_t offset) {
    if (row - first < offset || !x.valid(row) || !x.valid(row - offset)) return none<double>();
    return some(double(x[row].value) / double(x[row - offset].value) - 1);
}

// The value between two others, at a share of their distance.
DEVICE double between(double from, double to, double share) { return from + (to - from) * share; }
DEVICE double distance(double from, double to) { return to - from; }
DEVICE double distance(int64_t from, int64_t to) { return double(elapsed(from, to)); }
DEVICE double distance(int32_t from, int32_t to) { return double(int64_t(to) - from); }

// `before` and `after` are the nearest rows that have a value, or -1.
template <class X>
DEVICE Maybe<double> interpolated(int64_t row, const X& x, int32_t before, int32_t after) {
    if (x.valid(row)) return some(double(x[row].value));
    if (before < 0 || after < 0) return none<double>();
    return some(between(x[before].value, x[after].value, double(row - before) / double(int64_t(after) - before)));
}
// The same by a column: nothing where its value is not between those of the two rows.
template <class X, class BY>
DEVICE Maybe<double> interpolated_by(int64_t row, const X& x, const BY& by, int32_t before, int32_t after) {
    if (x.valid(row)) return some(double(x[row].value));
    if (before < 0 || after < 0 || !by.valid(row)) return none<double>();
    const auto from = by[before].value, at = by[row].value, to = by[after].value;
    if (!(from <= at && at <= to)) return none<double>();
    return some(between(x[before].value, x[after].value, from == to ? 0.0 : distance(from, at) / distance(from, to)));
}

// ---- what is written ------------------------------------------------------------------------------------------------

// The value of another row, or of none.
template <class X>
DEVICE auto moved(int64_t, int32_t from, const X& x) {
    return from < 0 ? none<typename X::value_type>() : x[from];
}
template <class X, class DEFAULT>
DEVICE auto moved(int64_t row, int32_t from, const X& x, const DEFAULT& instead) {
    typedef typename X::value_type T;
    if (from >= 0) return x[from];
    return instead.valid(row) ? some(T(instead[row].value)) : none<T>();
}

}  // namespace windows
