// Divisors, bits and digits of integers, and buckets of equal width.
#pragma once
#include "arithmetic.cuh"

DEVICE uint64_t greatest_divisor(int64_t x, int64_t y) {
    uint64_t a = magnitude(x), b = magnitude(y);
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
DEVICE int64_t not_negative(Fault at, uint128_t value) {
    if (value > uint64_t(INT64_GREATEST)) at(OVERFLOW_);
    return int64_t(value);
}
DEVICE int64_t gcd(Fault at, int64_t x, int64_t y) { return not_negative(at, greatest_divisor(x, y)); }
DEVICE int64_t lcm(Fault at, int64_t x, int64_t y) {
    if (x == 0 || y == 0) return 0;
    return not_negative(at, uint128_t(magnitude(x)) / greatest_divisor(x, y) * magnitude(y));
}

DEVICE int64_t factorial(Fault at, int64_t x) {
    if (x < 0 || x > 20) {
        at(OVERFLOW_);
        return 0;
    }
    int64_t product = 1;
    for (int64_t factor = 2; factor <= x; ++factor) product *= factor;
    return product;
}

// Every product is a multiple of its divisor, and no factor is less than its divisor's successor: 63 steps are the most.
DEVICE int64_t binom(Fault at, int64_t n, int64_t k) {
    if (n < 0 || k < 0) at(OVERFLOW_);
    if (n < 0 || k < 0 || k > n) return 0;
    const int64_t steps = k < n - k ? k : n - k;
    uint128_t count = 1;
    for (int64_t i = 1; i <= steps && count <= uint64_t(INT64_GREATEST); ++i) count = count * uint64_t(n - steps + i) / uint64_t(i);
    return not_negative(at, count);
}

DEVICE int64_t bit_count(int64_t x) {
    int64_t count = 0;
    for (uint64_t bits = uint64_t(x); bits; bits &= bits - 1) ++count;
    return count;
}

// The digits of a number; the greatest has 64 in base 2.
template <class OUT> DEVICE void put_in_base(OUT& out, uint64_t value, int64_t base, int64_t least = 1) {
    char digits[64];
    int at = 64;
    for (; value || 64 - at < least; value /= uint64_t(base)) {
        const int digit = int(value % uint64_t(base));
        digits[--at] = char(digit < 10 ? '0' + digit : 'A' + digit - 10);
        if (at == 0) break;
    }
    out.put(String{digits + at, 64 - at});
}
template <class OUT> DEVICE void write_bin(OUT& out, int64_t x) { put_in_base(out, uint64_t(x), 2); }
template <class OUT> DEVICE void to_base(OUT& out, int64_t x, int64_t base, int64_t least = 1) {
    if (x < 0) out.put('-');
    put_in_base(out, magnitude(x), base, least);
}

// From 1; 0 below all, and one more than there are above them, where NaN is.
DEVICE int64_t width_bucket(double x, double low, double high, int64_t count) {
    if (x < low) return 0;
    if (!(x < high)) return count + 1;
    const int64_t bucket = int64_t(floor((x - low) / (high - low) * double(count))) + 1;
    return bucket < count ? bucket : count;
}
