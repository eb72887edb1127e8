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
DEVICE Maybe<double> modulo(Fault, double x, double y) { return some(fmod(x, y)); }
DEVICE Maybe<float> modulo(Fault, float x, float y) { return some(float(fmod(double(x), double(y)))); }

// ---- signs and bits -------------------------------------------------------------------------------------------------

template <class T> DEVICE T sign(T x) { return is_nan(x) ? x : T((x > 0) - (x < 0)); }

DEVICE Maybe<int64_t> shift_left(int64_t x, int64_t bits) {
    return bits == (bits & 63) ? some(int64_t(uint64_t(x) << bits)) : none<int64_t>();
}
DEVICE Maybe<int64_t> shift_right(int64_t x, int64_t bits) {
    return bits == (bits & 63) ? some(x >> bits) : none<int64_t>();
}

// NaN compares to nothing and stays.
template <class T> DEVICE T clip(T x, T low, T high) { return x < low ? low : x > high ? high : x; }
