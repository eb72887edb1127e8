// Strings read by words: fewer loads than by bytes.  Nothing beyond a text is read.
#pragma once

#include "rows.cuh"

#ifndef GPUETL_HOST
// The first bytes, 8 at most, of an aligned word, as a number.
DEVICE uint64_t first_bytes(const char* word, int count) {
    if (count >= 8) return *(const uint64_t*)word;
    uint64_t bytes = 0;
    int at = 0;
    if (count & 4) bytes = *(const uint32_t*)word, at = 4;
    if (count & 2) bytes |= uint64_t(*(const uint16_t*)(word + at)) << 8 * at, at += 2;
    if (count & 1) bytes |= uint64_t(uint8_t(word[at])) << 8 * at;
    return bytes;
}
#endif
