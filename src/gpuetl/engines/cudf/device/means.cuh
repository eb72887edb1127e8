// Means: exact sums divided by counts, rounded once.
#pragma once
#include "decimals.cuh"

// An exact sum: high * 2^64 + low.  It is a number of 192 bits, so that no rows' decimals of 38 digits leave it.
struct WideSum {
    int128_t high;
    uint64_t low;
};

DEVICE WideSum wide_sum(int128_t sum) { return {sum >> 64, uint64_t(sum)}; }
// high * unit + low, where the low part is far from 128 bits.
DEVICE WideSum wide_sum(int128_t high, int128_t low, uint64_t unit) {
    const uint128_t product = uint128_t(uint64_t(high)) * unit;
    const int128_t lower = int128_t(uint64_t(product)) + low;
    return {(high >> 64) * int128_t(unit) + int128_t(product >> 64) + (lower >> 64), uint64_t(lower)};
}

// A number of 256 bits, its words from the highest on.
struct Words {
    uint64_t at[4];

    DEVICE static Words magnitude(bool negative, WideSum sum) {
        const uint64_t low = negative ? -sum.low : sum.low;
        const uint128_t high = negative ? ~uint128_t(sum.high) + (sum.low == 0) : uint128_t(sum.high);
        return {{0, uint64_t(high >> 64), uint64_t(high), low}};
    }
    // How many bits are before the first one that is set; one is.
    DEVICE int leading_zeros() const {
        const uint128_t high = uint128_t(at[0]) << 64 | at[1], low = uint128_t(at[2]) << 64 | at[3];
        return high ? ::leading_zeros(high) : 128 + ::leading_zeros(low);
    }
    // The 64 bits from one on, zeros behind the last.
    DEVICE uint64_t bits_from(int bit) const {
        const int word = bit / 64, shift = bit % 64;
        const uint64_t first = word < 4 ? at[word] : 0, second = word < 3 ? at[word + 1] : 0;
        return shift ? first << shift | second >> (64 - shift) : first;
    }
    DEVICE Words shifted_left(int bits) const {
        return {{bits_from(bits), bits_from(bits + 64), bits_from(bits + 128), bits_from(bits + 192)}};
    }
    // Divides it; returns whether there is a rest.
    DEVICE bool divide(uint64_t divisor) {
        uint64_t rest = 0;
        for (int word = 0; word < 4; ++word) {
            const uint128_t part = uint128_t(rest) << 64 | at[word];
            at[word] = uint64_t(part / divisor);
            rest = uint64_t(part - uint128_t(at[word]) * divisor);
        }
        return rest;
    }
};

// The nearest float64 to a sum of units of 10^-scale by a count from 1 on, of two as near the even one.
//
// Where both numbers are floats, so is their quotient, rounded once.  Else the sum is shifted to the highest of 256
// bits, so that 64 or more are left when it is divided by the count and 10^scale, one word at a time.  The first 64
// have their last bit set where there is a rest ("round to odd"), and the cast to a float rounds them.
DEVICE double mean_of(WideSum sum, int64_t count, int scale) {
    const uint64_t exact = uint64_t(1) << 53, unit = uint64_t(ten_to_the(scale < 19 ? scale : 19));
    const uint64_t more = uint64_t(ten_to_the(scale < 19 ? 0 : scale - 19));
    const bool negative = sum.high < 0;
    Words units = Words::magnitude(negative, sum);
    if (!(units.at[1] | units.at[2]) && units.at[3] < exact && scale < 16 && uint64_t(count) < exact / unit) {
        const double quotient = double(units.at[3]) / double(uint64_t(count) * unit);
        return negative ? -quotient : quotient;
    }
    if (!(units.at[1] | units.at[2] | units.at[3])) return 0;
    const int shift = units.leading_zeros();
    units = units.shifted_left(shift);
    bool rest = units.divide(uint64_t(count));
    if (scale > 0) rest |= units.divide(unit);
    if (scale > 19) rest |= units.divide(more);
    const int zeros = units.leading_zeros();
    rest |= (units.bits_from(zeros + 64) | units.bits_from(zeros + 128) | units.bits_from(zeros + 192)) != 0;
    const double quotient = double(units.bits_from(zeros) | rest) * power_of_two(192 - zeros - shift);
    return negative ? -quotient : quotient;
}
template <int SCALE> DEVICE double mean_of(WideSum sum, int64_t count) { return mean_of(sum, count, SCALE); }

// The nearest float64 to a sum of integers by a count from 1 to 2^32 - 1, as `mean_of<0>` gives it: fewer instructions.
// The sum is shifted to the highest of 128 bits, so that 96 or more are left, and divided 32 bits at a time.
DEVICE double mean_of_integers(int128_t sum, uint32_t count) {
    uint128_t units = magnitude(sum);
    double mean = double(uint64_t(units)) / double(count);
    if (units >> 53) {
        const int shift = leading_zeros(units);
        units <<= shift;
        uint128_t quotient = 0;
        uint64_t rest = 0;
#pragma unroll 1
        for (int digit = 0; digit < 4; ++digit, units <<= 32) {
            rest = rest << 32 | uint64_t(units >> 96);
            quotient = quotient << 32 | rest / count;
            rest %= count;
        }
        const int zeros = leading_zeros(quotient);
        quotient <<= zeros;
        rest |= uint64_t(quotient);
        mean = double(uint64_t(quotient >> 64) | (rest != 0)) * power_of_two(64 - zeros - shift);
    }
    return sum < 0 ? -mean : mean;
}

// The nearest integer to a sum by a count from 1 on, of two as near the even one.
DEVICE int64_t whole_mean_of(int128_t sum, int64_t count) {
    const uint128_t units = nearest(magnitude(sum), uint128_t(count)) / uint128_t(count);
    return int64_t(with_sign(sum < 0, units));
}
