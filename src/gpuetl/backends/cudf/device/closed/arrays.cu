// What is asked of arrays of numbers, whatever they stand for: prefix sums, numbers in a row, values by number, choices.
#include "rows.cuh"
#include "bits.cuh"
#include "reduce.cuh"

namespace arrays {

constexpr int AT_ONCE = 8;                // rows of a lane that are loaded before any of them is used
constexpr int ROUND = AT_ONCE * LANES;    // rows of a warp

// The rows of a lane in a round, and a row that there is in the place of those behind the end: loads need no branch.
DEVICE int64_t row_of(int64_t start, int place) { return start + place * LANES + LANE; }
DEVICE int64_t readable(int64_t row, int64_t end) { return row < end ? row : end - 1; }

// ---- prefix sums ----------------------------------------------------------------------------------------------------

// A warp takes `part` rows, one part behind another.  First the sum of each part is written, then each warp adds what
// comes before its part to the sums of its own rows.  Values are read twice; nothing waits for another block.  Sums of
// integers are the same in whatever order they are added, modulo their width.

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

// ---- values by number -----------------------------------------------------------------------------------------------

template <class NUMBER> DEVICE bool absent(NUMBER number) { return is_signed<NUMBER>::value && number < NUMBER(0); }

template <class VALUE, class NUMBER>
DEVICE void pick(int64_t rows, const NUMBER* from, const VALUE* values, VALUE missing, VALUE* made) {
    FOR_EACH_WARP(item, (rows + ROUND - 1) / ROUND) {
        const int64_t start = item * ROUND;
        NUMBER at[AT_ONCE];
        VALUE found[AT_ONCE];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) at[i] = from[readable(row_of(start, i), rows)];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) found[i] = values[absent(at[i]) ? NUMBER(0) : at[i]];
#pragma unroll
        for (int i = 0; i < AT_ONCE; ++i) {
            const int64_t row = row_of(start, i);
            if (row < rows) made[row] = absent(at[i]) ? missing : found[i];
        }
    }
}

}  // namespace arrays

// `sums[row]` is `first` and the values up to the row, or with `before` those before it.  `parts` are as many as have
// rows, and a part is a multiple of 256 rows.  A warp writes the sums of a part, and the blocks have warps for all.
#define ADD_PARTS(VALUE)                                                                                             \
    KERNEL add_parts_##VALUE(int64_t rows, int64_t part, int64_t parts, const VALUE##_t* values, uint64_t* totals) { \
        arrays::add_parts(rows, part, parts, values, totals);                                                        \
    }
#define SCAN(VALUE, SUM)                                                                                             \
    KERNEL scan_##VALUE##_##SUM(int64_t rows, int64_t part, int64_t parts, int64_t before, int64_t first,            \
                                const VALUE##_t* values, const uint64_t* totals, SUM##_t* sums) {                    \
        arrays::scan(rows, part, parts, before, first, values, totals, sums);                                        \
    }
ADD_PARTS(uint8)
ADD_PARTS(int32)
ADD_PARTS(int64)
SCAN(uint8, int32)
SCAN(int32, int32)
SCAN(int32, int64)
SCAN(int64, int32)
SCAN(int64, int64)

#define IOTA(NUMBER)                                                                                                 \
    KERNEL iota_##NUMBER(int64_t rows, int64_t step, NUMBER##_t* numbers) {                                          \
        FOR_EACH_ROW(row, rows) if (row < rows) numbers[row] = NUMBER##_t(row * step);                               \
    }
IOTA(int32)
IOTA(int64)

// By width: values of a bit each in the words, and one for all others.
#define BY_WIDTH(VALUE)                                                                                              \
    KERNEL fill_##VALUE(int64_t rows, int64_t value, VALUE##_t* made) {                                              \
        FOR_EACH_ROW(row, rows) if (row < rows) made[row] = VALUE##_t(value);                                        \
    }                                                                                                                \
    KERNEL choose_##VALUE(int64_t rows, const uint32_t* words, const VALUE##_t* values, int64_t others,              \
                          VALUE##_t* made) {                                                                         \
        FOR_EACH_ROW(row, rows) {                                                                                    \
            if (row >= rows) continue;                                                                               \
            const VALUE##_t value = values[row];                                                                     \
            made[row] = bit_is_set(words, row) ? value : VALUE##_t(others);                                          \
        }                                                                                                            \
    }
BY_WIDTH(uint8)
BY_WIDTH(uint16)
BY_WIDTH(uint32)
BY_WIDTH(uint64)

// The value at each number, `missing` at a negative one.
#define PICK(VALUE, NUMBER)                                                                                          \
    KERNEL pick_##VALUE##_##NUMBER(int64_t rows, const NUMBER##_t* from, const VALUE##_t* values, int64_t missing,   \
                                   VALUE##_t* made) {                                                                \
        arrays::pick(rows, from, values, VALUE##_t(missing), made);                                                  \
    }
PICK(uint8, int32)
PICK(uint16, int32)
PICK(uint32, uint8)
PICK(uint32, uint16)
PICK(uint32, int32)
PICK(uint32, int64)
PICK(uint64, int32)

// Into places, of which negative ones are none: values, without any the numbers of rows; or marks.
#define BY_PLACE(NUMBER)                                                                                             \
    KERNEL scatter_##NUMBER(int64_t rows, const NUMBER##_t* places, const int32_t* values, int32_t* made) {          \
        FOR_EACH_ROW(row, rows) {                                                                                    \
            if (row >= rows) continue;                                                                               \
            const NUMBER##_t place = places[row];                                                                    \
            const int32_t value = values ? values[row] : int32_t(row);                                               \
            if (place >= 0) made[place] = value;                                                                     \
        }                                                                                                            \
    }                                                                                                                \
    KERNEL set_marks_##NUMBER(int64_t rows, const NUMBER##_t* places, uint8_t* marks) {                              \
        FOR_EACH_ROW(row, rows) if (row < rows && places[row] >= 0) marks[places[row]] = 1;                          \
    }
BY_PLACE(int32)
BY_PLACE(int64)

// Every `step`-th number from the one at `first` on, none behind the `last`, in its place; and `plus` added to it.
#define SHIFT(VALUE, NUMBER)                                                                                         \
    KERNEL shift_##VALUE##_##NUMBER(int64_t rows, int64_t first, int64_t step, int64_t last, int64_t plus,           \
                                    const VALUE##_t* values, NUMBER##_t* made) {                                     \
        FOR_EACH_ROW(row, rows) {                                                                                    \
            const int64_t at = first + row * step;                                                                   \
            if (row < rows) made[row] = NUMBER##_t(values[at < last ? at : last] + plus);                            \
        }                                                                                                            \
    }
SHIFT(int32, int32)
SHIFT(int32, int64)
SHIFT(int64, int32)
SHIFT(int64, int64)

// ---- truth values ---------------------------------------------------------------------------------------------------

KERNEL unpack(int64_t rows, const uint32_t* words, uint8_t* flags) {
    FOR_EACH_ROW(row, rows) if (row < rows) flags[row] = bit_is_set(words, row);
}
KERNEL mark_both(int64_t rows, const uint8_t* left, const uint8_t* right, uint8_t* marks) {
    FOR_EACH_ROW(row, rows) if (row < rows) marks[row] = left[row] & right[row];
}
KERNEL mark_not_negative(int64_t rows, const int32_t* values, uint8_t* marks) {
    FOR_EACH_ROW(row, rows) if (row < rows) marks[row] = values[row] >= 0;
}
KERNEL mark_changes(int64_t rows, const int32_t* values, uint8_t* marks) {
    FOR_EACH_ROW(row, rows) if (row < rows) marks[row] = row == 0 || values[row] != values[row - 1];
}
// Words of the rows that are valid in both; without words all are.
KERNEL join_valid(int64_t rows, const uint32_t* left, const uint32_t* right, uint32_t* words, uint64_t* nulls) {
    const int64_t count = (rows + 31) / 32;
    Tally missing;
    FOR_EACH_ROW(word, count) {
        if (word >= count) continue;
        const int own = rows - word * 32 < 32 ? int(rows - word * 32) : 32;
        uint32_t valid = 0xffffffffu >> (32 - own);
        if (left) valid &= left[word];
        if (right) valid &= right[word];
        words[word] = valid;
        missing.count += own - ones(valid);
    }
    missing.store(nulls);
}

// ---- all numbers reduced to one -------------------------------------------------------------------------------------

KERNEL count_not_negative(int64_t rows, const int32_t* values, uint64_t* count) {
    Tally found;
    FOR_EACH_ROW(row, rows) found.count += row < rows && values[row] >= 0;
    found.store(count);
}

// One more than the greatest of numbers from 0 on.
KERNEL count_numbers(int64_t rows, const int32_t* numbers, uint64_t* count) {
    Peak most;
    FOR_EACH_ROW(row, rows) if (row < rows) most.add(uint64_t(numbers[row]) + 1);
    most.store(count);
}

// The bytes of texts by their numbers in a dictionary, that of 0 in the place of nulls.
#define SIZES(OFFSET)                                                                                                \
    KERNEL add_sizes_##OFFSET(int64_t rows, const int32_t* numbers, const uint32_t* words,                           \
                              const OFFSET##_t* offsets, uint64_t* bytes) {                                          \
        Tally found;                                                                                                 \
        FOR_EACH_ROW(row, rows) {                                                                                    \
            if (row >= rows) continue;                                                                               \
            const int32_t number = bit_is_set(words, row) ? numbers[row] : 0;                                        \
            found.count += uint64_t(offsets[number + 1] - offsets[number]);                                          \
        }                                                                                                            \
        found.store(bytes);                                                                                          \
    }
SIZES(int32)
SIZES(int64)
