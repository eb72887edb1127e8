// What decaying means and sums fold; see windows.cuh.
#pragma once

#include "windows.cuh"

namespace windows {

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

}  // namespace windows
