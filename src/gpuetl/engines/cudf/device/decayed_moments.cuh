// What decaying variances fold; see decay.cuh.
#pragma once

#include "decay.cuh"

namespace windows {

// Of weighted rows: the sum of weights, that over all pairs of rows of twice the product of their weights, the mean, and
// the sum of weighted squared deviations.  `pairs` is the square of the sum of weights less the sum of their squares,
// without a difference.  They are merged pairwise (Chan, Golub & LeVeque 1983, "Algorithms for Computing the Sample
// Variance"), with weights that fade (Finch 2009, "Incremental calculation of weighted mean and variance").
struct WeightedMoments {
    double weight = 0, pairs = 0, mean = 0, squares = 0;

    DEVICE static WeightedMoments of(double x, double weight) { return {weight, 0, x, 0}; }
    DEVICE WeightedMoments faded(double rest) const { return {weight * rest, pairs * rest * rest, mean, squares * rest}; }
};
DEVICE WeightedMoments merged(const WeightedMoments& earlier, const WeightedMoments& later) {
    const double weight = earlier.weight + later.weight, delta = later.mean - earlier.mean;
    const double divisor = weight > 0 ? weight : 1.0, share = later.weight / divisor;
    // From the side that weighs more: one that weighs nothing must not cost the other its digits.
    const double mean = share > 0.5 ? later.mean - delta * (earlier.weight / divisor) : earlier.mean + delta * share;
    return {weight, earlier.pairs + later.pairs + 2 * earlier.weight * later.weight, mean,
            earlier.squares + later.squares + delta * earlier.weight * share * delta};
}

// Rows that weigh 1 when they come: `rest` is what the rows after the first leave of those before it.
template <class DECAY>
struct AdjustedMoments : DECAY::Left {
    typedef typename DECAY::Left First;
    double rest = 1;
    WeightedMoments rows;
    int32_t had = 0;

    DEVICE static AdjustedMoments of(First first, double x, bool counts, int32_t had) {
        return {first, 1, WeightedMoments::of(x, counts), had};
    }
    DEVICE void carry(double weight, double pairs, double squares) { rows = {weight, pairs, rows.mean, squares}; }
    DEVICE WeightedMoments moments() const { return rows; }
};
template <class DECAY>
DEVICE AdjustedMoments<DECAY> combine(const AdjustedMoments<DECAY>& earlier, const AdjustedMoments<DECAY>& later) {
    if (!earlier.had || !later.had) return later.had ? later : earlier;
    const double rest = later.rest * later.left();
    return {earlier, rest * earlier.rest, merged(earlier.rows.faded(rest), later.rows), earlier.had | later.had};
}

// Rows that take a share of all weight when they come; the first of a group has it all.  So it is by itself, and what it
// weighs counts when an earlier row is met.
template <class DECAY>
struct SharedMoments : DECAY::Share {
    typedef typename DECAY::Share First;
    double first = 0, rest = 1;
    WeightedMoments others;
    int32_t had = 0;

    DEVICE static SharedMoments of(First first, double x, bool, int32_t had) { return {first, x, 1, {}, had}; }
    // Of rows that are carried along, which have all of the weight.
    DEVICE void carry(double, double pairs, double squares) { others = {0, pairs, 0, squares}; }
    DEVICE WeightedMoments moments() const { return merged(WeightedMoments::of(first, rest), others); }
};
template <class DECAY>
DEVICE SharedMoments<DECAY> combine(const SharedMoments<DECAY>& earlier, const SharedMoments<DECAY>& later) {
    if (!earlier.had || !later.had) return later.had ? later : earlier;
    const double rest = later.rest * later.left();
    const WeightedMoments own = merged(WeightedMoments::of(later.first, later.rest * later.weight()), later.others);
    return {earlier, earlier.first, rest * earlier.rest, merged(earlier.others.faded(rest), own),
            earlier.had | later.had};
}

// Rows of which some stand for others before them: where there is a weight, x is their mean.
template <class OF, class WEIGHT, class PAIRS, class SQUARES>
struct Carrying : OF {
    WEIGHT weight;
    PAIRS pairs;
    SQUARES squares;

    template <class STATE>
    DEVICE void carry(int64_t row, STATE& state) const {
        if (weight.valid(row)) state.carry(weight[row].value, pairs[row].value, squares[row].value);
    }
};

enum MomentPart { VARIANCE, VARIANCE_BIASED, DEVIATION, DEVIATION_BIASED, MEAN, WEIGHT, PAIRS, SQUARES };

// A row without a value counts for the decay by rows, if `NULLS_FADE`.
template <class OF, class DECAY, template <class> class FADING, bool NULLS_FADE, MomentPart PART>
struct DecayedMoment {
    typedef FADING<DECAY> State;
    Marks marks;
    OF of;

    DEVICE State at(int64_t row) const {
        const bool counts = of.counts(row);
        if (!counts && !NULLS_FADE) return State{};
        const double x = counts ? of.x[row].value : 0.0;
        State state = State::of(State::First::at(of, row), is_finite(x) ? x : 0.0, counts, had(x));
        if (counts) of.carry(row, state);
        return state;
    }
    DEVICE Maybe<double> result(int64_t row, const State& state) const {
        if (!of.counts(row)) return none<double>();
        const WeightedMoments all = state.moments();
        const double nan = double_of_bits(0x7ff8000000000000ULL);
        const bool finite = !(state.had & ~HAD_VALUE);
        if (PART == WEIGHT) return some(all.weight);
        if (PART == PAIRS) return some(all.pairs);
        if (PART == SQUARES) return some(all.squares);
        if (PART == MEAN) return some(finite ? all.mean : nan);
        const bool biased = PART == VARIANCE_BIASED || PART == DEVIATION_BIASED;
        const double divisor = biased ? all.weight : all.pairs / (all.weight > 0 ? all.weight : 1.0);
        if (!biased && !(divisor > 0x1p-900)) return none<double>();  // one row has all of the weight
        const double variance = finite ? all.squares / divisor : nan;
        return some(PART == DEVIATION || PART == DEVIATION_BIASED ? sqrt(variance) : variance);
    }
};

}  // namespace windows
