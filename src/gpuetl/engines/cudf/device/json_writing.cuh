// Values of the language as JSON; numbers as DuckDB writes them.
#pragma once
#include "float_text.cuh"
#include "json.cuh"

namespace json {

// With a point always; with an exponent below 0.000001 and from 10 to the 21.
template <class OUT, class FAULT> DEVICE void put_value(OUT& out, FAULT at, double value) {
    if (value - value != 0.0) {
        at(NO_JSON_NUMBER);
        return;
    }
    const Shortest number = shortest(value);
    if (number.negative) out.put('-');
    char buffer[20];
    Bytes end{buffer};
    put_digits(end, number.digits);
    const int size = int(end.at - buffer), point = size + number.exponent;
    const String digits{buffer, size};
    if (point <= -6 || point > 21) {
        out.put(digits[0]);
        if (size > 1) out.put('.');
        out.put_few(digits.cut(1, size));
        out.put('e');
        if (point <= 0) out.put('-');
        put_digits(out, uint64_t(point > 0 ? point - 1 : 1 - point));
        return;
    }
    if (point <= 0) {
        out.put_few(String{"0.00000", 2 - point});
        out.put_few(digits);
        return;
    }
    out.put_few(digits.cut(0, point < size ? point : size));
    for (int i = size; i < point; ++i) out.put('0');
    out.put('.');
    if (point < size) out.put_few(digits.cut(point, size));
    else out.put('0');
}
template <class OUT, class FAULT> DEVICE void put_value(OUT& out, FAULT at, float value) { put_value(out, at, double(value)); }
template <class OUT, class FAULT> DEVICE void put_value(OUT& out, FAULT, bool value) { write_bool(out, value); }
template <class OUT, class FAULT> DEVICE void put_value(OUT& out, FAULT, String text) {
    out.put('"');
    for (int64_t at = 0; at < text.size; ++at) {
        const uint8_t byte = uint8_t(text[at]);
        if (byte < 0x20 || byte == '"' || byte == '\\') put_escaped(out, byte);
        else out.put(char(byte));
    }
    out.put('"');
}
template <class OUT, class FAULT, class T> DEVICE void put_value(OUT& out, FAULT, T value) { write_integer(out, value); }

template <class OUT, class FAULT, class T> DEVICE void put_value_or_null(OUT& out, FAULT at, Maybe<T> value) {
    if (value.valid) put_value(out, at, value.value);
    else out.put(String{"null", 4});
}
template <class OUT> DEVICE void put_text_or_null(OUT& out, Maybe<String> text) {
    out.put(text.valid ? text.value : String{"null", 4});
}

}  // namespace json
