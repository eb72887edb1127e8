// Rows moved between one table and its pieces, whatever the columns: these are known by the widths of their values.
//
// Columns are numbered by widths, from 1 byte to 16; the addresses of their values, and of their validity words where
// there are any, stand in tables in device memory, so that there may be any number of them.
#pragma once

#include "places.cuh"
#include "words.cuh"
#include "reduce.cuh"

namespace pieces {

constexpr int TOGETHER = 4;  // columns that are read before any of them is written: a load waits for no store

struct alignas(16) Wide { uint64_t low, high; };

// How many columns there are of each width.
struct Widths {
    int64_t bytes1, bytes2, bytes4, bytes8, bytes16;

    DEVICE int64_t columns() const { return bytes1 + bytes2 + bytes4 + bytes8 + bytes16; }
};

// A table that is split.  For each of `count` pieces: where its units of 32 rows and its chunks end, among those of all;
// where it begins in the order; its rows.  Then where columns are read from, and for each piece where they go.
struct Split {
    const int64_t* table;
    int64_t count;
    Widths widths;

    DEVICE int64_t piece_of_unit(int64_t unit) const { return place_of(table, count, unit); }
    DEVICE int64_t first_unit(int64_t piece) const { return piece ? table[piece - 1] : 0; }
    DEVICE int64_t piece_of_chunk(int64_t chunk) const { return place_of(table + count, count, chunk); }
    DEVICE int64_t chunk_in_piece(int64_t chunk, int64_t piece) const {
        return chunk - (piece ? table[count + piece - 1] : 0);
    }
    DEVICE int64_t start(int64_t piece) const { return table[2 * count + piece]; }
    DEVICE int64_t rows(int64_t piece) const { return table[3 * count + piece]; }
    DEVICE const int64_t* sources() const { return table + 4 * count; }
    DEVICE const int64_t* targets(int64_t piece) const { return sources() + (1 + piece) * 2 * widths.columns(); }
};

// A row of the columns from `first` on, all of one width.
template <class T>
DEVICE void copy_values(const int64_t* sources, int64_t from, const int64_t* targets, int64_t to, int64_t& first,
                        int64_t count) {
    const int64_t end = first + count;
    for (; first < end; first += TOGETHER) {
        T values[TOGETHER];
        for (int i = 0; i < TOGETHER; ++i)
            if (first + i < end) values[i] = ((const T*)sources[first + i])[from];
        for (int i = 0; i < TOGETHER; ++i)
            if (first + i < end) ((T*)targets[first + i])[to] = values[i];
    }
    first = end;
}

// A row of all columns.
DEVICE void copy_row(const int64_t* sources, int64_t from, const int64_t* targets, int64_t to, const Widths& widths) {
    int64_t column = 0;
    copy_values<uint8_t>(sources, from, targets, to, column, widths.bytes1);
    copy_values<uint16_t>(sources, from, targets, to, column, widths.bytes2);
    copy_values<uint32_t>(sources, from, targets, to, column, widths.bytes4);
    copy_values<uint64_t>(sources, from, targets, to, column, widths.bytes8);
    copy_values<Wide>(sources, from, targets, to, column, widths.bytes16);
}

// Whether a row is valid, of the columns that have words where it goes; all lanes of a warp come here.
DEVICE void copy_valid(const int64_t* sources, int64_t from, const int64_t* targets, int64_t to, bool there,
                       int64_t columns) {
    for (int64_t column = 0; column < columns; ++column) {
        uint32_t* const words = (uint32_t*)targets[column];
        if (!words) continue;
#ifdef GPUETL_HOST
        if (!(to & 31)) words[to >> 5] = 0;  // bits are added to what is there
#endif
        store_word(words, to, there, there && bit_is_set((const uint32_t*)sources[column], from));
    }
}

}
