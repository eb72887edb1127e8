// Comparison of decimals of two scales, which gain digits up to the greater one: -1, 0 or 1.
#pragma once
#include "decimals.cuh"
#include "logic.cuh"

// Only one of them gains, so BEYOND is greater than the other.
template <int GAINED_X, int GAINED_Y> DEVICE int compared(int128_t x, int128_t y) {
    static_assert(GAINED_X == 0 || GAINED_Y == 0, "the greater scale is one operand's");
    if ((x < 0) != (y < 0)) return x < 0 ? -1 : 1;
    constexpr uint128_t to_x = ten_to_the(GAINED_X), to_y = ten_to_the(GAINED_Y);
    const uint128_t left = times(magnitude(x), to_x), right = times(magnitude(y), to_y);
    const int of_magnitudes = (left > right) - (left < right);
    return x < 0 ? -of_magnitudes : of_magnitudes;
}

template <int GAINED_X, int GAINED_Y> DEVICE bool is_not_distinct(Maybe<int128_t> x, Maybe<int128_t> y) {
    return x.valid == y.valid && (!x.valid || compared<GAINED_X, GAINED_Y>(x.value, y.value) == 0);
}
template <int GAINED_X, int GAINED_Y> DEVICE bool is_distinct(Maybe<int128_t> x, Maybe<int128_t> y) {
    return !is_not_distinct<GAINED_X, GAINED_Y>(x, y);
}
template <int GAINED_X, int GAINED_Y> DEVICE Maybe<bool> is_equal(Maybe<int128_t> x, Maybe<int128_t> y) {
    return only_if(x.valid && y.valid, compared<GAINED_X, GAINED_Y>(x.value, y.value) == 0);
}
template <int GAINED_X, int GAINED_Y> DEVICE Maybe<int128_t> null_if_equal(Maybe<int128_t> x, Maybe<int128_t> y) {
    return only_if(x.valid && !(y.valid && compared<GAINED_X, GAINED_Y>(x.value, y.value) == 0), x.value);
}
