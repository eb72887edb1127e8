// Pieces of a file put side by side, wherever they lie: each thread stores 16 bytes, from aligned words that hold them.
#pragma once

#include "places.cuh"

namespace assembly {

constexpr int UNIT = 16;

struct alignas(UNIT) Unit { uint32_t words[UNIT / 4]; };

// The pieces' first bytes, and where each ends among the bytes of all.
struct Pieces {
    const uint64_t* sources;
    const int64_t* ends;
    int64_t count;

    DEVICE int64_t of(int64_t at) const { return place_of(ends, count, at); }
    DEVICE const uint8_t* source(int64_t piece, int64_t at) const {
        return (const uint8_t*)sources[piece] + (at - (piece ? ends[piece - 1] : 0));
    }
};

// 16 bytes from any place: no word is read that has none of them, but the last one may have 3 bytes behind them.
DEVICE Unit unit_from(const uint8_t* from) {
    const int skip = int(uint64_t(from) % 4);
    const uint32_t* const words = (const uint32_t*)(from - skip);
    Unit unit;
    if (!skip) {
        for (int each = 0; each < UNIT / 4; ++each) unit.words[each] = words[each];
        return unit;
    }
    uint32_t low = words[0];
    for (int each = 0; each < UNIT / 4; ++each) {
        const uint32_t high = words[each + 1];
        unit.words[each] = low >> 8 * skip | high << (32 - 8 * skip);
        low = high;
    }
    return unit;
}

// Store the bytes from one on, up to 16, of which there are `total`.
DEVICE void store_unit(const Pieces& pieces, int64_t at, int64_t total, uint8_t* target) {
    int64_t piece = pieces.of(at);
    if (at + UNIT + 3 <= pieces.ends[piece]) {
        *(Unit*)(target + at) = unit_from(pieces.source(piece, at));
        return;
    }
    for (const int64_t end = at + UNIT < total ? at + UNIT : total; at < end; ++at) {
        while (pieces.ends[piece] <= at) ++piece;
        target[at] = *pieces.source(piece, at);
    }
}

}
