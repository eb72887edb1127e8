// Rows counted by their code in a table that stays in the cache: see aggregates/counting.py.
#include "rounds.cuh"

namespace counting {

#ifdef GPUETL_HOST
DEVICE void add(int32_t* count, int32_t more) { *count += more; }
#else
DEVICE void add(int32_t* count, int32_t more) { atomicAdd((int*)count, int(more)); }
#endif

// Rows of the code `often` are counted by each lane for itself: additions to one place come one by one.
template <class CODE>
DEVICE void count(int64_t rows, CODE often, const CODE* codes, int32_t* counts) {
    Tally rows_of_it;
    FOR_EACH_WARP(round, (rows + ROUND - 1) / ROUND) {
        const int64_t start = round * ROUND;
        CODE own[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) own[i] = codes[readable(row_of(start, i), rows)];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (row_of(start, i) >= rows) continue;
            if (own[i] == often) ++rows_of_it.count;
            else add(counts + own[i], 1);
        }
    }
    merge_lanes(rows_of_it);
    if (LANE == 0 && rows_of_it.count) add(counts + often, int32_t(rows_of_it.count));
}

}  // namespace counting

#define COUNT(CODE)                                                                                                  \
    KERNEL count_by_code_##CODE(int64_t rows, int64_t often, const CODE##_t* codes, int32_t* counts) {               \
        counting::count(rows, CODE##_t(often), codes, counts);                                                       \
    }
COUNT(uint16)
COUNT(uint32)
