// Pages of Parquet, but for differences and dictionaries: nulls left out, levels, limits, bits, and a file's bytes side
// by side.
#include "assembly.cuh"
#include "parquet.cuh"

namespace pages {

// The table has each column's values, validity words and sums over these (see `parquet::Ranks`), and what is written.
template <class T>
DEVICE void compact(int64_t items, int64_t rows, const int64_t* table) {
    FOR_EACH_ROW(item, items) {
        if (item >= items) break;
        const int64_t* const own = table + item / rows * 4;
        const int64_t row = item % rows;
        const parquet::Ranks ranks{(const uint32_t*)own[1], (const int64_t*)own[2]};
        int64_t rank;
        if (ranks(row, rank)) ((T*)own[3])[rank] = ((const T*)own[0])[row];
    }
}

template <class T>
DEVICE void find_ranges(int64_t blocks, int64_t blocks_a_page, int64_t column_pages, const int64_t* table,
                        uint64_t* ranges) {
    FOR_EACH_WARP(block, blocks) {
        const parquet::Page<T> page(table, column_pages, block / blocks_a_page);
        const int64_t first = block % blocks_a_page * parquet::BLOCK, end = page.block_end(first);
        parquet::Range range;
        for (int64_t at = first + LANE; at < end; at += LANES) range.take(page.values[at]);
        merge_lanes(range);
        if (LANE == 0) range.store(ranges + 2 * (block / blocks_a_page));
    }
}

// Numbers of a group fill whole words; each page's width is followed by where its words begin.
template <class T>
DEVICE void pack(int64_t groups, int64_t groups_a_page, int64_t column_pages, const int64_t* table,
                 const int64_t* widths, uint32_t* words) {
    constexpr int GROUP = 32;
    FOR_EACH_WARP(item, groups) {
        const int64_t at = item / groups_a_page, group = item % groups_a_page, width = widths[2 * at];
        if (!width) continue;
        const parquet::Page<T> page(table, column_pages, at);
        const int64_t first = group * GROUP;
        const auto number = [&](int i) {
            return first + i < page.count ? uint64_t(page.values[first + i]) : uint64_t(0);
        };
        uint32_t* const packed = words + widths[2 * at + 1] + group * width;
        for (int each = LANE; each < width; each += LANES) packed[each] = parquet::packed_word(each, width, number);
    }
}

template <class OFFSET> DEVICE int32_t text_bytes(const OFFSET* offsets, int64_t row) {
    return int32_t(offsets[row + 1] - offsets[row]);
}

template <class OFFSET>
DEVICE void measure_strings(int64_t rows, const OFFSET* offsets, int32_t* lengths) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) break;
        lengths[row] = text_bytes(offsets, row);
    }
}

// Also sees whether a null has bytes.
template <class OFFSET>
DEVICE void measure_valid_strings(int64_t rows, const OFFSET* offsets, const parquet::Ranks& ranks, uint64_t* in_nulls,
                                int32_t* lengths) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) break;
        const int32_t length = text_bytes(offsets, row);
        int64_t rank;
        if (ranks(row, rank)) lengths[rank] = length;
        else if (length) *in_nulls = 1;
    }
}

}  // namespace pages

// ---- levels ---------------------------------------------------------------------------------------------------------

// The valid rows of each word, behind a first zero.
KERNEL count_valid(int64_t words, int64_t words_a_column, int64_t rows, const uint32_t* valid, int32_t* counts) {
    FOR_EACH_ROW(word, words)
        if (word < words)
            counts[1 + word] = parquet::valid_in_word(valid[word], rows - word % words_a_column * 32);
}
KERNEL page_starts(int64_t items, int64_t starts_a_column, int64_t page_rows, int64_t rows, int64_t words_a_column,
                   const int64_t* through, int64_t* starts) {
    FOR_EACH_ROW(item, items) {
        if (item >= items) break;
        const int64_t column = item / starts_a_column, start = item % starts_a_column * page_rows;
        const int64_t row = start < rows ? start : rows;
        const int64_t* const own = through + (column - 1) * words_a_column;
        starts[item] = column ? own[(row + 31) / 32] - own[0] : row;
    }
}

// ---- values ---------------------------------------------------------------------------------------------------------

#define COMPACT(BYTES, T)                                                                                            \
    KERNEL compact_bytes##BYTES(int64_t items, int64_t rows, const int64_t* table) {                                 \
        pages::compact<T>(items, rows, table);                                                                       \
    }
#define RANGES(TYPE, T)                                                                                              \
    KERNEL find_ranges_##TYPE(int64_t blocks, int64_t blocks_a_page, int64_t column_pages, const int64_t* table,     \
                              uint64_t* ranges) {                                                                    \
        pages::find_ranges<T>(blocks, blocks_a_page, column_pages, table, ranges);                                   \
    }
#define PACK(TYPE)                                                                                                   \
    KERNEL pack_##TYPE(int64_t groups, int64_t groups_a_page, int64_t column_pages, const int64_t* table,            \
                       const int64_t* widths, uint32_t* words) {                                                     \
        pages::pack<TYPE##_t>(groups, groups_a_page, column_pages, table, widths, words);                            \
    }
#define STRINGS(OFFSET)                                                                                              \
    KERNEL measure_strings_##OFFSET(int64_t rows, const OFFSET##_t* offsets, int32_t* lengths) {                     \
        pages::measure_strings(rows, offsets, lengths);                                                              \
    }                                                                                                                \
    KERNEL measure_valid_strings_##OFFSET(int64_t rows, const OFFSET##_t* offsets, const uint32_t* valid,            \
                                        const int64_t* through, uint64_t* in_nulls, int32_t* lengths) {              \
        pages::measure_valid_strings(rows, offsets, {valid, through}, in_nulls, lengths);                            \
    }

COMPACT(1, uint8_t)
COMPACT(2, uint16_t)
COMPACT(4, uint32_t)
COMPACT(8, uint64_t)
COMPACT(16, uint128_t)
RANGES(float32, float)
RANGES(float64, double)
RANGES(uint8, uint8_t)
RANGES(uint32, uint32_t)
PACK(uint8)
PACK(int32)
STRINGS(int32)
STRINGS(int64)

// Values of 16 bytes, written with the highest one first.
KERNEL turn_bytes(int64_t rows, const uint64_t* values, uint64_t* turned) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) break;
        turned[2 * row] = parquet::bytes_turned(values[2 * row + 1]);
        turned[2 * row + 1] = parquet::bytes_turned(values[2 * row]);
    }
}

// ---- files ----------------------------------------------------------------------------------------------------------

// The table has the pieces' addresses, and behind them where each ends.
KERNEL assemble(int64_t units, int64_t count, int64_t total, const int64_t* table, uint8_t* whole) {
    const assembly::Pieces pieces{(const uint64_t*)table, table + count, count};
    FOR_EACH_ROW(unit, units)
        if (unit < units) assembly::store_unit(pieces, unit * assembly::UNIT, total, whole);
}
