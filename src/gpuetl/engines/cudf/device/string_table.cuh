// Distinct strings of a column by their hash, with linear probing: which rows have the same text.
#pragma once

#include "rows.cuh"
#include "claims.cuh"
#include "string_words.cuh"

// The bytes from `at` on, 8 at most, as a number.
#ifdef GPUETL_HOST
DEVICE uint64_t word_of(String text, int64_t at) {
    uint64_t word = 0;
    for (int64_t i = at; i < text.size && i < at + 8; ++i) word |= uint64_t(uint8_t(text[i])) << 8 * (i - at);
    return word;
}
#else
// By loads of the aligned words that have these bytes.
DEVICE uint64_t word_of(String text, int64_t at) {
    const char* const place = text.data + at;
    const int skip = int(uint64_t(place) % 8), end = skip + (text.size - at < 8 ? int(text.size - at) : 8);
    const uint64_t word = first_bytes(place - skip, end) >> 8 * skip;
    return end > 8 ? word | first_bytes(place - skip + 8, end - 8) << (64 - 8 * skip) : word;
}
#endif

// Word by word the finalizer of MurmurHash3 (Appleby 2011).
DEVICE uint64_t table_hash(String text) {
    uint64_t hash = uint64_t(text.size);
    for (int64_t at = 0; at < text.size; at += 8) {
        hash = (hash ^ word_of(text, at)) + 0x9E3779B97F4A7C15ULL;
        hash = (hash ^ hash >> 33) * 0xFF51AFD7ED558CCDULL;
        hash = (hash ^ hash >> 33) * 0xC4CEB9FE1A85EC53ULL;
        hash ^= hash >> 33;
    }
    return hash;
}

DEVICE bool same_words(String x, String y) {
    if (x.size != y.size) return false;
    for (int64_t at = 0; at < x.size; at += 8)
        if (word_of(x, at) != word_of(y, at)) return false;
    return true;
}

// The slot of a text, which becomes the row's if no equal one has it.  After so many tries there is an overflow, and rows
// give up that see it.  They do not store it again: stores of all rows to one place come one by one.
template <class STRINGS>
DEVICE int32_t enter_string(const STRINGS& strings, String text, int32_t row, int32_t* owners, uint64_t mask,
                            int64_t tries, uint64_t* overflow) {
    uint64_t slot = table_hash(text) & mask;
    for (; tries && !*(volatile uint64_t*)overflow; --tries, slot = (slot + 1) & mask) {
        int32_t owner = owners[slot];  // from a cache, which may not know yet that it is taken
        if (owner < 0) owner = claim(owners + slot, row);
        if (owner < 0 || same_words(text, strings[owner].value)) return int32_t(slot);
    }
    if (!tries) *overflow = 1;
    return 0;
}

// Distinct hashes with linear probing, of which 0 stands for none; `owners` are the rows that were first to have them.
struct HashTable {
    uint64_t* hashes;
    int32_t* owners;
    uint64_t mask;
    int64_t most_tries;
    uint64_t* overflow;

    // The slot of a hash; overflow as in `enter_string`.
    DEVICE int32_t enter(uint64_t hash, int32_t row) const {
        hash += !hash;
        uint64_t slot = hash & mask;
        int64_t tries = most_tries;
        for (; tries && !*(volatile uint64_t*)overflow; --tries, slot = (slot + 1) & mask) {
            uint64_t found = hashes[slot];  // from a cache, which may not know yet that it is taken
            if (!found && !(found = claim(hashes + slot, hash))) owners[slot] = row, found = hash;
            if (found == hash) return int32_t(slot);
        }
        if (!tries) *overflow = 1;
        return 0;
    }
};
