// Keys looked up in a table of row numbers: by a code that is the key itself, or by its hash, with linear probing.
#pragma once

#include "claims.cuh"
#include "keys.cuh"

template <int N> DEVICE bool all_known(const Digits<N>& digits) {
    for (int at = 0; at < N; ++at)
        if (!digits.known[at]) return false;
    return true;
}

template <int N> DEVICE bool are_equal(const Digits<N>& x, const Digits<N>& y) {
    for (int at = 0; at < N; ++at)
        if (x.of[at] != y.of[at] || x.known[at] != y.known[at]) return false;
    return true;
}

// The finalizer of MurmurHash3 (Appleby 2011), digit by digit.
template <int N> DEVICE uint64_t hash_of(const Digits<N>& digits) {
    uint64_t hash = 0;
    for (int at = 0; at < N; ++at) {
        hash = (hash ^ digits.of[at]) + 0x9E3779B97F4A7C15ULL;
        hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCDULL;
        hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53ULL;
        hash ^= hash >> 33;
    }
    return hash;
}

// The place of a row's key, which becomes the row's if nobody has it; `repeated` tells whether another row does.
template <class KEYS, int N>
DEVICE int64_t insert_by_hash(const KEYS& keys, const Digits<N>& digits, int32_t row, int32_t* owners, uint64_t mask,
                              bool& repeated) {
    for (uint64_t slot = hash_of(digits) & mask;; slot = (slot + 1) & mask) {
        const int32_t owner = claim(owners + slot, row);
        repeated = owner >= 0;
        if (!repeated || are_equal(digits, keys[owner])) return slot;
    }
}

// The place of a key, -1 where it is not there.
template <class KEYS, int N>
DEVICE int64_t find_by_hash(const KEYS& keys, const Digits<N>& digits, const int32_t* owners, uint64_t mask) {
    for (uint64_t slot = hash_of(digits) & mask;; slot = (slot + 1) & mask) {
        const int32_t owner = owners[slot];
        if (owner < 0) return -1;
        if (are_equal(digits, keys[owner])) return slot;
    }
}
