// Paths into JSON: those of a column, read row by row, and constant ones that find any number of values.
#pragma once
#include "json.cuh"

namespace json {

// ---- a path in a column ---------------------------------------------------------------------------------------------

constexpr int MOST_DIGITS = 18;

// A path from its first byte on; `valid` is false where it is not one of a single value.
struct PathReader {
    String path;
    int64_t at = 1;
    bool valid = true;

    DEVICE int peek() const { return at < path.size ? uint8_t(path[at]) : -1; }
    DEVICE bool accept(int c) {
        if (peek() != c) return false;
        ++at;
        return true;
    }
    // Digits up to the bracket that is passed; -1 for none.
    DEVICE int64_t place() {
        int64_t place = 0;
        const int64_t start = at;
        for (; is_digit(peek()); ++at) {
            if (at - start == MOST_DIGITS) return -1;
            place = 10 * place + (path[at] - '0');
        }
        return at > start && accept(']') ? place : -1;
    }
    DEVICE Found wrong(const Found& found) {
        valid = false;
        return found.none();
    }
    // What follows a dot.
    DEVICE Found member(const Found& found) {
        if (!accept('"')) {
            if (peek() < 0 || peek() == '*' || peek() == '.' || peek() == '[') return wrong(found);
            const int64_t start = at;
            while (peek() >= 0 && peek() != '.' && peek() != '[') ++at;
            return found.member(Key{path.cut(start, at)});
        }
        const int64_t start = at;
        while (peek() >= 0 && peek() != '"') at += peek() == '\\' ? 2 : 1;
        const int64_t end = at;
        return accept('"') ? found.member(Key{path.cut(start, end), '\\'}) : wrong(found);
    }
    // What follows a bracket.
    DEVICE Found element(const Found& found) {
        const bool from_end = accept('#');
        if (from_end && accept(']')) return found.none();
        const bool minus = accept('-');
        const int64_t number = from_end && !minus ? -1 : place();
        if (number < 0 || (from_end && number == 0)) return wrong(found);
        return found.element(minus ? -number : number);
    }
    DEVICE Found step(const Found& found) {
        if (accept('.')) return member(found);
        return accept('[') ? element(found) : wrong(found);
    }
    // A key or a place between slashes.
    DEVICE Found token(const Found& found) {
        const int64_t start = at;
        for (; peek() >= 0 && peek() != '/'; ++at) {
            if (peek() == '~' && (at + 1 == path.size || (path[at + 1] != '0' && path[at + 1] != '1'))) return wrong(found);
        }
        const Key key{path.cut(start, at), '~'};
        int64_t number = 0;
        for (int64_t i = start; i < at; ++i) {
            const bool fits = is_digit(path[i]) && i - start < MOST_DIGITS && (i == start || path[start] != '0');
            if (!fits) return found.member(key);
            number = 10 * number + (path[i] - '0');
        }
        return at > start ? found.member_or_element(key, number) : found.member(key);
    }
};

// The value at a path that is $…, /…, or a key alone.
CALLED Found at_path(Fault at, Found found, String path) {
    if (!path.size || found.value.kind == MISSING) return found;
    if (path[0] != '$' && path[0] != '/') return found.member(Key{path});
    PathReader reader{path};
    if (path[0] == '$') {
        while (reader.valid && reader.peek() >= 0) found = reader.step(found);
    } else {
        do found = reader.token(found);
        while (reader.valid && reader.accept('/'));
    }
    if (!reader.valid) at(NOT_A_PATH);
    return found;
}

// ---- constant paths that find several values ------------------------------------------------------------------------

struct Step {
    enum Way : uint8_t { MEMBER, PLACE, END, ELEMENTS, VALUES, BELOW } way;
    String key;
    int64_t place;
};

// The text of a value in JSON, with the quotes of a string.
DEVICE String text_of(const Found& found) {
    const Value& value = found.value;
    if (value.kind != STRING && value.kind != ESCAPED) return found.text.cut(value.start, value.start + value.size);
    Scanner scanner = scanner_of(found.text);
    scanner.at = value.start - 1;
    Value passed;
    scanner.string(passed);
    return found.text.cut(value.start - 1, scanner.at);
}

// Where one step stands in what it leads to from a value.
struct Progress {
    Found from;
    bool begun = false, any = false;
    int32_t at = 0, level = 0;

    DEVICE Progress() = default;
    DEVICE explicit Progress(const Found& from) : from(from) {}
    DEVICE bool next(const Step& step, bool last, Found& found) {
        switch (step.way) {
            case Step::ELEMENTS: return part(ARRAY, found);
            case Step::VALUES: return part(OBJECT, found);
            case Step::BELOW: return below(last, found);
            default: break;
        }
        if (begun) return false;
        begun = true;
        found = step.way == Step::MEMBER ? from.member(Key{step.key}) : step.way == Step::PLACE ? from.element(step.place) : from.none();
        return found.value.kind != MISSING;
    }

private:
    DEVICE bool part(Kind kind, Found& found) {
        if (from.value.kind != kind) return false;
        Parts parts(from.text, from.value);
        if (begun) parts.scanner.at = at, parts.first = false;
        begun = true;
        if (!parts.next()) return false;
        at = parts.scanner.at;
        found = {from.text, parts.value};
        return true;
    }
    // The value itself is level 0, which the last step of a path leaves out; then all of level 1, and so on.
    DEVICE bool below(bool last, Found& found) {
        if (!begun) {
            begun = true, level = 1, at = from.value.start + 1;
            if (!last) return found = from, true;
        }
        if (from.value.kind != OBJECT && from.value.kind != ARRAY) return false;
        for (;;) {
            if (below_at(found)) return any = true;
            if (!any) return false;
            any = false, ++level, depth = 1, at = from.value.start + 1;
        }
    }
    int32_t depth = 1;  // of brackets that are open before `at`

    // The next value of the level, from JSON without blanks.
    DEVICE bool below_at(Found& found) {
        Scanner scanner = scanner_of(from.text);
        scanner.at = at;
        const int32_t end = from.value.start + from.value.size;
        while (scanner.at < end) {
            const uint8_t c = scanner.text[scanner.at];
            if (c == ',' || c == ':' || c == '}' || c == ']') {
                depth -= c == '}' || c == ']';
                ++scanner.at;
            } else if ((c == '{' || c == '[') && depth < level) {
                ++depth, ++scanner.at;
            } else {
                Value value;
                pass_value(scanner, value);
                if (depth < level || scanner.peek() == ':') continue;
                at = scanner.at;
                found = {from.text, value};
                return true;
            }
        }
        return false;
    }
};

// All values that a path finds in JSON without blanks, each a part of the text.
template <int STEPS>
struct Matches {
    Step steps[STEPS];
    Progress progress[STEPS];
    int place = 0;

    template <class... EACH> DEVICE Matches(String text, EACH... each) : steps{each...} {
        Scanner scanner = scanner_of(text);
        progress[0].from.text = text;
        pass_value(scanner, progress[0].from.value);
    }
    DEVICE bool next(Maybe<String>& part) {
        for (Found found; place >= 0;) {
            if (!progress[place].next(steps[place], place + 1 == STEPS, found)) {
                --place;
            } else if (place + 1 == STEPS) {
                part = some(text_of(found));
                return true;
            } else {
                progress[++place] = Progress(found);
            }
        }
        return false;
    }
};

// The keys of an object in JSON without blanks, with their quotes; none of another value.
struct Keys {
    String text;
    Parts parts;

    DEVICE Keys(String text) : text(text), parts(text, {0, 0, OBJECT}) {}
    DEVICE bool next(Maybe<String>& part) {
        if (text[0] != '{' || !parts.next()) return false;
        part = some(text.cut(parts.key_start, parts.key_end));
        return true;
    }
};

}  // namespace json
