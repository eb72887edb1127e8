// Numbers rounded and truncated, at places after and before the point; those of decimals are in their header.
#pragma once
#include "arithmetic.cuh"
#include "float_powers.cuh"

template <class T> DEVICE T floor(Fault, T x) { return x; }
DEVICE double floor(Fault, double x) { return floor(x); }
DEVICE float floor(Fault, float x) { return float(floor(double(x))); }

template <class T> DEVICE T ceil(Fault, T x) { return x; }
DEVICE double ceil(Fault, double x) { return ceil(x); }
DEVICE float ceil(Fault, float x) { return float(ceil(double(x))); }

template <class T> DEVICE T without_fraction(T x) { return x; }
DEVICE double without_fraction(double x) { return trunc(x); }
DEVICE float without_fraction(float x) { return float(trunc(double(x))); }

// Integers to tens, hundreds, …, half to even.
template <class T> DEVICE T round(Fault at, T x, int64_t digits = 0) {
    if (digits >= 0) return x;
    if (digits < -20) return 0;  // 10^21 is more than twice any of them
    const int128_t result = with_sign(x < T(0), nearest(magnitude(x), ten_to_the(int(-digits))));
    if (T(result) != result) at(OVERFLOW_);
    return T(result);
}

// Floats where they are scaled by a power of ten.  What is scaled beyond the greatest float has no digits so far from
// the point, and stays.
template <class T> DEVICE T rounded_float(Fault at, T x, int64_t digits, double ten_to_digits) {
    const T power = T(ten_to_digits);
    if (!is_finite(x)) return x;
    if (digits < 0 && fabs(double(x)) <= power / 2) return x * 0;  // also where the quotient would vanish
    const T scaled = digits < 0 ? x / power : x * power, whole = T(rint(double(scaled)));
    if (!is_finite(scaled) || whole == scaled) return x;
    const T result = digits > 0 ? whole / power : whole * power;
    if (!is_finite(result)) at(OVERFLOW_);
    return result;
}

// The nearest float32 of the exact decimal.  double holds products with 10^8, and of the quotients by it none lies so
// near to the middle between two float32 that rounding it twice would matter.  From 2^26 units on, and beyond 44
// places, float32 has no other value as near.
DEVICE float rounded_single(Fault at, float x, int64_t digits, double ten_to_digits) {
    if (!is_finite(x) || x == 0 || digits > 44) return x;
    if (digits < -38) return x * 0;
    const double scaled = digits < 0 ? double(x) / ten_to_digits : double(x) * ten_to_digits;
    if (fabs(scaled) >= 67108864.0) return x;
    const int places = int(digits < 0 ? -digits : digits);
    float result;
    if (places <= 8) {
        result = float(digits < 0 ? rint(scaled) * ten_to_digits : rint(scaled) / ten_to_digits);
    } else {
        const uint128_t fives = five_to_the(places);
        const uint32_t bits = same_bits<uint32_t>(x), raised = bits >> 23 & 255;
        const uint128_t mantissa = (bits & 0x7fffff) | uint32_t(raised ? 0x800000 : 0);
        const int exponent = int(raised ? raised : 1) - 150;
        const uint128_t units = digits > 0     ? shifted_to_nearest(mantissa * fives, -(exponent + places))
                                : exponent < 0 ? 0
                                               : nearest_count(mantissa << exponent, ten_to_the(places));
        result = digits > 0 ? nearest_float<float>(units, fives, -places) : nearest_float<float>(units * fives, 1, places);
        if (x < 0) result = -result;
    }
    if (!is_finite(result)) at(OVERFLOW_);
    return result;
}

// What is behind some places after the point is dropped.
template <class T> DEVICE T truncated(T x, int64_t digits) {
    if (digits >= 0) return x;
    if (digits < -19) return 0;
    return T(int128_t(x) - int128_t(x) % int128_t(ten_to_the(int(-digits))));
}
template <class T> DEVICE T truncated(T x, int64_t digits, double ten_to_digits) {
    const double scaled = digits < 0 ? double(x) / ten_to_digits : double(x) * ten_to_digits, whole = trunc(scaled);
    if (is_finite(scaled) && whole == 0) return x * 0;
    if (!is_finite(scaled) || whole == scaled) return x;
    return T(digits < 0 ? whole * ten_to_digits : whole / ten_to_digits);
}
DEVICE double round(Fault at, double x) { return rounded_float(at, x, 0, 1); }
DEVICE float round(Fault at, float x) { return rounded_float(at, x, 0, 1); }
