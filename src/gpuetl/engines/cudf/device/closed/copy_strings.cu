// The bytes of strings that are gathered: a thread copies a short text, a warp a long one.
#include "staging.cuh"

// By the types of the offsets that are read and written, and of the rows' numbers.
#define COPY(SOURCE, TARGET, NUMBER)                                                                                 \
    KERNEL copy_strings_##SOURCE##_##TARGET##_##NUMBER(int64_t rows, const NUMBER##_t* from, const char* data,       \
                                                     const SOURCE##_t* starts, char* bytes,                          \
                                                     const TARGET##_t* offsets) {                                    \
        const auto source = [&](int64_t row) { return data + starts[from[row]]; };                                   \
        const auto copy = [&](int64_t row, char* at) {                                                               \
            copy_words(at, source(row), offsets[row + 1] - offsets[row]);                                            \
        };                                                                                                           \
        write_strings(rows, offsets, bytes, copy, [&](int64_t first, int64_t end) {                                  \
            copy_by_warps(first, end, offsets, bytes, source);                                                       \
            return true;                                                                                             \
        });                                                                                                          \
    }

COPY(int32, int32, int32)
COPY(int32, int32, int64)
COPY(int32, int64, int32)
COPY(int32, int64, int64)
COPY(int64, int32, int32)
COPY(int64, int32, int64)
COPY(int64, int64, int32)
COPY(int64, int64, int64)
