// The order of values within ranges of rows, by a wavelet matrix (Claude & Navarro 2012, "The wavelet matrix").
//
// Each row has a key, a number of `levels` bits.  Level 0 has the highest bit of each key, in the order of rows.  For the
// next level rows are split by that bit, zeros first, stably; and so on.  Of each level, a word has 32 bits, and above
// them how many bits are set in all words before.  Looking for a range's keys takes two words a level, however many rows
// the range has.
#pragma once

#include "bits.cuh"

struct Wavelet {
    const uint64_t* memory;
    int64_t rows, words;  // of a level: one more than are full, so that all rows have a number of set bits before them
    int levels;

    DEVICE int64_t before(int level, int64_t row) const { return set_before(memory + level * words, row); }
    DEVICE int64_t zeros(int level) const { return rows - before(level, rows); }
    DEVICE static int64_t set_before(const uint64_t* level, int64_t row) {
        const uint64_t word = level[row >> 5];
        return int64_t(word >> 32) + ones(uint32_t(word) & ((1u << (row & 31)) - 1));
    }

    // The key with number `place`, from 0, among those of rows from `start` up to, and without, `stop`, in order.
    DEVICE int64_t smallest(int64_t start, int64_t stop, int64_t place) const {
        int64_t key = 0;
        for (int level = 0; level < levels; ++level) {
            const int64_t from = before(level, start), to = before(level, stop), low = stop - start - (to - from);
            const bool set = place >= low;
            key = key << 1 | int64_t(set);
            if (set) place -= low, start = zeros(level) + from, stop = zeros(level) + to;
            else start -= from, stop -= to;
        }
        return key;
    }

    // How many keys of these rows are below a limit.
    DEVICE int64_t below(int64_t start, int64_t stop, int64_t limit) const {
        if (limit >> levels) return stop - start;
        int64_t count = 0;
        for (int level = 0; level < levels && start < stop; ++level) {
            const int64_t from = before(level, start), to = before(level, stop);
            if (limit >> (levels - 1 - level) & 1) {
                count += stop - start - (to - from);
                start = zeros(level) + from, stop = zeros(level) + to;
            } else {
                start -= from, stop -= to;
            }
        }
        return count;
    }
};
