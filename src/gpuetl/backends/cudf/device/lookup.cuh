// Keys looked up in a table of row numbers: by a code that is the key itself, or by its hash, with linear probing.
#pragma once

#include "keys.cuh"
#include "claims.cuh"

// Digits behind the first `count` are equal in all rows.
template <int N> DEVICE bool are_equal(const Digits<N>& x, const Digits<N>& y) {
    bool equal = x.known == y.known;
#pragma unroll
    for (int at = 0; at < N; ++at) equal &= x.of[at] == y.of[at];
    return equal;
}

// The finalizer of MurmurHash3 (Appleby 2011), digit by digit.
template <int N> DEVICE uint64_t hash_of(const Digits<N>& digits, int64_t count) {
    uint64_t hash = 0;
#pragma unroll
    for (int at = 0; at < N; ++at) {
        if (at >= count) continue;
        hash = (hash ^ digits.of[at]) + 0x9E3779B97F4A7C15ULL;
        hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCDULL;
        hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53ULL;
        hash ^= hash >> 33;
    }
    return hash;
}

// The code that digits make, -1 where one is not in the range that was measured.
template <int N> DEVICE int32_t code_of(const Digits<N>& digits, const Place (&places)[N]) {
    uint64_t code = 0, beyond = 0;
#pragma unroll
    for (int at = 0; at < N; ++at) {
        const uint64_t part = digits.is_known(at) ? digits.of[at] - places[at].least : 0;
        beyond |= part >> places[at].bits;
        code |= part << places[at].shift;
    }
    return beyond ? -1 : int32_t(code);
}

// Places of a table where rows' keys are, or would be.  They are looked for side by side: `owner(slot, i)` is the row
// that owns the slot where row i is sought, negative where none does.  Rows that are not `open`, a bit each, are not
// sought.  Slots begin where the hashes say, and end where the search does; `owners` are what was found there last.
template <int N, int R, class OWNER>
DEVICE void probe(const Keys<N>& keys, const Digits<N> (&digits)[R], uint32_t mask, uint32_t open, const OWNER& owner,
                  uint32_t (&slots)[R], int32_t (&owners)[R]) {
    while (open) {
        int32_t rows[R];
        Digits<N> others[R];
#pragma unroll
        for (int i = 0; i < R; ++i)
            if (open >> i & 1) owners[i] = owner(slots[i], i);
#pragma unroll
        for (int i = 0; i < R; ++i) rows[i] = owners[i] < 0 ? 0 : owners[i];
        load_digits(keys, rows, others);
#pragma unroll
        for (int i = 0; i < R; ++i) {
            if (owners[i] < 0 || are_equal(digits[i], others[i])) open &= ~(1u << i);
            if (open >> i & 1) slots[i] = (slots[i] + 1) & mask;
        }
    }
}
