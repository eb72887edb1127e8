// Kernels that put rows into a table by their keys, and look keys up in it.
#pragma once

#include "lookup.cuh"

namespace lookups {

// Rows of a lane.  Fewer than TOGETHER: random accesses are hidden better by more threads.
template <int N> constexpr int ROWS = N == 1 ? 4 : N == 2 ? 2 : 1;

// A bit for each row of a lane that exists and whose key can match.
template <int N, int R>
DEVICE uint32_t rows_sought(int64_t start, int64_t rows, bool nulls_equal, const Components<N> (&components)[R]) {
    uint32_t sought = 0;
#pragma unroll
    for (int i = 0; i < R; ++i)
        sought |= uint32_t(row_of(start, i) < rows && (nulls_equal || components[i].all_known())) << i;
    return sought;
}

template <int R>
DEVICE void store_slots(int64_t start, int64_t rows, uint32_t sought, const uint32_t (&slots)[R], int32_t* stored) {
#pragma unroll
    for (int i = 0; i < R; ++i)
        if (row_of(start, i) < rows) stored[row_of(start, i)] = sought >> i & 1 ? int32_t(slots[i]) : -1;
}

template <int N>
DEVICE void build_by_code(int64_t rows, bool nulls_equal, int32_t* owners, int32_t* slots, uint64_t* repeated,
                          const PlacedKeys<N>& placed) {
    constexpr int R = ROWS<N>;
    FOR_EACH_WARP(round, (rows + R * LANES - 1) / (R * LANES)) {
        const int64_t start = round * (R * LANES);
        Components<N> components[R];
        uint32_t codes[R];
        load_round<true>(placed.keys, start, rows, components);
        const uint32_t sought = rows_sought(start, rows, nulls_equal, components);
        bool again = false;
#pragma unroll
        for (int i = 0; i < R; ++i) {
            codes[i] = uint32_t(code_of(components[i], placed.places));
            if (sought >> i & 1) again |= claim(owners + codes[i], int32_t(row_of(start, i))) >= 0;
        }
        if (again) *repeated = 1;
        store_slots(start, rows, sought, codes, slots);
    }
}

template <int N>
DEVICE void build_by_hash(int64_t rows, int64_t size, bool nulls_equal, int32_t* owners, int32_t* slots,
                          uint64_t* repeated, const Keys<N>& keys) {
    constexpr int R = ROWS<N>;
    const uint32_t mask = uint32_t(size - 1);
    FOR_EACH_WARP(round, (rows + R * LANES - 1) / (R * LANES)) {
        const int64_t start = round * (R * LANES);
        Components<N> components[R];
        uint32_t places[R];
        int32_t found[R];
        load_round<true>(keys, start, rows, components);
        const uint32_t sought = rows_sought(start, rows, nulls_equal, components);
        const auto owner = [&](uint32_t slot, int i) { return claim(owners + slot, int32_t(row_of(start, i))); };
        search(keys, components, nulls_equal, mask, sought, owner, places, found);
        bool again = false;
#pragma unroll
        for (int i = 0; i < R; ++i) again |= found[i] >= 0;
        if (again) *repeated = 1;
        store_slots(start, rows, sought, places, slots);
    }
}

// Write the slot or the owner of each row, -1 if there is none.  Return how many were found.
template <int R>
DEVICE uint32_t store_found(int64_t start, int64_t rows, bool want_slots, const uint32_t (&slots)[R],
                            const int32_t (&owners)[R], int32_t* found) {
    uint32_t hits = 0;
#pragma unroll
    for (int i = 0; i < R; ++i) {
        if (row_of(start, i) >= rows) continue;
        found[row_of(start, i)] = owners[i] < 0 ? -1 : want_slots ? int32_t(slots[i]) : owners[i];
        hits += owners[i] >= 0;
    }
    return hits;
}

template <int N>
DEVICE void find_by_code(int64_t rows, bool nulls_equal, bool want_slots, const int32_t* owners, int32_t* found,
                         uint64_t* count, const PlacedKeys<N>& placed) {
    constexpr int R = ROWS<N>;
    Tally hits;
    FOR_EACH_WARP(round, (rows + R * LANES - 1) / (R * LANES)) {
        const int64_t start = round * (R * LANES);
        Components<N> components[R];
        uint32_t slots[R];
        int32_t own[R];
        load_round<true>(placed.keys, start, rows, components);
        uint32_t sought = rows_sought(start, rows, nulls_equal, components);
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const int32_t code = code_of(components[i], placed.places);
            sought &= ~(uint32_t(code < 0) << i);
            slots[i] = sought >> i & 1 ? uint32_t(code) : 0;
        }
#pragma unroll
        for (int i = 0; i < R; ++i) own[i] = owners[slots[i]];
#pragma unroll
        for (int i = 0; i < R; ++i) own[i] = sought >> i & 1 ? own[i] : -1;
        hits.count += store_found(start, rows, want_slots, slots, own, found);
    }
    hits.store(count);
}

template <int N>
struct Sides {
    Keys<N> others, own;
};

template <int N>
DEVICE void find_by_hash(int64_t rows, int64_t size, bool nulls_equal, bool want_slots, const int32_t* owners,
                         int32_t* found, uint64_t* count, const Sides<N>& sides) {
    constexpr int R = ROWS<N>;
    const uint32_t mask = uint32_t(size - 1);
    Tally hits;
    FOR_EACH_WARP(round, (rows + R * LANES - 1) / (R * LANES)) {
        const int64_t start = round * (R * LANES);
        Components<N> components[R];
        uint32_t slots[R];
        int32_t own[R];
        load_round<true>(sides.others, start, rows, components);
        const uint32_t sought = rows_sought(start, rows, nulls_equal, components);
        const auto owner = [&](uint32_t slot, int) { return owners[slot]; };
        search(sides.own, components, nulls_equal, mask, sought, owner, slots, own);
        hits.count += store_found(start, rows, want_slots, slots, own, found);
    }
    hits.store(count);
}

}  // namespace lookups

// All kernels for N components.
#define LOOKUP_KERNELS(N)                                                                                            \
    KERNEL build_by_code_##N(int64_t rows, int64_t nulls_equal, int32_t* owners, int32_t* slots, uint64_t* repeated, \
                             const PlacedKeys<N> placed) {                                                           \
        lookups::build_by_code(rows, nulls_equal != 0, owners, slots, repeated, placed);                             \
    }                                                                                                                \
    KERNEL build_by_hash_##N(int64_t rows, int64_t size, int64_t nulls_equal, int32_t* owners, int32_t* slots,       \
                             uint64_t* repeated, const Keys<N> keys) {                                               \
        lookups::build_by_hash(rows, size, nulls_equal != 0, owners, slots, repeated, keys);                         \
    }                                                                                                                \
    KERNEL find_by_code_##N(int64_t rows, int64_t nulls_equal, int64_t want_slots, const int32_t* owners,            \
                            int32_t* found, uint64_t* count, const PlacedKeys<N> placed) {                           \
        lookups::find_by_code(rows, nulls_equal != 0, want_slots != 0, owners, found, count, placed);                \
    }                                                                                                                \
    KERNEL find_by_hash_##N(int64_t rows, int64_t size, int64_t nulls_equal, int64_t want_slots,                     \
                            const int32_t* owners, int32_t* found, uint64_t* count,                                  \
                            const lookups::Sides<N> sides) {                                                         \
        lookups::find_by_hash(rows, size, nulls_equal != 0, want_slots != 0, owners, found, count, sides);           \
    }
