// Keys as digits, unsigned numbers in the order of the contract: what sorts, groups and joins compare.
//
// A value is one digit, a long decimal two; one more may come first, which says where the nulls stand.  A kernel is made
// for a number of digits, and takes by value where they lie and how they are ordered.  So a warp loads the same digit of
// several rows a lane at a time: it asks once for all of them what the column is, and all loads are under way before any
// of them is used.
#pragma once

#include "rounds.cuh"
#include "floats.cuh"

// ---- what is read ---------------------------------------------------------------------------------------------------

enum Order { UNSIGNED, SIGNED, FLOATING, FLAG };  // as in columns/keys.py

// A digit is 0 and not known where the value is null.  Of a flag, which is always known, validity is the value.
struct Digit {
    const void* data;       // values, or halves of them
    const uint32_t* valid;  // validity words, null where there is no null
    uint8_t bytes;          // from a value to the next, 16 of halves; 0 of flags
    uint8_t order;
    uint8_t flipped;        // the other way round
};

// The digits of rows, the most significant first.  Behind the first `count` of them are digits that are 0 in all rows.
template <int N>
struct Keys {
    const void* selected;  // the numbers of the rows that are taken, null where all are
    int64_t selected_bytes, count;
    Digit of[N];
};

// Where a digit goes: into a word of 64 bits, of which that many others stand below it.
struct Place {
    uint64_t least;
    void* word;    // where words are written that end with this digit, null for others
    uint8_t bits;  // of the words that are written; or of the digit, where it has to be seen whether it fits
    uint8_t shift;
};

template <int N>
struct PlacedKeys {
    Keys<N> keys;
    Place places[N];
};

template <int N>
struct Digits {
    uint64_t of[N];
    uint32_t known;  // a bit each

    DEVICE bool is_known(int at) const { return known >> at & 1; }
    DEVICE bool all_known() const { return known == (1u << N) - 1; }
};

// Rows of a lane that are loaded together: about as many bytes for any number of digits.
template <int N> constexpr int TOGETHER = N == 1 ? 8 : N == 2 ? 4 : N <= 4 ? 2 : 1;

// ---- values ---------------------------------------------------------------------------------------------------------

constexpr uint64_t SIGN = 1ULL << 63;

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

// How the bits of integers become digits: those of the sign are turned, and the difference to the sign of a digit, which
// has 64 bits, is added.  That of 8 bytes is 0.  The other way round, ~(x + y) is ~x - y.
struct Turn {
    uint64_t turned, added;

    DEVICE Turn(const Digit& digit) {
        const uint64_t sign = digit.bytes < 8 ? 1ULL << (8 * digit.bytes - 1) : SIGN;
        turned = digit.order == SIGNED ? sign : 0;
        added = digit.order == SIGNED ? SIGN - sign : 0;
        if (digit.flipped) turned = ~turned, added = 0 - added;
    }
};

// ---- loads ----------------------------------------------------------------------------------------------------------

// Put the bits of rows' values at a digit, as unsigned numbers.
template <class T, int STEP, int N, int R>
DEVICE void load_values(const void* data, const int32_t (&rows)[R], int at, Digits<N> (&digits)[R]) {
#pragma unroll
    for (int i = 0; i < R; ++i) digits[i].of[at] = ((const T*)data)[int64_t(rows[i]) * STEP];
}

template <int N, int R>
DEVICE void load_digit(const Digit& digit, const int32_t (&rows)[R], int at, Digits<N> (&digits)[R]) {
    switch (digit.bytes) {
        case 8: return load_values<uint64_t, 1>(digit.data, rows, at, digits);
        case 4: return load_values<uint32_t, 1>(digit.data, rows, at, digits);
        case 16: return load_values<uint64_t, 2>(digit.data, rows, at, digits);
        case 2: return load_values<uint16_t, 1>(digit.data, rows, at, digits);
        case 1: return load_values<uint8_t, 1>(digit.data, rows, at, digits);
    }
#pragma unroll
    for (int i = 0; i < R; ++i) digits[i].of[at] = 0;
}

// Where rows are valid, a bit each: it is in words that are loaded, or all are.
template <bool NULLS, int R>
struct Validity {
    uint32_t words[R];

    DEVICE void load(const uint32_t* valid, const int32_t (&rows)[R]) {
        if (valid) {
#pragma unroll
            for (int i = 0; i < R; ++i) words[i] = valid[rows[i] >> 5];
        } else {
#pragma unroll
            for (int i = 0; i < R; ++i) words[i] = ~0u;
        }
    }
    DEVICE uint32_t bit(int i, int32_t row) const { return words[i] >> (row & 31) & 1; }
};
template <int R>
struct Validity<false, R> {
    DEVICE void load(const uint32_t*, const int32_t (&)[R]) {}
    DEVICE uint32_t bit(int, int32_t) const { return 1; }
};

// Turn the bits of rows' values into digits.
template <bool NULLS, int N, int R>
DEVICE void order_digit(const Digit& digit, const int32_t (&rows)[R], const Validity<NULLS, R>& validity, int at,
                        Digits<N> (&digits)[R]) {
    if (digit.order == FLAG) {
#pragma unroll
        for (int i = 0; i < R; ++i) {
            digits[i].of[at] = validity.bit(i, rows[i]) ^ digit.flipped;
            digits[i].known |= 1u << at;
        }
        return;
    }
    const uint64_t flip = digit.flipped ? ~0ULL : 0;
    if (digit.order != FLOATING) {
        const Turn turn(digit);
        if (digit.bytes >= 8) {
#pragma unroll
            for (int i = 0; i < R; ++i) digits[i].of[at] ^= turn.turned;
        } else {
#pragma unroll
            for (int i = 0; i < R; ++i) digits[i].of[at] = (digits[i].of[at] ^ turn.turned) + turn.added;
        }
    } else if (digit.bytes == 8) {
#pragma unroll
        for (int i = 0; i < R; ++i) digits[i].of[at] = ordered(double_of_bits(digits[i].of[at])) ^ flip;
    } else {
#pragma unroll
        for (int i = 0; i < R; ++i) digits[i].of[at] = ordered(float_of_bits(uint32_t(digits[i].of[at]))) ^ flip;
    }
#pragma unroll
    for (int i = 0; i < R; ++i) {
        const uint32_t known = validity.bit(i, rows[i]);
        digits[i].of[at] = known ? digits[i].of[at] : 0;
        digits[i].known |= known << at;
    }
}

// Load the digits of rows of the columns; without NULLS, which `have_nulls` tells, there are no validity words to ask.
template <bool NULLS, int N, int R>
DEVICE void load_digits(const Keys<N>& keys, const int32_t (&rows)[R], Digits<N> (&digits)[R]) {
    Validity<NULLS, R> validity[N];
#pragma unroll
    for (int at = 0; at < N; ++at) {
        load_digit(keys.of[at], rows, at, digits);
        validity[at].load(keys.of[at].valid, rows);
    }
#pragma unroll
    for (int i = 0; i < R; ++i) digits[i].known = 0;
#pragma unroll
    for (int at = 0; at < N; ++at) order_digit(keys.of[at], rows, validity[at], at, digits);
}

// Kernels of few digits are made twice, with nulls and without; they ask once a thread.
template <int N> DEVICE bool have_nulls(const Keys<N>& keys) {
    bool found = N > 2;
#pragma unroll
    for (int at = 0; at < N; ++at) found |= keys.of[at].valid != nullptr;
    return found;
}

// Replace places by the numbers of the rows that are taken.
template <int N, int R>
DEVICE void select(const Keys<N>& keys, int32_t (&rows)[R]) {
    if (!keys.selected) return;
    if (keys.selected_bytes == 4) {
#pragma unroll
        for (int i = 0; i < R; ++i) rows[i] = ((const int32_t*)keys.selected)[rows[i]];
    } else {
#pragma unroll
        for (int i = 0; i < R; ++i) rows[i] = int32_t(((const int64_t*)keys.selected)[rows[i]]);
    }
}

// The row of a lane, or the last one in the place of those behind the end.  A frame has less than 2^31 rows.
DEVICE int32_t near_row(int64_t start, int place, int64_t rows) {
    const uint32_t row = uint32_t(start) + place * LANES + LANE, last = uint32_t(rows) - 1;
    return int32_t(row < last ? row : last);
}

// Load a lane's rows of a round.
template <bool NULLS, int N, int R>
DEVICE void load_round(const Keys<N>& keys, int64_t start, int64_t rows, Digits<N> (&digits)[R]) {
    int32_t at[R];
#pragma unroll
    for (int i = 0; i < R; ++i) at[i] = near_row(start, i, rows);
    select(keys, at);
    load_digits<NULLS>(keys, at, digits);
}

// ---- rows beside the one before -------------------------------------------------------------------------------------

// Rows of a round, behind the row that stands before the first of them, the first of all before itself.
template <bool NULLS, int N, int R>
struct Neighbours {
    Digits<N> digits[R + 1];

    DEVICE Neighbours(const Keys<N>& keys, int64_t start, int64_t rows) {
        int32_t at[R + 1];
        at[0] = int32_t(start - (start > 0));
#pragma unroll
        for (int i = 0; i < R; ++i) at[i + 1] = near_row(start, i, rows);
        select(keys, at);
        load_digits<NULLS>(keys, at, digits);
    }
    DEVICE const Digits<N>& own(int i) const { return digits[i + 1]; }
    // The row before a lane's is the lane's below; the last lane gives the first one that of the round before.
    DEVICE Digits<N> before(int i) const {
        Digits<N> found;
#pragma unroll
        for (int at = 0; at < N; ++at)
            found.of[at] = from_lane(LANE == LANES - 1 ? digits[i].of[at] : digits[i + 1].of[at], LANE - 1);
        return found;
    }
};

template <int N> DEVICE bool is_before(const Digits<N>& x, const Digits<N>& y) {
    bool before = false;
#pragma unroll
    for (int at = N - 1; at >= 0; --at) before = x.of[at] < y.of[at] || (x.of[at] == y.of[at] && before);
    return before;
}

// ---- what is measured -----------------------------------------------------------------------------------------------

// The least and the greatest of each digit, and whether a row stands after one that it should stand before.
template <int N>
struct Ranges {
    uint64_t least[N], greatest[N], disorder = 0;

    DEVICE Ranges() {
#pragma unroll
        for (int at = 0; at < N; ++at) least[at] = ~0ULL, greatest[at] = 0;
    }
    DEVICE void include(int at, uint64_t low, uint64_t high) {
        if (low < least[at]) least[at] = low;
        if (high > greatest[at]) greatest[at] = high;
    }
    DEVICE void add(const Digits<N>& digits) {
#pragma unroll
        for (int at = 0; at < N; ++at) include(at, digits.is_known(at) ? digits.of[at] : ~0ULL, digits.of[at]);
    }
    DEVICE void merge(const Ranges& other) {
#pragma unroll
        for (int at = 0; at < N; ++at) include(at, other.least[at], other.greatest[at]);
        disorder |= other.disorder;
    }
    // Places that begin as 0: the complement of the least and the greatest of each digit, then the disorder.
    DEVICE void store(uint64_t* places, int64_t count) const {
#pragma unroll
        for (int at = 0; at < N; ++at) {
            if (at >= count) continue;
            raise_if_less(places + 2 * at, ~least[at]);
            raise_if_less(places + 2 * at + 1, greatest[at]);
        }
        raise_if_less(places + 2 * count, disorder);
    }
    DEVICE static void raise_if_less(uint64_t* place, uint64_t value) {
        if (*(volatile uint64_t*)place < value) raise_to(place, value);
    }
};
