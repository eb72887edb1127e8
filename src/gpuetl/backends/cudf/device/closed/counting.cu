// Rows put in the order of their codes by counts of each code: see aggregates/counting.py.
#include "rounds.cuh"

constexpr int MOST_SORTED = 1024;  // rows of a code that a warp sorts

#ifdef GPUETL_HOST
DEVICE int32_t added(int32_t* place, int32_t value) {
    const int32_t before = *place;
    *place += value;
    return before;
}
DEVICE void wait_for_lanes() {}
#else
DEVICE int32_t added(int32_t* place, int32_t value) { return atomicAdd((int*)place, int(value)); }
DEVICE void wait_for_lanes() { __syncwarp(); }
#endif

namespace counting {

template <class CODE>
DEVICE void load_codes(int64_t start, int64_t rows, const CODE* codes, CODE (&found)[AT_ONCE]) {
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) found[i] = codes[readable(row_of(start, i), rows)];
}

template <class CODE>
DEVICE void count(int64_t rows, const CODE* codes, int32_t* counts) {
    FOR_EACH_WARP(round, (rows + ROUND - 1) / ROUND) {
        CODE own[AT_ONCE];
        load_codes(round * ROUND, rows, codes, own);
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            if (row_of(round * ROUND, i) < rows) added(counts + own[i], 1);
    }
}

// Each row takes the next place of its code.  Rows of a code come in the order in which threads get there.
template <class CODE>
DEVICE void place(int64_t rows, const CODE* codes, int32_t* next, int32_t* order) {
    FOR_EACH_WARP(round, (rows + ROUND - 1) / ROUND) {
        CODE own[AT_ONCE];
        int32_t places[AT_ONCE];
        load_codes(round * ROUND, rows, codes, own);
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            places[i] = row_of(round * ROUND, i) < rows ? added(next + own[i], 1) : 0;
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            if (row_of(round * ROUND, i) < rows) order[places[i]] = int32_t(row_of(round * ROUND, i));
    }
}

// Put numbers in ascending order, by a warp in memory of its own: the bitonic network of Batcher 1968, "Sorting networks
// and their applications", over the next power of two.
DEVICE void sort(int32_t* own, int32_t* numbers, int count) {
    int size = 2;
    while (size < count) size *= 2;
    for (int at = LANE; at < size; at += LANES) own[at] = at < count ? numbers[at] : 0x7fffffff;
    wait_for_lanes();
    for (int run = 2; run <= size; run *= 2) {
        for (int distance = run / 2; distance; distance /= 2) {
            for (int pair = LANE; pair < size / 2; pair += LANES) {
                const int low = 2 * pair - (pair & (distance - 1)), high = low + distance;
                const int32_t first = own[low], second = own[high];
                if ((first > second) == !(low & run)) own[low] = second, own[high] = first;
            }
            wait_for_lanes();
        }
    }
    for (int at = LANE; at < count; at += LANES) numbers[at] = own[at];
    wait_for_lanes();
}

}  // namespace counting

#define COUNTING(CODE)                                                                                               \
    KERNEL count_by_code_##CODE(int64_t rows, const CODE##_t* codes, int32_t* counts) {                              \
        counting::count(rows, codes, counts);                                                                        \
    }                                                                                                                \
    KERNEL place_by_code_##CODE(int64_t rows, const CODE##_t* codes, int32_t* next, int32_t* order) {                \
        counting::place(rows, codes, next, order);                                                                   \
    }
COUNTING(uint16)
COUNTING(uint32)

KERNEL find_most_rows(int64_t codes, const int32_t* counts, uint64_t* most) {
    Peak peak;
    FOR_EACH_ROW(code, codes)
        if (code < codes) peak.add(uint64_t(counts[code]));
    peak.store(most);
}

// Sort the rows of each group, at most MOST_SORTED, in blocks of 8 warps.
KERNEL sort_groups(int64_t groups, const int64_t* starts, int32_t* order) {
#ifdef GPUETL_HOST
    int32_t own[MOST_SORTED];
#else
    __shared__ int32_t shared[8 * MOST_SORTED];
    int32_t* const own = shared + threadIdx.x / 32 * MOST_SORTED;
#endif
    FOR_EACH_WARP(group, groups) {
        const int count = int(starts[group + 1] - starts[group]);
        if (count > 1) counting::sort(own, order + starts[group], count);
    }
}
