// Places of a table that the first to come takes: row numbers, -1 where a place is free.
#pragma once

#ifdef GPUETL_HOST
DEVICE int32_t claim(int32_t* place, int32_t row) {
    const int32_t owner = *place;
    if (owner < 0) *place = row;
    return owner;
}
#else
// Take a place that is free; return whose it was.
DEVICE int32_t claim(int32_t* place, int32_t row) {
    const int32_t owner = *(volatile int32_t*)place;
    return owner < 0 ? atomicCAS((int*)place, -1, int(row)) : owner;
}
#endif
