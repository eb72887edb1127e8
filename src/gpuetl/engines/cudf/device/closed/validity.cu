// Validity words made of truth values.
#include "words.cuh"

KERNEL pack_valid(int64_t rows, const uint8_t* flags, uint32_t* words, uint64_t* nulls) {
    uint32_t missing = 0;
    FOR_EACH_ROW(row, rows) missing += store_word(words, row, row < rows, row < rows && flags[row]);
    add_nulls(nulls, missing);
}
