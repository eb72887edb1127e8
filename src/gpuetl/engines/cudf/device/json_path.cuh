// Paths into JSON: those of a column, read row by row, and constant ones that find any number of values.
#pragma once
#include "json.cuh"

namespace json {

// ---- steps ----------------------------------------------------------------------------------------------------------

struct Step {
    enum Way : uint8_t { MEMBER, PLACE, END, MEMBER_OR_PLACE, MEMBER_OR_END, ELEMENTS, VALUES, BELOW } way;
    Key key;
    int64_t place;

    DEVICE bool names_member() const { return way == MEMBER || way == MEMBER_OR_PLACE || way == MEMBER_OR_END; }
    // Where one value at most is.
    SHARED_BY_JSON Found from(const Found& found) const {
        if (found.value.kind == OBJECT && names_member()) return found.member(key);
        return way == PLACE || way == MEMBER_OR_PLACE ? found.element(place) : found.none();
    }
};

constexpr int MOST_DIGITS = 18;

// The steps of a path that is $…, /…, or a key alone, one after the other.  `valid` is false where it is none of a single value.
struct PathReader {
    String path;
    int64_t at;
    bool valid = true;

    DEVICE PathReader(String path) : path(path), at(path.size && (path[0] == '$' || path[0] == '/')) {}

    SHARED_BY_JSON bool next(Step& step) {
        if (!path.size || !valid) return false;
        if (path[0] == '/') {
            if (at > path.size) return false;
            valid = token(step);
            ++at;
        } else if (path[0] == '$') {
            if (at == path.size) return false;
            valid = accept('.') ? member(step) : accept('[') && element(step);
        } else {
            if (at == path.size) return false;
            step = {Step::MEMBER, Key{path}, 0};
            at = path.size;
        }
        return valid;
    }

private:
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
        for (; json::is_digit(peek()); ++at) {
            if (at - start == MOST_DIGITS) return -1;
            place = 10 * place + (path[at] - '0');
        }
        return at > start && accept(']') ? place : -1;
    }
    // What follows a dot.
    DEVICE bool member(Step& step) {
        const bool quoted = accept('"');
        if (!quoted && (peek() < 0 || peek() == '*' || peek() == '.' || peek() == '[')) return false;
        const int64_t start = at;
        if (quoted) while (peek() >= 0 && peek() != '"') at += peek() == '\\' ? 2 : 1;
        else while (peek() >= 0 && peek() != '.' && peek() != '[') ++at;
        step = {Step::MEMBER, Key{path.cut(start, at), quoted ? Key::QUOTED : Key::PLAIN}, 0};
        return !quoted || accept('"');
    }
    // What follows a bracket.
    DEVICE bool element(Step& step) {
        step = {Step::END, Key{path}, 0};
        const bool from_end = accept('#');
        if (from_end && accept(']')) return true;
        const bool minus = accept('-');
        if (from_end && !minus) return false;
        step.way = Step::PLACE;
        step.place = place();
        if (step.place < 0 || (minus && step.place == 0)) return false;
        if (minus) step.place = -step.place;
        return true;
    }
    // A key or a place up to the next slash.
    DEVICE bool token(Step& step) {
        const int64_t start = at;
        bool number = true;
        step = {Step::MEMBER, Key{path}, 0};
        for (; peek() >= 0 && peek() != '/'; ++at) {
            if (peek() == '~' && (at + 1 >= path.size || (path[at + 1] != '0' && path[at + 1] != '1'))) return false;
            number = number && json::is_digit(peek()) && at - start < MOST_DIGITS && (at == start || path[start] != '0');
            if (number) step.place = 10 * step.place + (path[at] - '0');
        }
        step.key = Key{path.cut(start, at), Key::POINTER};
        if (number && at > start) step.way = Step::MEMBER_OR_PLACE;
        else if (at - start == 1 && path[start] == '-') step.way = Step::MEMBER_OR_END;
        return true;
    }
};

// The value at a path of a column.
CALLED Found at_path(Fault at, Found found, String path) {
    if (found.value.kind == MISSING) return found;
    PathReader reader(path);
    for (Step step; reader.next(step);) found = step.from(found);
    if (!reader.valid) at(NOT_A_PATH);
    return found;
}

// ---- constant paths that find several values ------------------------------------------------------------------------

// The text of a value in JSON, with the quotes of a string.
SHARED_BY_JSON String text_of(const Found& found) {
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
        found = step.from(from);
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
