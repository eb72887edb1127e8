// Rows counted by their code, and where groups begin by these counts: see relational/grouping.py.
#include "rounds.cuh"

namespace counting {

#ifdef GPUETL_HOST
DEVICE void add(int32_t* count, int32_t more) { *count += more; }
#else
DEVICE void add(int32_t* count, int32_t more) { atomicAdd((int*)count, int(more)); }
#endif

// In a table that stays in the cache.  Rows of the code `often` are counted by each lane for itself: additions to one
// place come one by one.
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

#ifdef GPUETL_HOST

template <class CODE>
DEVICE void tally(int64_t rows, int64_t, const CODE* codes, int32_t* counts) {
    for (int64_t row = 0; row < rows; ++row) ++counts[codes[row]];
}
DEVICE void rank(int64_t size, int64_t rows, const int32_t* counts, int32_t* ranks, int64_t* starts, uint64_t* groups) {
    int64_t before = 0;
    for (int64_t code = 0; code < size; ++code) {
        ranks[code] = int32_t(*groups);
        if (counts[code]) starts[(*groups)++] = before;
        before += counts[code];
    }
    starts[*groups] = rows;
}

#else

constexpr int PART = 1 << 13;  // counts of a block: 32 KiB of shared memory
constexpr int WORDS = 4;       // of 8 bytes, that a thread loads before it counts their codes

// In shared memory.  A block counts the codes of one part of the table among the rows of one slice: blocks that come one
// after another count different parts of the same slice, so that codes are read from memory once.
template <class CODE>
DEVICE void tally(int64_t rows, int64_t size, const CODE* codes, int32_t* counts) {
    __shared__ int32_t own[PART];
    constexpr int IN_WORD = 8 / sizeof(CODE);
    const int64_t parts = (size + PART - 1) / PART, slices = gridDim.x > parts ? gridDim.x / parts : 1;
    const int64_t words = rows / IN_WORD, step = slices * blockDim.x;
    const uint64_t* const packed = (const uint64_t*)codes;
    for (int64_t item = blockIdx.x; item < parts * slices; item += gridDim.x) {
        const uint32_t first = uint32_t(item % parts * PART);
        const int64_t slice = item / parts, end = size - first < PART ? size - first : PART;
        const auto take = [&](uint32_t code) { if (code - first < uint32_t(PART)) add(own + (code - first), 1); };
        for (int64_t code = threadIdx.x; code < end; code += blockDim.x) own[code] = 0;
        __syncthreads();
        for (int64_t start = slice * blockDim.x + threadIdx.x; start < words; start += WORDS * step) {
            uint64_t found[WORDS];
#pragma unroll
            for (int i = 0; i < WORDS; ++i) found[i] = packed[start + i * step < words ? start + i * step : start];
#pragma unroll
            for (int i = 0; i < WORDS; ++i) {
                if (start + i * step >= words) break;
#pragma unroll
                for (int j = 0; j < IN_WORD; ++j) take(uint32_t(CODE(found[i] >> 8 * sizeof(CODE) * j)));
            }
        }
        for (int64_t row = words * IN_WORD + threadIdx.x; slice == 0 && row < rows; row += blockDim.x) take(codes[row]);
        __syncthreads();
        for (int64_t code = threadIdx.x; code < end; code += blockDim.x)
            if (own[code]) add(counts + first + code, own[code]);
        __syncthreads();
    }
}

// By one block.  A thread adds up the rows and the groups of some codes in a row, both in one word.
DEVICE void rank(int64_t size, int64_t rows, const int32_t* counts, int32_t* ranks, int64_t* starts, uint64_t* groups) {
    __shared__ uint64_t sums[1024];
    const int thread = threadIdx.x, threads = blockDim.x;
    const int64_t part = (size + threads - 1) / threads, first = thread * part;
    const int64_t end = first + part < size ? first + part : size;
    uint64_t own = 0;
#pragma unroll 8
    for (int64_t code = first; code < end; ++code) own += uint64_t(counts[code] > 0) << 32 | uint32_t(counts[code]);
    sums[thread] = own;
    __syncthreads();
    for (int distance = 1; distance < threads; distance *= 2) {
        const uint64_t below = thread >= distance ? sums[thread - distance] : 0;
        __syncthreads();
        sums[thread] += below;
        __syncthreads();
    }
    uint64_t before = sums[thread] - own;
    for (int64_t start = first; start < end; start += AT_ONCE) {
        int32_t found[AT_ONCE];  // loaded before anything is stored, of which the compiler cannot know where it goes
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) found[i] = counts[readable(start + i, end)];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            if (start + i >= end) break;
            ranks[start + i] = int32_t(before >> 32);
            if (found[i]) starts[before >> 32] = int64_t(before & 0xffffffff);
            before += uint64_t(found[i] > 0) << 32 | uint32_t(found[i]);
        }
    }
    if (thread != threads - 1) return;
    *groups = before >> 32;
    starts[*groups] = rows;
}

#endif

}  // namespace counting

KERNEL count_by_code(int64_t rows, int64_t often, const uint32_t* codes, int32_t* counts) {
    counting::count(rows, uint32_t(often), codes, counts);
}
#define TALLY(CODE)                                                                                                  \
    KERNEL tally_##CODE(int64_t rows, int64_t size, const CODE##_t* codes, int32_t* counts) {                        \
        counting::tally(rows, size, codes, counts);                                                                  \
    }
TALLY(uint8)
TALLY(uint16)

// The number of groups before each code, the rows before each group and behind the last one, and how many groups there
// are, which begins as 0.
KERNEL rank_codes(int64_t size, int64_t rows, const int32_t* counts, int32_t* ranks, int64_t* starts,
                  uint64_t* groups) {
    counting::rank(size, rows, counts, ranks, starts, groups);
}
