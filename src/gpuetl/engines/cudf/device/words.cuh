// Validity words that the lanes of a warp write together.
#pragma once

#include "rows.cuh"

// Writes the validity word of the rows of a warp's lanes; returns how many of them are null.  Nulls are added up when
// all rows are written: one place in memory takes no addition a word.
#ifdef GPUETL_HOST
DEVICE uint32_t store_word(uint32_t* bits, int64_t row, bool, bool valid) {
    if (valid) bits[row >> 5] |= 1u << (row & 31);
    return !valid;
}
DEVICE void add_nulls(uint64_t* nulls, uint32_t missing) { if (missing) *nulls += missing; }
#else
DEVICE uint32_t store_word(uint32_t* bits, int64_t row, bool in_range, bool valid) {
    const uint32_t word = __ballot_sync(0xffffffffu, valid), rows = __ballot_sync(0xffffffffu, in_range);
    if ((threadIdx.x & 31) == 0) bits[row >> 5] = word;
    return __popc(rows & ~word);
}
DEVICE void add_nulls(uint64_t* nulls, uint32_t missing) {
    if ((threadIdx.x & 31) == 0 && missing) atomicAdd((unsigned long long*)nulls, (unsigned long long)missing);
}
#endif
