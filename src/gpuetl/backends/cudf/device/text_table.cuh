// Distinct texts by their hash, with linear probing: which rows have the same text.
#pragma once

#include "claims.cuh"
#include "hashing.cuh"

DEVICE bool same_text(Text x, Text y) {
    if (x.size != y.size) return false;
    for (int64_t at = 0; at < x.size; ++at)
        if (x[at] != y[at]) return false;
    return true;
}

// The slot of a text, which becomes the row's if no equal one has it.  After so many tries, or where another row has
// told of it, there is an overflow.
template <class TEXTS>
DEVICE int32_t enter_text(const TEXTS& texts, Text text, int32_t row, int32_t* owners, uint64_t mask, int64_t tries,
                          uint64_t* overflow) {
    uint64_t slot = hash_value(text, 0) & mask;
    for (; tries && !*(volatile uint64_t*)overflow; --tries, slot = (slot + 1) & mask) {
        const int32_t owner = claim(owners + slot, row);
        if (owner < 0 || same_text(text, texts[owner].value)) return int32_t(slot);
    }
    *overflow = 1;
    return 0;
}
