// Arithmetic: integers in int64, checked; floats by IEEE 754; decimals are in a header of their own.
#pragma once
#include "decimals.cuh"
#include "durations.cuh"
#include "floats.cuh"
#include "logic.cuh"

// ---- checked --------------------------------------------------------------------------------------------------------

DEVICE bool add_overflows(int64_t x, int64_t y, int64_t* result) {
    *result = int64_t(uint64_t(x) + uint64_t(y));
    return ((x ^ *result) & (y ^ *result)) < 0;
}
DEVICE bool subtract_overflows(int64_t x, int64_t y, int64_t* result) {
    *result = int64_t(uint64_t(x) - uint64_t(y));
    return ((x ^ y) & (x ^ *result)) < 0;
}
DEVICE bool multiply_overflows(int64_t x, int64_t y, int64_t* result) {
    const int128_t product = int128_t(x) * y;
    *result = int64_t(product);
    return product != *result;
}

DEVICE int64_t add(Fault at, int64_t x, int64_t y) {
    int64_t result;
    if (add_overflows(x, y, &result)) at(OVERFLOW_);
    return result;
}
DEVICE double add(Fault, double x, double y) { return x + y; }
DEVICE float add(Fault, float x, float y) { return x + y; }

DEVICE int64_t subtract(Fault at, int64_t x, int64_t y) {
    int64_t result;
    if (subtract_overflows(x, y, &result)) at(OVERFLOW_);
    return result;
}
DEVICE double subtract(Fault, double x, double y) { return x - y; }
DEVICE float subtract(Fault, float x, float y) { return x - y; }

DEVICE int64_t multiply(Fault at, int64_t x, int64_t y) {
    int64_t result;
    if (multiply_overflows(x, y, &result)) at(OVERFLOW_);
    return result;
}
DEVICE double multiply(Fault, double x, double y) { return x * y; }
DEVICE float multiply(Fault, float x, float y) { return x * y; }

DEVICE int64_t negate(Fault at, int64_t x) { return subtract(at, int64_t(0), x); }
DEVICE double negate(Fault, double x) { return -x; }
DEVICE float negate(Fault, float x) { return -x; }

DEVICE int64_t abs(Fault at, int64_t x) { return x < 0 ? negate(at, x) : x; }
DEVICE double abs(Fault, double x) { return fabs(x); }
DEVICE float abs(Fault, float x) { return float(fabs(double(x))); }

// ---- null where integers overflow -----------------------------------------------------------------------------------

DEVICE Maybe<int64_t> try_add(int64_t x, int64_t y) {
    int64_t result;
    const bool overflows = add_overflows(x, y, &result);
    return only_if(!overflows, result);
}
template <class T> DEVICE T try_add(T x, T y) { return x + y; }

DEVICE Maybe<int64_t> try_subtract(int64_t x, int64_t y) {
    int64_t result;
    const bool overflows = subtract_overflows(x, y, &result);
    return only_if(!overflows, result);
}
template <class T> DEVICE T try_subtract(T x, T y) { return x - y; }

DEVICE Maybe<int64_t> try_multiply(int64_t x, int64_t y) {
    int64_t result;
    const bool overflows = multiply_overflows(x, y, &result);
    return only_if(!overflows, result);
}
template <class T> DEVICE T try_multiply(T x, T y) { return x * y; }

// ---- division -------------------------------------------------------------------------------------------------------

template <class T> DEVICE double divide(T x, T y) { return double(x) / double(y); }

DEVICE Maybe<int64_t> int_divide(Fault at, int64_t x, int64_t y) {
    if (y == 0) return none<int64_t>();
    return some(y == -1 ? negate(at, x) : x / y);
}

// The least integer has no quotient by -1, but a remainder.
DEVICE Maybe<int64_t> modulo(Fault, int64_t x, int64_t y) {
    if (y == 0) return none<int64_t>();
    return some(y == -1 ? 0 : x % y);
}

// ---- signs and whole numbers ----------------------------------------------------------------------------------------

template <class T> DEVICE T sign(T x) { return is_nan(x) ? x : T((x > 0) - (x < 0)); }

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

// Floats where they are scaled by a power of ten.  What is scaled beyond the greatest float has no result.
template <class T> DEVICE T rounded_float(Fault at, T x, int64_t digits, double ten_to_digits) {
    const T power = T(ten_to_digits);
    if (!is_finite(x)) return x;
    if (digits < 0 && fabs(double(x)) <= power / 2) return x * 0;  // also where the quotient would vanish
    const T scaled = digits < 0 ? x / power : x * power, whole = T(rint(double(scaled)));
    if (is_finite(scaled) && whole == scaled) return x;
    const T result = digits > 0 ? whole / power : whole * power;
    if (!is_finite(result)) at(OVERFLOW_);
    return result;
}

// The nearest float32 of the exact decimal.  double holds products with 10^8, and of the quotients by it none lies so
// near to the middle between two float32 that rounding it twice would matter.  From 2^26 units on, and beyond 44
// places, float32 has no other value as near.
template <int DIGITS> DEVICE float rounded_single(Fault at, float x, double ten_to_digits) {
    constexpr int places = DIGITS < 0 ? -DIGITS : DIGITS;
    if (!is_finite(x) || x == 0 || DIGITS > 44) return x;
    if (DIGITS < -38) return x * 0;
    const double scaled = DIGITS < 0 ? double(x) / ten_to_digits : double(x) * ten_to_digits;
    if (fabs(scaled) >= 67108864.0) return x;
    float result;
    if constexpr (places <= 8) {
        result = float(DIGITS < 0 ? rint(scaled) * ten_to_digits : rint(scaled) / ten_to_digits);
    } else {
        constexpr uint128_t fives = five_to_the(places);
        const uint32_t bits = same_bits<uint32_t>(x), raised = bits >> 23 & 255;
        const uint128_t mantissa = (bits & 0x7fffff) | uint32_t(raised ? 0x800000 : 0);
        const int exponent = int(raised ? raised : 1) - 150;
        const uint128_t units = DIGITS > 0     ? shifted_to_nearest(mantissa * fives, -(exponent + DIGITS))
                                : exponent < 0 ? 0
                                               : nearest_count(mantissa << exponent, ten_to_the(places));
        result = DIGITS > 0 ? nearest_float<float>(units, fives, -DIGITS) : nearest_float<float>(units * fives, 1, places);
        if (x < 0) result = -result;
    }
    if (!is_finite(result)) at(OVERFLOW_);
    return result;
}
DEVICE double round(Fault at, double x) { return rounded_float(at, x, 0, 1); }
DEVICE float round(Fault at, float x) { return rounded_float(at, x, 0, 1); }

// ---- bits -----------------------------------------------------------------------------------------------------------

DEVICE Maybe<int64_t> shift_left(int64_t x, int64_t bits) {
    return bits == (bits & 63) ? some(int64_t(uint64_t(x) << bits)) : none<int64_t>();
}
DEVICE Maybe<int64_t> shift_right(int64_t x, int64_t bits) {
    return bits == (bits & 63) ? some(x >> bits) : none<int64_t>();
}

// NaN compares to nothing and stays.
template <class T> DEVICE T clip(T x, T low, T high) { return x < low ? low : x > high ? high : x; }
