// Columns that are read in the order of groups, laid side by side first: records of 2 or 4 words, and terms that read them.
#include "states.cuh"

namespace records {

// Columns whose values, of 64 bits, are the first words; where one has nulls, the last word has a bit for each column.
struct Fields {
    int64_t count;
    states::Term of[4];
};

}  // namespace records

// All bytes of a record are written: memory would have to be read for others.
KERNEL write_records(int64_t rows, int64_t wide, int64_t nullable, states::Pair* made, records::Fields fields) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int64_t own[1] = {row};
        uint64_t values[4][1] = {};
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (i < fields.count) states::load_bytes(fields.of[i], own, values[i]);
        uint64_t valid = 0;
#pragma unroll
        for (int i = 0; i < 3; ++i)
            if (i < fields.count) valid |= uint64_t(bit_is_set(fields.of[i].bits, row)) << i;
#pragma unroll
        for (int i = 0; i < 4; ++i)
            if (i < fields.count) states::widen(fields.of[i].stored, values[i]);
        made[wide ? 2 * row : row] = {values[0][0], values[1][0]};
        if (wide) made[2 * row + 1] = {values[2][0], nullable ? valid : values[3][0]};
    }
}

#define RECORDS(N)                                                                                                    \
    KERNEL reduce_records_##N(int64_t chunks, const int64_t* starts, const int64_t* stops, uint64_t* words,           \
                              const int32_t* turns, const int32_t* order, const states::Pair* records, int64_t wide,  \
                              states::Terms<N> terms) {                                                               \
        const states::Records<N> source{terms, records, wide != 0};                                                   \
        states::reduce(source, chunks, starts, stops, words, turns, order, terms);                                    \
    }                                                                                                                 \
    KERNEL reduce_short_records_##N(int64_t chunks, const int64_t* starts, const int64_t* stops, uint64_t* words,     \
                                    const int32_t* turns, const int32_t* order, const states::Pair* records,          \
                                    int64_t wide, states::Terms<N> terms) {                                           \
        const states::Records<N> source{terms, records, wide != 0};                                                   \
        states::reduce_short(source, chunks, starts, stops, words, turns, order, terms);                              \
    }

RECORDS(2)
RECORDS(3)
RECORDS(4)
RECORDS(8)
