// Lists, structs and maps as text, `[1, NULL]`, `{'a': x}`, `{k=v}`: quotes, brackets and backslashes keep what is in them.
#pragma once
#include "number_text.cuh"

namespace nested_text {

constexpr int MOST_LEVELS = 32;

DEVICE bool is_space(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
DEVICE bool is_quote(char byte) { return byte == '"' || byte == '\''; }
DEVICE bool opens(char byte) { return byte == '{' || byte == '[' || byte == '('; }
DEVICE bool is_null(String part) { return equals_in_any_case(part, String{"null", 4}); }

// Open brackets, two bits each; those beyond the most are counted, and never closed.
struct Brackets {
    uint64_t kinds = 0;
    int depth = 0;

    DEVICE void open(char byte) {
        if (depth < MOST_LEVELS) kinds = kinds << 2 | (byte == '{' ? 0 : byte == '[' ? 1 : 2);
        ++depth;
    }
    DEVICE bool closes(char byte) const {
        const char closing = (kinds & 3) == 0 ? '}' : (kinds & 3) == 1 ? ']' : ')';
        return depth && depth <= MOST_LEVELS && byte == closing;
    }
    DEVICE void close() {
        kinds >>= 2;
        --depth;
    }
};

// Reads a text from its beginning; `good` says whether it was as expected so far.
struct TextReader {
    const String text;
    int64_t at = 0;
    bool escaped = false, good = true;

    DEVICE TextReader(String text) : text(text) {}
    DEVICE bool sees(char byte) const { return at < text.size && text[at] == byte; }
    DEVICE void skip_spaces() {
        for (; at < text.size && is_space(text[at]); ++at) escaped = false;
    }
    DEVICE void takes(char one, char other) {
        good = good && (sees(one) || sees(other));
        ++at;
        skip_spaces();
    }
    // To the quote that closes the one here.
    DEVICE void skip_quotes() {
        const char quote = text[at];
        bool backslash = false;
        for (++at; at < text.size; ++at) {
            if (text[at] == quote && !backslash) return;
            backslash = text[at] == '\\' && !backslash;
        }
        good = false;
    }
    // To the bracket that closes the one here.
    DEVICE void skip_brackets() {
        Brackets brackets;
        for (; at < text.size && good; ++at) {
            const char byte = text[at];
            if (is_quote(byte)) {
                if (!escaped) skip_quotes();
            } else if (opens(byte)) {
                brackets.open(byte);
                good = brackets.depth <= MOST_LEVELS;
            } else if (brackets.closes(byte)) {
                brackets.close();
                if (!brackets.depth) return;
            }
            escaped = byte == '\\';
        }
        good = false;
    }
    // What stands before one of two bytes; none where there are only spaces.  Names have no brackets in them.
    DEVICE Maybe<String> part(char one, char other, bool name = false) {
        int64_t start = -1, end = -1;
        for (; good && at < text.size && text[at] != one && text[at] != other; ++at) {
            const char byte = text[at];
            const bool as_it_is = name && escaped;
            bool backslash = false;
            if (!is_space(byte) || as_it_is) {
                start = start < 0 ? at : start;
                if (!as_it_is) {
                    if (is_quote(byte)) {
                        if (!escaped) skip_quotes();
                    } else if (opens(byte) && !name) {
                        skip_brackets();
                    } else {
                        backslash = byte == '\\';
                    }
                }
                end = at;
            }
            escaped = backslash;
        }
        good = good && at < text.size;
        return good && start >= 0 ? some(text.cut(start, end + 1)) : none<String>();
    }
    DEVICE bool ends() const { return good && at == text.size; }
};

// The elements of a list as they are written, none of NULL.
struct Elements {
    TextReader reader;
    bool seen = false, last;

    DEVICE Elements(String text) : reader(text) {
        reader.skip_spaces();
        reader.takes('[', '[');
        last = !reader.good;
    }
    DEVICE bool next(Maybe<String>& part) {
        if (last) return false;
        const Maybe<String> found = reader.part(',', ']');
        last = !reader.good || reader.sees(']');
        const bool counts = reader.good && (!last || found.valid || seen);
        reader.takes(',', ']');
        seen = seen || counts;
        part = {found.value, !is_null(found.value)};
        return counts;
    }
    DEVICE bool ends() const { return last && reader.ends(); }
};

// The keys and values of a map, or with `:` as SIGN of a struct, as they are written.
template <char SIGN>
struct Entries {
    TextReader reader;
    bool last;

    DEVICE Entries(String text) : reader(text) {
        reader.skip_spaces();
        reader.takes('{', '{');
        last = !reader.good || reader.sees('}');
        if (reader.good && last) reader.takes('}', '}');
    }
    DEVICE bool next(String& key, Maybe<String>& value) {
        if (last) return false;
        const Maybe<String> found = reader.part(SIGN, SIGN, SIGN == ':');
        reader.good = reader.good && (found.valid || SIGN != ':') && !is_null(found.value);
        key = found.value;
        reader.takes(SIGN, SIGN);
        const Maybe<String> after = reader.part(',', '}');
        last = !reader.good || reader.sees('}');
        reader.takes(',', '}');
        value = {after.value, !is_null(after.value)};
        return reader.good;
    }
    DEVICE bool ends() const { return last && reader.ends(); }
};

template <bool KEYS>
struct MapParts {
    Entries<'='> entries;

    DEVICE MapParts(String text) : entries(text) {}
    DEVICE bool next(Maybe<String>& part) {
        String key{};
        Maybe<String> value{};
        if (!entries.next(key, value)) return false;
        part = KEYS ? some(key) : value;
        return true;
    }
};

// ---- without quotes and escapes -------------------------------------------------------------------------------------

template <class OUT> DEVICE void unquote(OUT& out, String part, bool name) {
    Brackets brackets;
    char quote = '\0';
    bool escaped = false;
    for (int64_t at = 0; at < part.size; ++at) {
        const char byte = part[at];
        if (!escaped) {
            const bool before_quote = at + 1 < part.size && is_quote(part[at + 1]);
            if (!brackets.depth && byte == '\\' && (quote || before_quote)) {
                escaped = true;
                continue;
            }
            if (!brackets.depth && is_quote(byte) && (!quote || quote == byte)) {
                quote = quote ? '\0' : byte;
                continue;
            }
            if (!quote && brackets.closes(byte)) brackets.close();
            if (!quote && opens(byte) && !name) brackets.open(byte);
        }
        escaped = false;
        out.put(byte);
    }
}
template <class OUT> DEVICE void plain(OUT& out, String part) { unquote(out, part, false); }

// Compares what is written with a text.
struct SameText {
    const String text;
    int64_t at = 0;
    bool same = true;

    DEVICE SameText(String text) : text(text) {}
    DEVICE void put(char byte) {
        same = same && at < text.size && text[at] == byte;
        ++at;
    }
};
DEVICE bool is_name(String key, String name) {
    SameText same(name);
    unquote(same, key, true);
    return same.same && same.at == name.size;
}

// ---- forms ----------------------------------------------------------------------------------------------------------

DEVICE bool is_list(String text) {
    Elements elements(text);
    for (Maybe<String> part; elements.next(part);) {}
    return elements.ends();
}
DEVICE bool is_map(String text) {
    Entries<'='> entries(text);
    String key{};
    for (Maybe<String> value; entries.next(key, value);) {}
    return entries.ends();
}
// Each field at most once, and no other.
template <class... NAMES> DEVICE bool is_struct(String text, NAMES... names) {
    constexpr int COUNT = sizeof...(NAMES);
    const String known[COUNT] = {names...};
    bool seen[COUNT] = {};
    Entries<':'> entries(text);
    String key{};
    for (Maybe<String> value; entries.next(key, value);) {
        int place = 0;
        while (place < COUNT && !is_name(key, known[place])) ++place;
        if (place == COUNT || seen[place]) return false;
        seen[place] = true;
    }
    return entries.ends();
}

DEVICE String checked(Fault at, bool good, String text) {
    if (!good) at(NOT_A_VALUE);
    return text;
}

// A field as it is written; none of NULL, and where there is none.
DEVICE Maybe<String> field(String text, String name) {
    Entries<':'> entries(text);
    String key{};
    for (Maybe<String> value; entries.next(key, value);)
        if (is_name(key, name)) return value;
    return none<String>();
}

}  // namespace nested_text
