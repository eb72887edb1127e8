// Casts: exact, or the reason why not.
#pragma once
#include "floats.cuh"
#include "decimals.cuh"

// What came of a conversion: a value, or a reason that is not 0.
template <class T>
struct Outcome {
    T value;
    Reason reason;
};

template <class T> DEVICE Outcome<T> done(T value) { return {value, Reason(0)}; }
template <class T> DEVICE Outcome<T> refused(Reason reason) { return {T{}, reason}; }

// A strict cast tells of a value that it cannot convert, a lenient one gives null.
template <class T> DEVICE T strict(Fault at, Outcome<T> outcome) {
    if (outcome.reason) at(outcome.reason);
    return outcome.value;
}
template <class T> DEVICE Maybe<T> lenient(Outcome<T> outcome) { return {outcome.value, !outcome.reason}; }

// ---- truth values, integers and floats ------------------------------------------------------------------------------

template <class FROM> DEVICE Outcome<bool> truth_cast(FROM value) {
    return value == FROM(0) ? done(false) : value == FROM(1) ? done(true) : refused<bool>(NOT_0_OR_1);
}

// Whether an integer of any width is one of another, signs compared as numbers.
template <class TO, class FROM> DEVICE Outcome<TO> integer_cast(FROM value) {
    const TO result = TO(value);
    if (FROM(result) != value || (result < TO(0)) != (value < FROM(0))) return refused<TO>(NOT_EXACT);
    return done(result);
}

// Both bounds are powers of two, and so floats.
template <class TO> DEVICE Outcome<TO> whole_cast(double value) {
    const double half = power_of_two(8 * sizeof(TO) - 1), least = is_signed<TO>::value ? -half : 0;
    const double beyond = is_signed<TO>::value ? half : 2 * half;
    if (!(value >= least && value < beyond && trunc(value) == value)) return refused<TO>(NOT_EXACT);
    return done(TO(value));
}

// A float holds an integer whose bits, from the first to the last one that is set, are no more than its own.
template <class TO, class FROM> DEVICE Outcome<TO> float_cast(FROM value) {
    constexpr uint64_t beyond = uint64_t(1) << (is_same<TO, float>::value ? 24 : 53);
    const uint64_t bits = uint64_t(magnitude(value));
    if (bits > beyond && bits / (bits & -bits) >= beyond) return refused<TO>(NOT_EXACT);
    return done(TO(value));
}
template <class TO> DEVICE Outcome<TO> narrow_cast(double value) {
    const TO result = TO(value);
    return is_finite(value) && !is_finite(result) ? refused<TO>(BEYOND_FLOAT) : done(result);
}

// ---- decimals; an integer is one of scale 0 -------------------------------------------------------------------------

// GAINED digits after the point; fewer than before where it is negative.
template <int DIGITS, int GAINED> DEVICE Outcome<int128_t> decimal_cast(int128_t value) {
    constexpr uint128_t limit = ten_to_the(DIGITS), unit = ten_to_the(GAINED < 0 ? -GAINED : GAINED);
    uint128_t units = magnitude(value);
    if (GAINED < 0 && units % unit) return refused<int128_t>(NOT_EXACT);
    units = GAINED < 0 ? units / unit : times(units, unit);
    return units < limit ? done(with_sign(value < 0, units)) : refused<int128_t>(TOO_MANY_DIGITS);
}
template <int SCALE> DEVICE Outcome<bool> truth_of_decimal(int128_t value) {
    return value == 0 ? done(false) : value == int128_t(ten_to_the(SCALE)) ? done(true) : refused<bool>(NOT_0_OR_1);
}
template <class TO, int SCALE> DEVICE Outcome<TO> integer_of_decimal(int128_t value) {
    const Outcome<int128_t> whole = decimal_cast<MOST_DIGITS, -SCALE>(value);
    return whole.reason ? refused<TO>(whole.reason) : integer_cast<TO>(whole.value);
}
