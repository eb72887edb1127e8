// Groups reduced to one state of device/aggregates.cuh: of decimals, of integers of 128 bits, and of moments.
#include "rows.cuh"
#include "aggregates.cuh"
#include "reduce.cuh"

namespace wide {

// A column; 8 bytes are a float64, or an int64 that counts.
struct Argument {
    const void* data;
    const uint32_t* bits;
    int64_t counts;
};

struct Arguments {
    Argument of[5];
};

template <int> DEVICE Maybe<int128_t> read(const Argument& from, int64_t row, int128_t) {
    const int128_t value = ((const int128_t*)from.data)[row];
    return only_if(bit_is_set(from.bits, row), value);
}
template <int> DEVICE Maybe<double> read(const Argument& from, int64_t row, double) {
    const uint64_t bits = ((const uint64_t*)from.data)[row];
    return only_if(bit_is_set(from.bits, row), from.counts ? double(int64_t(bits)) : double_of_bits(bits));
}

template <class STATE, class VALUE, int COUNT>
DEVICE void add_row(STATE& state, const Arguments& arguments, int64_t row) {
    const auto x = read<0>(arguments.of[0], row, VALUE{});
    if constexpr (COUNT == 1) state.add(x);
    else {
        const auto y = read<1>(arguments.of[1], row, VALUE{});
        if constexpr (COUNT == 2) state.add(x, y);
        else {
            const auto third = read<2>(arguments.of[2], row, VALUE{}), fourth = read<3>(arguments.of[3], row, VALUE{});
            if constexpr (COUNT == 4) state.add(x, y, third, fourth);
            else state.add(x, y, third, fourth, read<4>(arguments.of[4], row, VALUE{}));
        }
    }
}

}  // namespace wide

static_assert(sizeof(IntegerSum) == 32 && sizeof(DecimalSum) == 48 && sizeof(Moments) == 48 && sizeof(HighMoments) == 40 &&
              sizeof(Least<int128_t>) == 32, "as in relational/aggregate_states.py");

// As `states::reduce` and its like.
#define WIDE_STATES(NAME, STATE, VALUE, COUNT)                                                                        \
    KERNEL reduce_##NAME(int64_t chunks, const int64_t* starts, const int64_t* stops, STATE* made,                    \
                         const int32_t* turns, const int32_t* order, wide::Arguments arguments) {                     \
        FOR_EACH_WARP(item, chunks) {                                                                                 \
            const int64_t chunk = turns ? turns[item] : item;                                                         \
            STATE state;                                                                                              \
            for (int64_t place = starts[chunk] + LANE; place < stops[chunk]; place += LANES)                          \
                wide::add_row<STATE, VALUE, COUNT>(state, arguments, order ? order[place] : place);                   \
            merge_lanes(state);                                                                                       \
            if (LANE == 0) made[chunk] = state;                                                                       \
        }                                                                                                             \
    }                                                                                                                 \
    KERNEL reduce_short_##NAME(int64_t chunks, const int64_t* starts, const int64_t* stops, STATE* made,              \
                               const int32_t* turns, const int32_t* order, wide::Arguments arguments) {               \
        FOR_EACH_ROW(item, chunks) {                                                                                  \
            if (item >= chunks) continue;                                                                             \
            const int64_t chunk = turns ? turns[item] : item;                                                         \
            STATE state;                                                                                              \
            for (int64_t place = starts[chunk]; place < stops[chunk]; ++place)                                        \
                wide::add_row<STATE, VALUE, COUNT>(state, arguments, order ? order[place] : place);                   \
            made[chunk] = state;                                                                                      \
        }                                                                                                             \
    }                                                                                                                 \
    KERNEL keep_chunks_##NAME(int64_t groups, const int64_t* starts, const int64_t* stops, int64_t chunks,            \
                              const STATE* states, STATE* made, wide::Arguments) {                                    \
        FOR_EACH_ROW(group, groups)                                                                                   \
            if (group < groups && stops[group] - starts[group] == 1) made[group] = states[starts[group]];             \
    }                                                                                                                 \
    KERNEL merge_chunks_##NAME(int64_t groups, const int64_t* starts, const int64_t* stops, int64_t chunks,           \
                               const STATE* states, STATE* made, wide::Arguments) {                                   \
        FOR_EACH_WARP(group, groups) {                                                                                \
            if (stops[group] - starts[group] == 1) continue;                                                          \
            STATE state;                                                                                              \
            for (int64_t chunk = starts[group] + LANE; chunk < stops[group]; chunk += LANES) state.merge(states[chunk]); \
            merge_lanes(state);                                                                                       \
            if (LANE == 0) made[group] = state;                                                                       \
        }                                                                                                             \
    }

WIDE_STATES(decimal_sum, DecimalSum, int128_t, 1)
WIDE_STATES(halves_sum, DecimalSum, int128_t, 2)
WIDE_STATES(wide_integer_sum, IntegerSum, int128_t, 1)
WIDE_STATES(least_wide_integer, Least<int128_t>, int128_t, 1)
WIDE_STATES(greatest_wide_integer, Greatest<int128_t>, int128_t, 1)
WIDE_STATES(moments, Moments, double, 1)
WIDE_STATES(pair_moments, Moments, double, 2)
WIDE_STATES(merged_moments, Moments, double, 4)
WIDE_STATES(high_moments, HighMoments, double, 1)
WIDE_STATES(merged_high_moments, HighMoments, double, 5)
