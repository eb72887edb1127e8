// States of aggregates in words, for values of up to 8 bytes: sums, counts and extremes.
//
// What a state is, is an argument and not a type: so the same kernels serve all aggregates, and nothing is compiled for a
// plan.  A kernel takes N terms at once.  All lanes of a warp have the same terms, so a branch by the kind of one costs
// a few instructions for several rows.
#pragma once

#include "rows.cuh"
#include "reduce.cuh"

namespace states {

enum Kind { NONE, COUNT_VALID, COUNT_TRUE, FLOAT_SUM, INTEGER_SUM, UNSIGNED_SUM, LEAST_INTEGER, LEAST_UNSIGNED,
            LEAST_FLOAT, GREATEST_INTEGER, GREATEST_UNSIGNED, GREATEST_FLOAT,
            FLOAT_PRODUCT, BIT_AND, BIT_OR, BIT_XOR };                           // in the order of relational/aggregate_states.py
enum Stored { WORDS, INT8, INT16, INT32, UINT8, UINT16, UINT32, FLOAT32 };       // WORDS are 8 bytes of any type

// A state, and the column that it reads.  Its words lie `first` words behind those of the first term of a chunk.
struct Term {
    const void* data;
    const uint32_t* bits;
    int64_t kind, stored, first;
};

template <int N>
struct Terms {
    Term of[N];
};

// `n` counts values; of an extreme it says whether there is one.  A sum of integers has 128 bits, `high` and `low`.
struct State {
    uint64_t low = 0, high = 0, n = 0;
};

template <int N>
struct States {
    State of[N];
};

// Rows that a lane loads before it adds the first of them: enough loads are under way for any number of terms.
template <int N> constexpr int TOGETHER = N <= 2 ? 4 : N <= 4 ? 2 : 1;

DEVICE void add_integer(State& state, uint64_t low, uint64_t high) {
    const uint64_t sum = state.low + low;
    state.high += high + (sum < low);
    state.low = sum;
}
DEVICE uint64_t sum_of_floats(uint64_t x, uint64_t y) { return bits_of(double_of_bits(x) + double_of_bits(y)); }

// NaN is the greatest value; of equal ones the first stays.
DEVICE bool is_before(double x, double y) { return x < y || (y != y && x == x); }
DEVICE bool wins(int64_t kind, uint64_t value, uint64_t held) {
    switch (kind) {
        case LEAST_INTEGER: return int64_t(value) < int64_t(held);
        case LEAST_UNSIGNED: return value < held;
        case LEAST_FLOAT: return is_before(double_of_bits(value), double_of_bits(held));
        case GREATEST_INTEGER: return int64_t(value) > int64_t(held);
        case GREATEST_UNSIGNED: return value > held;
        default: return is_before(double_of_bits(held), double_of_bits(value));
    }
}

// What two values come to: a product, or bits.
DEVICE uint64_t folded(int64_t kind, uint64_t earlier, uint64_t later) {
    switch (kind) {
        case FLOAT_PRODUCT: return bits_of(double_of_bits(earlier) * double_of_bits(later));
        case BIT_AND: return earlier & later;
        case BIT_OR: return earlier | later;
        default: return earlier ^ later;
    }
}

// Adds rows in their order.
template <int R>
DEVICE void add(int64_t kind, const uint64_t (&values)[R], const bool (&valid)[R], State& state) {
    switch (kind) {
        case NONE: return;
        case COUNT_VALID:
#pragma unroll
            for (int i = 0; i < R; ++i) state.n += valid[i];
            return;
        case COUNT_TRUE:
#pragma unroll
            for (int i = 0; i < R; ++i) state.n += valid[i] && values[i];
            return;
        case FLOAT_SUM:
#pragma unroll
            for (int i = 0; i < R; ++i) {
                state.low = valid[i] ? sum_of_floats(state.low, values[i]) : state.low;
                state.n += valid[i];
            }
            return;
        case INTEGER_SUM:
        case UNSIGNED_SUM:
#pragma unroll
            for (int i = 0; i < R; ++i) {
                const uint64_t value = valid[i] ? values[i] : 0;
                add_integer(state, value, kind == INTEGER_SUM ? uint64_t(int64_t(value) >> 63) : 0);
                state.n += valid[i];
            }
            return;
        case FLOAT_PRODUCT:
        case BIT_AND:
        case BIT_OR:
        case BIT_XOR:
#pragma unroll
            for (int i = 0; i < R; ++i)
                if (valid[i]) state.low = state.n ? folded(kind, state.low, values[i]) : values[i], state.n = 1;
            return;
        default:
#pragma unroll
            for (int i = 0; i < R; ++i)
                if (valid[i] && (!state.n || wins(kind, values[i], state.low))) state.low = values[i], state.n = 1;
    }
}

DEVICE void merge(int64_t kind, State& state, const State& later) {
    switch (kind) {
        case NONE: return;
        case COUNT_VALID:
        case COUNT_TRUE: state.n += later.n; return;
        case FLOAT_SUM: state.low = sum_of_floats(state.low, later.low), state.n += later.n; return;
        case INTEGER_SUM:
        case UNSIGNED_SUM: add_integer(state, later.low, later.high), state.n += later.n; return;
        case FLOAT_PRODUCT:
        case BIT_AND:
        case BIT_OR:
        case BIT_XOR:
            if (later.n) state.low = state.n ? folded(kind, state.low, later.low) : later.low, state.n = 1;
            return;
        default:
            if (later.n && (!state.n || wins(kind, later.low, state.low))) state = later;
    }
}

template <int N> DEVICE void merge_all(const Terms<N>& terms, States<N>& state, const States<N>& later) {
#pragma unroll
    for (int i = 0; i < N; ++i) merge(terms.of[i].kind, state.of[i], later.of[i]);
}

// As `merge_lanes` of reduce.cuh, for states that do not know what they are.
template <int N> DEVICE void merge_lanes(const Terms<N>& terms, States<N>& state) {
#ifndef GPUETL_HOST
#pragma unroll 1
    for (int distance = 16; distance; distance >>= 1) {
        const States<N> other = from_lane_above(state, distance);
        if (LANE + distance < 32) merge_all(terms, state, other);
    }
#endif
}

// ---- words in memory ------------------------------------------------------------------------------------------------

// Of each word of a state there is an array with an item for each chunk, so that kernels which read or write the states of
// neighbouring chunks, or a part of each state, move no other bytes.  A state has the words that its kind needs:
// `low` but for counts, `high` of integers' sums, and `n`.
DEVICE bool has_low(int64_t kind) { return kind > COUNT_TRUE; }
DEVICE bool has_high(int64_t kind) { return kind == INTEGER_SUM || kind == UNSIGNED_SUM; }

template <int N>
DEVICE void store(const Terms<N>& terms, uint64_t* words, int64_t count, int64_t chunk, const States<N>& state) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const int64_t kind = terms.of[i].kind;
        if (kind == NONE) continue;
        uint64_t* at = words + terms.of[i].first * count + chunk;
        if (has_low(kind)) *at = state.of[i].low, at += count;
        if (has_high(kind)) *at = state.of[i].high, at += count;
        *at = state.of[i].n;
    }
}

template <int N>
DEVICE States<N> stored(const Terms<N>& terms, const uint64_t* words, int64_t count, int64_t chunk) {
    States<N> state;
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const int64_t kind = terms.of[i].kind;
        if (kind == NONE) continue;
        const uint64_t* at = words + terms.of[i].first * count + chunk;
        if (has_low(kind)) state.of[i].low = *at, at += count;
        if (has_high(kind)) state.of[i].high = *at, at += count;
        state.of[i].n = *at;
    }
    return state;
}

// ---- values ---------------------------------------------------------------------------------------------------------

template <class T, int R> DEVICE void load_as(const void* data, const int64_t (&rows)[R], uint64_t (&values)[R]) {
#pragma unroll
    for (int i = 0; i < R; ++i) values[i] = ((const T*)data)[rows[i]];
}

// Bytes as they lie in memory.  Nothing is calculated, so that no load is waited for.
template <int R>
DEVICE void load_bytes(const Term& term, const int64_t (&rows)[R], uint64_t (&values)[R]) {
    switch (term.stored) {
        case WORDS: return load_as<uint64_t>(term.data, rows, values);
        case INT8:
        case UINT8: return load_as<uint8_t>(term.data, rows, values);
        case INT16:
        case UINT16: return load_as<uint16_t>(term.data, rows, values);
        default: return load_as<uint32_t>(term.data, rows, values);
    }
}

// Bytes as 64 bits: integers with their signs, and float32 as float64.
template <int R> DEVICE void widen(int64_t stored, uint64_t (&values)[R]) {
    switch (stored) {
        case INT8:
#pragma unroll
            for (int i = 0; i < R; ++i) values[i] = uint64_t(int64_t(int8_t(values[i])));
            return;
        case INT16:
#pragma unroll
            for (int i = 0; i < R; ++i) values[i] = uint64_t(int64_t(int16_t(values[i])));
            return;
        case INT32:
#pragma unroll
            for (int i = 0; i < R; ++i) values[i] = uint64_t(int64_t(int32_t(values[i])));
            return;
        case FLOAT32:
#pragma unroll
            for (int i = 0; i < R; ++i) values[i] = bits_of(double(float_of_bits(uint32_t(values[i]))));
    }
}

// Reads the columns of terms as they are.
template <int N>
struct Columns {
    const Terms<N>& terms;

    template <int R> DEVICE void add_rows(const int64_t (&rows)[R], const bool (&inside)[R], States<N>& state) const {
        uint64_t values[N][R];
        uint32_t words[N][R];
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const Term& term = terms.of[i];
            if (term.data) load_bytes(term, rows, values[i]);
#pragma unroll
            for (int k = 0; k < R; ++k) words[i][k] = valid_word(term.bits, rows[k] >> 5);
        }
#pragma unroll
        for (int i = 0; i < N; ++i) {
            bool valid[R];
#pragma unroll
            for (int k = 0; k < R; ++k) valid[k] = inside[k] && (words[i][k] >> (rows[k] & 31) & 1);
            widen(terms.of[i].stored, values[i]);
            add(terms.of[i].kind, values[i], valid, state.of[i]);
        }
    }
};

// Values of a row side by side: see closed/records.cu.
struct alignas(16) Pair { uint64_t first, second; };

// Reads records of 2 or 4 words.  A term's `data` is the number of its value, its `bits` that of its bit in the last word
// of the record, or 64 where it is never null.
template <int N>
struct Records {
    const Terms<N>& terms;
    const Pair* records;
    bool wide;

    template <int R> DEVICE void add_rows(const int64_t (&rows)[R], const bool (&inside)[R], States<N>& state) const {
        Pair low[R], high[R];
#pragma unroll
        for (int k = 0; k < R; ++k) {
            const Pair* record = records + (wide ? 2 * rows[k] : rows[k]);
            low[k] = record[0];
            high[k] = record[wide];  // the same again, where there is no other
        }
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const uint64_t slot = uint64_t(terms.of[i].data), bit = uint64_t(terms.of[i].bits);
            uint64_t values[R];
            bool valid[R];
#pragma unroll
            for (int k = 0; k < R; ++k) {
                values[k] = slot == 0 ? low[k].first : slot == 1 ? low[k].second : slot == 2 ? high[k].first : high[k].second;
                valid[k] = inside[k] && (bit == 64 || (high[k].second >> (bit & 63) & 1));
            }
            add(terms.of[i].kind, values, valid, state.of[i]);
        }
    }
};

// ---- chunks ---------------------------------------------------------------------------------------------------------

// Adds the rows from `start` on, of which a lane takes each `step`-th.
template <int N, class SOURCE>
DEVICE void add_places(const SOURCE& source, int64_t start, int64_t stop, int step, const int32_t* order,
                       States<N>& state) {
    constexpr int R = TOGETHER<N>;
    for (int64_t place = start; place < stop; place += R * step) {
        int64_t rows[R];
        bool inside[R];
#pragma unroll
        for (int k = 0; k < R; ++k) {
            inside[k] = place + k * step < stop;
            rows[k] = inside[k] ? place + k * step : place;
        }
        if (order) {
#pragma unroll
            for (int k = 0; k < R; ++k) rows[k] = order[rows[k]];
        }
        source.add_rows(rows, inside, state);
    }
}

// A warp reduces a chunk.  `turns` are the numbers of the chunks in the order in which they come, or 0.
template <int N, class SOURCE>
DEVICE void reduce(const SOURCE& source, int64_t chunks, const int64_t* starts, const int64_t* stops, uint64_t* words,
                   const int32_t* turns, const int32_t* order, const Terms<N>& terms) {
    FOR_EACH_WARP(item, chunks) {
        const int64_t chunk = turns ? turns[item] : item;
        States<N> state;
        add_places<N>(source, starts[chunk] + LANE, stops[chunk], LANES, order, state);
        merge_lanes(terms, state);
        if (LANE == 0) store(terms, words, chunks, chunk, state);
    }
}

// A thread reduces a chunk.
template <int N, class SOURCE>
DEVICE void reduce_short(const SOURCE& source, int64_t chunks, const int64_t* starts, const int64_t* stops,
                         uint64_t* words, const int32_t* turns, const int32_t* order, const Terms<N>& terms) {
    FOR_EACH_ROW(item, chunks) {
        if (item >= chunks) continue;
        const int64_t chunk = turns ? turns[item] : item;
        States<N> state;
        add_places<N>(source, starts[chunk], stops[chunk], 1, order, state);
        store(terms, words, chunks, chunk, state);
    }
}

// The states from each start to its stop, of `chunks` in all, come to one: a warp each, or a thread where there is one.
template <int N>
DEVICE void merge_chunks(int64_t groups, const int64_t* starts, const int64_t* stops, int64_t chunks,
                         const uint64_t* words, uint64_t* made, const Terms<N>& terms) {
    FOR_EACH_WARP(group, groups) {
        if (stops[group] - starts[group] == 1) continue;
        States<N> state;
        for (int64_t chunk = starts[group] + LANE; chunk < stops[group]; chunk += LANES)
            merge_all(terms, state, stored(terms, words, chunks, chunk));
        merge_lanes(terms, state);
        if (LANE == 0) store(terms, made, groups, group, state);
    }
}
template <int N>
DEVICE void keep_chunks(int64_t groups, const int64_t* starts, const int64_t* stops, int64_t chunks,
                        const uint64_t* words, uint64_t* made, const Terms<N>& terms) {
    FOR_EACH_ROW(group, groups)
        if (group < groups && stops[group] - starts[group] == 1)
            store(terms, made, groups, group, stored(terms, words, chunks, starts[group]));
}

}  // namespace states
