// Places one behind another, such as pieces, known by where they end.
#pragma once

#include "rows.cuh"

// The place that has the item `at`; empty ones have none.  What is behind all of them is the last one's.
DEVICE int64_t place_of(const int64_t* ends, int64_t count, int64_t at) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (ends[middle] <= at) low = middle + 1;
        else high = middle;
    }
    return low;
}
