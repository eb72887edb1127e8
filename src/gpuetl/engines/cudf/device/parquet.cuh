// Pages of Parquet: values without the nulls between them, least and greatest values, and two encodings of the format
// (github.com/apache/parquet-format, Encodings.md): DELTA_BINARY_PACKED, and the bit-packed runs of RLE.
#pragma once

#include "bits.cuh"
#include "reduce.cuh"

namespace parquet {

#ifdef GPUETL_HOST
DEVICE int bit_width(uint64_t value) { return value ? 64 - __builtin_clzll(value) : 0; }
#else
DEVICE int bit_width(uint64_t value) { return 64 - __clzll(value); }
#endif

// ---- values that are not null ---------------------------------------------------------------------------------------

// The valid rows before each word, as a sum over the words from any number on, tell where a row's value goes.
struct Ranks {
    const uint32_t* valid;
    const int64_t* through;

    DEVICE bool operator()(int64_t row, int64_t& rank) const {
        const int64_t word = row >> 5;
        const uint32_t bit = 1u << (row & 31);
        rank = through[word] - through[0] + ones(valid[word] & (bit - 1));
        return valid[word] & bit;
    }
};

// Of a word of a column that has so many rows from it on.
DEVICE int32_t valid_in_word(uint32_t word, int64_t left) {
    return ones(left < 32 ? word & ((1u << left) - 1) : word);
}

constexpr int BLOCK = 128;  // values that a warp looks at: as many as a block of DELTA_BINARY_PACKED has differences

// The values of a page, one of those of several columns of equally many pages: a table has two addresses of each
// column, of its values and of where its pages begin.
template <class T>
struct Page {
    int64_t start, count;  // among all values of the column
    const T* values;

    DEVICE Page(const int64_t* table, int64_t column_pages, int64_t page) {
        const int64_t* const own = table + page / column_pages * 2;
        const int64_t* const starts = (const int64_t*)own[1] + page % column_pages;
        start = starts[0];
        count = starts[1] - start;
        values = (const T*)own[0] + start;
    }
    DEVICE int64_t block_end(int64_t first) const { return first + BLOCK < count ? first + BLOCK : count; }
};

// ---- least and greatest values --------------------------------------------------------------------------------------

// Unsigned numbers in the order of the values: `encoded_columns.py` turns them back.
template <class T> DEVICE uint64_t ordered(T value) {
    return is_signed<T>::value ? uint64_t(int64_t(value)) ^ (uint64_t(1) << 63) : uint64_t(value);
}
DEVICE uint64_t ordered(double value) {
    const uint64_t bits = bits_of(value), sign = uint64_t(1) << 63;
    return bits & sign ? ~bits : bits | sign;
}
DEVICE uint64_t ordered(float value) { return ordered(double(value)); }

// The greatest complement and the greatest of such numbers; both are zero where there is none.
struct Range {
    uint64_t least = 0, greatest = 0;

    template <class T> DEVICE void take(T value) {
        if (!(value == value)) return;  // NaN lies outside of a page's limits
        const uint64_t key = ordered(value);
        if (~key > least) least = ~key;
        if (key > greatest) greatest = key;
    }
    DEVICE void merge(const Range& other) {
        if (other.least > least) least = other.least;
        if (other.greatest > greatest) greatest = other.greatest;
    }
    // Most blocks change nothing, so they do not queue for the place.
    DEVICE void store(uint64_t* place) const {
        if (least > place[0]) raise_to(place, least);
        if (greatest > place[1]) raise_to(place + 1, greatest);
    }
};

// ---- DELTA_BINARY_PACKED --------------------------------------------------------------------------------------------

constexpr int MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS;

// Differences between neighbours of a page, which wrap around: WIDE is the stored integer, BITS the same without sign.
template <class WIDE, class BITS, class T>
struct Deltas {
    const T* values;
    int64_t count;  // one less than the values

    DEVICE int64_t operator[](int64_t at) const {
        return int64_t(WIDE(BITS(WIDE(values[at + 1])) - BITS(WIDE(values[at]))));
    }
};

// The least difference of a block and the greatest of each of its miniblocks.
struct Spread {
    int64_t least = INT64_GREATEST;
    int64_t greatest[MINIBLOCKS] = {INT64_LEAST, INT64_LEAST, INT64_LEAST, INT64_LEAST};
    Range range;

    DEVICE void merge(const Spread& other) {
        if (other.least < least) least = other.least;
        for (int each = 0; each < MINIBLOCKS; ++each)
            if (other.greatest[each] > greatest[each]) greatest[each] = other.greatest[each];
        range.merge(other.range);
    }
    DEVICE int width(int miniblock) const {
        return greatest[miniblock] < least ? 0 : bit_width(uint64_t(greatest[miniblock]) - uint64_t(least));
    }
};

DEVICE uint64_t zigzag(int64_t value) { return uint64_t(value) << 1 ^ uint64_t(value >> 63); }
DEVICE int varint_bytes(uint64_t value) { return value ? (bit_width(value) + 6) / 7 : 1; }

// What a block takes: its least difference, the widths of its miniblocks, and their words.
struct BlockHeader {
    int64_t least;
    uint32_t widths;

    DEVICE int bytes() const { return varint_bytes(zigzag(least)) + MINIBLOCKS; }
    DEVICE int width(int miniblock) const { return widths >> 8 * miniblock & 255; }
    DEVICE void store(uint8_t* out) const {
        uint64_t left = zigzag(least);
        for (; left > 127; left >>= 7) *out++ = uint8_t(left | 128);
        *out++ = uint8_t(left);
        for (int each = 0; each < MINIBLOCKS; ++each) *out++ = uint8_t(width(each));
    }
};

// The warp's block; the first lane stores its size, zero where it has no difference.
template <class WIDE, class BITS, class T>
DEVICE void measure_block(const T* values, int64_t count, int64_t block, int32_t* size, int64_t* least,
                          uint32_t* widths, uint64_t* range) {
    const Deltas<WIDE, BITS, T> deltas{values, count - 1};
    Spread spread;
#pragma unroll
    for (int part = 0; part < MINIBLOCKS; ++part) {
        for (int i = LANE; i < MINIBLOCK; i += LANES) {
            const int64_t at = block * BLOCK + part * MINIBLOCK + i;
            if (at >= count) break;
            spread.range.take(values[at]);
            if (at >= deltas.count) break;
            const int64_t delta = deltas[at];
            if (delta < spread.least) spread.least = delta;
            if (delta > spread.greatest[part]) spread.greatest[part] = delta;
        }
    }
    merge_lanes(spread);
    if (LANE != 0) return;
    spread.range.store(range);
    BlockHeader header{spread.least, 0};
    int words = 0;
    for (int each = 0; each < MINIBLOCKS; ++each) {
        header.widths |= uint32_t(spread.width(each)) << 8 * each;
        words += spread.width(each);
    }
    *least = header.least;
    *widths = header.widths;
    *size = block * BLOCK < deltas.count ? header.bytes() + words * 4 : 0;
}

// Word `at` of 32 numbers of `width` bits that are packed from the lowest bit on.
template <class NUMBERS>
DEVICE uint32_t packed_word(int at, int width, const NUMBERS& numbers) {
    uint32_t word = 0;
    int place = at * 32 / width;
    for (int shift = place * width - at * 32; shift < 32; shift += width, ++place) {
        const uint64_t number = numbers(place);
        word |= shift < 0 ? uint32_t(number >> -shift) : uint32_t(number << shift);
    }
    return word;
}

template <class WIDE, class BITS, class T>
DEVICE void pack_block(const T* values, int64_t count, int64_t block, BlockHeader header, uint8_t* out) {
    const Deltas<WIDE, BITS, T> deltas{values, count - 1};
    if (LANE == 0) header.store(out);
    out += header.bytes();
    for (int part = 0; part < MINIBLOCKS; ++part) {
        const int64_t first = block * BLOCK + part * MINIBLOCK;
        const auto number = [&](int i) {
            return first + i < deltas.count ? uint64_t(deltas[first + i]) - uint64_t(header.least) : uint64_t(0);
        };
        const int width = header.width(part);
        for (int each = LANE; each < width; each += LANES) {
            const uint32_t word = packed_word(each, width, number);
            for (int byte = 0; byte < 4; ++byte) out[each * 4 + byte] = uint8_t(word >> 8 * byte);  // at any address
        }
        out += width * 4;
    }
}

// ---- other values ---------------------------------------------------------------------------------------------------

DEVICE uint64_t bytes_turned(uint64_t value) {
    uint64_t turned = 0;
    for (int byte = 0; byte < 8; ++byte) turned |= (value >> 8 * byte & 255) << 8 * (7 - byte);
    return turned;
}

}  // namespace parquet
