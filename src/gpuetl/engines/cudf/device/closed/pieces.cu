// A table split into pieces, and pieces put below each other: see device/pieces.cuh.
#include "bits.cuh"
#include "pieces.cuh"

namespace pieces {

constexpr int64_t CHUNK_WORDS = 1024;  // validity words of a warp that counts nulls

template <class NUMBER>
DEVICE void split(int64_t units, const Split& split, const NUMBER* order) {
    const int64_t columns = split.widths.columns();
    FOR_EACH_ROW(at, units * 32) {
        const int64_t piece = split.piece_of_unit(at / 32), row = at - split.first_unit(piece) * 32;
        const bool there = row < split.rows(piece);
        const int64_t from = there ? int64_t(order[split.start(piece) + row]) : 0;
        const int64_t* const targets = split.targets(piece);
        if (there) copy_row(split.sources(), from, targets, row, split.widths);
        copy_valid(split.sources() + columns, from, targets + columns, row, there, columns);
    }
}

}  // namespace pieces

// The table of `split` and `count_in_pieces` has, for each of `count` pieces, where its units of 32 rows and its chunks
// end, where it begins in the order, and its rows; then the columns' sources, and for each piece their targets.
KERNEL split_int32(int64_t units, int64_t count, int64_t bytes1, int64_t bytes2, int64_t bytes4, int64_t bytes8,
                   int64_t bytes16, const int64_t* table, const int32_t* order) {
    pieces::split(units, {table, count, {bytes1, bytes2, bytes4, bytes8, bytes16}}, order);
}
KERNEL split_int64(int64_t units, int64_t count, int64_t bytes1, int64_t bytes2, int64_t bytes4, int64_t bytes8,
                   int64_t bytes16, const int64_t* table, const int64_t* order) {
    pieces::split(units, {table, count, {bytes1, bytes2, bytes4, bytes8, bytes16}}, order);
}
KERNEL count_in_pieces(int64_t items, int64_t count, int64_t bytes1, int64_t bytes2, int64_t bytes4, int64_t bytes8,
                       int64_t bytes16, const int64_t* table, uint64_t* valid) {
    const pieces::Split split{table, count, {bytes1, bytes2, bytes4, bytes8, bytes16}};
    const int64_t columns = split.widths.columns();
    FOR_EACH_WARP(item, items) {
        const int64_t column = item % columns, chunk = item / columns, piece = split.piece_of_chunk(chunk);
        const uint32_t* const words = (const uint32_t*)split.targets(piece)[columns + column];
        if (!words) continue;
        const int64_t first = split.chunk_in_piece(chunk, piece) * pieces::CHUNK_WORDS;
        const int64_t all = (split.rows(piece) + 31) / 32, end = first + pieces::CHUNK_WORDS;
        Tally found;
        for (int64_t at = first + LANE; at < (end < all ? end : all); at += LANES)
            found.count += ones(words[at]);
        found.store(valid + piece * columns + column);
    }
}

// The table has where pieces end, for each the sources, and the targets.
KERNEL stack(int64_t rows, int64_t count, int64_t bytes1, int64_t bytes2, int64_t bytes4, int64_t bytes8,
             int64_t bytes16, const int64_t* table) {
    const pieces::Widths widths{bytes1, bytes2, bytes4, bytes8, bytes16};
    const int64_t columns = widths.columns();
    const int64_t *const sources = table + count, *const targets = sources + count * 2 * columns;
    FOR_EACH_ROW(row, rows) {
        const bool there = row < rows;
        const int64_t piece = place_of(table, count, row), from = row - (piece ? table[piece - 1] : 0);
        const int64_t* const own = sources + piece * 2 * columns;
        if (there) pieces::copy_row(own, from, targets, row, widths);
        pieces::copy_valid(own + columns, from, targets + columns, row, there, columns);
    }
}
