// JSON that is changed at a path, or without nulls: what stays is copied without blanks, member by member.
#pragma once
#define SHARED_BY_JSON CALLED
#include "json_path.cuh"

namespace json {

template <class OUT> CALLED void put_key(OUT& out, Key key) {
    out.put('"');
    for (int byte; (byte = key.next()) >= 0;) {
        if (byte < 0x20 || byte == '"' || byte == '\\') put_escaped(out, uint32_t(byte));
        else out.put(char(byte));
    }
    out.put('"');
    out.put(':');
}

// Puts a comma before all members or elements of a container but the first.
template <class OUT> struct Separated {
    OUT& out;
    bool any = false;

    DEVICE void next() {
        if (any) out.put(',');
        any = true;
    }
    // The part that was read last, with its key; `until` is where it ends, or its value begins.
    DEVICE void part(const Parts& parts, int32_t until) {
        next();
        put_between(out, parts.scanner_text(), parts.has_keys ? parts.key_start : parts.start, until);
    }
};

// ---- a value at a path ----------------------------------------------------------------------------------------------

enum How { SET, INSERT, REPLACE, REMOVE };

template <int STEPS> struct ConstantPath {
    Step steps[STEPS ? STEPS : 1];

    DEVICE bool valid() const { return true; }
    DEVICE int size() const { return STEPS; }
    DEVICE Step operator[](int place) const { return steps[place]; }
};

struct ColumnPath {
    String path;

    CALLED bool valid() const {
        PathReader reader(path);
        for (Step step; reader.next(step);) {}
        return reader.valid;
    }
    CALLED int size() const {
        int size = 0;
        PathReader reader(path);
        for (Step step; reader.next(step);) ++size;
        return size;
    }
    CALLED Step operator[](int place) const {
        PathReader reader(path);
        Step step;
        for (reader.next(step); place; --place) reader.next(step);
        return step;
    }
};

// Whether a step leads behind the last element of an array.
DEVICE bool is_next(const Step& step, int64_t elements) {
    return step.way == Step::END || step.way == Step::MEMBER_OR_END ||
           ((step.way == Step::PLACE || step.way == Step::MEMBER_OR_PLACE) && step.place == elements);
}

// Whether a container takes a new value that a path leads to from one of its steps on.
template <class PATH> CALLED bool can_extend(const Found& container, const PATH& path, int place) {
    const Step first = path[place];
    if (container.value.kind == OBJECT ? !first.names_member() : container.value.kind != ARRAY || !is_next(first, count_elements(container).value)) return false;
    for (int i = place + 1; i < path.size(); ++i) {
        if (!path[i].names_member() && !is_next(path[i], 0)) return false;
    }
    return true;
}

template <class OUT, class PATH> CALLED void put_created(OUT& out, const Found& value, const PATH& path, int place) {
    for (int i = place; i < path.size(); ++i) {
        const Step step = path[i];
        out.put(step.names_member() ? '{' : '[');
        if (step.names_member()) put_key(out, step.key);
    }
    put(out, value);
    for (int i = path.size(); i-- > place;) out.put(path[i].names_member() ? '}' : ']');
}

// Writes a document with the value at a path changed; false where none is left.
template <How HOW, class OUT, class PATH> DEVICE bool put_changed(OUT& out, Fault at, String text, String new_text, const PATH& path) {
    const Found document = read(at, text);
    if (document.value.kind == MISSING) return true;
    const Found value = HOW == REMOVE ? document : read(at, new_text);
    if (value.value.kind == MISSING) return true;
    if (!path.valid()) {
        at(NOT_A_PATH);
        return true;
    }
    const int steps = path.size();
    if (!steps) return HOW == REMOVE ? false : put(out, HOW == INSERT ? document : value);
    Found parent = document, found = document;
    int place = 0;
    for (; place < steps; ++place) {
        parent = found;
        found = path[place].from(parent);
        if (found.value.kind == MISSING) break;
    }
    const bool there = place == steps, extends = !there && HOW != REPLACE && HOW != REMOVE && can_extend(parent, path, place);
    if (there ? HOW == INSERT : !extends) return put(out, document);
    const Step step = path[there ? steps - 1 : place];
    const Value& outer = parent.value;
    put_between(out, text, document.value.start, outer.start + 1);
    Separated<OUT> separated{out};
    bool changed = false;
    for (Parts parts(text, outer); parts.next();) {
        const bool same = there && (parts.has_keys ? same_string(text, parts.key, step.key) : parts.value.start == found.value.start);
        if (same && (changed || HOW == REMOVE)) continue;  // of equal keys, one stays
        separated.part(parts, same ? parts.start : parts.scanner.at);
        if (same) put(out, value);
        changed = changed || same;
    }
    if (extends) {
        separated.next();
        if (outer.kind == OBJECT) put_key(out, step.key);
        put_created(out, value, path, place + 1);
    }
    put_between(out, text, outer.start + outer.size - 1, document.value.start + document.value.size);
    return true;
}

// ---- nulls ----------------------------------------------------------------------------------------------------------

template <class OUT> DEVICE bool put_without_nulls(OUT& out, const Found& found) {
    if (found.value.kind != OBJECT && found.value.kind != ARRAY) return put(out, found);
    Scanner scanner = scanner_of(found.text);
    bool separate = false;  // whether a comma comes before the next member or element
    for (scanner.at = found.value.start; scanner.at < found.value.start + found.value.size;) {
        const uint8_t c = scanner.text[scanner.at];
        if (is_blank(c) || c == ',') {
            ++scanner.at;
        } else if (c == '}' || c == ']') {
            out.put(char(c));
            separate = true, ++scanner.at;
        } else {
            const int32_t start = scanner.at;
            Value value;
            if (c == '"') {
                scanner.string(value);
                const int32_t end = scanner.at;
                scanner.skip_blanks();
                if (scanner.accept(':')) {
                    scanner.skip_blanks();
                    if (scanner.peek() == 'n') {
                        scanner.scalar(value);
                        continue;
                    }
                    if (separate) out.put(',');
                    put_between(out, found.text, start, end);
                    out.put(':');
                    separate = false;
                    continue;
                }
            }
            if (separate) out.put(',');
            if (c == '{' || c == '[') {
                out.put(char(c));
                separate = false, ++scanner.at;
            } else {
                scanner.at = start;
                scanner.scalar(value);
                put_between(out, found.text, start, scanner.at);
                separate = true;
            }
        }
    }
    return true;
}

}  // namespace json
