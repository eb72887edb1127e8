// The states of aggregates: `add` takes a row's arguments, `merge` the state of later rows; the results are `Maybe`s.
#pragma once

#include "floats.cuh"
#include "means.cuh"

constexpr int128_t HALF_UNIT = 10000000000000000000ULL;  // 10^19: decimals are summed in halves, which do not overflow

// NaN is the greatest value.
template <class T> DEVICE bool comes_before(T x, T y) { return x < y || (is_nan(y) && !is_nan(x)); }

struct CountRows {
    int64_t n = 0;

    DEVICE void add() { ++n; }
    DEVICE void merge(const CountRows& later) { n += later.n; }
    DEVICE Maybe<int64_t> result(Fault) const { return some(n); }
};

struct Count {
    int64_t n = 0;

    DEVICE void add(bool counted) { n += counted; }
    DEVICE void merge(const Count& later) { n += later.n; }
    DEVICE Maybe<int64_t> result(Fault) const { return some(n); }
};

struct IntegerSum {
    int128_t sum = 0;
    int64_t n = 0;

    template <class T> DEVICE void add(Maybe<T> x) {
        if (x.valid) sum += x.value, ++n;
    }
    DEVICE void merge(const IntegerSum& later) { sum += later.sum, n += later.n; }
    DEVICE Maybe<int128_t> wide(Fault) const { return only_if(n > 0, sum); }
    DEVICE Maybe<int64_t> result(Fault at) const {
        if (n && int128_t(int64_t(sum)) != sum) at(OVERFLOW_);
        return only_if(n > 0, int64_t(sum));
    }
    DEVICE Maybe<double> mean(Fault) const { return n ? some(mean_of<0>(wide_sum(sum), n)) : none<double>(); }
    DEVICE Maybe<int64_t> whole_mean(Fault) const { return n ? some(whole_mean_of(sum, n)) : none<int64_t>(); }
};

struct FloatSum {
    double sum = 0;
    int64_t n = 0;

    DEVICE void add(Maybe<double> x) {
        if (x.valid) sum += x.value, ++n;
    }
    DEVICE void merge(const FloatSum& later) { sum += later.sum, n += later.n; }
    DEVICE Maybe<double> result(Fault) const { return only_if(n > 0, sum); }
    DEVICE Maybe<double> mean(Fault) const { return only_if(n > 0, sum / double(n)); }
};

struct DecimalSum {
    int128_t high_half = 0, low_half = 0;
    int64_t n = 0;

    DEVICE void add(Maybe<int128_t> x) {
        if (x.valid) high_half += x.value / HALF_UNIT, low_half += x.value % HALF_UNIT, ++n;
    }
    DEVICE void add(Maybe<int128_t> high_part, Maybe<int128_t> low_part) {
        if (high_part.valid && low_part.valid) high_half += high_part.value, low_half += low_part.value, ++n;
    }
    DEVICE void merge(const DecimalSum& later) {
        high_half += later.high_half, low_half += later.low_half, n += later.n;
    }
    DEVICE Maybe<int128_t> high(Fault) const { return only_if(n > 0, high_half); }
    DEVICE Maybe<int128_t> low(Fault) const { return only_if(n > 0, low_half); }
    DEVICE Maybe<double> mean(int scale) const {
        return n ? some(mean_of(wide_sum(high_half, low_half, uint64_t(HALF_UNIT)), n, scale)) : none<double>();
    }
    DEVICE Maybe<int128_t> result(Fault at) const {
        const int128_t units = high_half + low_half / HALF_UNIT, rest = low_half % HALF_UNIT;
        if (units > HALF_UNIT || units < -HALF_UNIT) {
            at(OVERFLOW_);
            return none<int128_t>();
        }
        const int128_t sum = units * HALF_UNIT + rest, limit = HALF_UNIT * HALF_UNIT;  // 10^38
        if (sum >= limit || sum <= -limit) at(OVERFLOW_);
        return only_if(n > 0, sum);
    }
};

template <class T>
struct Least {
    T value{};
    bool found = false;

    DEVICE void add(Maybe<T> x) {
        if (x.valid && (!found || comes_before(x.value, value))) value = x.value, found = true;
    }
    DEVICE void merge(const Least& later) { add(Maybe<T>{later.value, later.found}); }
    DEVICE Maybe<T> result(Fault) const { return only_if(found, T(value + T(0))); }  // -0.0 leaves as 0.0
};

template <class T>
struct Greatest {
    T value{};
    bool found = false;

    DEVICE void add(Maybe<T> x) {
        if (x.valid && (!found || comes_before(value, x.value))) value = x.value, found = true;
    }
    DEVICE void merge(const Greatest& later) { add(Maybe<T>{later.value, later.found}); }
    DEVICE Maybe<T> result(Fault) const { return only_if(found, T(value + T(0))); }
};

// Weight, means and co-moments of pairs: West 1979, "Updating mean and variance estimates"; merged as in Chan, Golub &
// LeVeque 1983.  Equal values have deviations of exactly zero; an infinite one makes its moments NaN.
struct Moments {
    double n = 0, x_mean = 0, y_mean = 0, xx = 0, yy = 0, xy = 0;

    DEVICE void add(Maybe<double> x) { add(x, x); }
    DEVICE void add(Maybe<double> x, Maybe<double> y) {
        if (x.valid && y.valid) join(1, x.value, y.value, (x.value - x.value) + (y.value - y.value), 0, 0);
    }
    DEVICE void add(Maybe<double> weight, Maybe<double> x, Maybe<double> y, Maybe<double> moment) {
        if (x.valid && y.valid && weight.valid && weight.value > 0)
            join(weight.value, x.value, y.value, moment.valid ? moment.value : 0, 0, 0);
    }
    DEVICE void merge(const Moments& later) {
        if (later.n > 0) join(later.n, later.x_mean, later.y_mean, later.xy, later.xx, later.yy);
    }
    DEVICE void join(double more, double x, double y, double own_xy, double own_xx, double own_yy) {
        const double before = n;
        n += more;
        xy += own_xy, xx += own_xx, yy += own_yy;
        if (before == 0) {
            x_mean = x, y_mean = y;
            xx += x - x, yy += y - y;
            return;
        }
        const double to_x = x - x_mean, to_y = y - y_mean, share = more / n;
        xy += to_x * to_y * before * share;
        xx += to_x * to_x * before * share;
        yy += to_y * to_y * before * share;
        x_mean += to_x * share;
        y_mean += to_y * share;
    }
    DEVICE Maybe<double> mean(Fault) const { return only_if(n > 0, x_mean); }
    DEVICE Maybe<double> moment(Fault) const { return only_if(n > 0, xy); }
    DEVICE Maybe<double> covariance(int ddof) const { return only_if(n > ddof, xy / (n - ddof)); }
    DEVICE Maybe<double> deviation(int ddof) const { return only_if(n > ddof, sqrt(xy / (n - ddof))); }
    DEVICE Maybe<double> correlation(Fault) const {
        const double r = xy / (sqrt(xx) * sqrt(yy));
        return only_if(n > 1, r > 1 ? 1.0 : r < -1 ? -1.0 : r);
    }
};

// Weight, mean, and sums of the second, third and fourth powers of deviations; merged as in Pébay 2008, "Formulas for
// robust, one-pass parallel computation of covariances and arbitrary-order statistical moments".
struct HighMoments {
    double n = 0, mean = 0, second = 0, third = 0, fourth = 0;

    DEVICE void add(Maybe<double> x) {
        if (x.valid) join({1, x.value, x.value - x.value, x.value - x.value, x.value - x.value});
    }
    DEVICE void add(Maybe<double> weight, Maybe<double> x, Maybe<double> own_second, Maybe<double> own_third,
                    Maybe<double> own_fourth) {
        if (weight.valid && weight.value > 0 && x.valid)
            join({weight.value, x.value, own_second.value, own_third.value, own_fourth.value});
    }
    DEVICE void merge(const HighMoments& later) {
        if (later.n > 0) join(later);
    }
    DEVICE void join(const HighMoments& b) {
        if (n == 0) {
            *this = b;
            return;
        }
        const double total = n + b.n, to = b.mean - mean, share = to / total, both = n * b.n;
        fourth += b.fourth + to * share * share * share * both * (n * n - both + b.n * b.n) +
                  6 * share * share * (n * n * b.second + b.n * b.n * second) + 4 * share * (n * b.third - b.n * third);
        third += b.third + to * share * share * both * (n - b.n) + 3 * share * (n * b.second - b.n * second);
        second += b.second + to * share * both;
        mean += share * b.n;
        n = total;
    }
    DEVICE Maybe<double> third_moment() const { return only_if(n > 0, third); }
    DEVICE Maybe<double> fourth_moment() const { return only_if(n > 0, fourth); }
    DEVICE Maybe<double> skewness() const {
        return only_if(n > 2 && second != 0, sqrt(n - 1) * n / (n - 2) * (third / (second * sqrt(second))));
    }
    DEVICE double tails() const { return n * (fourth / (second * second)); }
    DEVICE Maybe<double> kurtosis() const {
        return only_if(n > 3 && second != 0, (n - 1) * ((n + 1) * tails() - 3 * (n - 1)) / ((n - 2) * (n - 3)));
    }
    DEVICE Maybe<double> kurtosis_pop() const { return only_if(n > 1 && second != 0, tails() - 3); }
};
