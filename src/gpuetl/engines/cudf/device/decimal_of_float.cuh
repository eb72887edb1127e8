// Floats as the decimals that they are written as.
#pragma once
#include "casts.cuh"
#include "float_text.cuh"

// The shortest digits have no zeros at their end, so digits beyond the scale are lost.
template <int DIGITS, int SCALE, class T> DEVICE Outcome<int128_t> decimal_of_float(T value) {
    constexpr uint128_t limit = ten_to_the(DIGITS);
    if (!is_finite(value)) return refused<int128_t>(NO_NUMBER);
    const auto number = shortest(value);
    const int zeros = number.exponent + SCALE;
    if (number.digits == 0) return done(int128_t(0));
    if (zeros < 0) return refused<int128_t>(NOT_EXACT);
    if (zeros >= DIGITS) return refused<int128_t>(TOO_MANY_DIGITS);
    const uint128_t units = times(number.digits, ten_to_the(zeros));
    return units < limit ? done(with_sign(number.negative, units)) : refused<int128_t>(TOO_MANY_DIGITS);
}
