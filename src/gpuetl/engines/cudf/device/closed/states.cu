// Groups reduced to states of 1 to 3 words for each of N terms: see states.cuh.
#include "states.cuh"

#define STATES(N)                                                                                                     \
    KERNEL reduce_##N(int64_t chunks, const int64_t* starts, const int64_t* stops, uint64_t* words,                   \
                      const int32_t* turns, const int32_t* order, states::Terms<N> terms) {                           \
        const states::Columns<N> columns{terms};                                                                      \
        states::reduce(columns, chunks, starts, stops, words, turns, order, terms);                                   \
    }                                                                                                                 \
    KERNEL reduce_short_##N(int64_t chunks, const int64_t* starts, const int64_t* stops, uint64_t* words,             \
                            const int32_t* turns, const int32_t* order, states::Terms<N> terms) {                     \
        const states::Columns<N> columns{terms};                                                                      \
        states::reduce_short(columns, chunks, starts, stops, words, turns, order, terms);                             \
    }                                                                                                                 \
    KERNEL merge_chunks_##N(int64_t groups, const int64_t* starts, const int64_t* stops, int64_t chunks,              \
                            const uint64_t* words, uint64_t* made, states::Terms<N> terms) {                          \
        states::merge_chunks(groups, starts, stops, chunks, words, made, terms);                                      \
    }                                                                                                                 \
    KERNEL keep_chunks_##N(int64_t groups, const int64_t* starts, const int64_t* stops, int64_t chunks,               \
                           const uint64_t* words, uint64_t* made, states::Terms<N> terms) {                           \
        states::keep_chunks(groups, starts, stops, chunks, words, made, terms);                                       \
    }

STATES(1)
STATES(2)
STATES(3)
STATES(4)
STATES(8)
