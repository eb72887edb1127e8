// Truth values, integers and decimals as strings, and back; what of a text is a number.
#pragma once
#include "casts.cuh"

DEVICE bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }
DEVICE bool has_sign(String text) { return text.size && (text[0] == '-' || text[0] == '+'); }
DEVICE char lower_letter(char byte) { return byte >= 'A' && byte <= 'Z' ? char(byte | 32) : byte; }

DEVICE bool equals_in_any_case(String text, String lower) {
    if (text.size != lower.size) return false;
    for (int64_t i = 0; i < text.size; ++i)
        if (lower_letter(text[i]) != lower[i]) return false;
    return true;
}

// ---- written --------------------------------------------------------------------------------------------------------

constexpr uint64_t TEN_TO_19 = 10000000000000000000ULL;

// Writes a number with at least so many digits, 20 at most.
template <class OUT> DEVICE void put_digits(OUT& out, uint64_t value, int least = 1) {
    char digits[20];
    int at = 20;
    for (; value || 20 - at < least; value /= 10) digits[--at] = char('0' + value % 10);
    out.put_few(String{digits + at, 20 - at});
}

// The same for 38 digits.
template <class OUT> DEVICE void put_long_digits(OUT& out, uint128_t value, int least = 1) {
    const uint64_t upper = uint64_t(value / TEN_TO_19), lower = uint64_t(value % TEN_TO_19);
    if (upper || least > 19) put_digits(out, upper, least - 19);
    put_digits(out, lower, upper || least > 19 ? 19 : least);
}

template <class OUT> DEVICE void write_bool(OUT& out, bool value) {
    out.put(value ? String{"true", 4} : String{"false", 5});
}

template <class OUT, class T> DEVICE void write_integer(OUT& out, T value) {
    if (value < T(0)) out.put('-');
    put_digits(out, value < T(0) ? 0 - uint64_t(value) : uint64_t(value));
}

// Writes all digits of the scale behind the point; `one` is 10 to the scale.
template <class OUT> DEVICE void write_decimal(OUT& out, int128_t units, int128_t one, int scale) {
    if (units < 0) out.put('-');
    const uint128_t magnitude = units < 0 ? -uint128_t(units) : uint128_t(units);
    put_long_digits(out, magnitude / uint128_t(one));
    if (scale == 0) return;
    out.put('.');
    put_long_digits(out, magnitude % uint128_t(one), scale);
}

// Spaces around a number do not count.
DEVICE bool is_around(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
DEVICE String without_spaces(String text) {
    int64_t start = 0, end = text.size;
    while (start < end && is_around(text[start])) ++start;
    while (end > start && is_around(text[end - 1])) --end;
    return text.cut(start, end);
}

// ---- read -----------------------------------------------------------------------------------------------------------

DEVICE bool is_one_of(String text, String a, String b, String c, String d, String e) {
    return equals_in_any_case(text, a) || equals_in_any_case(text, b) || equals_in_any_case(text, c) ||
           equals_in_any_case(text, d) || equals_in_any_case(text, e);
}
DEVICE Outcome<bool> read_bool(String text) {
    if (is_one_of(text, String{"true", 4}, String{"t", 1}, String{"yes", 3}, String{"y", 1}, String{"1", 1})) return done(true);
    if (is_one_of(text, String{"false", 5}, String{"f", 1}, String{"no", 2}, String{"n", 1}, String{"0", 1})) return done(false);
    return refused<bool>(NOT_A_VALUE);
}

// An integer is decimal digits, perhaps behind a sign; an unsigned one behind a minus is 0.
template <class T> DEVICE Outcome<T> read_integer(String text) {
    const bool sign = has_sign(text), negative = sign && text[0] == '-';
    const uint64_t greatest = ~0ULL >> (64 - 8 * sizeof(T) + is_signed<T>::value);
    const uint64_t most = !negative ? greatest : is_signed<T>::value ? greatest + 1 : 0;
    uint64_t value = 0;
    if (text.size == sign) return refused<T>(NOT_A_VALUE);
    for (int64_t at = sign; at < text.size; ++at) {
        if (!is_digit(text[at])) return refused<T>(NOT_A_VALUE);
        const uint64_t digit = uint64_t(text[at] - '0');
        if (digit > most || value > (most - digit) / 10) return refused<T>(NOT_A_VALUE);
        value = 10 * value + digit;
    }
    return done(T(negative ? 0 - value : value));
}

// A number in a text: a sign or none, digits with or without a point, an exponent or none.
struct Number {
    bool valid, negative;
    String digits;       // from the first to the last digit that is not 0, perhaps with the point in between
    int64_t count;     // of these digits; 0 for zero
    int64_t exponent;  // the number is these digits, as an integer, times 10 to this
};

// Reads an integer with a sign or none, to about 10^16; `valid` becomes whether it is one.
DEVICE int64_t scan_exponent(String text, bool& valid) {
    const bool sign = has_sign(text);
    int64_t value = 0;
    valid = text.size > sign;
    for (int64_t at = sign; at < text.size && valid; ++at) {
        valid = is_digit(text[at]);
        if (value < 1000000000000000) value = 10 * value + (text[at] - '0');
    }
    return sign && text[0] == '-' ? -value : value;
}

DEVICE Number scan_number(String text) {
    const bool sign = has_sign(text);
    int64_t at = sign, point = -1, first = -1, last = -1, digits = 0, exponent = 0;
    for (; at < text.size && (is_digit(text[at]) || (text[at] == '.' && point < 0)); ++at) {
        if (text[at] == '.') {
            point = at;
            continue;
        }
        ++digits;
        if (text[at] != '0') {
            first = first < 0 ? at : first;
            last = at;
        }
    }
    bool valid = digits > 0;
    point = point < 0 ? at : point;
    if (at < text.size && valid) {
        valid = lower_letter(text[at]) == 'e';
        if (valid) exponent = scan_exponent(text.cut(at + 1, text.size), valid);
    }
    const bool negative = sign && text[0] == '-';
    if (!valid || first < 0) return {valid, negative, {text.data, 0}, 0, 0};
    const int64_t place = last < point ? point - last - 1 : point - last, within = first < point && point < last;
    return {valid, negative, text.cut(first, last + 1), last - first + 1 - within, exponent + place};
}

// Calls `take` with each of the first `most` digits of a number.
template <class TAKE> DEVICE void for_each_digit(const Number& number, int64_t most, TAKE take) {
    for (int64_t at = 0, taken = 0; at < number.digits.size && taken < most; ++at) {
        if (number.digits[at] == '.') continue;
        take(uint32_t(number.digits[at] - '0'));
        ++taken;
    }
}

// A number that a decimal holds exactly, as its units.
DEVICE Outcome<int128_t> read_decimal(String text, int precision, int scale) {
    const Number number = scan_number(text);
    if (!number.valid) return refused<int128_t>(NOT_A_VALUE);
    if (number.count == 0) return done(int128_t(0));
    const int64_t zeros = number.exponent + scale;
    if (zeros < 0) return refused<int128_t>(NOT_EXACT);
    if (number.count + zeros > precision) return refused<int128_t>(TOO_MANY_DIGITS);
    int128_t units = 0;
    for_each_digit(number, 38, [&](uint32_t digit) { units = 10 * units + digit; });
    for (int64_t i = 0; i < zeros; ++i) units *= 10;
    return done(number.negative ? -units : units);
}
