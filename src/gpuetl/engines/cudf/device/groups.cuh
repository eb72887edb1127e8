// Where groups begin and end among rows in the order of their groups' codes.
#pragma once

#include "rows.cuh"

// The first row whose code is not below this one, the number of rows where there is none.
DEVICE int64_t first_of(const int32_t* codes, int64_t rows, int64_t code) {
    int64_t low = 0, high = rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (codes[middle] < code) low = middle + 1;
        else high = middle;
    }
    return low;
}
