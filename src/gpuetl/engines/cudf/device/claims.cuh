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
DEVICE uint64_t before_adding(uint64_t* sum, uint64_t more) {
    const uint64_t before = *sum;
    *sum += more;
    return before;
}
#else
// Take a place that is free; return whose it was.
DEVICE int32_t claim(int32_t* place, int32_t row) {
    const int32_t owner = *(volatile int32_t*)place;
    return owner < 0 ? atomicCAS((int*)place, -1, int(row)) : owner;
}
DEVICE uint64_t claim(uint64_t* place, uint64_t hash) {
    return atomicCAS((unsigned long long*)place, 0ULL, (unsigned long long)hash);
}
// Add to a sum; return what it was.
DEVICE uint64_t before_adding(uint64_t* sum, uint64_t more) {
    return atomicAdd((unsigned long long*)sum, (unsigned long long)more);
}
#endif
