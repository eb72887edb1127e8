// What decaying means and sums fold; see windows.cuh.
#pragma once

#include "windows.cuh"

namespace windows {

// What is left of the last mean or sum when the next row comes, and how much of a mean that row is.
struct Share {
    double left, weight;
};

// RATE is how many halvings a microsecond brings: a number below 0.
template <uint64_t RATE>
struct BySeconds {
    struct Span {
        int64_t from = 0, to = 0;
    };

    DEVICE static double halvings(Span earlier, Span later) {
        return double(elapsed(earlier.to, later.from)) * double_of_bits(RATE);
    }
    DEVICE static double left(Span earlier, Span later) { return exp2(halvings(earlier, later)); }
    // 1 - 2^x would cancel for a time far below the half-life, 1 - (1 - 2^x) for one far beyond it.
    DEVICE static Share share(Span earlier, Span later) {
        const double x = halvings(earlier, later);
        if (x < -1) return {exp2(x), 1 - exp2(x)};
        const double weight = -expm1(x * 0x1.62e42fefa39efp-1);
        return {1 - weight, weight};
    }
    DEVICE static Span join(Span earlier, Span later) { return {earlier.from, later.to}; }
    DEVICE static Span at(int64_t moment) { return {moment, moment}; }
};
template <uint64_t LEFT, uint64_t WEIGHT>
struct ByRow {
    struct Span {};

    DEVICE static double left(Span, Span) { return double_of_bits(LEFT); }
    DEVICE static Share share(Span, Span) { return {double_of_bits(LEFT), double_of_bits(WEIGHT)}; }
    DEVICE static Span join(Span, Span) { return {}; }
    DEVICE static Span at(int64_t) { return {}; }
};

// What rows have had: a value, an infinity of either sign, NaN.  What is not finite counts by itself: what has decayed
// to 0 would turn it into NaN.
enum Had : int32_t { HAD_VALUE = 1, HAD_INFINITY = 2, HAD_LEAST = 4, HAD_NAN = 8 };

DEVICE int32_t had(double x) {
    return HAD_VALUE | (is_finite(x) ? 0 : x > 0 ? HAD_INFINITY : x < 0 ? HAD_LEAST : HAD_NAN);
}
DEVICE double endless(int32_t had) {
    const int32_t kinds = had & ~HAD_VALUE;
    if (!kinds) return 0.0;
    const uint64_t infinity = 0x7ff0000000000000ULL, sign = 1ULL << 63, nan = 0x7ff8000000000000ULL;
    return double_of_bits(kinds == HAD_INFINITY ? infinity : kinds == HAD_LEAST ? infinity | sign : nan);
}

// y = left * y_before + x of rows: `sum` where nothing was before, to which slope * y_before comes.
template <class DECAY>
struct FadingSum : DECAY::Span {
    double slope = 1, sum = 0;
    int32_t had = 0;

    DEVICE static FadingSum of(double x, int32_t had, typename DECAY::Span span) { return {span, 1, x, had}; }
    DEVICE double value() const { return sum; }
};
template <class DECAY>
DEVICE FadingSum<DECAY> combine(const FadingSum<DECAY>& earlier, const FadingSum<DECAY>& later) {
    if (!earlier.had || !later.had) return later.had ? later : earlier;
    const double slope = later.slope * DECAY::left(earlier, later);
    return {DECAY::join(earlier, later), slope * earlier.slope, slope * earlier.sum + later.sum, earlier.had | later.had};
}

// y = left * y_before + weight * x of rows whose first one has the y `first`, the last one slope * first + rise.  What
// the first x is worth is known when an earlier row is met.
template <class DECAY>
struct FadingMean : DECAY::Span {
    double first = 0, slope = 1, rise = 0;
    int32_t had = 0;

    DEVICE static FadingMean of(double x, int32_t had, typename DECAY::Span span) { return {span, x, 1, 0, had}; }
    DEVICE double value() const { return slope * first + rise; }
};
template <class DECAY>
DEVICE FadingMean<DECAY> combine(const FadingMean<DECAY>& earlier, const FadingMean<DECAY>& later) {
    if (!earlier.had || !later.had) return later.had ? later : earlier;
    const Share share = DECAY::share(earlier, later);
    const double y = share.left * earlier.rise + share.weight * later.first;
    return {DECAY::join(earlier, later), earlier.first, later.slope * share.left * earlier.slope,
            later.slope * y + later.rise, earlier.had | later.had};
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

template <class OF, class DECAY, template <class> class FADING>
struct Decayed {
    typedef FADING<DECAY> State;
    Marks marks;
    OF of;

    DEVICE State at(int64_t row) const {
        if (!of.counts(row)) return State{};
        const double x = of.x[row].value;
        return State::of(is_finite(x) ? x : 0.0, had(x), DECAY::at(of.at(row)));
    }
    DEVICE Maybe<double> result(int64_t row, const State& state) const {
        return only_if(of.counts(row), state.value() + endless(state.had));
    }
};

}  // namespace windows
