// Prefix sums of integers, of rows as many as there are.
//
// A warp takes `part` rows, one part behind another.  First the sum of each part is written, then each warp adds what
// comes before its part to the sums of its own rows.  Values are read twice; nothing waits for another block.  Sums of
// integers are the same in whatever order they are added, modulo their width.
#include "rounds.cuh"

namespace scanning {

// The unsigned type of a sum, and the one in which 32 values are added up.
template <class SUM> struct Unsigned { typedef uint64_t type; };
template <> struct Unsigned<int32_t> { typedef uint32_t type; };
template <class VALUE, class SUM> struct Narrow { typedef typename Unsigned<SUM>::type type; };
template <class SUM> struct Narrow<uint8_t, SUM> { typedef uint32_t type; };

template <class SUM, class VALUE>
DEVICE void load_round(int64_t start, int64_t end, const VALUE* values, SUM (&own)[AT_ONCE]) {
    VALUE found[AT_ONCE];
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) found[i] = values[readable(row_of(start, i), end)];
#pragma unroll
    for (int i = 0; i < AT_ONCE; ++i) own[i] = row_of(start, i) < end ? SUM(found[i]) : SUM(0);
}

template <class VALUE>
DEVICE void add_parts(int64_t rows, int64_t part, int64_t parts, const VALUE* values, uint64_t* totals) {
    FOR_EACH_WARP(item, parts) {
        const int64_t first = item * part, end = first + part < rows ? first + part : rows;
        Tally total;
#pragma unroll 1
        for (int64_t start = first; start < end; start += ROUND) {
            uint64_t own[AT_ONCE];
            load_round(start, end, values, own);
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) total.count += own[i];
        }
        merge_lanes(total);
        if (LANE == 0) totals[item] = total.count;
    }
}

#ifdef GPUETL_HOST

template <class VALUE, class SUM>
DEVICE void scan(int64_t rows, int64_t, int64_t, int64_t before, int64_t first, const VALUE* values, const uint64_t*,
                 SUM* sums) {
    uint64_t sum = uint64_t(first);
    for (int64_t row = 0; row < rows; ++row) {
        const uint64_t own = uint64_t(values[row]);
        sums[row] = SUM(before ? sum : sum + own);
        sum += own;
    }
}

#else

DEVICE uint32_t from_lane_below(uint32_t value, int distance) { return __shfl_up_sync(0xffffffffu, value, distance); }
DEVICE uint64_t from_lane_below(uint64_t value, int distance) {
    const uint32_t high = from_lane_below(uint32_t(value >> 32), distance);
    return uint64_t(high) << 32 | from_lane_below(uint32_t(value), distance);
}
DEVICE uint32_t from_last_lane(uint32_t value) { return __shfl_sync(0xffffffffu, value, 31); }
DEVICE uint64_t from_last_lane(uint64_t value) {
    return uint64_t(from_last_lane(uint32_t(value >> 32))) << 32 | from_last_lane(uint32_t(value));
}

// What the parts before a warp's own come to; all threads of the block come here.
DEVICE uint64_t sum_before(int64_t own, const uint64_t* totals) {
    __shared__ uint64_t sums[32];
    const int warps = blockDim.x / 32;
    const int64_t first = int64_t(blockIdx.x) * warps;
    Tally earlier;
    for (int64_t at = threadIdx.x; at < first; at += blockDim.x) earlier.count += totals[at];
    merge_lanes(earlier);
    if (LANE == 0) sums[threadIdx.x / 32] = earlier.count;
    __syncthreads();
    uint64_t sum = 0;
    for (int warp = 0; warp < warps; ++warp) sum += sums[warp];
    for (int64_t at = first; at < own; ++at) sum += totals[at];
    return sum;
}

// A block has no more than 32 warps, and each warp one part.
template <class VALUE, class SUM>
DEVICE void scan(int64_t rows, int64_t part, int64_t parts, int64_t before, int64_t first, const VALUE* values,
                 const uint64_t* totals, SUM* sums) {
    typedef typename Unsigned<SUM>::type Wide;
    typedef typename Narrow<VALUE, SUM>::type Few;
    const int64_t warp = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32, item = warp < parts ? warp : parts;
    Wide carry = Wide(uint64_t(first) + sum_before(item, totals));
    const int64_t end = item * part + part < rows ? item * part + part : rows;
    const Few left_out = before ? Few(-1) : Few(0);
#pragma unroll 1
    for (int64_t start = item * part; start < end; start += ROUND) {
        Few own[AT_ONCE], up_to[AT_ONCE];
        load_round(start, end, values, own);
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) up_to[i] = own[i];
#pragma unroll 1
        for (int distance = 1; distance < 32; distance *= 2) {
#pragma unroll
            for (int i = 0; i < AT_ONCE; ++i) {
                const Few below = from_lane_below(up_to[i], distance);
                up_to[i] += LANE >= distance ? below : Few(0);
            }
        }
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const int64_t row = row_of(start, i);
            const Wide sum = carry + (up_to[i] - (own[i] & left_out));
            if (row < end) sums[row] = SUM(sum);
            carry += from_last_lane(up_to[i]);
        }
    }
}

#endif

}  // namespace scanning

// `sums[row]` is `first` and the values up to the row, or with `before` those before it.  `parts` are as many as have
// rows, and a part is a multiple of 256 rows.  A warp writes the sums of a part, and the blocks have warps for all.
#define ADD_PARTS(VALUE)                                                                                             \
    KERNEL add_parts_##VALUE(int64_t rows, int64_t part, int64_t parts, const VALUE##_t* values, uint64_t* totals) { \
        scanning::add_parts(rows, part, parts, values, totals);                                                        \
    }
#define SCAN(VALUE, SUM)                                                                                             \
    KERNEL scan_##VALUE##_##SUM(int64_t rows, int64_t part, int64_t parts, int64_t before, int64_t first,            \
                                const VALUE##_t* values, const uint64_t* totals, SUM##_t* sums) {                    \
        scanning::scan(rows, part, parts, before, first, values, totals, sums);                                        \
    }
ADD_PARTS(uint8)
ADD_PARTS(int32)
ADD_PARTS(int64)
SCAN(uint8, int32)
SCAN(int32, int32)
SCAN(int32, int64)
SCAN(int64, int32)
SCAN(int64, int64)
