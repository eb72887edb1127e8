// Mathematics: the machine's library in float64; what is float32 is rounded once, at the end.
#pragma once
#include "floats.cuh"

template <class T> DEVICE T radians(T degrees) { return degrees * T(0.017453292519943295); }
template <class T> DEVICE T degrees(T radians) { return radians * T(57.29577951308232); }

DEVICE double logarithm(double base, double x) { return log10(x) / log10(base); }
DEVICE double floor_divide(double x, double y) { return floor(x / y); }
DEVICE double floor_modulo(double x, double y) { return x - floor(x / y) * y; }
DEVICE double even(double x) {
    const double whole = x < 0 ? -ceil(-x) : ceil(x);
    return floor(whole / 2) * 2 == whole || is_nan(whole) ? whole : x < 0 ? whole - 1 : whole + 1;
}
DEVICE bool has_sign_bit(double x) { return same_bits<uint64_t>(x) >> 63; }
DEVICE bool has_sign_bit(float x) { return same_bits<uint32_t>(x) >> 31; }

// The float whose bits are one more or one less.
template <class T, class BITS> DEVICE T neighbour(T x, T y) {
    if (is_nan(x) || is_nan(y)) return x + y;
    if (x == y) return y;
    const BITS bits = same_bits<BITS>(x);
    if (x == 0) return same_bits<T>(BITS(BITS(has_sign_bit(y)) << (8 * sizeof(BITS) - 1) | 1));
    return same_bits<T>(BITS((x < y) == (x > 0) ? bits + 1 : bits - 1));
}
DEVICE double next_float(double x, double y) { return neighbour<double, uint64_t>(x, y); }
DEVICE float next_float(float x, float y) { return neighbour<float, uint32_t>(x, y); }

// CUDA's own hypot is infinite near the greatest float: there, halves are taken, or the greater one where the other
// one cannot be seen beside it.
DEVICE double hypotenuse(double x, double y) {
    const double great = fabs(x) > fabs(y) ? fabs(x) : fabs(y), small = fabs(x) > fabs(y) ? fabs(y) : fabs(x);
    if (!(great > 1e300)) return hypot(x, y);
    return small < great * 1e-9 ? great : 2 * hypot(x / 2, y / 2);
}
