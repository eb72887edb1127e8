// Fields of CSV text: where they end, whether all rows have as many, and their values.
#include "rows.cuh"
#include "reduce.cuh"

namespace fields {

constexpr uint8_t NEWLINE = '\n';

// A text, and its field separators: the delimiters and line ends that are not in quotes.
struct Text {
    const uint8_t* bytes;
    const int32_t* ends;
    int64_t columns;
    int64_t column;
    int64_t quote;  // -1 for none

    DEVICE int64_t start(int64_t row) const {
        const int64_t field = row * columns + column;
        return field ? int64_t(ends[field - 1]) + 1 : 0;
    }
    DEVICE int64_t end(int64_t row) const { return ends[row * columns + column]; }
    DEVICE bool in_quotes(int64_t from, int64_t to) const { return to - from > 1 && bytes[from] == quote; }
};

DEVICE bool equal(const uint8_t* left, const uint8_t* right, int64_t size) {
    for (int64_t i = 0; i < size; ++i) {
        if (left[i] != right[i]) return false;
    }
    return true;
}

// Whether a field is one of the strings that stand for null, which lie side by side.
DEVICE bool is_null(const uint8_t* field, int64_t size, int64_t nulls, const int32_t* places, const uint8_t* names) {
    for (int64_t i = 0; i < nulls; ++i) {
        if (places[i + 1] - places[i] == size && equal(field, names + places[i], size)) return true;
    }
    return false;
}

}  // namespace fields

// Where quotes stand.
KERNEL mark_quotes(int64_t rows, int64_t quote, const uint8_t* text, uint8_t* marks) {
    FOR_EACH_ROW(row, rows) if (row < rows) marks[row] = text[row] == quote;
}

// Where fields end: `before` counts the quotes up to each byte; without it there is none.
KERNEL mark_ends(int64_t rows, int64_t delimiter, const uint8_t* text, const int32_t* before, uint8_t* marks) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const bool ends = text[row] == delimiter || text[row] == fields::NEWLINE;
        marks[row] = ends && !(before && before[row] & 1);
    }
}

// How many quotes do not open a field after a separator or another quote, or close one before such.
KERNEL count_irregular_quotes(int64_t rows, int64_t delimiter, int64_t quote, const uint8_t* text,
                              const int32_t* before, uint64_t* count) {
    Tally found;
    FOR_EACH_ROW(row, rows) {
        if (row >= rows || text[row] != quote) continue;
        const int64_t next_to = before[row] & 1 ? row - 1 : row + 1;
        if (next_to < 0 || next_to >= rows) continue;
        const uint8_t other = text[next_to];
        found.count += !(other == delimiter || other == fields::NEWLINE || other == quote);
    }
    found.store(count);
}

// How many field ends are not where they would be if all rows had as many fields.
KERNEL count_uneven_rows(int64_t rows, int64_t columns, const uint8_t* text, const int32_t* ends, uint64_t* count) {
    Tally found;
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        found.count += (text[ends[row]] == fields::NEWLINE) != (row % columns == columns - 1);
    }
    found.store(count);
}

// Where the values of a column begin, their sizes after a first 0, and whether they are valid.  A value in quotes is
// without these, and has one of each two quotes inside; `doubled` counts those that are left out.
KERNEL place_fields(int64_t rows, int64_t columns, int64_t column, int64_t quote, const uint8_t* text,
                    const int32_t* ends, int64_t nulls, const int32_t* null_places, const uint8_t* null_names,
                    int32_t* starts, int32_t* sizes, uint8_t* valid, uint64_t* doubled) {
    const fields::Text own{text, ends, columns, column, quote};
    Tally found;
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        int64_t start = own.start(row), end = own.end(row), left_out = 0;
        bool is_valid = true;
        if (own.in_quotes(start, end)) {
            ++start, --end;
            for (int64_t at = start; at < end; ++at) left_out += text[at] == quote;
            left_out /= 2;
        } else {
            is_valid = !fields::is_null(text + start, end - start, nulls, null_places, null_names);
        }
        if (row == 0) sizes[0] = 0;
        starts[row] = int32_t(start), sizes[row + 1] = is_valid ? int32_t(end - start - left_out) : 0;
        valid[row] = is_valid;
        found.count += left_out;
    }
    found.store(doubled);
}

// The values of a column some of which have doubled quotes.
KERNEL copy_quoted(int64_t rows, int64_t quote, const uint8_t* text, const int32_t* starts, const int32_t* offsets,
                   uint8_t* bytes) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const uint8_t* from = text + starts[row];
        const bool in_quotes = starts[row] > 0 && from[-1] == quote;
        for (int64_t to = offsets[row]; to < offsets[row + 1]; ++to) {
            bytes[to] = *from;
            from += in_quotes && *from == quote ? 2 : 1;
        }
    }
}
