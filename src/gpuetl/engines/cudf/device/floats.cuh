// What floats are, told by their arithmetic alone.
#pragma once

template <class T> DEVICE bool is_nan(T x) { return x != x; }
template <class T> DEVICE bool is_finite(T x) { return x - x == 0; }
template <class T> DEVICE bool is_infinite(T x) { return !is_finite(x) && !is_nan(x); }

// 2^exponent for the exponents of normal float64s.
DEVICE double power_of_two(int exponent) { return double_of_bits(uint64_t(1023 + exponent) << 52); }
