// The numbers of rows that are marked, in order: tiles are counted by a warp each, and written where the counts say.
#pragma once

#include "rows.cuh"
#include "reduce.cuh"

constexpr int TILE = 1024;

#ifdef GPUETL_HOST
DEVICE uint32_t ballot(bool vote) { return vote; }
DEVICE int bits_in(uint32_t word) { return word; }
DEVICE uint32_t lanes_before() { return 0; }
#else
DEVICE uint32_t ballot(bool vote) { return __ballot_sync(0xffffffffu, vote); }
DEVICE int bits_in(uint32_t word) { return __popc(word); }
DEVICE uint32_t lanes_before() { return (1u << LANE) - 1; }
#endif

template <class MARK>
DEVICE void count_tiles(int64_t rows, int64_t tiles, const MARK& mark, int64_t* counts) {
    FOR_EACH_WARP(tile, tiles) {
        int count = 0;
        const int64_t end = tile * TILE + TILE;
        for (int64_t start = tile * TILE; start < end; start += LANES) {
            const int64_t row = start + LANE;
            count += bits_in(ballot(row < rows && mark(row)));
        }
        if (LANE == 0) counts[tile] = count;
    }
}

template <class MARK, class NUMBER>
DEVICE void write_tile(int64_t rows, int64_t tile, const MARK& mark, const int64_t* ends, NUMBER* numbers) {
    int64_t place = tile ? ends[tile - 1] : 0;
    const int64_t end = tile * TILE + TILE;
    for (int64_t start = tile * TILE; start < end; start += LANES) {
        const int64_t row = start + LANE;
        const bool marked = row < rows && mark(row);
        const uint32_t lanes = ballot(marked);
        if (marked) numbers[place + bits_in(lanes & lanes_before())] = NUMBER(row);
        place += bits_in(lanes);
    }
}
