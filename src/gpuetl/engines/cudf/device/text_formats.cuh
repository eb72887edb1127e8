// Values written by a field of a format.
#pragma once
#include "number_text.cuh"
#include "strings.cuh"

// How a value is written; `align` is '<', '>' or '^', and any other for zeros between the sign and the digits.
struct TextField {
    String fill;
    char align;
    bool plus;
    char separator;  // between thousands, or 0
    int64_t width;
    int precision;
};

// Writes digits, of whole numbers with a separator before each three.
template <class OUT> DEVICE void put_grouped(OUT& out, String digits, char separator) {
    for (int64_t at = 0; at < digits.size; ++at) {
        if (separator && at && (digits.size - at) % 3 == 0) out.put(separator);
        out.put(digits[at]);
    }
}

// Writes what a value is in all, from its sign and its text, to the width of the field.
template <class OUT> DEVICE void put_field(OUT& out, TextField field, String sign, String whole, String rest, int64_t points) {
    const int64_t separators = field.separator ? (whole.size - 1) / 3 : 0;
    const int64_t missing = field.width - points - separators;
    const int64_t before = missing <= 0 || field.align == '<' ? 0 : field.align == '^' ? missing / 2 : missing;
    const bool zeros = field.align != '<' && field.align != '>' && field.align != '^';
    if (zeros) out.put_few(sign);
    for (int64_t i = 0; i < before; ++i) {
        if (zeros) out.put('0');
        else out.put(field.fill);
    }
    if (!zeros) out.put_few(sign);
    put_grouped(out, whole, field.separator);
    out.put(rest);
    for (int64_t i = before; i < missing; ++i) out.put(field.fill);
}

DEVICE String sign_of(bool negative, bool plus) {
    return negative ? String{"-", 1} : plus ? String{"+", 1} : String{"", 0};
}

template <class OUT, class FAULT> DEVICE void put_formatted(OUT& out, FAULT, String text, TextField field) {
    const String kept = field.precision < 0 ? text : text.cut(0, after_code_points(text, 0, field.precision));
    put_field(out, field, String{"", 0}, String{"", 0}, kept, length(kept));
}

template <class OUT, class FAULT, class T> DEVICE void put_formatted(OUT& out, FAULT, T number, TextField field) {
    char buffer[20];
    Bytes end{buffer};
    put_digits(end, number < T(0) ? 0 - uint64_t(number) : uint64_t(number));
    const String digits{buffer, end.at - buffer}, sign = sign_of(number < T(0), field.plus);
    put_field(out, field, sign, digits, String{"", 0}, sign.size + digits.size);
}

// In base 16, 8 or 2; the greatest has 64 digits.
template <int BASE, class OUT, class T> DEVICE void put_in_base(OUT& out, T number, TextField field, char ten) {
    char buffer[64];
    int at = 64;
    uint64_t rest = number < T(0) ? 0 - uint64_t(number) : uint64_t(number);
    do {
        const int digit = int(rest % BASE);
        buffer[--at] = char(digit < 10 ? '0' + digit : ten + digit - 10);
        rest /= BASE;
    } while (rest);
    const String digits{buffer + at, 64 - at}, sign = sign_of(number < T(0), field.plus);
    put_field(out, field, sign, digits, String{"", 0}, sign.size + digits.size);
}

// A float is a whole number times a power of two: times ten to the precision it has an exact quotient and rest.
template <class OUT, class FAULT> DEVICE void put_formatted(OUT& out, FAULT at, double value, TextField field) {
    const bool zeros = field.align != '<' && field.align != '>' && field.align != '^';
    const uint64_t bits = bits_of(value), fraction = bits & ((uint64_t(1) << 52) - 1);
    const int power = int(bits >> 52 & 0x7FF);
    const String sign = sign_of(bits >> 63, field.plus);
    if (power == 0x7FF) {
        if (zeros) at(NOT_FORMATTED);
        const String text = fraction ? String{"nan", 3} : String{"inf", 3};
        const String own = fraction ? sign_of(false, field.plus) : sign;
        put_field(out, field, own, String{"", 0}, text, own.size + 3);
        return;
    }
    const uint64_t digits = power ? fraction | uint64_t(1) << 52 : fraction;
    const int exponent = (power ? power : 1) - 1075;
    uint128_t unit = 1, scaled = digits;
    for (int i = 0; i < field.precision; ++i) unit *= 10;
    uint128_t whole = 0, part = 0;
    if (value >= 1e38 || value <= -1e38) {
        at(NOT_FORMATTED);
        return;
    }
    if (exponent >= 0) {
        whole = scaled << exponent;
    } else {
        scaled *= unit;
        uint128_t rounded = 0;
        if (exponent > -127) {
            const uint128_t one = uint128_t(1) << -exponent, rest = scaled & (one - 1), half = one >> 1;
            rounded = scaled >> -exponent;
            if (rest > half || (rest == half && rounded & 1)) ++rounded;
        }
        whole = rounded / unit, part = rounded % unit;
    }
    char buffer[40], behind[17];
    Bytes end{buffer}, last{behind};
    put_long_digits(end, whole);
    if (field.precision) {
        last.put('.');
        put_long_digits(last, part, field.precision);
    }
    const String before{buffer, end.at - buffer}, rest{behind, last.at - behind};
    put_field(out, field, sign, before, rest, sign.size + before.size + rest.size);
}
