// Integers as DELTA_BINARY_PACKED: a warp measures a block of a page, and packs it.
#include "parquet.cuh"

namespace deltas {

// Differences wrap around in the stored integer, WIDE, which is BITS without sign.
template <class WIDE, class BITS, class T>
DEVICE void measure(int64_t blocks, int64_t blocks_a_page, int64_t column_pages, const int64_t* table, int32_t* sizes,
                    int64_t* least, uint32_t* widths, int64_t* first, uint64_t* ranges) {
    FOR_EACH_WARP(item, blocks) {
        const int64_t at = item / blocks_a_page, block = item % blocks_a_page;
        const parquet::Page<T> page(table, column_pages, at);
        parquet::measure_block<WIDE, BITS>(page.values, page.count, block, sizes + item, least + item, widths + item,
                                           ranges + 2 * at);
        if (block == 0 && LANE == 0) first[at] = page.count ? int64_t(WIDE(page.values[0])) : 0;
    }
}

// A column's base is the bytes before it that are left out; it is negative where the column itself is.
template <class WIDE, class BITS, class T>
DEVICE void encode(int64_t blocks, int64_t blocks_a_page, int64_t column_pages, const int64_t* table,
                   const int32_t* sizes, const int64_t* ends, const int64_t* least, const uint32_t* widths,
                   const int64_t* bases, uint8_t* packed) {
    FOR_EACH_WARP(item, blocks) {
        const int64_t base = bases[item / (blocks_a_page * column_pages)];
        if (!sizes[item] || base < 0) continue;
        const int64_t block = item % blocks_a_page;
        const parquet::Page<T> page(table, column_pages, item / blocks_a_page);
        const parquet::BlockHeader header{least[item], widths[item]};
        uint8_t* const out = packed + (ends[item] - sizes[item] - base);
        parquet::pack_block<WIDE, BITS>(page.values, page.count, block, header, out);
    }
}

}  // namespace deltas

// By the type of the values, and the bits of the integer that Parquet stores.
#define DELTA(TYPE, WIDE)                                                                                            \
    KERNEL measure_delta_##TYPE(int64_t blocks, int64_t blocks_a_page, int64_t column_pages, const int64_t* table,   \
                                int32_t* sizes, int64_t* least, uint32_t* widths, int64_t* first,                    \
                                uint64_t* ranges) {                                                                  \
        deltas::measure<int##WIDE##_t, uint##WIDE##_t, TYPE##_t>(blocks, blocks_a_page, column_pages, table, sizes,  \
                                                                 least, widths, first, ranges);                      \
    }                                                                                                                \
    KERNEL encode_delta_##TYPE(int64_t blocks, int64_t blocks_a_page, int64_t column_pages, const int64_t* table,    \
                               const int32_t* sizes, const int64_t* ends, const int64_t* least,                      \
                               const uint32_t* widths, const int64_t* bases, uint8_t* packed) {                      \
        deltas::encode<int##WIDE##_t, uint##WIDE##_t, TYPE##_t>(blocks, blocks_a_page, column_pages, table, sizes,   \
                                                                ends, least, widths, bases, packed);                 \
    }

DELTA(int8, 32)
DELTA(uint8, 32)
DELTA(int16, 32)
DELTA(uint16, 32)
DELTA(int32, 32)
DELTA(uint32, 32)
DELTA(int64, 64)
DELTA(uint64, 64)
