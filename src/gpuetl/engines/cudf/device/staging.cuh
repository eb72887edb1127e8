// Strings written side by side: the threads of a block write those of its rows into shared memory, from which the block
// stores them in whole words; a byte at a time, stores would be many times as many.
#pragma once

#include "rows.cuh"
#include "string_words.cuh"

#ifdef GPUETL_HOST
template <class OFFSET, class WRITE>
DEVICE void write_strings(int64_t rows, const OFFSET* offsets, char* bytes, const WRITE& write) {
    for (int64_t row = 0; row < rows; ++row)
        if (offsets[row] < offsets[row + 1]) write(row, bytes + offsets[row]);
}
template <class OFFSET, class WRITE, class LONG>
DEVICE void write_strings(int64_t rows, const OFFSET* offsets, char* bytes, const WRITE& write, const LONG&) {
    write_strings(rows, offsets, bytes, write);
}
DEVICE void copy_words(char* to, const char* from, int64_t size) { std::memcpy(to, from, size); }
template <class OFFSET, class SOURCE>
DEVICE void copy_by_warps(int64_t, int64_t, const OFFSET*, char*, const SOURCE&) {}
#else
constexpr int STAGED = 8192, WORD = 16;  // 32 bytes a row of a block of 256
struct alignas(WORD) Word { uint32_t parts[WORD / 4]; };

// Store what is staged, from its `skew` on; the ends of words at the borders belong to other blocks, too.
DEVICE void store_staged(const char* staged, int skew, char* bytes, int size) {
    const int first = skew ? WORD - skew : 0, words = size > first ? (size - first) / WORD : 0;
    for (int word = threadIdx.x; word < words; word += blockDim.x)
        ((Word*)(bytes + first))[word] = ((const Word*)(staged + skew + first))[word];
    const int head = first < size ? first : size, tail = words ? first + words * WORD : head;
    for (int at = threadIdx.x; at < head; at += blockDim.x) bytes[at] = staged[skew + at];
    for (int at = tail + threadIdx.x; at < size; at += blockDim.x) bytes[at] = staged[skew + at];
}

// Write the strings of all rows that have bytes: `write(row, at)` by a thread.  Where those of a block's rows are too long
// to be staged, all threads of the block call `write_long(first, end)`, which returns whether it has written them.
//
// `write` stands here once, for staged and for long strings: it may be most of what is compiled.
template <class OFFSET, class WRITE, class LONG>
DEVICE void write_strings(int64_t rows, const OFFSET* offsets, char* bytes, const WRITE& write, const LONG& write_long) {
    __shared__ Word staged_words[STAGED / WORD + 1];
    char* const staged = (char*)staged_words;
    for (int64_t first = int64_t(blockIdx.x) * blockDim.x; first < rows; first += int64_t(gridDim.x) * blockDim.x) {
        const int64_t row = first + threadIdx.x, end = first + blockDim.x < rows ? first + blockDim.x : rows;
        const int64_t begin = offsets[first], size = offsets[end] - begin;
        const bool fits = size <= STAGED;
        if (!fits && write_long(first, end)) continue;
        const int skew = int((uint64_t(bytes) + begin) % WORD);
        char* const block = fits ? staged + skew : bytes + begin;
        if (row < end && offsets[row] < offsets[row + 1]) write(row, block + (offsets[row] - begin));
        if (!fits) continue;
        __syncthreads();
        store_staged(staged, skew, bytes + begin, int(size));
        __syncthreads();
    }
}
template <class OFFSET, class WRITE>
DEVICE void write_strings(int64_t rows, const OFFSET* offsets, char* bytes, const WRITE& write) {
    write_strings(rows, offsets, bytes, write, [](int64_t, int64_t) { return false; });
}

// Copy bytes by one thread, which loads aligned words.
DEVICE void copy_words(char* to, const char* from, int64_t size) {
    const int skip = int(uint64_t(from) % 8);
    const char* source = from - skip;
    uint64_t word = first_bytes(source, size < 8 - skip ? skip + int(size) : 8) >> 8 * skip;
    int left = 8 - skip;
    for (int64_t at = 0; at < size; ++at, --left, word >>= 8) {
        if (!left) word = first_bytes(source += 8, size - at < 8 ? int(size - at) : 8), left = 8;
        to[at] = char(word);
    }
}

// Copy the strings of a block's rows, each by a warp.
template <class OFFSET, class SOURCE>
DEVICE void copy_by_warps(int64_t first, int64_t end, const OFFSET* offsets, char* bytes, const SOURCE& source) {
    for (int64_t row = first + threadIdx.x / 32; row < end; row += blockDim.x / 32) {
        const int64_t start = offsets[row], size = offsets[row + 1] - start;
        if (!size) continue;
        const char* from = source(row);
        for (int64_t at = threadIdx.x % 32; at < size; at += 32) bytes[start + at] = from[at];
    }
}
#endif
