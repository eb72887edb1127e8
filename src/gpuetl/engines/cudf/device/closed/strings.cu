// Strings entered into tables, numbered, and checked.  Their offsets have 32 or 64 bits; `bits` are null without nulls.
#include "rows.cuh"
#include "reduce.cuh"
#include "string_suffixes.cuh"
#include "utf8.cuh"

namespace entering {

// Each text's slot, and the row that first took a slot.
template <class OFFSET>
DEVICE void enter(int64_t rows, int64_t size, int64_t tries, int32_t* owners, int32_t* slots, uint64_t* overflow,
                  const Strings<OFFSET>& strings) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const auto text = strings[row];
        slots[row] = text.valid ? enter_string(strings, text.value, int32_t(row), owners, size - 1, tries, overflow) : 0;
    }
}

// Each hash's slot; the first row that has it owns the slot.
template <class OFFSET>
DEVICE void enter_hashes(int64_t rows, const HashTable& table, int32_t* slots, const Strings<OFFSET>& strings) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const auto text = strings[row];
        slots[row] = text.valid ? table.enter(table_hash(text.value), int32_t(row)) : 0;
    }
}

// The least and the greatest size of strings, the least inverted, and the first row that has one, inverted too.
template <class OFFSET>
DEVICE void find_sizes(int64_t rows, uint64_t* found, const Strings<OFFSET>& strings) {
    Peak least, greatest, first;
    FOR_EACH_ROW(row, rows) {
        if (row >= rows || !strings.valid(row)) continue;
        const uint64_t size = uint64_t(strings[row].value.size);
        least.add(~size), greatest.add(size), first.add(~uint64_t(row));
    }
    least.store(found), greatest.store(found + 1), first.store(found + 2);
}

// Each text's slot by its code.  Where one row fails, the others soon stop.
template <class OFFSET>
DEVICE void enter_suffixes(int64_t rows, int64_t prefix, int64_t model, const CodeTable& table, int32_t* slots,
                           const Strings<OFFSET>& strings) {
    const Suffixes suffixes(strings[model].value, prefix);
    int round = 0;
    FOR_EACH_ROW(row, rows) {
        if (++round % 16 == 0 && table.has_failed()) break;  // all threads ask one place in memory: not each time
        if (row >= rows) continue;
        const auto text = strings[row];
        slots[row] = text.valid ? table.enter(suffixes.code(text.value), int32_t(row), text.value.size) : 0;
    }
}

// Each row's number, and whether a text is another than its number stands for.
template <class OFFSET, class TAKEN>
DEVICE void number_strings(int64_t rows, const int32_t* slots, const int32_t* by_slot, int32_t* numbers,
                         uint64_t* differs, const Strings<OFFSET>& strings, const Strings<TAKEN>& taken) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int32_t number = by_slot[slots[row]];
        const auto text = strings[row];
        if (text.valid && !same_words(text.value, taken[number].value)) *differs = 1;
        numbers[row] = number;
    }
}

// The first row whose text is not UTF-8.
template <class OFFSET>
DEVICE void find_other_bytes(int64_t rows, uint64_t* faults, const Strings<OFFSET>& strings) {
    FOR_EACH_ROW(row, rows) {
        if (row < rows && strings.valid(row) && !is_utf8(strings[row].value)) Fault{faults, row}(NOT_A_VALUE);
    }
}

}  // namespace entering

#define NUMBER_STRINGS(OFFSET, TAKEN)                                                                                \
    KERNEL number_strings_##OFFSET##_##TAKEN(int64_t rows, const int32_t* slots, const int32_t* by_slot,             \
                                           int32_t* numbers, uint64_t* differs, const char* data,                    \
                                           const OFFSET##_t* offsets, const uint32_t* bits, const char* taken_data,  \
                                           const TAKEN##_t* taken_offsets) {                                         \
        const Strings<OFFSET##_t> strings{data, offsets, bits};                                                      \
        const Strings<TAKEN##_t> taken{taken_data, taken_offsets, nullptr};                                          \
        entering::number_strings(rows, slots, by_slot, numbers, differs, strings, taken);                            \
    }
#define STRINGS(OFFSET)                                                                                              \
    KERNEL enter_##OFFSET(int64_t rows, int64_t size, int64_t tries, int32_t* owners, int32_t* slots,                \
                          uint64_t* overflow, const char* data, const OFFSET##_t* offsets, const uint32_t* bits) {   \
        const Strings<OFFSET##_t> strings{data, offsets, bits};                                                      \
        entering::enter(rows, size, tries, owners, slots, overflow, strings);                                        \
    }                                                                                                                \
    KERNEL enter_hashes_##OFFSET(int64_t rows, int64_t size, int64_t tries, uint64_t* hashes, int32_t* owners,       \
                                 int32_t* slots, uint64_t* overflow, const char* data, const OFFSET##_t* offsets,    \
                                 const uint32_t* bits) {                                                             \
        const HashTable table{hashes, owners, uint64_t(size - 1), tries, overflow};                                  \
        entering::enter_hashes(rows, table, slots, Strings<OFFSET##_t>{data, offsets, bits});                        \
    }                                                                                                                \
    KERNEL find_sizes_##OFFSET(int64_t rows, uint64_t* found, const char* data, const OFFSET##_t* offsets,           \
                               const uint32_t* bits) {                                                               \
        entering::find_sizes(rows, found, Strings<OFFSET##_t>{data, offsets, bits});                                 \
    }                                                                                                                \
    KERNEL enter_suffixes_##OFFSET(int64_t rows, int64_t size, int64_t tries, int64_t prefix, int64_t model,         \
                                   uint64_t* codes, uint64_t* distinct, int32_t* distinct_slots,                     \
                                   int32_t* distinct_rows, uint64_t* found, int32_t* slots, const char* data,        \
                                   const OFFSET##_t* offsets, const uint32_t* bits) {                                \
        const DistinctStrings listed{distinct, distinct_slots, distinct_rows};                                       \
        const CodeTable table{codes, uint64_t(size - 1), tries, listed, found};                                      \
        entering::enter_suffixes(rows, prefix, model, table, slots, Strings<OFFSET##_t>{data, offsets, bits});       \
    }                                                                                                                \
    KERNEL find_other_bytes_##OFFSET(int64_t rows, uint64_t* faults, const char* data, const OFFSET##_t* offsets,    \
                                     const uint32_t* bits) {                                                         \
        entering::find_other_bytes(rows, faults, Strings<OFFSET##_t>{data, offsets, bits});                          \
    }                                                                                                                \
    NUMBER_STRINGS(OFFSET, int32)                                                                                    \
    NUMBER_STRINGS(OFFSET, int64)

STRINGS(int32)
STRINGS(int64)

// The number of each slot by the order of the distinct strings, and the row of each number.
KERNEL number_distinct(int64_t count, const int32_t* order, const int32_t* slots, const int32_t* rows,
                       int32_t* by_slot, int32_t* rows_in_order) {
    FOR_EACH_ROW(number, count) {
        if (number >= count) continue;
        const int32_t place = order[number];
        by_slot[slots[place]] = int32_t(number), rows_in_order[number] = rows[place];
    }
}
