// Rows and elements of lists by number: lists that are gathered, chosen among columns, or exploded.
#include "rows.cuh"

namespace lists {

// The first row whose end lies behind a place.
template <class END> DEVICE int64_t row_at(const END* ends, int64_t rows, int64_t place) {
    int64_t low = 0, high = rows;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (ends[middle] <= place) low = middle + 1;
        else high = middle;
    }
    return low;
}

}  // namespace lists

// The elements of the lists `from`, side by side: `starts` has where each one's are to be, and how many they are in all.
#define ELEMENTS(NUMBER)                                                                                             \
    KERNEL list_elements_##NUMBER(int64_t elements, int64_t rows, const int32_t* starts, const int32_t* offsets,     \
                                  const NUMBER##_t* from, int32_t* numbers) {                                        \
        FOR_EACH_ROW(element, elements) {                                                                            \
            if (element >= elements) continue;                                                                       \
            const int64_t row = lists::row_at(starts + 1, rows, element);                                            \
            numbers[element] = int32_t(offsets[from[row]] + (element - starts[row]));                                \
        }                                                                                                            \
    }
ELEMENTS(int32)
ELEMENTS(int64)

// How many rows each list gives, `least` or more; a null one has no elements.
KERNEL measure_lists(int64_t rows, int64_t least, const int32_t* offsets, const uint32_t* words, int64_t* repeats) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int64_t size = bit_is_set(words, row) ? offsets[row + 1] - offsets[row] : 0;
        repeats[row] = size < least ? least : size;
    }
}
// The row of each item, its place there, and its element, -1 where none is found; `ends` are those of rows' items.
KERNEL explode(int64_t items, int64_t rows, const int64_t* ends, const int32_t* offsets, const uint32_t* words,
               int32_t* numbers, int64_t* places, int32_t* elements, uint8_t* found) {
    FOR_EACH_ROW(item, items) {
        if (item >= items) continue;
        const int64_t row = lists::row_at(ends, rows, item), place = item - (row ? ends[row - 1] : 0);
        numbers[item] = int32_t(row);
        places[item] = place;
        found[item] = bit_is_set(words, row) && offsets[row + 1] > offsets[row];
        elements[item] = found[item] ? int32_t(offsets[row] + place) : -1;
    }
}

// The column that each row takes its list from, -1 for none; and the row among columns of `rows` below each other.
KERNEL choose_list(int64_t rows, int64_t column, const uint32_t* words, int64_t* choice) {
    FOR_EACH_ROW(row, rows) if (row < rows && bit_is_set(words, row)) choice[row] = column;
}
KERNEL place_lists(int64_t rows, const int64_t* choice, int64_t* places) {
    FOR_EACH_ROW(row, rows) if (row < rows) places[row] = choice[row] < 0 ? -1 : choice[row] * rows + row;
}

// The places of values in a column below another one, so that each row's stand side by side.
KERNEL interleave(int64_t items, int64_t rows, int64_t columns, int64_t* places) {
    FOR_EACH_ROW(item, items) if (item < items) places[item] = item % columns * rows + item / columns;
}

// The number of each row, -1 of a null; the row of each element, where the first list begins with the first one.
KERNEL number_valid(int64_t rows, const uint32_t* words, int32_t* numbers) {
    FOR_EACH_ROW(row, rows) if (row < rows) numbers[row] = bit_is_set(words, row) ? int32_t(row) : -1;
}
KERNEL element_rows(int64_t elements, int64_t rows, const int32_t* offsets, int32_t* numbers) {
    FOR_EACH_ROW(element, elements)
        if (element < elements) numbers[element] = int32_t(lists::row_at(offsets + 1, rows, element));
}

// The place from 1 of each element in its list.
KERNEL element_places(int64_t elements, const int32_t* numbers, const int32_t* offsets, int64_t* places) {
    FOR_EACH_ROW(element, elements)
        if (element < elements) places[element] = element - (offsets[numbers[element]] - offsets[0]) + 1;
}

// Marks of the elements that come first among equal ones; their places; and the offsets of lists of them.
KERNEL mark_first_values(int64_t elements, const int32_t* order, const uint8_t* new_value, const uint32_t* words, int64_t* kept) {
    FOR_EACH_ROW(at, elements) {
        if (at >= elements) continue;
        const int64_t element = order ? order[at] : at;
        kept[element] = new_value[at] && bit_is_set(words, element);
    }
}
KERNEL place_kept(int64_t elements, const int64_t* before, int32_t* places) {
    FOR_EACH_ROW(element, elements)
        if (element < elements && before[element + 1] > before[element]) places[before[element]] = int32_t(element);
}
KERNEL kept_offsets(int64_t count, const int32_t* offsets, const int64_t* before, int64_t* kept) {
    FOR_EACH_ROW(row, count) if (row < count) kept[row] = before[offsets[row]];
}
