// Strings read as floats: the nearest one to the number as it is written, of any number of digits, ties to even.
#pragma once
#include "float_text.cuh"

#ifdef GPUETL_HOST
DEVICE int leading_zeros(uint64_t word) { return __builtin_clzll(word); }
#else
DEVICE int leading_zeros(uint64_t word) { return __clzll((long long)word); }
#endif

template <class T> DEVICE uint64_t infinite_bits() { return uint64_t(FloatParts<T>::INFINITE) << FloatParts<T>::BITS; }

// The bits of the float nearest to w * 10^q, infinite beyond the greatest one.  D. Lemire, Number parsing at a gigabyte
// per second, 2021; that it needs no other way for w of 64 bits: N. Mushtak, D. Lemire, Fast number parsing without
// fallback, 2023.
template <class T> DEVICE uint64_t nearest_bits(uint64_t w, int64_t q) {
    typedef FloatParts<T> Parts;
    constexpr int BITS = Parts::BITS;
    if (w == 0 || q < -342) return 0;
    if (q > 308) return infinite_bits<T>();
    const int zeros = leading_zeros(w);
    w <<= zeros;
    const uint128_t ten = power_of_ten(int(q)) + (q < 0 && q >= -27);
    const uint128_t product = uint128_t(uint64_t(ten >> 64)) * w + uint64_t(uint128_t(uint64_t(ten)) * w >> 64);
    const uint64_t upper = uint64_t(product >> 64);
    const int whole = int(upper >> 63), shift = whole + 64 - BITS - 3;
    uint64_t mantissa = upper >> shift;  // with one bit more than fits
    int power = floor_log2_of_power_of_ten(int(q)) + 64 + whole - zeros - Parts::EXPONENT - BITS;
    if (power <= 0) {
        mantissa = -power + 1 >= 64 ? 0 : mantissa >> (-power + 1);
        return (mantissa + (mantissa & 1)) >> 1;  // one that is rounded up to a normal number has its bits too
    }
    const bool may_tie = q >= Parts::LEAST_TIE && q <= Parts::GREATEST_TIE && uint64_t(product) <= 1;
    const bool tie = may_tie && (mantissa & 3) == 1 && mantissa << shift == upper;  // an even float is just below
    if (tie) mantissa &= ~1ULL;
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> (BITS + 1)) {
        mantissa >>= 1;
        ++power;
    }
    if (power >= Parts::INFINITE) return infinite_bits<T>();
    return uint64_t(power) << BITS | (mantissa & ((1ULL << BITS) - 1));
}

// ---- more digits than 64 bits hold ----------------------------------------------------------------------------------

// A natural number; no number compared here has more bits.
struct Big {
    static constexpr int WORDS = 88;
    uint32_t words[WORDS];
    int size = 0;

    DEVICE void multiply_add(uint32_t factor, uint32_t carry) {
        for (int i = 0; i < size; ++i) {
            const uint64_t product = uint64_t(words[i]) * factor + carry;
            words[i] = uint32_t(product);
            carry = uint32_t(product >> 32);
        }
        if (carry) words[size++] = carry;
    }
    DEVICE void multiply_by_power_of_five(int64_t power) {
        for (; power >= 13; power -= 13) multiply_add(1220703125u, 0);
        for (; power > 0; --power) multiply_add(5, 0);
    }
    DEVICE void multiply_by_power_of_two(int64_t power) {
        for (; power >= 31; power -= 31) multiply_add(1u << 31, 0);
        if (power > 0) multiply_add(1u << power, 0);
    }
    DEVICE int compared_with(const Big& other) const {
        if (size != other.size) return size < other.size ? -1 : 1;
        for (int i = size; i-- > 0;)
            if (words[i] != other.words[i]) return words[i] < other.words[i] ? -1 : 1;
        return 0;
    }
};

// Tells on which side of the middle between a float and the next one a number is, exactly.  A middle has at most 767
// digits: of those behind only counts that there are some.
template <class T> DEVICE int beside_middle(const Number& number, uint64_t bits) {
    typedef FloatParts<T> Parts;
    constexpr int64_t MOST = 768;
    const bool more = number.count > MOST;
    Big exact, middle;
    for_each_digit(number, MOST, [&](uint32_t digit) { exact.multiply_add(10, digit); });
    if (more) exact.multiply_add(10, 1);
    const int64_t five = number.exponent + (more ? number.count - MOST - 1 : 0);

    const int power = int(bits >> Parts::BITS);
    const uint64_t fraction = bits & ((1ULL << Parts::BITS) - 1);
    const uint64_t twice = 2 * (fraction | uint64_t(power > 0) << Parts::BITS) + 1;
    const int64_t two = five - (Parts::EXPONENT - 1 + (power ? power - 1 : 0));
    middle.words[0] = uint32_t(twice);
    middle.words[1] = uint32_t(twice >> 32);
    middle.size = twice >> 32 ? 2 : 1;

    exact.multiply_by_power_of_five(five);
    middle.multiply_by_power_of_five(-five);
    exact.multiply_by_power_of_two(two);
    middle.multiply_by_power_of_two(-two);
    return exact.compared_with(middle);
}

template <class T> DEVICE uint64_t nearest_bits(const Number& number) {
    constexpr int64_t MOST = 19;  // digits that 64 bits hold
    uint64_t leading = 0;
    for_each_digit(number, MOST, [&](uint32_t digit) { leading = 10 * leading + digit; });
    if (number.count <= MOST) return nearest_bits<T>(leading, number.exponent);
    const int64_t exponent = number.exponent + number.count - MOST;
    const uint64_t bits = nearest_bits<T>(leading, exponent);
    if (bits == nearest_bits<T>(leading + 1, exponent)) return bits;
    const int side = beside_middle<T>(number, bits);
    return bits + (side > 0 || (side == 0 && bits & 1));
}

// ---- the text -------------------------------------------------------------------------------------------------------

// Returns the bits of infinity or NaN, or 0 where the text, without a sign, is neither.
template <class T> DEVICE uint64_t named_bits(String text) {
    if (equals_in_any_case(text, String{"nan", 3})) return infinite_bits<T>() | 1ULL << (FloatParts<T>::BITS - 1);
    const bool infinite = equals_in_any_case(text, String{"inf", 3}) || equals_in_any_case(text, String{"infinity", 8});
    return infinite ? infinite_bits<T>() : 0;
}

template <class T> DEVICE Outcome<T> read_float(String text) {
    const bool sign = has_sign(text);
    const Number number = scan_number(text);
    const uint64_t bits = number.valid ? nearest_bits<T>(number) : named_bits<T>(text.cut(sign, text.size));
    if (!number.valid && !bits) return refused<T>(NOT_A_VALUE);
    if (number.valid && bits == infinite_bits<T>()) return refused<T>(BEYOND_FLOAT);
    const T magnitude = FloatParts<T>::with(bits);
    return done(sign && text[0] == '-' ? -magnitude : magnitude);
}
