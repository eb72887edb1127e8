// What window functions fold: the states of rows and how they combine, and what a state comes to; see scan.cuh.
//
// A fold here has, instead of `put`, `Maybe<T> result(int64_t row, const State& state)`: scans and frames both use it.
// Its members are the marks, `of` with the columns and constants that it reads, and, if it can fail, `faults`.
#pragma once

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

// Moments as microseconds, days as their beginnings.
template <class X, int64_t UNIT>
struct Times {
    X x;

    DEVICE bool valid(int64_t row) const { return x.valid(row); }
    DEVICE int64_t at(int64_t row) const { return int64_t(x.data[row]) * UNIT; }
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
    int64_t rows = 0;
};
DEVICE Tally combine(Tally earlier, Tally later) { return {earlier.rows + later.rows}; }

template <class WHERE>
struct Count {
    typedef Tally State;
    Marks marks;
    WHERE of;

    DEVICE State at(int64_t row) const { return {of(marks, row)}; }
    DEVICE Maybe<int64_t> result(int64_t, const State& state) const { return some(state.rows); }
};

// ---- sums -----------------------------------------------------------------------------------------------------------

// -0.0 changes no number that it is added to.
struct Real {
    double sum = -0.0;

    DEVICE static Real of(double value) { return {value}; }
};
DEVICE Real combine(Real earlier, Real later) { return {earlier.sum + later.sum}; }

// Fewer than 2^31 values of 64 bits, or of 18 digits: their sum is exact, whatever the order.
struct Whole {
    int128_t sum = 0;

    DEVICE static Whole of(int128_t value) { return {value}; }
};
DEVICE Whole combine(Whole earlier, Whole later) { return {earlier.sum + later.sum}; }

// Longer decimals, in halves: high * 2^64 + low.
struct Halves {
    int128_t high = 0;
    uint128_t low = 0;

    DEVICE static Halves of(int128_t value) { return {value >> 64, uint128_t(uint64_t(value))}; }
};
DEVICE Halves combine(const Halves& earlier, const Halves& later) {
    return {earlier.high + later.high, earlier.low + later.low};
}

constexpr int128_t DIGITS_38 = int128_t(uint128_t(0x4B3B4CA85A86C47AULL) << 64 | 0x098A224000000000ULL);  // 10^38
DEVICE bool has_38_digits(int128_t value) { return -DIGITS_38 < value && value < DIGITS_38; }

DEVICE double total(Fault, Real state, double) { return state.sum; }
DEVICE int64_t total(Fault at, Whole state, int64_t) {
    if (state.sum != int64_t(state.sum)) at(OVERFLOW_);
    return int64_t(state.sum);
}
DEVICE int128_t total(Fault, Whole state, int128_t) { return state.sum; }  // 2^31 values of 18 digits have 28
DEVICE int128_t total(Fault at, const Halves& state, int128_t) {
    const int128_t high = state.high + int128_t(state.low >> 64);
    const int128_t sum = int128_t(uint128_t(high) << 64 | uint64_t(state.low));
    if (high != int64_t(high) || !has_38_digits(sum)) at(OVERFLOW_);
    return sum;
}

template <class STATE>
struct Counted {
    STATE total;
    int64_t rows = 0;
};
template <class STATE> DEVICE Counted<STATE> combine(const Counted<STATE>& earlier, const Counted<STATE>& later) {
    return {combine(earlier.total, later.total), earlier.rows + later.rows};
}

template <class X, class STATE, class OUT>
struct Sum {
    typedef Counted<STATE> State;
    Marks marks;
    X of;
    uint64_t* faults;

    DEVICE State at(int64_t row) const {
        const auto x = of[row];
        return x.valid ? State{STATE::of(x.value), 1} : State{};
    }
    DEVICE Maybe<OUT> result(int64_t row, const State& state) const {
        if (!state.rows) return none<OUT>();
        return some(total(Fault{faults, row}, state.total, OUT{}));
    }
};

template <class X>
struct Mean {
    typedef Counted<Real> State;
    Marks marks;
    X of;

    DEVICE State at(int64_t row) const {
        const auto x = of[row];
        return x.valid ? State{{x.value}, 1} : State{};
    }
    DEVICE Maybe<double> result(int64_t, const State& state) const {
        return only_if(state.rows > 0, state.total.sum / double(state.rows));
    }
};

// ---- products -------------------------------------------------------------------------------------------------------

// A product of int64s, exact up to 2^63 + 1, at which greater ones are held: so all that leave int64 are told from
// those that do not, whatever the order, and 0 stays 0.
struct WholeProduct {
    int128_t product = 1;

    DEVICE static WholeProduct of(int64_t value) { return {value}; }
};
DEVICE WholeProduct combine(WholeProduct earlier, WholeProduct later) {
    const int128_t most = (int128_t(1) << 63) + 1, product = earlier.product * later.product;
    return {product > most ? most : product < -most ? -most : product};
}

DEVICE bool is_finite(double value) { return value - value == 0; }

// mantissa * 2^exponent, which neither overflows nor underflows on the way.
struct RealProduct {
    double mantissa = 1;
    int64_t exponent = 0;

    DEVICE static RealProduct of(double value) { return scaled(value, 0); }
    DEVICE static RealProduct scaled(double value, int64_t exponent) {
        if (!is_finite(value)) return {value, exponent};
        int shift;
        const double mantissa = frexp(value, &shift);
        return {mantissa, exponent + shift};
    }
};
DEVICE RealProduct combine(RealProduct earlier, RealProduct later) {
    return RealProduct::scaled(earlier.mantissa * later.mantissa, earlier.exponent + later.exponent);
}

DEVICE int64_t total(Fault at, WholeProduct state, int64_t) {
    if (state.product != int64_t(state.product)) at(OVERFLOW_);
    return int64_t(state.product);
}
DEVICE double total(Fault, RealProduct state, double) {
    const int64_t exponent = state.exponent;
    return ldexp(state.mantissa, int(exponent > 5000 ? 5000 : exponent < -5000 ? -5000 : exponent));
}

// ---- least and greatest ---------------------------------------------------------------------------------------------

template <class T> DEVICE bool is_nan(T value) { return value != value; }
DEVICE bool is_nan(Text) { return false; }

template <class T> DEVICE bool is_less(T x, T y) { return x < y; }
DEVICE bool is_less(Text x, Text y) {
    const int64_t both = x.size < y.size ? x.size : y.size;
    for (int64_t i = 0; i < both; ++i)
        if (x[i] != y[i]) return uint8_t(x[i]) < uint8_t(y[i]);
    return x.size < y.size;
}

// The least value, or the greatest, for which NaN counts, and the row that has it.
template <class T, bool GREATEST>
struct Extreme {
    T value{};
    int32_t row = -1;
};
template <class T, bool GREATEST>
DEVICE Extreme<T, GREATEST> combine(const Extreme<T, GREATEST>& earlier, const Extreme<T, GREATEST>& later) {
    if (earlier.row < 0 || later.row < 0) return later.row < 0 ? earlier : later;
    if (is_nan(earlier.value) || is_nan(later.value)) return is_nan(earlier.value) == GREATEST ? earlier : later;
    const bool later_wins = GREATEST ? is_less(earlier.value, later.value) : is_less(later.value, earlier.value);
    return later_wins ? later : earlier;
}

// What an extreme gives: a value, or a text's row.
template <class T> DEVICE Maybe<T> known(T value, int32_t row) { return {value, row >= 0}; }
DEVICE Maybe<int32_t> known(Text, int32_t row) { return {row, row >= 0}; }

template <class X, bool GREATEST>
struct ExtremeOf {
    typedef Extreme<typename X::value_type, GREATEST> State;
    Marks marks;
    X of;

    DEVICE State at(int64_t row) const {
        const auto x = of[row];
        return x.valid ? State{x.value, int32_t(row)} : State{};
    }
    DEVICE auto result(int64_t, const State& state) const { return known(state.value, state.row); }
};

// ---- moments --------------------------------------------------------------------------------------------------------

// Count, mean and sum of squared deviations, merged pairwise (Chan, Golub & LeVeque 1983, "Algorithms for Computing the
// Sample Variance"), so that a large mean does not cancel.
struct Moments {
    double rows = 0, mean = 0, squares = 0;
};
DEVICE Moments combine(const Moments& earlier, const Moments& later) {
    if (earlier.rows == 0 || later.rows == 0) return later.rows == 0 ? earlier : later;
    const double rows = earlier.rows + later.rows, delta = later.mean - earlier.mean, weight = later.rows / rows;
    return {rows, earlier.mean + delta * weight, earlier.squares + later.squares + delta * earlier.rows * weight * delta};
}

template <class X, bool ROOT>
struct Variance {
    typedef Moments State;
    Marks marks;
    X of;

    DEVICE State at(int64_t row) const {
        const auto x = of[row];
        return x.valid ? State{1, x.value, 0} : State{};
    }
    DEVICE Maybe<double> result(int64_t, const State& state) const {
        if (state.rows < 2) return none<double>();
        // The mean is not finite if a value is not: neither is the variance a number then.
        const double squares = is_finite(state.mean) ? state.squares : state.mean - state.mean;
        return some(ROOT ? sqrt(squares / (state.rows - 1)) : squares / (state.rows - 1));
    }
};

// ---- decay ----------------------------------------------------------------------------------------------------------

// How much of the last mean or sum is left when the next row comes, and how much of a mean that row is.
template <uint64_t HALF_LIFE>
struct BySeconds {
    DEVICE static double halvings(int64_t from, int64_t to) {
        return -(double(elapsed(from, to)) / 1e6) / double_of_bits(HALF_LIFE);
    }
    DEVICE static double left(int64_t from, int64_t to) { return exp2(halvings(from, to)); }
    // 1 - 2^x would cancel for a time far below the half-life
    DEVICE static double weight(int64_t from, int64_t to) { return -expm1(halvings(from, to) * 0x1.62e42fefa39efp-1); }
};
template <uint64_t LEFT, uint64_t WEIGHT>
struct ByRow {
    DEVICE static double left(int64_t, int64_t) { return double_of_bits(LEFT); }
    DEVICE static double weight(int64_t, int64_t) { return double_of_bits(WEIGHT); }
};

// y = left * y_before + weight * x of rows whose first one has the y `first`, the last one slope * first + rise.  What
// the first x is worth is known when an earlier row is met.  Infinities and NaN are added up by themselves: what has
// decayed to 0 would turn them into NaN.
template <class DECAY, bool MEAN>
struct Fading {
    double first = 0, slope = 1, rise = 0, endless = 0;
    int64_t from = 0, to = 0;
    int32_t rows = 0;
};
template <class DECAY, bool MEAN>
DEVICE Fading<DECAY, MEAN> combine(const Fading<DECAY, MEAN>& earlier, const Fading<DECAY, MEAN>& later) {
    if (!earlier.rows || !later.rows) return later.rows ? later : earlier;
    const double left = DECAY::left(earlier.to, later.from);
    const double fresh = (MEAN ? DECAY::weight(earlier.to, later.from) : 1.0) * later.first;
    return {earlier.first, later.slope * left * earlier.slope, later.slope * (left * earlier.rise + fresh) + later.rise,
            earlier.endless + later.endless, earlier.from, later.to, 1};
}

template <class X, class TIME>
struct Timed {
    X x;
    TIME time;

    DEVICE bool counts(int64_t row) const { return x.valid(row) && time.valid(row); }
    DEVICE int64_t at(int64_t row) const { return time.at(row); }
};
template <class X>
struct Untimed {
    X x;

    DEVICE bool counts(int64_t row) const { return x.valid(row); }
    DEVICE int64_t at(int64_t) const { return 0; }
};

template <class OF, class DECAY, bool MEAN>
struct Decayed {
    typedef Fading<DECAY, MEAN> State;
    Marks marks;
    OF of;

    DEVICE State at(int64_t row) const {
        if (!of.counts(row)) return State{};
        const double x = of.x[row].value;
        const bool finite = is_finite(x);
        return {finite ? x : 0.0, 1, 0, finite ? 0.0 : x, of.at(row), of.at(row), 1};
    }
    DEVICE Maybe<double> result(int64_t row, const State& state) const {
        return only_if(of.counts(row), state.slope * state.first + state.rise + state.endless);
    }
};

// ---- of a row, by where its group begins and ends -------------------------------------------------------------------

DEVICE Maybe<int64_t> row_number(int64_t row, const int32_t* first) { return some(row - first[row] + 1); }

// `runs` has the first row of those that tie with a row, `ends` the last.
DEVICE Maybe<int64_t> rank(int64_t row, const int32_t* first, const int32_t* runs) {
    return some(int64_t(runs[row]) - first[row] + 1);
}
DEVICE Maybe<double> percent_rank(int64_t row, const int32_t* first, const int32_t* last, const int32_t* runs) {
    const int64_t others = int64_t(last[row]) - first[row];
    return some(double(int64_t(runs[row]) - first[row]) / double(others ? others : 1));
}
DEVICE Maybe<double> cume_dist(int64_t row, const int32_t* first, const int32_t* last, const int32_t* ends) {
    return some(double(int64_t(ends[row]) - first[row] + 1) / double(int64_t(last[row]) - first[row] + 1));
}
DEVICE Maybe<int64_t> ntile(int64_t row, const int32_t* first, const int32_t* last, int64_t tiles) {
    const int64_t place = row - first[row], rows = int64_t(last[row]) - first[row] + 1;
    const int64_t size = rows / tiles, longer = rows % tiles, in_longer = longer * (size + 1);
    if (place < in_longer) return some(place / (size + 1) + 1);
    return some(longer + (place - in_longer) / size + 1);
}

// Row numbers; -1 where there is no such row.
DEVICE int32_t row_before(int64_t row, const int32_t* first, int64_t offset) {
    return row - first[row] >= offset ? int32_t(row - offset) : -1;
}
DEVICE int32_t row_after(int64_t row, const int32_t* last, int64_t offset) {
    return last[row] - row >= offset ? int32_t(row + offset) : -1;
}
DEVICE int32_t row_of(int64_t row, const int32_t* rows) { return rows[row]; }
DEVICE int32_t row_of_group(int64_t row, const int32_t* first, const int32_t* rows) { return rows[first[row]]; }
template <class X> DEVICE int32_t row_if_valid(int64_t row, const X& x, const int32_t* rows) {
    return x.valid(row) ? rows[row] : -1;
}

// The rows that have a value, numbered over all groups.
struct PresentRows {
    const int32_t* before;  // how many are before each row
    const int32_t* rows;
    int64_t count;
};
DEVICE int32_t present_before(int64_t row, const int32_t* first, const PresentRows& present, int64_t offset) {
    const int64_t number = present.before[row] - offset;
    return number >= 0 && present.rows[number] >= first[row] ? present.rows[number] : -1;
}
template <class X>
DEVICE int32_t present_after(int64_t row, const X& x, const int32_t* last, const PresentRows& present, int64_t offset) {
    const int64_t number = present.before[row] + int64_t(x.valid(row)) + offset - 1;
    return number < present.count && present.rows[number] <= last[row] ? present.rows[number] : -1;
}

DEVICE double less(Fault, double x, double y) { return x - y; }
DEVICE int64_t less(Fault at, int64_t x, int64_t y) {
    const int64_t result = int64_t(uint64_t(x) - uint64_t(y));
    if (((x ^ y) & (x ^ result)) < 0) at(OVERFLOW_);
    return result;
}
DEVICE int128_t less(Fault at, int128_t x, int128_t y) {
    const int128_t result = int128_t(uint128_t(x) - uint128_t(y));
    if (((x ^ y) & (x ^ result)) < 0 || !has_38_digits(result)) at(OVERFLOW_);
    return result;
}

template <class X>
DEVICE auto difference(Fault at, int64_t row, const X& x, const int32_t* first, int64_t offset) {
    typedef typename X::value_type T;
    if (row - first[row] < offset || !x.valid(row) || !x.valid(row - offset)) return none<T>();
    return some(less(at, x[row].value, x[row - offset].value));
}
template <class X>
DEVICE Maybe<double> relative_change(int64_t row, const X& x, const int32_t* first, int64_t offset) {
    if (row - first[row] < offset || !x.valid(row) || !x.valid(row - offset)) return none<double>();
    return some(double(x[row].value) / double(x[row - offset].value) - 1);
}
