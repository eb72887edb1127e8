// Rows counted by their code in a table that stays in the cache: see aggregates/counting.py.
#include "rounds.cuh"

namespace counting {

#ifdef GPUETL_HOST
DEVICE void add_one(int32_t* count) { ++*count; }
#else
DEVICE void add_one(int32_t* count) { atomicAdd((int*)count, 1); }
#endif

template <class CODE>
DEVICE void count(int64_t rows, const CODE* codes, int32_t* counts) {
    FOR_EACH_WARP(round, (rows + ROUND - 1) / ROUND) {
        const int64_t start = round * ROUND;
        CODE own[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) own[i] = codes[readable(row_of(start, i), rows)];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i)
            if (row_of(start, i) < rows) add_one(counts + own[i]);
    }
}

}  // namespace counting

#define COUNT(CODE)                                                                                                  \
    KERNEL count_by_code_##CODE(int64_t rows, const CODE##_t* codes, int32_t* counts) {                              \
        counting::count(rows, codes, counts);                                                                        \
    }
COUNT(uint16)
COUNT(uint32)
