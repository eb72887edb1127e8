// JSON in strings: whether a text is JSON, values at paths, and values written anew.
//
// A text is checked as a whole first.  What is read after that takes its form for granted.
#pragma once
#include "json_text.cuh"
#include "number_text.cuh"
#include "strings.cuh"

// Functions that are needed in many places: json_edit.cuh has them called, since each copy takes NVRTC a second.
#ifndef SHARED_BY_JSON
#define SHARED_BY_JSON DEVICE
#endif

namespace json {

DEVICE Scanner scanner_of(String text) { return {(const uint8_t*)text.data, 0, int32_t(text.size)}; }

CALLED bool read_document(String text, Value& value) {
    Scanner scanner = scanner_of(text);
    scanner.skip_blanks();
    if (!scanner.value<ManyLevels>(value)) return false;
    scanner.skip_blanks();
    return scanner.at == scanner.end;
}

DEVICE bool is_valid(String text) {
    Value value;
    return read_document(text, value);
}

// ---- strings --------------------------------------------------------------------------------------------------------

template <class OUT> DEVICE void put_escaped(OUT& out, uint32_t point) {
    const char* const letters = "btn?fr";  // of 8 to 13
    if (point == '"' || point == '\\') {
        out.put('\\');
        out.put(char(point));
    } else if (point >= 0x20) {
        put_code_point(out, point);
    } else if (point >= 8 && point <= 13 && point != 11) {
        out.put('\\');
        out.put(letters[point - 8]);
    } else {
        out.put(String{"\\u00", 4});
        out.put(char('0' + (point >> 4)));
        out.put(char((point & 15) < 10 ? '0' + (point & 15) : 'A' + (point & 15) - 10));
    }
}

// The characters up to the quote that ends a string, which is passed.
template <class OUT> DEVICE void put_characters(OUT& out, Scanner& scanner) {
    for (uint8_t c; (c = scanner.text[scanner.at++]) != '"';) {
        if (c == '\\') put_code_point(out, uint32_t(scanner.escape()));
        else out.put(char(c));
    }
}

// A string from its first quote to its last, without needless escapes.
template <class OUT> SHARED_BY_JSON void put_quoted(OUT& out, Scanner& scanner) {
    out.put('"');
    ++scanner.at;
    for (uint8_t c; (c = scanner.text[scanner.at++]) != '"';) {
        if (c == '\\') put_escaped(out, uint32_t(scanner.escape()));
        else out.put(char(c));
    }
    out.put('"');
}

// A key that is looked for: its bytes, one after the other, and -1 behind them.
struct Key {
    enum Escapes : char { PLAIN = 0, QUOTED = '"', POINTER = '~', JSON = '\\' };  // \" and \\; ~0 and ~1; all of JSON
    String text;
    Escapes escapes = PLAIN;
    int64_t at = 0;
    uint32_t point = 0;  // what is left of a code point: its bytes from the lowest on
    int bytes = 0;

    DEVICE int next() {
        if (bytes) return take();
        if (at >= text.size) return -1;
        const char byte = text[at++];
        if (byte != escapes && (byte != '\\' || escapes != QUOTED)) return uint8_t(byte);
        if (escapes == POINTER) return text[at++] == '1' ? '/' : '~';
        if (escapes == QUOTED) return byte == '\\' && at < text.size && (text[at] == '"' || text[at] == '\\') ? text[at++] : uint8_t(byte);
        Scanner scanner = scanner_of(text);
        scanner.at = int32_t(at);
        put_code_point(*this, uint32_t(scanner.escape()));
        at = scanner.at;
        return take();
    }
    DEVICE void put(char byte) { point |= uint32_t(uint8_t(byte)) << 8 * bytes++; }

private:
    DEVICE int take() {
        const int byte = point & 255;
        point >>= 8, --bytes;
        return byte;
    }
};

// The key that a string of JSON is.
SHARED_BY_JSON Key key_of(String text, const Value& value) {
    if (value.kind == STRING) return Key{text.cut(value.start, value.start + value.size)};
    Scanner scanner = scanner_of(text);
    scanner.at = value.start - 1;
    Value passed;
    scanner.string(passed);
    return Key{text.cut(value.start, scanner.at - 1), Key::JSON};
}

// Compares what is written to a key.
struct Comparison {
    Key wanted;
    bool same = true;

    DEVICE void put(char byte) { same = same && wanted.next() == uint8_t(byte); }
};

SHARED_BY_JSON bool same_string(String text, const Value& value, const Key& wanted) {
    if (value.kind == STRING && wanted.escapes == Key::PLAIN) return same_text(text.cut(value.start, value.start + value.size), wanted.text);
    Comparison comparison{wanted};
    Scanner scanner = scanner_of(text);
    scanner.at = value.start;
    put_characters(comparison, scanner);
    return comparison.same && comparison.wanted.next() < 0;
}

// ---- values at paths ------------------------------------------------------------------------------------------------

// Passes a value, whose brackets match.
SHARED_BY_JSON void pass_value(Scanner& scanner, Value& value) {
    const int first = scanner.peek();
    if (first != '{' && first != '[') {
        scanner.scalar(value);
        return;
    }
    value = {scanner.at, 0, first == '{' ? OBJECT : ARRAY};
    int64_t depth = 0;
    do {
        const uint8_t c = scanner.text[scanner.at++];
        if (c == '{' || c == '[') ++depth;
        else if (c == '}' || c == ']') --depth;
        else if (c == '"') {
            for (uint8_t inner; (inner = scanner.text[scanner.at++]) != '"';) scanner.at += inner == '\\';
        }
    } while (depth);
    value.size = scanner.at - value.start;
}

// The members of an object or the elements of an array, one after the other.
struct Parts {
    Scanner scanner;
    bool has_keys, first = true;
    Value key, value;
    int32_t key_start, key_end, start;  // the value ends where the scanner is

    DEVICE Parts(String text, const Value& container) : scanner(scanner_of(text)), has_keys(container.kind == OBJECT) {
        scanner.at = container.start + 1;
    }
    DEVICE String scanner_text() const { return {(const char*)scanner.text, scanner.end}; }
    SHARED_BY_JSON bool next() {
        scanner.skip_blanks();
        if (scanner.peek() == (has_keys ? '}' : ']')) return false;
        if (!first) ++scanner.at, scanner.skip_blanks();
        first = false;
        if (has_keys) {
            key_start = scanner.at;
            scanner.string(key);
            key_end = scanner.at;
            scanner.skip_blanks();
            ++scanner.at;
            scanner.skip_blanks();
        }
        start = scanner.at;
        pass_value(scanner, value);
        return true;
    }
};

// A value in a text that is JSON; its kind is MISSING where there is none.
struct Found {
    String text;
    Value value;

    SHARED_BY_JSON Found member(const Key& key) const {
        if (value.kind != OBJECT) return {text, Value{}};
        for (Parts parts(text, value); parts.next();)
            if (same_string(text, parts.key, key)) return {text, parts.value};
        return {text, Value{}};
    }
    SHARED_BY_JSON Found element(int64_t place) const {
        if (value.kind != ARRAY) return {text, Value{}};
        if (place < 0)
            for (Parts parts(text, value); parts.next();) ++place;  // ends before the element, counted from the front
        return place < 0 ? Found{text, Value{}} : element_from_front(place);
    }
    SHARED_BY_JSON Found member_or_element(const Key& key, int64_t place) const {
        return value.kind == ARRAY ? element(place) : member(key);
    }
    DEVICE Found none() const { return {text, Value{}}; }

private:
    DEVICE Found element_from_front(int64_t place) const {
        for (Parts parts(text, value); parts.next(); --place)
            if (place == 0) return {text, parts.value};
        return {text, Value{}};
    }
};

SHARED_BY_JSON Found read(Fault at, String text) {
    Found found{text, Value{}};
    if (!read_document(text, found.value)) {
        at(NOT_JSON);
        found.value.kind = MISSING;
    }
    return found;
}

// A text that has to be JSON.
DEVICE String checked(Fault at, String text) {
    Value value;
    if (!read_document(text, value)) at(NOT_JSON);
    return text;
}

DEVICE bool exists(const Found& found) { return found.value.kind != MISSING; }

SHARED_BY_JSON Maybe<int64_t> count_elements(const Found& found) {
    if (found.value.kind == MISSING) return none<int64_t>();
    int64_t count = 0;
    if (found.value.kind == ARRAY)
        for (Parts parts(found.text, found.value); parts.next();) ++count;
    return some(count);
}

DEVICE Maybe<String> type_of(const Found& found) {
    const Value& value = found.value;
    const String written = found.text.cut(value.start, value.start + value.size);
    switch (value.kind) {
        case MISSING: return none<String>();
        case NIL: return some(String{"NULL", 4});
        case STRING:
        case ESCAPED: return some(String{"VARCHAR", 7});
        case BOOLEAN: return some(String{"BOOLEAN", 7});
        case OBJECT: return some(String{"OBJECT", 6});
        case ARRAY: return some(String{"ARRAY", 5});
        case INTEGER:
            if (written[0] == '-' && !read_integer<int64_t>(written).reason) return some(String{"BIGINT", 6});
            if (written[0] != '-' && !read_integer<uint64_t>(written).reason) return some(String{"UBIGINT", 7});
            break;
        default: break;
    }
    return some(String{"DOUBLE", 6});
}

// ---- values written anew --------------------------------------------------------------------------------------------

// Whole values and what is between them, from one place to another, without blanks and needless escapes.
template <class OUT> SHARED_BY_JSON void put_between(OUT& out, String text, int32_t from, int32_t until) {
    Scanner scanner = scanner_of(text);
    for (scanner.at = from; scanner.at < until;) {
        const uint8_t c = scanner.text[scanner.at];
        if (c == '"') {
            put_quoted(out, scanner);
            continue;
        }
        ++scanner.at;
        if (!is_blank(c)) out.put(char(c));
    }
}

// As JSON without blanks; false where there is no value.
template <class OUT> SHARED_BY_JSON bool put(OUT& out, const Found& found) {
    const Value& value = found.value;
    if (value.kind == MISSING) return false;
    Scanner scanner = scanner_of(found.text);
    if (value.kind == STRING || value.kind == ESCAPED) {
        scanner.at = value.start - 1;
        put_quoted(out, scanner);
        return true;
    }
    put_between(out, found.text, value.start, value.start + value.size);
    return true;
}

// A string without its quotes, any other value as JSON; false of null.
template <class OUT> DEVICE bool put_plain(OUT& out, const Found& found) {
    const Value& value = found.value;
    if (value.kind == NIL) return false;
    if (value.kind == STRING) {
        out.put(found.text.cut(value.start, value.start + value.size));
        return true;
    }
    if (value.kind != ESCAPED) return put(out, found);
    Scanner scanner = scanner_of(found.text);
    scanner.at = value.start;
    put_characters(out, scanner);
    return true;
}

template <class OUT> DEVICE bool put_scalar(OUT& out, const Found& found) {
    const Kind kind = found.value.kind;
    return kind != NIL && kind != OBJECT && kind != ARRAY && put(out, found);
}

}  // namespace json
