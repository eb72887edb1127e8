// Distinct values counted in a bit table.  Each group has the same number of words, and a row sets the bit of its value.
#include "bits.cuh"
#include "keys.cuh"

namespace distinct {

constexpr int TILE = 1024;  // words that a warp counts

#ifdef GPUETL_HOST
DEVICE void set_bit(uint32_t* word, uint32_t bit) { *word |= bit; }
#else
DEVICE void set_bit(uint32_t* word, uint32_t bit) {
    if (!(*(volatile uint32_t*)word & bit)) atomicOr(word, bit);
}
#endif

// Nulls set no bit.
template <int N>
DEVICE void set_bits(int64_t rows, int64_t words, const int32_t* groups, uint32_t* table, const PlacedKeys<N>& placed) {
    constexpr int R = TOGETHER<N>;
    FOR_EACH_WARP(round, (rows + R * LANES - 1) / (R * LANES)) {
        const int64_t start = round * (R * LANES);
        Components<N> components[R];
        int32_t own[R];
#pragma unroll
        for (int i = 0; i < R; ++i) own[i] = groups[near_row(start, i, rows)];
        load_round<true>(placed.keys, start, rows, components);
#pragma unroll
        for (int i = 0; i < R; ++i) {
            if (row_of(start, i) >= rows || !components[i].is_known(int(placed.keys.count) - 1)) continue;
            uint64_t value = 0;
#pragma unroll
            for (int at = 0; at < N; ++at)
                value |= (components[i].of[at] - placed.places[at].least) << placed.places[at].shift;
            set_bit(table + own[i] * words + (value >> 5), 1u << (value & 31));
        }
    }
}

}  // namespace distinct

// The key is one column without its flag, so it has one component or two.
KERNEL set_bits_1(int64_t rows, int64_t words, const int32_t* groups, uint32_t* table, const PlacedKeys<1> placed) {
    distinct::set_bits(rows, words, groups, table, placed);
}
KERNEL set_bits_2(int64_t rows, int64_t words, const int32_t* groups, uint32_t* table, const PlacedKeys<2> placed) {
    distinct::set_bits(rows, words, groups, table, placed);
}

KERNEL count_bits(int64_t total, int64_t words, const uint32_t* table, uint64_t* counts) {
    FOR_EACH_WARP(tile, (total + distinct::TILE - 1) / distinct::TILE) {
        const int64_t begin = tile * distinct::TILE, end = begin + distinct::TILE < total ? begin + distinct::TILE : total;
        int64_t group = -1;
        uint64_t count = 0;
        for (int64_t at = begin + LANE; at < end; at += LANES) {
            if (at / words != group) {
                if (count) add_to(counts + group, count);
                group = at / words, count = 0;
            }
            count += ones(table[at]);
        }
        if (count) add_to(counts + group, count);
    }
}
