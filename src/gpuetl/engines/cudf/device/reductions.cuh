// What sums, products, means, extremes and variances fold; see windows.cuh.
#pragma once

#include "windows.cuh"
#include "floats.cuh"
#include "means.cuh"

namespace windows {

using ::is_nan;  // beside that of strings

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
    int32_t rows = 0;  // fewer than 2^31, as row numbers are

    template <class T> DEVICE static Counted of(T value) { return {STATE::of(value), 1}; }
};
template <class STATE> DEVICE Counted<STATE> combine(const Counted<STATE>& earlier, const Counted<STATE>& later) {
    return {combine(earlier.total, later.total), earlier.rows + later.rows};
}

// What a state comes to; one that does not count its rows is asked for only where there are some.
template <class OUT, class STATE> DEVICE Maybe<OUT> sum_of(Fault at, const STATE& state) {
    return some(total(at, state, OUT{}));
}
template <class OUT, class STATE> DEVICE Maybe<OUT> sum_of(Fault at, const Counted<STATE>& state) {
    return state.rows ? some(total(at, state.total, OUT{})) : none<OUT>();
}

template <class X, class STATE, class OUT>
struct Sum {
    typedef STATE State;
    Marks marks;
    X of;
    uint64_t* faults;

    DEVICE State at(int64_t row) const {
        const auto x = of[row];
        return x.valid ? State::of(x.value) : State{};
    }
    DEVICE Maybe<OUT> result(int64_t row, const State& state) const { return sum_of<OUT>(Fault{faults, row}, state); }
};

// The mean of so many values: floats, integers, decimals, and durations, which are whole microseconds.
template <int SCALE> DEVICE double quotient(Real sum, int32_t rows, double) { return sum.sum / double(rows); }
template <int SCALE> DEVICE double quotient(Whole sum, int32_t rows, double) {
    if constexpr (SCALE == 0) return mean_of_integers(sum.sum, uint32_t(rows));
    return mean_of<SCALE>(wide_sum(sum.sum), rows);
}
template <int SCALE> DEVICE double quotient(const Halves& sum, int32_t rows, double) {
    return mean_of<SCALE>({sum.high + int128_t(sum.low >> 64), uint64_t(sum.low)}, rows);
}
template <int SCALE> DEVICE int64_t quotient(Whole sum, int32_t rows, int64_t) { return whole_mean_of(sum.sum, rows); }

template <class X, class STATE, class OUT, int SCALE>
struct Mean {
    typedef Counted<STATE> State;
    Marks marks;
    X of;

    DEVICE State at(int64_t row) const {
        const auto x = of[row];
        return x.valid ? State::of(x.value) : State{};
    }
    DEVICE Maybe<OUT> result(int64_t, const State& state) const {
        return state.rows ? some(quotient<SCALE>(state.total, state.rows, OUT{})) : none<OUT>();
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

DEVICE bool is_nan(String) { return false; }

template <class T> DEVICE bool is_less(T x, T y) { return x < y; }
DEVICE bool is_less(String x, String y) {
    const int64_t both = x.size < y.size ? x.size : y.size;
    for (int64_t i = 0; i < both; ++i)
        if (x[i] != y[i]) return uint8_t(x[i]) < uint8_t(y[i]);
    return x.size < y.size;
}

template <bool GREATEST, class T>
DEVICE bool later_wins(const T& earlier, const T& later) {
    if (is_nan(earlier) || is_nan(later)) return is_nan(earlier) != GREATEST;
    return GREATEST ? is_less(earlier, later) : is_less(later, earlier);
}

// The least value, or the greatest, for which NaN counts, and the row that has it.
template <class T, bool GREATEST>
struct Extreme {
    T value{};
    int32_t row = -1;

    DEVICE static Extreme of(T value, int64_t row) { return {value, int32_t(row)}; }
};
template <class T, bool GREATEST>
DEVICE Extreme<T, GREATEST> combine(const Extreme<T, GREATEST>& earlier, const Extreme<T, GREATEST>& later) {
    if (earlier.row < 0 || later.row < 0) return later.row < 0 ? earlier : later;
    return later_wins<GREATEST>(earlier.value, later.value) ? later : earlier;
}

// What every value wins over, NaN too.
template <class T> DEVICE T loser(T, bool greatest) {
    const T least = T(-1) < T(0) ? T(uint128_t(1) << (8 * sizeof(T) - 1)) : T(0);
    return greatest ? least : T(~least);
}
DEVICE double loser(double, bool greatest) {
    return double_of_bits(greatest ? 0xfff0000000000000ULL : 0x7ff8000000000000ULL);
}
DEVICE float loser(float, bool greatest) { return float_of_bits(greatest ? 0xff800000u : 0x7fc00000u); }

// The least number, or the greatest, without its row: nobody may look where there is none.
template <class T, bool GREATEST>
struct Bound {
    T value = loser(T{}, GREATEST);

    DEVICE static Bound of(T value, int64_t) { return {value}; }
};
template <class T, bool GREATEST>
DEVICE Bound<T, GREATEST> combine(const Bound<T, GREATEST>& earlier, const Bound<T, GREATEST>& later) {
    return later_wins<GREATEST>(earlier.value, later.value) ? later : earlier;
}

// What an extreme gives: a value, or a text's row.
template <class T, bool GREATEST> DEVICE Maybe<T> known(const Extreme<T, GREATEST>& state) {
    return {state.value, state.row >= 0};
}
template <bool GREATEST> DEVICE Maybe<int32_t> known(const Extreme<String, GREATEST>& state) {
    return {state.row, state.row >= 0};
}
template <class T, bool GREATEST> DEVICE Maybe<T> known(const Bound<T, GREATEST>& state) { return some(state.value); }

template <class X, template <class, bool> class STATE, bool GREATEST>
struct ExtremeOf {
    typedef STATE<typename X::value_type, GREATEST> State;
    Marks marks;
    X of;

    DEVICE State at(int64_t row) const {
        const auto x = of[row];
        return x.valid ? State::of(x.value, row) : State{};
    }
    DEVICE auto result(int64_t, const State& state) const { return known(state); }
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

// Pairs: their count, both means, and the sum of products of their deviations, merged in the same way.  A value that is
// not finite makes the sums NaN.
struct PairMoments {
    double rows = 0, x_mean = 0, y_mean = 0, xy = 0;

    DEVICE static PairMoments of(double x, double y) { return {1, x, y, (x - x) + (y - y)}; }
};
DEVICE PairMoments combine(const PairMoments& earlier, const PairMoments& later) {
    if (earlier.rows == 0 || later.rows == 0) return later.rows == 0 ? earlier : later;
    const double rows = earlier.rows + later.rows, weight = later.rows / rows, between = earlier.rows * weight;
    const double to_x = later.x_mean - earlier.x_mean, to_y = later.y_mean - earlier.y_mean;
    return {rows, earlier.x_mean + to_x * weight, earlier.y_mean + to_y * weight,
            earlier.xy + later.xy + to_x * between * to_y};
}

// And the sums of squares of the deviations of x and of y.
struct AllPairMoments {
    PairMoments pairs;
    double xx = 0, yy = 0;

    DEVICE static AllPairMoments of(double x, double y) { return {PairMoments::of(x, y), x - x, y - y}; }
};
DEVICE AllPairMoments combine(const AllPairMoments& earlier, const AllPairMoments& later) {
    if (earlier.pairs.rows == 0 || later.pairs.rows == 0) return later.pairs.rows == 0 ? earlier : later;
    const double weight = later.pairs.rows / (earlier.pairs.rows + later.pairs.rows);
    const double between = earlier.pairs.rows * weight;
    const double to_x = later.pairs.x_mean - earlier.pairs.x_mean, to_y = later.pairs.y_mean - earlier.pairs.y_mean;
    return {combine(earlier.pairs, later.pairs), earlier.xx + later.xx + to_x * between * to_x,
            earlier.yy + later.yy + to_y * between * to_y};
}

template <int DDOF>
struct CovarianceOf {
    DEVICE static Maybe<double> result(const PairMoments& state) {
        return only_if(state.rows > DDOF, state.xy / (state.rows - DDOF));
    }
};
struct CorrelationOf {
    DEVICE static Maybe<double> result(const AllPairMoments& state) {
        const double r = state.pairs.xy / (sqrt(state.xx) * sqrt(state.yy));
        return only_if(state.pairs.rows > 1, r > 1 ? 1.0 : r < -1 ? -1.0 : r);
    }
};

template <class X, class Y, class STATE, class RESULT>
struct OfPairs {
    struct Columns {
        X x;
        Y y;
    };
    typedef STATE State;
    Marks marks;
    Columns of;

    DEVICE State at(int64_t row) const {
        const auto x = of.x[row];
        const auto y = of.y[row];
        return x.valid && y.valid ? State::of(x.value, y.value) : State{};
    }
    DEVICE Maybe<double> result(int64_t, const State& state) const { return RESULT::result(state); }
};

}  // namespace windows
