// What decaying means and sums fold; see windows.cuh.  decayed_moments.cuh has the variances.
//
// How much has decayed between rows that are combined is a matter of the first of the later ones: of the time since the
// row with a value before it.  So it is calculated once a row, where rows are combined half a dozen times.
#pragma once

#include "windows.cuh"

namespace windows {

#ifdef GPUETL_HOST
DEVICE int highest_bit(uint32_t word) { return 31 - __builtin_clz(word); }
#else
DEVICE int highest_bit(uint32_t word) { return 31 - __clz(word); }
#endif

// RATE is how many halvings a unit of the time brings: a number below 0.
template <uint64_t RATE>
struct BySeconds {
    // Since the last row of another group, too, if there is none in its own: nobody asks for what is left then.
    template <class OF>
    DEVICE static double halvings(const OF& of, int64_t row) {
        const int64_t before = of.before(row);
        return before < 0 ? 0.0 : double(elapsed(of.at(before), of.at(row))) * double_of_bits(RATE);
    }

    // What is left of the last sum when a row comes.
    struct Left {
        double rest = 0;

        template <class OF> DEVICE static Left at(const OF& of, int64_t row) { return {exp2(halvings(of, row))}; }
        DEVICE double left() const { return rest; }
    };
    // What is left of the last mean when a row comes, and how much of a mean that row is.
    struct Share {
        double rest = 0, part = 0;

        // 1 - 2^x would cancel for a time far below the half-life, 1 - (1 - 2^x) for one far beyond it.
        template <class OF>
        DEVICE static Share at(const OF& of, int64_t row) {
            const double x = halvings(of, row);
            if (x < -1) return {exp2(x), 1 - exp2(x)};
            const double weight = -expm1(x * 0x1.62e42fefa39efp-1);
            return {1 - weight, weight};
        }
        DEVICE double left() const { return rest; }
        DEVICE double weight() const { return part; }
    };
};
template <uint64_t LEFT, uint64_t WEIGHT>
struct ByRow {
    struct Share {
        template <class OF> DEVICE static Share at(const OF&, int64_t) { return {}; }
        DEVICE static double left() { return double_of_bits(LEFT); }
        DEVICE static double weight() { return double_of_bits(WEIGHT); }
    };
    typedef Share Left;
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

// y = left * y_before + x of rows: `sum` where nothing was before, to which slope * left * y_before comes.
template <class DECAY>
struct DecayedSum : DECAY::Left {
    typedef typename DECAY::Left First;
    double slope = 1, sum = 0;
    int32_t had = 0;

    DEVICE static DecayedSum of(First first, double x, int32_t had) { return {first, 1, x, had}; }
    DEVICE double value() const { return sum; }
};
template <class DECAY>
DEVICE DecayedSum<DECAY> combine(const DecayedSum<DECAY>& earlier, const DecayedSum<DECAY>& later) {
    if (!earlier.had || !later.had) return later.had ? later : earlier;
    const double slope = later.slope * later.left();
    return {earlier, slope * earlier.slope, slope * earlier.sum + later.sum, earlier.had | later.had};
}

// y = left * y_before + weight * x of rows whose first one has the y `first`, the last one slope * first + rise.  What
// the first x is worth counts when an earlier row is met.
template <class DECAY>
struct DecayedMean : DECAY::Share {
    typedef typename DECAY::Share First;
    double first = 0, slope = 1, rise = 0;
    int32_t had = 0;

    DEVICE static DecayedMean of(First first, double x, int32_t had) { return {first, x, 1, 0, had}; }
    DEVICE double value() const { return slope * first + rise; }
};
template <class DECAY>
DEVICE DecayedMean<DECAY> combine(const DecayedMean<DECAY>& earlier, const DecayedMean<DECAY>& later) {
    if (!earlier.had || !later.had) return later.had ? later : earlier;
    const double y = later.left() * earlier.rise + later.weight() * later.first;
    return {earlier, earlier.first, later.slope * later.left() * earlier.slope, later.slope * y + later.rise,
            earlier.had | later.had};
}

template <class X, class TIME>
struct Timed {
    X x;
    TIME time;

    DEVICE bool counts(int64_t row) const { return x.valid(row) && time.valid(row); }
    template <class STATE> DEVICE void carry(int64_t, STATE&) const {}
    DEVICE int64_t at(int64_t row) const { return time.at(row); }

    // The last row that counts before one, in whatever group; -1 if there is none.  Rows that do not count are passed
    // by one row only, the next that does: all rows together pass no more than there are.  But one thread passes a
    // whole run of them, 512 at a time, for which it waits for memory once: 100 million take it about 0.1 s.
    DEVICE int64_t before(int64_t row) const {
        if (!row) return -1;
        int64_t word = (row - 1) >> 5;
        uint32_t counting = counting_of(word) & (~0u >> (31 - ((row - 1) & 31)));
        while (!counting && word > 0) {
            const int64_t end = word;
#pragma unroll
            for (int step = 1; step <= 16; ++step) {
                const uint32_t more = step <= end ? counting_of(end - step) : 0;
                word -= !counting;
                counting = counting ? counting : more;
            }
        }
        return counting ? word * 32 + highest_bit(counting) : -1;
    }
    DEVICE uint32_t counting_of(int64_t word) const { return valid_word(x.bits, word) & valid_word(time.x.bits, word); }
};
template <class X>
struct Untimed {
    X x;

    DEVICE bool counts(int64_t row) const { return x.valid(row); }
    template <class STATE> DEVICE void carry(int64_t, STATE&) const {}
};

template <class OF, class DECAY, template <class> class FADING>
struct Decayed {
    typedef FADING<DECAY> State;
    Marks marks;
    OF of;

    DEVICE State at(int64_t row) const {
        if (!of.counts(row)) return State{};
        const double x = of.x[row].value;
        return State::of(State::First::at(of, row), is_finite(x) ? x : 0.0, had(x));
    }
    DEVICE Maybe<double> result(int64_t row, const State& state) const {
        return only_if(of.counts(row), state.value() + endless(state.had));
    }
};

}  // namespace windows
