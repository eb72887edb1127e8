// What is asked of arrays of numbers, whatever they stand for: numbers in a row, values by number, choices, marks.
#include "rounds.cuh"
#include "bits.cuh"

namespace arrays {

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

// The bytes of strings by their numbers in a dictionary, that of 0 in the place of nulls.
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

// Bytes of several arrays side by side: each array's go from one place to another.
struct Joined {
    int64_t count;
    struct { const uint8_t* from; int64_t start, end; } parts[64];
};
KERNEL join_bytes(int64_t bytes, uint8_t* made, Joined joined) {
    FOR_EACH_ROW(at, bytes) {
        if (at >= bytes) continue;
        for (int64_t place = 0; place < joined.count; ++place) {
            const auto& part = joined.parts[place];
            if (at >= part.start && at < part.end) made[at] = part.from[at - part.start];
        }
    }
}
