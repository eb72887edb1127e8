// Keys as digits, unsigned numbers in the order of the contract: what sorts, groups and joins compare.
//
// Generated code has a struct `Keys` whose operator[] gives a row's digits, the most significant first.
#pragma once

#include "floats.cuh"
#include "reduce.cuh"

// ---- values ---------------------------------------------------------------------------------------------------------

constexpr uint64_t SIGN = 1ULL << 63;

template <class T> DEVICE uint64_t ordered(T value) {
    return is_signed<T>::value ? uint64_t(int64_t(value)) ^ SIGN : uint64_t(value);
}

// The integer that is `ordered` so.
template <class T> DEVICE T integer_of(uint64_t digit) { return T(is_signed<T>::value ? digit ^ SIGN : digit); }

// One zero and one NaN, the greatest.  (Herf 2001, "Radix tricks": negative floats have all bits turned over.)
DEVICE uint64_t ordered(double value) {
    if (is_nan(value)) return ~0ULL;
    const uint64_t bits = bits_of(value == 0 ? 0.0 : value);
    return bits & SIGN ? ~bits : bits | SIGN;
}
DEVICE uint64_t ordered(float value) {
    if (is_nan(value)) return 0xffffffffULL;
    const uint32_t bits = same_bits<uint32_t>(value == 0 ? 0.0f : value), sign = 1u << 31;
    return bits & sign ? ~bits : bits | sign;
}

// ---- digits ---------------------------------------------------------------------------------------------------------

// The digits of a row's keys; those of a null are 0 and not `known`.
template <int N>
struct Digits {
    uint64_t of[N];
    bool known[N];

    DEVICE void flag(int at, bool set) { of[at] = set, known[at] = true; }
    DEVICE void put(int at, bool valid, uint64_t digit, bool descending) {
        of[at] = valid ? (descending ? ~digit : digit) : 0;
        known[at] = valid;
    }
    template <class T> DEVICE void value(int at, Maybe<T> x, bool descending) {
        put(at, x.valid, ordered(x.value), descending);
    }
    DEVICE void value(int at, Maybe<int128_t> x, bool descending) {
        put(at, x.valid, ordered(int64_t(x.value >> 64)), descending);
        put(at + 1, x.valid, uint64_t(x.value), descending);
    }
};

template <int N> DEVICE bool is_before(const Digits<N>& x, const Digits<N>& y) {
    for (int at = 0; at < N; ++at)
        if (x.of[at] != y.of[at]) return x.of[at] < y.of[at];
    return false;
}

// Whether the first `count` digits differ.
template <int N> DEVICE bool differ(const Digits<N>& x, const Digits<N>& y, int count) {
    for (int at = 0; at < count; ++at)
        if (x.of[at] != y.of[at]) return true;
    return false;
}

// ---- what is measured -----------------------------------------------------------------------------------------------

// The least and the greatest of each digit, and whether a row stands after one that it should stand before.
template <int N>
struct Ranges {
    uint64_t least[N], greatest[N], disorder = 0;

    DEVICE Ranges() {
        for (int at = 0; at < N; ++at) least[at] = ~0ULL, greatest[at] = 0;
    }
    DEVICE void include(int at, uint64_t low, uint64_t high) {
        if (low < least[at]) least[at] = low;
        if (high > greatest[at]) greatest[at] = high;
    }
    DEVICE void add(const Digits<N>& digits) {
        for (int at = 0; at < N; ++at)
            if (digits.known[at]) include(at, digits.of[at], digits.of[at]);
    }
    DEVICE void merge(const Ranges& other) {
        for (int at = 0; at < N; ++at) include(at, other.least[at], other.greatest[at]);
        disorder |= other.disorder;
    }
    // Places that begin as 0: the complement of the least and the greatest of each digit, then the disorder.
    DEVICE void store(uint64_t* places) const {
        for (int at = 0; at < N; ++at) {
            raise_if_less(places + 2 * at, ~least[at]);
            raise_if_less(places + 2 * at + 1, greatest[at]);
        }
        raise_if_less(places + 2 * N, disorder);
    }
    DEVICE static void raise_if_less(uint64_t* place, uint64_t value) {
        if (*(volatile uint64_t*)place < value) raise_to(place, value);
    }
};

