// Distinct texts found by their hash in a table of row numbers, with linear probing.
#pragma once

#include "rows.cuh"
#include "hashing.cuh"
#include "lookup.cuh"

constexpr int MOST_PROBES = 512;  // in a table that is half full chains are far shorter

DEVICE bool same_text(Text x, Text y) {
    if (x.size != y.size) return false;
    for (int64_t at = 0; at < x.size; ++at)
        if (x[at] != y[at]) return false;
    return true;
}

// The slot of a text, which becomes the row's if nobody has it.  Once more than `most` are taken there is none: -1.
template <class TEXTS>
DEVICE int32_t slot_of(const TEXTS& texts, Text text, int32_t row, int32_t* owners, uint64_t mask, uint64_t* taken,
                       uint64_t most) {
    uint64_t slot = hash_value(text, 0) & mask;
    for (int probe = 0; probe < MOST_PROBES; ++probe, slot = (slot + 1) & mask) {
        int32_t owner = owners[slot];  // from a cache, which may not know yet that a slot is taken
        if (owner < 0) {
            if (*(volatile uint64_t*)taken > most) return -1;
            owner = claim(owners + slot, row);
        }
        if (owner < 0) add_to(taken, 1);
        if (owner < 0 || same_text(text, texts[owner].value)) return int32_t(slot);
    }
    add_to(taken, most + 1);
    return -1;
}
