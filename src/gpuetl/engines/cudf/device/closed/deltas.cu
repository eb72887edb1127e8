// Integers as DELTA_BINARY_PACKED: a warp measures a block of a page, and packs it.
#include "parquet.cuh"

namespace deltas {

// The blocks of pages (see `parquet::Page`), and the bytes that each takes.  Differences of values wrap around in the integer that
// Parquet stores, WIDE, which is BITS without sign.
template <class WIDE, class BITS, class T>
struct Blocks {
    int64_t blocks_a_page, column_pages;
    const int64_t* table;
    int32_t* sizes;
    uint32_t* widths;
    int64_t* least;

    DEVICE void measure(int64_t blocks, int64_t* first, uint64_t* ranges) const {
        FOR_EACH_WARP(item, blocks) {
            const int64_t at = item / blocks_a_page, block = item % blocks_a_page;
            const parquet::Page<T> page(table, column_pages, at);
            parquet::measure_block<WIDE, BITS>(page.values, page.count, block, sizes + item, least + item,
                                               widths + item, ranges + 2 * at);
            if (block == 0 && LANE == 0) first[at] = page.count ? int64_t(WIDE(page.values[0])) : 0;
        }
    }
    // A column's base is the bytes before it that are left out; it is negative where the column itself is.
    DEVICE void encode(int64_t blocks, const int64_t* ends, const int64_t* bases, uint8_t* packed) const {
        FOR_EACH_WARP(item, blocks) {
            const int64_t base = bases[item / (blocks_a_page * column_pages)];
            if (!sizes[item] || base < 0) continue;
            const parquet::Page<T> page(table, column_pages, item / blocks_a_page);
            const parquet::BlockHeader header{least[item], widths[item]};
            uint8_t* const out = packed + (ends[item] - sizes[item] - base);
            parquet::pack_block<WIDE, BITS>(page.values, page.count, item % blocks_a_page, header, out);
        }
    }
};
static_assert(sizeof(Blocks<int32_t, uint32_t, int8_t>) == 6 * 8, "words of 8 bytes");

}  // namespace deltas

// By the type of the values, and the bits of the integer that is stored.
#define DELTA(TYPE, WIDE)                                                                                            \
    typedef deltas::Blocks<int##WIDE##_t, uint##WIDE##_t, TYPE##_t> Blocks_##TYPE;                                   \
    KERNEL measure_delta_##TYPE(int64_t blocks, int64_t* first, uint64_t* ranges, const Blocks_##TYPE own) {         \
        own.measure(blocks, first, ranges);                                                                          \
    }                                                                                                                \
    KERNEL encode_delta_##TYPE(int64_t blocks, const int64_t* ends, const int64_t* bases, uint8_t* packed,           \
                               const Blocks_##TYPE own) {                                                            \
        own.encode(blocks, ends, bases, packed);                                                                     \
    }

DELTA(int8, 32)
DELTA(uint8, 32)
DELTA(int16, 32)
DELTA(uint16, 32)
DELTA(int32, 32)
DELTA(uint32, 32)
DELTA(int64, 64)
DELTA(uint64, 64)
