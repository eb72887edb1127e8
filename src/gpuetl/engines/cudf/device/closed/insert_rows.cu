// Rows that are made before and after others: how many each row gives, and of each item its row and its place.
#include "rows.cuh"

// How many rows each row gives, itself among them; each count is at most `most`, so that sums stay in 64 bits.
KERNEL measure_inserts(int64_t rows, int64_t most, const int64_t* before, const int64_t* after, int64_t* repeats) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        repeats[row] = (before[row] < most ? before[row] : most) + 1 + (after[row] < most ? after[row] : most);
    }
}
// The row of each item, -1 in `own` where the item is made, and how far it is from its row.
KERNEL insert_rows(int64_t items, int64_t rows, const int64_t* ends, const int64_t* before, int32_t* numbers,
                   int32_t* own, int64_t* places) {
    FOR_EACH_ROW(item, items) {
        if (item >= items) continue;
        int64_t low = 0, high = rows;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (ends[middle] <= item) low = middle + 1;
            else high = middle;
        }
        const int64_t place = item - (low ? ends[low - 1] : 0) - before[low];
        numbers[item] = int32_t(low);
        own[item] = place ? -1 : int32_t(low);
        places[item] = place;
    }
}
