// As-of joins: right rows in the order of keys and times, and for each left row the nearest one by binary search.
#include "asof.cuh"

// Where the rows of each slot begin and end among the places; slots without rows are not written.  `order` has the row of
// each place, where they differ.
KERNEL bound_segments(int64_t places, const int32_t* order, const int32_t* slots, asof::Segment* segments) {
    FOR_EACH_ROW(place, places) {
        if (place >= places) continue;
        const auto slot = [&](int64_t at) { return slots[order ? order[at] : at]; };
        const int32_t own = slot(place);
        if (place == 0 || slot(place - 1) != own) segments[own].start = int32_t(place);
        if (place + 1 == places || slot(place + 1) != own) segments[own].end = int32_t(place + 1);
    }
}

// The least row number of the places that are not marked, as the distance from 2^63 - 1.
KERNEL find_first_marked(int64_t places, const int32_t* order, const uint8_t* marks, uint64_t* first) {
    Peak found;
    FOR_EACH_ROW(place, places)
        if (place < places && !marks[place]) found.add(uint64_t(INT64_GREATEST - (order ? order[place] : place)));
    found.store(first);
}

#define ASOF_KERNELS(N)                                                                                              \
    KERNEL choose_rows_##N(int64_t rows, const int32_t* slots, int32_t* chosen, uint64_t* count,                     \
                           const Keys<N> times) {                                                                    \
        asof::choose(rows, slots, chosen, count, times);                                                             \
    }                                                                                                                \
    KERNEL find_nearest_##N(int64_t rows, const int32_t* slots, const int32_t* order, const asof::Segment* segments, \
                            int64_t direction, int64_t strict, int64_t limited, int64_t limit_high,                  \
                            int64_t limit_low, int32_t* found, uint64_t* count, const asof::Sides<N> sides) {        \
        const asof::Distance limit = {uint64_t(limit_high), uint64_t(limit_low)};                                    \
        asof::search(rows, slots, order,                                                                             \
                     asof::Search<N>{sides, segments, int(direction), strict != 0, limited != 0, limit}, found,      \
                     count);                                                                                         \
    }

ASOF_KERNELS(1)
ASOF_KERNELS(2)
