// Fields of CSV text: where they end, whether all rows have as many, and their values.
//
// A thread looks at a tile of the text.  Whether a tile begins in quotes is known by the number of quotes before it, so
// they are counted first (the first pass of simdjson and of DuckDB's parallel reader does the same).
#include "rows.cuh"
#include "reduce.cuh"
#include "staging.cuh"
#include "words.cuh"

namespace fields {

constexpr int64_t TILE = 64;  // bytes, as in csv_fields.py
constexpr uint8_t NEWLINE = '\n', RETURN = '\r';

struct alignas(16) Sixteen { uint64_t words[2]; };

// Call `visit` with each byte of a tile and its place.  Tiles begin at multiples of 16 in memory, so that their bytes
// are loaded together; the first and the last one may be cut off.
template <class VISIT>
DEVICE void for_each_byte(const uint8_t* text, int64_t size, int64_t tile, VISIT&& visit) {
    const int64_t start = tile * TILE - int64_t(uint64_t(text) & 15), stop = start + TILE;
    if (start < 0 || stop > size) {
        for (int64_t at = start < 0 ? 0 : start; at < stop && at < size; ++at) visit(at, text[at]);
        return;
    }
#pragma unroll 1
    for (int64_t at = start; at < stop; at += 16) {
        const Sixteen bytes = *reinterpret_cast<const Sixteen*>(text + at);
#pragma unroll
        for (int i = 0; i < 16; ++i) visit(at + i, uint8_t(bytes.words[i / 8] >> (i % 8 * 8)));
    }
}

struct Dialect {
    int64_t delimiter;
    int64_t quote;         // -1 for none
    int64_t skips_empty;   // whether an empty line is no row

    DEVICE bool separates(uint8_t byte) const { return byte == delimiter || byte == NEWLINE; }
};

// Whether the line that ends at a place is empty.  The text begins where a line does.
DEVICE bool ends_empty_line(const uint8_t* text, int64_t at) {
    if (at > 0 && text[at - 1] == RETURN) --at;
    return at == 0 || text[at - 1] == NEWLINE;
}

// Call `end` with the places in a tile where fields end; return how many bytes no rule of CSV allows: a quote that does
// not open a field after a separator or another quote, or close one before such, and a \r that no \n follows.
template <class END>
DEVICE uint64_t for_each_end(const uint8_t* text, int64_t size, int64_t tile, const Dialect& own, bool inside, END&& end) {
    uint64_t irregular = 0;
    for_each_byte(text, size, tile, [&](int64_t at, uint8_t byte) {
        if (byte == own.quote) {
            inside = !inside;
            const int64_t next_to = inside ? at - 1 : at + 1;
            if (next_to < 0 || next_to >= size) return;
            const uint8_t other = text[next_to];
            irregular += !(own.separates(other) || other == own.quote || (!inside && other == RETURN));
        } else if (!inside) {
            if (byte == RETURN) irregular += at + 1 < size && text[at + 1] != NEWLINE;
            if (own.separates(byte) && !(byte == NEWLINE && own.skips_empty && ends_empty_line(text, at))) end(at);
        }
    });
    return irregular;
}

DEVICE bool equal(const uint8_t* left, const uint8_t* right, int64_t size) {
    for (int64_t i = 0; i < size; ++i) {
        if (left[i] != right[i]) return false;
    }
    return true;
}

DEVICE bool is_space(uint8_t byte) { return byte == ' ' || byte == '\t'; }

// A text, and where its fields end.
struct Text {
    const uint8_t* bytes;
    const int32_t* ends;
    int64_t columns;
    int64_t quote;  // -1 for none

    // The first field of a row begins after the empty lines before it.
    DEVICE int64_t start(int64_t row, int64_t column) const {
        const int64_t field = row * columns + column;
        int64_t at = field ? int64_t(ends[field - 1]) + 1 : 0;
        if (column == 0 && columns > 1) {
            while (bytes[at] == NEWLINE || (bytes[at] == RETURN && bytes[at + 1] == NEWLINE)) ++at;
        }
        return at;
    }
    // The last field of a row ends before the \r of its line end.
    DEVICE int64_t end(int64_t row, int64_t column, int64_t start) const {
        const int64_t at = ends[row * columns + column];
        return at - (column == columns - 1 && at > start && bytes[at - 1] == RETURN);
    }
    DEVICE bool in_quotes(int64_t from, int64_t to) const { return to - from > 1 && bytes[from] == quote; }
};

// The strings that stand for null: those of column i are the numbers `firsts[i]` to `firsts[i + 1]`, side by side.
struct Nulls {
    const int32_t* firsts;
    const int32_t* places;
    const uint8_t* bytes;

    DEVICE bool has(int64_t column, const uint8_t* field, int64_t size) const {
        for (int64_t i = firsts[column]; i < firsts[column + 1]; ++i) {
            if (places[i + 1] - places[i] == size && equal(field, bytes + places[i], size)) return true;
        }
        return false;
    }
};

// What a warp finds in a column: nulls, and quotes that are left out.
struct Found {
    uint32_t nulls = 0;
    Tally doubled;

    DEVICE void store(uint64_t* places) {
        add_nulls(places, nulls), doubled.store(places + 1);
        nulls = 0, doubled.count = 0;
    }
};

}  // namespace fields

// How many quotes each tile has, and all of them.
KERNEL count_quotes(int64_t tiles, int64_t size, int64_t quote, const uint8_t* text, uint8_t* counts, uint64_t* total) {
    Tally all;
    FOR_EACH_ROW(tile, tiles) {
        if (tile >= tiles) continue;
        uint8_t count = 0;
        fields::for_each_byte(text, size, tile, [&](int64_t, uint8_t byte) { count += byte == quote; });
        counts[tile] = count, all.count += count;
    }
    all.store(total);
}

// How many fields end in each tile, and how many bytes are irregular; `before` counts the quotes before each tile, and
// is 0 where there is none.
KERNEL count_ends(int64_t tiles, int64_t size, int64_t delimiter, int64_t quote, int64_t skips_empty,
                  const uint8_t* text, const int32_t* before, uint8_t* counts, uint64_t* irregular) {
    const fields::Dialect own{delimiter, quote, skips_empty};
    Tally found;
    FOR_EACH_ROW(tile, tiles) {
        if (tile >= tiles) continue;
        uint8_t count = 0;
        const bool inside = before && before[tile] & 1;
        found.count += fields::for_each_end(text, size, tile, own, inside, [&](int64_t) { ++count; });
        counts[tile] = count;
    }
    found.store(irregular);
}

// Where fields end; `places` counts the ends before each tile.
KERNEL write_ends(int64_t tiles, int64_t size, int64_t delimiter, int64_t quote, int64_t skips_empty,
                  const uint8_t* text, const int32_t* before, const int32_t* places, int32_t* ends) {
    const fields::Dialect own{delimiter, quote, skips_empty};
    FOR_EACH_ROW(tile, tiles) {
        if (tile >= tiles) continue;
        int32_t place = places[tile];
        const bool inside = before && before[tile] & 1;
        fields::for_each_end(text, size, tile, own, inside, [&](int64_t at) { ends[place++] = int32_t(at); });
    }
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

// Where the values of some columns begin, their sizes, each after a first 0, and whether they are valid.  A value in
// quotes is without these, and has one of each two quotes inside.  Where a column `trims`, spaces and tabs around its
// values do not count.
//
// `places` of each column are as many, a multiple of 32, and more than the rows: a warp has values of one column.
KERNEL place_fields(int64_t columns, int64_t places, int64_t rows, int64_t all_columns, int64_t quote,
                    const uint8_t* text, const int32_t* ends, const int32_t* numbers, const int32_t* trims,
                    const int32_t* null_firsts, const int32_t* null_places, const uint8_t* null_bytes, int32_t* starts, int32_t* sizes,
                    uint32_t* words, uint64_t* counts) {
    const fields::Text own{text, ends, all_columns, quote};
    const fields::Nulls nulls{null_firsts, null_places, null_bytes};
    fields::Found found;
    int64_t last = 0;
    FOR_EACH_ROW(place, columns * places) {
        const int64_t column = place / places, row = place - column * places;
        if (column != last) found.store(counts + 2 * last);
        last = column;
        const bool is_row = row < rows;
        bool valid = false;
        int64_t size = 0;
        if (is_row) {
            int64_t start = own.start(row, numbers[column]), left_out = 0;
            const int64_t end = own.end(row, numbers[column], start);
            size = end - start;
            valid = own.in_quotes(start, end);
            if (valid) {
                ++start, size -= 2;
                for (int64_t at = start; at < end - 1; ++at) left_out += text[at] == quote;
                size -= left_out / 2, found.doubled.count += left_out / 2;
            } else {
                valid = !nulls.has(column, text + start, size);
                if (!valid) size = 0;
            }
            if (trims[column]) {
                while (size > 0 && fields::is_space(text[start])) ++start, --size;
                while (size > 0 && fields::is_space(text[start + size - 1])) --size;
            }
            starts[place] = int32_t(start);
        }
        if (row == 0) sizes[place] = 0;
        if (row + 1 < places) sizes[place + 1] = int32_t(size);
        const uint32_t missing = store_word(words + column * places / 32, row, is_row, valid);
        if (is_row) found.nulls += missing;  // of the first lane, which has a row if any lane has one
    }
    found.store(counts + 2 * last);
}

// The values of the columns.  `sums` are the sums of the sizes of all columns; the values of a column begin at a multiple
// of 64 of `bytes` (see csv_fields.py), and its offsets at 0.
KERNEL copy_fields(int64_t columns, int64_t places, int64_t rows, int64_t quote, const uint8_t* text,
                   const int32_t* starts, const int32_t* sums, const uint64_t* counts, int32_t* offsets, char* bytes) {
    FOR_EACH_ROW(place, columns * places) {
        const int64_t column = place / places, row = place - column * places;
        if (row > rows) continue;
        const int64_t base = sums[column * places];
        offsets[place] = int32_t(sums[place] - base);
        if (row == rows) continue;
        const char* from = (const char*)text + starts[place];
        char* to = bytes + ((base + 63) / 64 + column) * 64 + (sums[place] - base);
        const int64_t size = sums[place + 1] - sums[place];
        if (!counts[2 * column + 1] || starts[place] == 0 || from[-1] != char(quote)) {
            copy_words(to, from, size);
            continue;
        }
        for (int64_t i = 0; i < size; ++i) {
            to[i] = *from;
            from += *from == char(quote) ? 2 : 1;
        }
    }
}
