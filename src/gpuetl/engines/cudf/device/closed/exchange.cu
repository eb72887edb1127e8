// Rows sent to other partitions by their hash: the number of each row's piece, and where pieces end among rows in order.
#include "rows.cuh"

namespace exchanging {

// For each piece, how many rows in order have its number or a lower one.
template <class NUMBER>
DEVICE void find_ends(int64_t pieces, int64_t rows, const NUMBER* numbers, const int32_t* order, int64_t* ends) {
    FOR_EACH_ROW(piece, pieces) {
        if (piece >= pieces) continue;
        int64_t low = 0, high = rows;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (int64_t(numbers[order[middle]]) <= piece) low = middle + 1;
            else high = middle;
        }
        ends[piece] = low;
    }
}

}  // namespace exchanging

#define PIECES(NUMBER)                                                                                               \
    KERNEL number_pieces_##NUMBER(int64_t rows, int64_t pieces, const uint64_t* hashes, NUMBER##_t* numbers) {       \
        FOR_EACH_ROW(row, rows) if (row < rows) numbers[row] = NUMBER##_t(hashes[row] % uint64_t(pieces));           \
    }                                                                                                                \
    KERNEL find_ends_##NUMBER(int64_t pieces, int64_t rows, const NUMBER##_t* numbers, const int32_t* order,         \
                              int64_t* ends) {                                                                       \
        exchanging::find_ends(pieces, rows, numbers, order, ends);                                                   \
    }
PIECES(uint8)
PIECES(uint16)
PIECES(uint32)
