// Floats written as the shortest decimal that reads back as the same float, of those the nearest.
#pragma once
#include "number_text.cuh"
#include "powers_of_ten.cuh"

// A float's parts as IEEE 754 has them: `EXPONENT` is that of the lowest bit of a subnormal number.  Numbers of 64 bits
// times powers of ten between LEAST_TIE and GREATEST_TIE can be in the middle between two floats.
template <class T> struct FloatParts;
template <> struct FloatParts<double> {
    static constexpr int BITS = 52, EXPONENT = -1074, INFINITE = 0x7FF, LEAST_TIE = -4, GREATEST_TIE = 23;
    static DEVICE uint64_t of(double value) { return bits_of(value); }
    static DEVICE double with(uint64_t bits) { return double_of_bits(bits); }
};
template <> struct FloatParts<float> {
    static constexpr int BITS = 23, EXPONENT = -149, INFINITE = 0xFF, LEAST_TIE = -17, GREATEST_TIE = 10;
    static DEVICE uint64_t of(float value) { return same_bits<uint32_t>(value); }
    static DEVICE float with(uint64_t bits) { return float_of_bits(uint32_t(bits)); }
};

// A finite float as a decimal: digits times 10 to the exponent; the digits do not end in 0, but of zero.
struct Shortest {
    uint64_t digits;
    int exponent;
    bool negative;
};

DEVICE int floor_log10_of_power_of_two(int e) { return (e * 1262611) >> 22; }
DEVICE int floor_log2_of_power_of_ten(int e) { return (e * 1741647) >> 19; }

// The upper 64 bits of a product of 192; the lowest of them is set where bits below are: rounding to odd.
DEVICE uint64_t round_to_odd(uint128_t x, uint64_t y) {
    const uint128_t sum = uint128_t(uint64_t(x >> 64)) * y + uint64_t(uint128_t(uint64_t(x)) * y >> 64);
    return uint64_t(sum >> 64) | (uint64_t(sum) > 1);
}

DEVICE Shortest without_zeros(uint64_t digits, int exponent, bool negative) {
    for (; digits % 10 == 0; digits /= 10) ++exponent;
    return {digits, exponent, negative};
}

// R. Giulietti, The Schubfach way to render doubles, 2020, with the tests in 4 times the digits as in section 9.
template <class T> DEVICE Shortest shortest(T value) {
    typedef FloatParts<T> Parts;
    const uint64_t bits = Parts::of(value), hidden = 1ULL << Parts::BITS, fraction = bits & (hidden - 1);
    const int power = int(bits >> Parts::BITS) & Parts::INFINITE;
    const bool negative = value < T(0) || (value == T(0) && bits), odd = fraction & 1;
    if (value == T(0)) return {0, 0, negative};
    const uint64_t c = power ? hidden | fraction : fraction;
    const int q = Parts::EXPONENT + (power ? power - 1 : 0);
    const bool near_below = fraction == 0 && power > 1;  // the float below is half as far as the one above
    const int k = near_below ? (q * 1262611 - 524031) >> 22 : floor_log10_of_power_of_two(q);
    const int h = q + floor_log2_of_power_of_ten(-k) + 1;
    const uint128_t scale = power_of_ten(-k) + (k > 0 || k < -55);  // rounded up where it is not exact
    const uint64_t lower = round_to_odd(scale, (4 * c - 2 + near_below) << h) + odd;
    const uint64_t at = round_to_odd(scale, 4 * c << h);
    const uint64_t upper = round_to_odd(scale, (4 * c + 2) << h) - odd;
    const uint64_t s = at / 4, tens = s / 10;
    const bool ten_below = s >= 10 && lower <= 40 * tens, ten_above = s >= 10 && 40 * tens + 40 <= upper;
    if (ten_below != ten_above) return without_zeros(tens + ten_above, k + 1, negative);
    const bool below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    const bool nearer = at > 4 * s + 2 || (at == 4 * s + 2 && s & 1);
    return without_zeros(s + (below != above ? above : nearer), k, negative);
}

// Writes a float as Arrow does: with an exponent below 0.000001 and from 10000000000.
template <class OUT, class T> DEVICE void write_float(OUT& out, T value) {
    if (value != value) return out.put(String{"nan", 3});
    if (value - value != T(0)) return out.put(value < T(0) ? String{"-inf", 4} : String{"inf", 3});
    const Shortest number = shortest(value);
    if (number.negative) out.put('-');
    char buffer[20];
    Bytes end{buffer};
    put_digits(end, number.digits);
    const int size = int(end.at - buffer), point = size + number.exponent;
    const String digits{buffer, size};
    if (number.digits && (point <= -6 || point > 10)) {
        out.put(digits[0]);
        if (size > 1) out.put('.');
        out.put_few(digits.cut(1, size));
        out.put('e');
        out.put(point > 0 ? '+' : '-');
        return put_digits(out, uint64_t(point > 0 ? point - 1 : 1 - point));
    }
    if (point <= 0) out.put_few(String{"0.00000", 2 - point});
    if (point > 0 && point < size) {
        out.put_few(digits.cut(0, point));
        out.put('.');
        return out.put_few(digits.cut(point, size));
    }
    out.put_few(digits);
    for (int i = size; i < point; ++i) out.put('0');
}
