// Kernels that measure keys, pack them into words, and mark rows that differ from the previous one.
#pragma once

#include "keys.cuh"

namespace keys {

constexpr int MOST_OUTPUTS = 48;

// A column that is computed from a word: (least + (word >> shift & mask)) ^ turned.
struct Output {
    void* values;
    uint64_t least, mask, turned;
    uint8_t word, shift, bytes;
};

// The first `group` components define the group, without the lowest `shift` bits of the last of them.
template <int N>
struct Marking {
    Keys<N> keys;
    int64_t group, shift, outputs;
    Output of[MOST_OUTPUTS];
};

// `differ` marks rows that differ from the previous one in components of an earlier part: their order is decided.
template <bool NULLS, int N>
DEVICE void measure(int64_t rows, const uint8_t* differ, uint64_t* places, const Keys<N>& keys) {
    constexpr int R = TOGETHER<N>;
    Ranges<N> ranges;
    FOR_EACH_WARP(round, (rows + R * LANES - 1) / (R * LANES)) {
        const int64_t start = round * (R * LANES);
        const Neighbours<NULLS, N, R> near(keys, start, rows);
#pragma unroll
        for (int i = 0; i < R; ++i) ranges.add(near.own(i));
        if (ranges.disorder) continue;  // the same in all lanes
        bool disorder = false;
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const bool alone = differ && differ[near_row(start, i, rows)];
            disorder |= is_before(near.own(i), near.before(i)) && !alone;
        }
        ranges.disorder = in_any_lane(disorder);
    }
    merge_lanes(ranges);
    if (LANE == 0) ranges.store(places, keys.count);
}

template <class T, int R>
DEVICE void store_rows(void* target, int64_t start, int64_t rows, const uint64_t (&values)[R]) {
#pragma unroll
    for (int i = 0; i < R; ++i)
        if (row_of(start, i) < rows) ((T*)target)[row_of(start, i)] = T(values[i]);
}

template <int R>
DEVICE void store_bytes(void* target, int bytes, int64_t start, int64_t rows, const uint64_t (&values)[R]) {
    switch (bytes) {
        case 8: return store_rows<uint64_t>(target, start, rows, values);
        case 4: return store_rows<uint32_t>(target, start, rows, values);
        case 2: return store_rows<uint16_t>(target, start, rows, values);
        case 1: return store_rows<uint8_t>(target, start, rows, values);
    }
}

template <class T, int R>
DEVICE void add_rows(const void* source, int64_t start, int64_t rows, uint64_t (&values)[R]) {
#pragma unroll
    for (int i = 0; i < R; ++i) values[i] |= ((const T*)source)[near_row(start, i, rows)];
}

template <int R>
DEVICE void add_bytes(const void* source, int bytes, int64_t start, int64_t rows, uint64_t (&values)[R]) {
    switch (bytes) {
        case 8: return add_rows<uint64_t>(source, start, rows, values);
        case 4: return add_rows<uint32_t>(source, start, rows, values);
        case 2: return add_rows<uint16_t>(source, start, rows, values);
        case 1: return add_rows<uint8_t>(source, start, rows, values);
    }
}

template <bool NULLS, int N>
DEVICE void pack(int64_t rows, const PlacedKeys<N>& placed) {
    constexpr int R = TOGETHER<N>;
    FOR_EACH_WARP(round, (rows + R * LANES - 1) / (R * LANES)) {
        const int64_t start = round * (R * LANES);
        Components<N> components[R];
        load_round<NULLS>(placed.keys, start, rows, components);
        uint64_t words[R] = {};
#pragma unroll
        for (int at = 0; at < N; ++at) {
            const Place& place = placed.places[at];
#pragma unroll
            for (int i = 0; i < R; ++i)
                words[i] |= (components[i].is_known(at) ? components[i].of[at] - place.least : 0) << place.shift;
            if (!place.word) continue;
            if (place.more) add_bytes(place.word, place.bits / 8, start, rows, words);
            store_bytes(place.word, place.bits / 8, start, rows, words);
#pragma unroll
            for (int i = 0; i < R; ++i) words[i] = 0;
        }
    }
}

// Mark rows that differ from the previous one.  With `more` marks that are set stay.  `ties` and `groups` may be nullptr.
template <bool NULLS, int N>
DEVICE void mark(int64_t rows, int64_t more, uint64_t* ties, uint8_t* groups, uint8_t* values,
                 const Marking<N>& marking) {
    constexpr int R = TOGETHER<N>;
    Tally ties_met;
    FOR_EACH_WARP(round, (rows + R * LANES - 1) / (R * LANES)) {
        const int64_t start = round * (R * LANES);
        const Neighbours<NULLS, N, R> near(marking.keys, start, rows);
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const int64_t row = row_of(start, i);
            const Components<N> before = near.before(i);
            bool group = row == 0, value = row == 0;
#pragma unroll
            for (int at = 0; at < N; ++at) {
                const uint64_t turned = near.own(i).of[at] ^ before.of[at];
                value |= turned != 0;
                if (at < marking.group) group |= (at == marking.group - 1 ? turned >> marking.shift : turned) != 0;
            }
            if (row >= rows) continue;
            if (more) value |= values[row] != 0, group |= groups && groups[row] != 0;
            values[row] = value;
            if (groups) groups[row] = group;
            ties_met.count += !value;
        }
        int next = 0;
#pragma unroll
        for (int at = 0; at < N; ++at)
#pragma unroll 1
            for (; next < marking.outputs && marking.of[next].word == at; ++next) {
                const Output& output = marking.of[next];
                uint64_t found[R];
#pragma unroll
                for (int i = 0; i < R; ++i)
                    found[i] = (output.least + (near.own(i).of[at] >> output.shift & output.mask)) ^ output.turned;
                store_bytes(output.values, output.bytes, start, rows, found);
            }
    }
    if (ties) ties_met.store(ties);
}

}  // namespace keys

// All kernels for N components.
#define KEY_KERNELS(N)                                                                                               \
    KERNEL measure_keys_##N(int64_t rows, const uint8_t* differ, uint64_t* places, const Keys<N> columns) {          \
        if (have_nulls(columns)) keys::measure<true>(rows, differ, places, columns);                                 \
        else keys::measure<false>(rows, differ, places, columns);                                                    \
    }                                                                                                                \
    KERNEL pack_keys_##N(int64_t rows, const PlacedKeys<N> placed) {                                                 \
        if (have_nulls(placed.keys)) keys::pack<true>(rows, placed);                                                 \
        else keys::pack<false>(rows, placed);                                                                        \
    }                                                                                                                \
    KERNEL mark_keys_##N(int64_t rows, int64_t more, uint64_t* ties, uint8_t* groups, uint8_t* values,               \
                         const keys::Marking<N> marking) {                                                           \
        if (have_nulls(marking.keys)) keys::mark<true>(rows, more, ties, groups, values, marking);                   \
        else keys::mark<false>(rows, more, ties, groups, values, marking);                                           \
    }
