// Bytes as text and back: hexadecimal digits, base64, UTF-8, UUIDs.
#pragma once
#include "utf8.cuh"

DEVICE char hex_digit(int value, char ten) { return char(value < 10 ? '0' + value : ten + value - 10); }
DEVICE int hex_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    const char lower = char(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}
// The byte that two digits from `at` on stand for; negative where one is no digit.
DEVICE int hex_byte(String text, int64_t at) {
    const int high = hex_value(text[at]), low = hex_value(text[at + 1]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

template <class OUT> DEVICE void put_bytes(OUT& out, String bytes) { out.put(bytes); }

template <class OUT> DEVICE void write_hex(OUT& out, String bytes) {
    for (int64_t at = 0; at < bytes.size; ++at) {
        const int byte = uint8_t(bytes[at]);
        out.put(hex_digit(byte >> 4, 'A'));
        out.put(hex_digit(byte & 15, 'A'));
    }
}
// Of an integer the digits of its bits.
template <class OUT> DEVICE void write_hex(OUT& out, int64_t number) {
    int digits = 1;
    while (digits < 16 && uint64_t(number) >> 4 * digits) ++digits;
    while (digits--) out.put(hex_digit(int(uint64_t(number) >> 4 * digits & 15), 'A'));
}
DEVICE void write_hex(Measure& out, String bytes) { out.size += 2 * bytes.size; }

template <class OUT> DEVICE void unhex(OUT& out, Fault fault, String text) {
    bool good = text.size % 2 == 0;
    for (int64_t at = 0; good && at < text.size; at += 2) {
        const int byte = hex_byte(text, at);
        good = byte >= 0;
        if (good) out.put(char(byte));
    }
    if (!good) fault(NOT_HEX);
}

template <class OUT> DEVICE void decode(OUT& out, Fault fault, String bytes) {
    if (!is_utf8(bytes)) fault(NOT_UTF8);
    else out.put(bytes);
}

// ---- base64 ---------------------------------------------------------------------------------------------------------

DEVICE char base64_digit(int value) {
    if (value < 26) return char('A' + value);
    if (value < 52) return char('a' + value - 26);
    return char(value < 62 ? '0' + value - 52 : value == 62 ? '+' : '/');
}
DEVICE int base64_value(char digit) {
    if (digit >= 'A' && digit <= 'Z') return digit - 'A';
    if (digit >= 'a' && digit <= 'z') return digit - 'a' + 26;
    if (digit >= '0' && digit <= '9') return digit - '0' + 52;
    return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

template <class OUT> DEVICE void to_base64(OUT& out, String bytes) {
    for (int64_t at = 0; at < bytes.size; at += 3) {
        const int64_t left = bytes.size - at;
        const int first = uint8_t(bytes[at]), second = left > 1 ? uint8_t(bytes[at + 1]) : 0;
        const int third = left > 2 ? uint8_t(bytes[at + 2]) : 0, bits = first << 16 | second << 8 | third;
        out.put(base64_digit(bits >> 18));
        out.put(base64_digit(bits >> 12 & 63));
        out.put(left > 1 ? base64_digit(bits >> 6 & 63) : '=');
        out.put(left > 2 ? base64_digit(bits & 63) : '=');
    }
}
DEVICE void to_base64(Measure& out, String bytes) { out.size += (bytes.size + 2) / 3 * 4; }

template <class OUT> DEVICE void from_base64(OUT& out, Fault fault, String text) {
    int64_t size = text.size;
    bool good = size % 4 == 0;
    for (int i = 0; good && i < 2 && size && text[size - 1] == '='; ++i) --size;
    int bits = 0, count = 0;
    for (int64_t at = 0; good && at < size; ++at) {
        const int value = base64_value(text[at]);
        good = value >= 0;
        bits = (bits << 6 | value) & 0xFFFF;
        count += 6;
        if (good && count >= 8) {
            count -= 8;
            out.put(char(bits >> count & 255));
        }
    }
    if (!good) fault(NOT_BASE64);
}

// ---- text with escapes such as \xAA -----------------------------------------------------------------------------------

DEVICE bool is_plain(uint8_t byte) { return byte >= 32 && byte < 127 && byte != '\\' && byte != '\'' && byte != '"'; }

template <class OUT> DEVICE void write_escaped(OUT& out, String bytes) {
    for (int64_t at = 0; at < bytes.size; ++at) {
        const uint8_t byte = uint8_t(bytes[at]);
        if (!is_plain(byte)) {
            out.put('\\');
            out.put('x');
            out.put(hex_digit(byte >> 4, 'A'));
        }
        out.put(is_plain(byte) ? char(byte) : hex_digit(byte & 15, 'A'));
    }
}

// Whether a text is ASCII with escapes; its bytes are written up to where it is not.
template <class OUT> DEVICE bool read_escaped(OUT& out, String text) {
    for (int64_t at = 0; at < text.size; ++at) {
        const bool escaped = text[at] == '\\';
        if (escaped && (at + 3 >= text.size || text[at + 1] != 'x')) return false;
        const int byte = escaped ? hex_byte(text, at + 2) : uint8_t(text[at]) < 128 ? text[at] : -1;
        if (byte < 0) return false;
        out.put(char(byte));
        at += 3 * escaped;
    }
    return true;
}
template <class OUT> DEVICE void strict_escaped(OUT& out, Fault fault, String text) {
    if (!read_escaped(out, text)) fault(NOT_A_VALUE);
}

// Whether bytes are so many; they are written where they are.
template <class OUT> DEVICE bool put_so_many(OUT& out, String bytes, int64_t count) {
    if (bytes.size == count) out.put(bytes);
    return bytes.size == count;
}
template <class OUT> DEVICE void strict_so_many(OUT& out, Fault fault, String bytes, int64_t count) {
    if (!put_so_many(out, bytes, count)) fault(NOT_EXACT);
}

// ---- UUIDs ----------------------------------------------------------------------------------------------------------

constexpr int UUID_BYTES = 16, UUID_CHARACTERS = 36;
DEVICE bool comes_before_hyphen(int byte) { return byte == 3 || byte == 5 || byte == 7 || byte == 9; }

template <class OUT> DEVICE void write_uuid(OUT& out, String bytes) {
    for (int at = 0; at < UUID_BYTES; ++at) {
        const int byte = uint8_t(bytes[at]);
        out.put(hex_digit(byte >> 4, 'a'));
        out.put(hex_digit(byte & 15, 'a'));
        if (comes_before_hyphen(at)) out.put('-');
    }
}
DEVICE void write_uuid(Measure& out, String) { out.size += UUID_CHARACTERS; }

// Whether a text is a UUID; its bytes are written up to where it is none.
template <class OUT> DEVICE bool read_uuid(OUT& out, String text) {
    if (text.size != UUID_CHARACTERS) return false;
    int at = 0;
    for (int place = 0; place < UUID_BYTES; ++place) {
        const int byte = hex_byte(text, at);
        if (byte < 0) return false;
        out.put(char(byte));
        at += 2;
        if (comes_before_hyphen(place) && text[at++] != '-') return false;
    }
    return true;
}
template <class OUT> DEVICE void strict_uuid(OUT& out, Fault fault, String text) {
    if (!read_uuid(out, text)) fault(NOT_A_VALUE);
}
