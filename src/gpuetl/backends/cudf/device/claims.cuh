// Places of a table that the first to come takes: row numbers, -1 where a place is free, or hashes, 0 where it is.
#pragma once

#ifdef GPUETL_HOST
DEVICE int32_t claim(int32_t* place, int32_t row) {
    const int32_t owner = *place;
    if (owner < 0) *place = row;
    return owner;
}
DEVICE uint64_t claim(uint64_t* place, uint64_t hash) {
    const uint64_t owner = *place;
    if (!owner) *place = hash;
    return owner;
}
DEVICE uint64_t next_number(uint64_t* count) { return (*count)++; }
#else
// Take a place that is free; return whose it was.
DEVICE int32_t claim(int32_t* place, int32_t row) {
    const int32_t owner = *(volatile int32_t*)place;
    return owner < 0 ? atomicCAS((int*)place, -1, int(row)) : owner;
}
DEVICE uint64_t claim(uint64_t* place, uint64_t hash) {
    return atomicCAS((unsigned long long*)place, 0ULL, (unsigned long long)hash);
}
// Count one more; return how many there were.
DEVICE uint64_t next_number(uint64_t* count) { return atomicAdd((unsigned long long*)count, 1ULL); }
#endif
