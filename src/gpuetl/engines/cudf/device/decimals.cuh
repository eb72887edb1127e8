// Decimals: the integers that count their units of 10^-scale, of 38 digits at most.
//
// What may have more digits on the way is computed from magnitudes.  Those stop at BEYOND, which is greater than any
// decimal, and so is what a decimal leaves of it.
#pragma once
#include "floats.cuh"

constexpr int MOST_DIGITS = 38;
constexpr uint128_t BEYOND = ~uint128_t(0);

DEVICE constexpr uint128_t ten_to_the(int exponent) {
    uint128_t power = 1;
    for (int i = 0; i < exponent; ++i) power *= 10;
    return power;
}

DEVICE constexpr uint128_t five_to_the(int exponent) {
    uint128_t power = 1;
    for (int i = 0; i < exponent; ++i) power *= 5;
    return power;
}

DEVICE uint128_t magnitude(int128_t x) { return x < 0 ? -uint128_t(x) : uint128_t(x); }
DEVICE int128_t with_sign(bool negative, uint128_t units) { return negative ? -int128_t(units) : int128_t(units); }

DEVICE uint128_t plus(uint128_t x, uint128_t y) {
    const uint128_t sum = x + y;
    return sum < x ? BEYOND : sum;
}

DEVICE uint128_t times(uint128_t x, uint128_t y) {
    const uint64_t x_high = uint64_t(x >> 64), x_low = uint64_t(x), y_high = uint64_t(y >> 64), y_low = uint64_t(y);
    if (x_high && y_high) return BEYOND;
    const uint128_t middle = uint128_t(x_high) * y_low + uint128_t(x_low) * y_high;  // one of them is 0
    return middle >> 64 ? BEYOND : plus(middle << 64, uint128_t(x_low) * y_low);
}

// ---- arithmetic: operands of any scale, gained up to that of the result, which has so many digits -------------------

template <int DIGITS> DEVICE int128_t fitted(Fault at, bool negative, uint128_t units) {
    constexpr uint128_t limit = ten_to_the(DIGITS);
    if (units >= limit) at(OVERFLOW_);
    return with_sign(negative, units);
}

template <int DIGITS, int GAINED_X, int GAINED_Y> DEVICE int128_t add(Fault at, int128_t x, int128_t y) {
    constexpr uint128_t to_x = ten_to_the(GAINED_X), to_y = ten_to_the(GAINED_Y);
    if constexpr (DIGITS < MOST_DIGITS) return x * int128_t(to_x) + y * int128_t(to_y);
    const uint128_t left = times(magnitude(x), to_x), right = times(magnitude(y), to_y);
    if ((x < 0) == (y < 0)) return fitted<DIGITS>(at, x < 0, plus(left, right));
    return left >= right ? fitted<DIGITS>(at, x < 0, left - right) : fitted<DIGITS>(at, y < 0, right - left);
}

template <int DIGITS, int GAINED_X, int GAINED_Y> DEVICE int128_t subtract(Fault at, int128_t x, int128_t y) {
    return add<DIGITS, GAINED_X, GAINED_Y>(at, x, -y);
}

template <int DIGITS> DEVICE int128_t multiply(Fault at, int128_t x, int128_t y) {
    if constexpr (DIGITS < MOST_DIGITS) return x * y;
    return fitted<DIGITS>(at, (x < 0) != (y < 0), times(magnitude(x), magnitude(y)));
}

DEVICE Maybe<int128_t> int_divide(Fault, int128_t x, int128_t y) { return y ? some(x / y) : none<int128_t>(); }
DEVICE Maybe<int128_t> modulo(Fault, int128_t x, int128_t y) { return y ? some(x % y) : none<int128_t>(); }
DEVICE int128_t negate(Fault, int128_t x) { return -x; }
DEVICE int128_t abs(Fault, int128_t x) { return x < 0 ? -x : x; }
DEVICE int64_t sign(int128_t x) { return (x > 0) - (x < 0); }

// ---- rounding -------------------------------------------------------------------------------------------------------

// How many units are nearest, of two counts as near the even one; a unit is 10^38 at most.
DEVICE uint128_t nearest_count(uint128_t x, uint128_t unit) {
    const uint128_t quotient = x / unit, rest = x - quotient * unit, missing = unit - rest;
    return quotient + (rest > missing || (rest == missing && (quotient & 1)));
}
DEVICE uint128_t nearest(uint128_t x, uint128_t unit) { return nearest_count(x, unit) * unit; }

// x / 2^bits for an x below 2^127, of two integers as near the even one.
DEVICE uint128_t shifted_to_nearest(uint128_t x, int bits) {
    if (bits <= 0) return x << -bits;
    return bits > 127 ? 0 : nearest_count(x, uint128_t(1) << bits);
}

// `digits` after the point are kept; DIGITS is what the result has.
template <int DIGITS, int SCALE> DEVICE int128_t round(Fault at, int128_t x, int64_t digits = 0) {
    if (digits >= SCALE) return x;
    if (digits < SCALE - MOST_DIGITS) return 0;
    return fitted<DIGITS>(at, x < 0, nearest(magnitude(x), ten_to_the(SCALE - int(digits))));
}

template <int SCALE> DEVICE int128_t without_fraction(int128_t x) { return x - x % int128_t(ten_to_the(SCALE)); }

template <int SCALE> DEVICE int128_t truncated(int128_t x, int64_t digits) {
    if (digits >= SCALE) return x;
    return digits < SCALE - MOST_DIGITS ? 0 : x - x % int128_t(ten_to_the(SCALE - int(digits)));
}

template <int DIGITS, int SCALE> DEVICE int128_t floor(Fault at, int128_t x) {
    const int128_t whole = without_fraction<SCALE>(x), below = x < whole ? whole - int128_t(ten_to_the(SCALE)) : whole;
    return fitted<DIGITS>(at, below < 0, magnitude(below));
}
template <int DIGITS, int SCALE> DEVICE int128_t ceil(Fault at, int128_t x) { return -floor<DIGITS, SCALE>(at, -x); }

// ---- floats ---------------------------------------------------------------------------------------------------------

DEVICE int leading_zeros(uint128_t x) {
    const uint64_t high = uint64_t(x >> 64);
#ifdef GPUETL_HOST
    return high ? __builtin_clzll(high) : 64 + __builtin_clzll(uint64_t(x));
#else
    return high ? __clzll(int64_t(high)) : 64 + __clzll(int64_t(x));
#endif
}

// x / y of normalized numbers (their highest bits are set), in units of 2^-63; where there is a rest, the last bit is
// set.
// Restoring division, a bit a step.
DEVICE uint64_t normalized_quotient(uint128_t x, uint128_t y) {
    uint64_t quotient = 0;
    bool carry = false;
    for (int bit = 0; bit < 64; ++bit) {
        const bool one = carry || x >= y;
        if (one) x -= y;
        quotient = quotient << 1 | one;
        carry = x >> 127;
        x <<= 1;
    }
    return quotient | (carry || x != 0);
}

DEVICE double rounded_to(double, uint64_t x, int exponent) { return double(x) * power_of_two(exponent); }
// A float32 may be subnormal: 53 bits with the rest in the last one ("round to odd") are rounded once, by the cast
DEVICE float rounded_to(float, uint64_t x, int exponent) {
    return float(double(x >> 11 | ((x & 2047) != 0)) * power_of_two(exponent + 11));
}

// The float nearest to units / unit * 2^exponent, of two as near the even one.
template <class T> DEVICE T nearest_float(uint128_t units, uint128_t unit, int exponent = 0) {
    if (units == 0) return 0;
    const int zeros = leading_zeros(units), unit_zeros = leading_zeros(unit);
    const uint64_t quotient = normalized_quotient(units << zeros, unit << unit_zeros);
    return rounded_to(T(), quotient, exponent + unit_zeros - zeros - 63);
}

// The nearest float, of two as near the even one.
template <class T, int SCALE> DEVICE T float_of_decimal(int128_t x) {
    constexpr uint128_t unit = ten_to_the(SCALE);
    const uint128_t units = magnitude(x);
    if (units == 0) return 0;
    if (SCALE == 0 && units >> 53 == 0) return T(int64_t(x));
    if (SCALE <= 22 && units >> 53 == 0 && is_same<T, double>::value) return T(double(int64_t(x)) / double(unit));
    const T result = nearest_float<T>(units, unit);
    return x < 0 ? -result : result;
}
