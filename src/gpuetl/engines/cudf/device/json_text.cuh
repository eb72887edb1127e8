// JSON read byte by byte: values, and whether they are as RFC 8259 writes them.
#pragma once
#include "rows.cuh"

namespace json {

// What a value is.  A string is ESCAPED where it has backslashes.
enum Kind : uint8_t { MISSING, NIL, STRING, ESCAPED, INTEGER, NUMBER, BOOLEAN, OBJECT, ARRAY };

// The open containers, the innermost last: whether each is an object.
struct Levels {
    static constexpr int MOST = 64;
    uint64_t objects = 0;
    int depth = 0;

    DEVICE bool open(bool object) {
        objects = objects << 1 | object;
        return ++depth <= MOST;
    }
    DEVICE bool in_object() const { return objects & 1; }
    DEVICE void close() { objects >>= 1, --depth; }
};
struct ManyLevels {
    static constexpr int MOST = 256;
    uint64_t objects[MOST / 64];
    int depth = 0;

    DEVICE bool open(bool object) {
        if (depth == MOST) return false;
        const uint64_t bit = uint64_t(1) << (depth & 63);
        uint64_t& word = objects[depth++ >> 6];
        word = object ? word | bit : word & ~bit;
        return true;
    }
    DEVICE bool in_object() const { return depth && objects[(depth - 1) >> 6] >> ((depth - 1) & 63) & 1; }
    DEVICE void close() { --depth; }
};

// Where a value stands.  Of a string: its first byte after the quote, and its size without escapes.
struct Value {
    int32_t start = 0;
    int32_t size = 0;
    Kind kind = MISSING;
};

DEVICE bool is_digit(int c) { return c >= '0' && c <= '9'; }
DEVICE bool is_blank(uint8_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
DEVICE int hex_digit(int c) {
    if (is_digit(c)) return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
DEVICE int utf8_size(uint32_t code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }

// A place in a text.  Functions return false where the text is not JSON; then the place is of no use.
struct Scanner {
    const uint8_t* text;
    int32_t at;
    int32_t end;

    DEVICE int peek() const { return at < end ? text[at] : -1; }
    DEVICE bool accept(int c) {
        if (peek() != c) return false;
        ++at;
        return true;
    }
    DEVICE void skip_blanks() {
        while (at < end && is_blank(text[at])) ++at;
    }
    DEVICE bool digits() {
        const int32_t start = at;
        while (is_digit(peek())) ++at;
        return at > start;
    }

    // Four hexadecimal digits of an escape; -1 for others.
    DEVICE int32_t code_unit() {
        if (end - at < 4) return -1;
        int32_t code = 0;
        for (int i = 0; i < 4; ++i) {
            const int digit = hex_digit(text[at++]);
            if (digit < 0) return -1;
            code = code << 4 | digit;
        }
        return code;
    }

    // The character of an escape whose backslash has been read; -1 for none, such as half of a surrogate pair.
    DEVICE int32_t escape() {
        const int c = peek();
        ++at;
        switch (c) {
            case '"': case '\\': case '/': return c;
            case 'b': return '\b';
            case 'f': return '\f';
            case 'n': return '\n';
            case 'r': return '\r';
            case 't': return '\t';
            case 'u': break;
            default: return -1;
        }
        const int32_t first = code_unit();
        if (first < 0xD800 || first > 0xDFFF) return first;
        if (first > 0xDBFF || !accept('\\') || !accept('u')) return -1;
        const int32_t second = code_unit();
        if (second < 0xDC00 || second > 0xDFFF) return -1;
        return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
    }

    DEVICE bool string(Value& value) {
        if (!accept('"')) return false;
        value = {at, 0, STRING};
        while (at < end) {
            const uint8_t c = text[at++];
            if (c == '"') return true;
            if (c < 0x20) return false;
            if (c != '\\') {
                ++value.size;
                continue;
            }
            const int32_t code = escape();
            if (code < 0) return false;
            value.kind = ESCAPED, value.size += utf8_size(uint32_t(code));
        }
        return false;
    }

    DEVICE bool number(Value& value) {
        value = {at, 0, INTEGER};
        accept('-');
        if (!accept('0') && !digits()) return false;
        if (accept('.')) {
            value.kind = NUMBER;
            if (!digits()) return false;
        }
        if (peek() == 'e' || peek() == 'E') {
            ++at, value.kind = NUMBER;
            if (!accept('-')) accept('+');
            if (!digits()) return false;
        }
        value.size = at - value.start;
        return true;
    }

    DEVICE bool word(const char* name, Kind kind, Value& value) {
        value = {at, 0, kind};
        for (; *name; ++name) {
            if (!accept(uint8_t(*name))) return false;
        }
        value.size = at - value.start;
        return true;
    }

    DEVICE bool scalar(Value& value) {
        switch (peek()) {
            case '"': return string(value);
            case 't': return word("true", BOOLEAN, value);
            case 'f': return word("false", BOOLEAN, value);
            case 'n': return word("null", NIL, value);
            default: return number(value);
        }
    }

    // The key of an object's member, with the colon and blanks behind it.
    DEVICE bool key(Value& name) {
        if (!string(name)) return false;
        skip_blanks();
        if (!accept(':')) return false;
        skip_blanks();
        return true;
    }

    // An object or array with all that is in it.
    template <class LEVELS> DEVICE bool container(Value& value) {
        LEVELS levels;
        Value inner;
        value = {at, 0, peek() == '{' ? OBJECT : ARRAY};
        for (;;) {
            const int c = peek();
            if (c == '{' || c == '[') {
                if (!levels.open(c == '{')) return false;
                ++at;
                skip_blanks();
                if (peek() != (c == '{' ? '}' : ']')) {
                    if (c == '{' && !key(inner)) return false;
                    continue;
                }
            } else {
                if (!scalar(inner)) return false;
                skip_blanks();
            }
            while (levels.depth && accept(levels.in_object() ? '}' : ']')) {
                levels.close();
                if (levels.depth) skip_blanks();
            }
            if (!levels.depth) break;
            if (!accept(',')) return false;
            skip_blanks();
            if (levels.in_object() && !key(inner)) return false;
        }
        value.size = at - value.start;
        return true;
    }

    template <class LEVELS = Levels> DEVICE bool value(Value& found) {
        const int c = peek();
        return c == '{' || c == '[' ? container<LEVELS>(found) : scalar(found);
    }
};

}  // namespace json
