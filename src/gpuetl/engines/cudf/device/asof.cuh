// Rows of the right side of an as-of join in the order of their keys and times, and a binary search for the nearest one.
#pragma once

#include "keys.cuh"

namespace asof {

// Rows that a lane searches for together: the loads of a step do not wait for each other.
template <int N> constexpr int ROWS = N == 1 ? 4 : 2;

// Which right rows are looked at: BACKWARD the ones not after the left row, FORWARD the ones not before it, NEAREST both.
enum Direction { BACKWARD, FORWARD, NEAREST };

// The places, from `start` to `end`, of the right rows of a key.
struct Segment {
    int32_t start, end;
};

// A distance as an unsigned number: the difference of two integers, or the bits of that of two floats, which is not less
// than zero.
struct Distance {
    uint64_t high, low;

    DEVICE bool exceeds(const Distance& other) const {
        return high > other.high || (high == other.high && low > other.low);
    }
};

template <int N>
struct Sides {
    Keys<N> left, right;  // the times; those of the right rows are in order
};

// Whether a row can match: its time is neither null nor NaN.
template <int N> DEVICE bool has_time(const Keys<N>& keys, const Components<N>& time) {
    const uint64_t nan = keys.of[0].bytes == 4 ? 0xffffffffULL : ~0ULL;
    return time.all_known() && !(keys.of[0].order == FLOATING && time.of[0] == nan);
}

// The float that has a component: see `ordered`.
DEVICE double float_of_component(uint64_t component, int bytes) {
    if (bytes == 8) return double_of_bits(component & SIGN ? component ^ SIGN : ~component);
    const uint32_t bits = uint32_t(component), sign = 1u << 31;
    return double(float_of_bits(bits & sign ? bits ^ sign : ~bits));
}

template <int N>
DEVICE Distance distance(const Keys<N>& keys, const Components<N>& x, const Components<N>& y) {
    const bool later = is_before(y, x);
    Components<N> greater, less;
#pragma unroll
    for (int at = 0; at < N; ++at) {
        greater.of[at] = later ? x.of[at] : y.of[at];
        less.of[at] = later ? y.of[at] : x.of[at];
    }
    if (keys.of[0].order == FLOATING) {
        const int bytes = keys.of[0].bytes;
        if (greater.of[0] == less.of[0]) return {0, 0};  // of infinities, too
        return {0, bits_of(float_of_component(greater.of[0], bytes) - float_of_component(less.of[0], bytes))};
    }
    const uint64_t low = greater.of[N - 1] - less.of[N - 1];
    const uint64_t high = N == 1 ? 0 : greater.of[0] - less.of[0] - (greater.of[N - 1] < less.of[N - 1]);
    return {high, low};
}

// The right rows, and what a row of the left side asks of them.
template <int N>
struct Search {
    const Sides<N>& sides;
    const Segment* segments;
    int direction;
    bool strict, limited;
    Distance limit;

    // The first place of each segment whose time is not before the row's, or is `beyond` it; the end where there is none.
    template <int R>
    DEVICE void bound(const Components<N> (&times)[R], const Segment (&within)[R], bool beyond, int32_t (&found)[R]) const {
        int32_t ends[R], open = 0;
#pragma unroll
        for (int i = 0; i < R; ++i) {
            found[i] = within[i].start, ends[i] = within[i].end;
            open |= int32_t(found[i] < ends[i]) << i;
        }
        while (open) {
            int32_t middle[R];
            Components<N> others[R];
#pragma unroll
            for (int i = 0; i < R; ++i)  // a search that has ended reads the first row
                middle[i] = open >> i & 1 ? int32_t((uint32_t(found[i]) + uint32_t(ends[i])) / 2) : 0;
            load_components<false>(sides.right, middle, others);
#pragma unroll
            for (int i = 0; i < R; ++i) {
                if (!(open >> i & 1)) continue;
                const bool passed = is_before(others[i], times[i]) || (beyond && !is_before(times[i], others[i]));
                if (passed) found[i] = middle[i] + 1;
                else ends[i] = middle[i];
                open &= ~(int32_t(found[i] >= ends[i]) << i);
            }
        }
    }

    // Load the times at places; the first one for places that are negative.
    template <int R> DEVICE void load(const int32_t (&places)[R], Components<N> (&times)[R]) const {
        int32_t rows[R];
#pragma unroll
        for (int i = 0; i < R; ++i) rows[i] = places[i] < 0 ? 0 : places[i];
        load_components<false>(sides.right, rows, times);
    }

    template <int R>
    DEVICE void find_before(const Components<N> (&times)[R], const Segment (&within)[R], int32_t (&places)[R]) const {
        bound(times, within, !strict, places);
#pragma unroll
        for (int i = 0; i < R; ++i) places[i] = places[i] > within[i].start ? places[i] - 1 : -1;
    }
    template <int R>
    DEVICE void find_after(const Components<N> (&times)[R], const Segment (&within)[R], int32_t (&places)[R]) const {
        bound(times, within, strict, places);
#pragma unroll
        for (int i = 0; i < R; ++i) places[i] = places[i] < within[i].end ? places[i] : -1;
    }
    // Of rows at one distance the last one: of those after, it is the last with the first one's time.
    template <int R>
    DEVICE void find_nearest(const Components<N> (&times)[R], const Segment (&within)[R], int32_t (&places)[R]) const {
        int32_t after[R], last[R];
        Components<N> earlier[R], later[R];
        find_before(times, within, places);
        find_after(times, within, after);
        load(places, earlier);
        load(after, later);
        bound(later, within, true, last);
#pragma unroll
        for (int i = 0; i < R; ++i) {
            if (after[i] < 0) continue;
            const bool nearer = places[i] < 0 || !distance(sides.right, times[i], later[i])
                                                      .exceeds(distance(sides.right, earlier[i], times[i]));
            if (nearer) places[i] = last[i] - 1;
        }
    }

    // The place of the row that each row goes with, -1 for none.
    template <int R>
    DEVICE void find(const Components<N> (&times)[R], const Segment (&within)[R], int32_t (&places)[R]) const {
        switch (direction) {
            case BACKWARD: find_before(times, within, places); break;
            case FORWARD: find_after(times, within, places); break;
            default: find_nearest(times, within, places);
        }
        if (!limited) return;
        Components<N> others[R];
        load(places, others);
#pragma unroll
        for (int i = 0; i < R; ++i)
            if (distance(sides.right, times[i], others[i]).exceeds(limit)) places[i] = -1;
    }
};

// Slots of right rows that can match, -1 of the others; without slots all keys are equal.
template <int N>
DEVICE void choose(int64_t rows, const int32_t* slots, int32_t* chosen, uint64_t* count, const Keys<N>& keys) {
    constexpr int R = ROWS<N>;
    Tally usable;
    FOR_EACH_WARP(round, (rows + R * LANES - 1) / (R * LANES)) {
        const int64_t start = round * (R * LANES);
        Components<N> times[R];
        load_round<true>(keys, start, rows, times);
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const int64_t row = row_of(start, i);
            if (row >= rows) continue;
            const int32_t slot = !has_time(keys, times[i]) ? -1 : slots ? slots[row] : 0;
            chosen[row] = slot;
            usable.count += slot >= 0;
        }
    }
    usable.store(count);
}

// The right row that each left row goes with, -1 for none.  `order` has the right row of each place, where they differ.
template <int N>
DEVICE void search(int64_t rows, const int32_t* slots, const int32_t* order, const Search<N>& search, int32_t* found,
                   uint64_t* count) {
    constexpr int R = ROWS<N>;
    Tally hits;
    FOR_EACH_WARP(round, (rows + R * LANES - 1) / (R * LANES)) {
        const int64_t start = round * (R * LANES);
        Components<N> times[R];
        Segment within[R];
        int32_t places[R];
        load_round<true>(search.sides.left, start, rows, times);
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const int64_t row = row_of(start, i);
            const bool sought = row < rows && has_time(search.sides.left, times[i]);
            const int32_t slot = !sought ? -1 : slots ? slots[row] : 0;
            within[i] = slot < 0 ? Segment{0, 0} : search.segments[slot];
        }
        search.find(times, within, places);
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const int64_t row = row_of(start, i);
            if (row >= rows) continue;
            found[row] = places[i] < 0 || !order ? places[i] : order[places[i]];
            hits.count += places[i] >= 0;
        }
    }
    hits.store(count);
}

}  // namespace asof
