// Values of two documents side by side: whether they are equal, and whether one contains the other.
//
// Documents are walked without a stack: who leaves a container finds the one around it anew, from the top.
#pragma once
#include "json_edit.cuh"
#include "float_reading.cuh"

namespace json {

DEVICE bool is_container(const Found& found) { return found.value.kind == OBJECT || found.value.kind == ARRAY; }

// ---- scalars --------------------------------------------------------------------------------------------------------

DEVICE bool same_numbers(const Found& one, const Found& other) {
    const String a = text_of(one), b = text_of(other);
    if (same_text(a, b)) return true;
    if (one.value.kind == INTEGER) {
        return (same_text(a, String{"0", 1}) && same_text(b, String{"-0", 2})) || (same_text(a, String{"-0", 2}) && same_text(b, String{"0", 1}));
    }
    const Outcome<double> x = read_float<double>(a), y = read_float<double>(b);
    return !x.reason && !y.reason && bits_of(x.value) == bits_of(y.value);
}

// Whether two values that hold no others are equal: integers and floats by value, but not to each other.
DEVICE bool same_scalars(const Found& one, const Found& other) {
    const Kind a = one.value.kind, b = other.value.kind;
    if (a == STRING || a == ESCAPED) return (b == STRING || b == ESCAPED) && same_string(one.text, one.value, key_of(other.text, other.value));
    if (a != b) return false;
    return a == NIL || (a == BOOLEAN ? one.value.size == other.value.size : same_numbers(one, other));
}

// ---- a walk through one document, and what stands in the same places of another one -----------------------------------

struct Walk {
    Found top, other_top;
    Found other;  // beside the container
    Parts parts;  // of the container
    int64_t place = 0;
    int depth = 0;

    DEVICE Walk(const Found& top, const Found& other_top)
        : top(top), other_top(other_top), other(other_top), parts(top.text, top.value) {}

    DEVICE bool next() { return parts.next() ? ++place : false; }
    DEVICE Found part() const { return {top.text, parts.value}; }
    DEVICE Key key() const { return key_of(top.text, parts.key); }
    // What stands in the other document in the place of the part.
    DEVICE Found beside() const { return parts.has_keys ? other.member(key()) : other.element(place - 1); }
    DEVICE void enter(const Found& beside) {
        other = beside;
        parts = Parts(top.text, parts.value);
        place = 0, ++depth;
    }
    // Goes on behind the container that ends; false where it is the whole document.
    DEVICE bool leave() {
        if (!depth) return false;
        const int32_t inside = parts.scanner.at;
        --depth;
        parts = Parts(top.text, top.value), other = other_top;
        for (int level = 0;; ++level) {
            for (place = 1, parts.next(); parts.scanner.at <= inside; ++place) parts.next();
            if (level == depth) return true;
            other = beside();
            parts = Parts(top.text, parts.value);
        }
    }
};

// Whether all keys of an object are in another one.
DEVICE bool has_keys_of(const Found& object, const Found& other) {
    for (Parts parts(other.text, other.value); parts.next();)
        if (object.member(key_of(other.text, parts.key)).value.kind == MISSING) return false;
    return true;
}

// Whether two values are equal, apart from what they hold.
DEVICE bool alike(const Found& one, const Found& other) {
    if (!is_container(one)) return same_scalars(one, other);
    if (one.value.kind != other.value.kind) return false;
    if (one.value.kind == OBJECT) return has_keys_of(one, other);
    return count_elements(one).value == count_elements(other).value;
}

// Whether two values are equal: objects by their keys, of equal ones in the other value the first.
CALLED bool same_values(Found one, Found other) {
    if (!alike(one, other)) return false;
    if (!is_container(one)) return true;
    Walk walk(one, other);
    do {
        while (walk.next()) {
            const Found part = walk.part(), beside = walk.beside();
            if (beside.value.kind == MISSING || !alike(part, beside)) return false;
            if (is_container(part)) walk.enter(beside);
        }
    } while (walk.leave());
    return true;
}

// ---- whether a document contains another one --------------------------------------------------------------------------

// The container around a value at a depth; its parts are read up to the value.
DEVICE Parts around(const Found& top, int32_t inside, int depth) {
    Parts parts(top.text, top.value);
    for (;; --depth) {
        for (parts.next(); parts.scanner.at <= inside;) parts.next();
        if (depth == 1) return parts;
        parts = Parts(top.text, parts.value);
    }
}

// Whether a value has the members of an object, or the elements of an array in any order, or is equal.
CALLED bool includes(Found top, Found wanted_top) {
    Found value = top, wanted = wanted_top;
    for (int depth = 0;;) {
        bool included = false, inside = false;
        if (is_container(wanted)) {
            if (value.value.kind == wanted.value.kind) {
                Parts parts(wanted.text, wanted.value);
                if (!parts.next()) {
                    included = true;
                } else if (parts.has_keys) {
                    const Found member = value.member(key_of(wanted.text, parts.key));
                    if (member.value.kind != MISSING) inside = true, value = member;
                } else {
                    Parts elements(value.text, value.value);
                    if (elements.next()) inside = true, value.value = elements.value;
                }
                if (inside) wanted.value = parts.value;
            }
        } else {
            included = same_scalars(value, wanted);
        }
        if (inside) {
            ++depth;
            continue;
        }
        // What that is to the containers around both, from the inside out.
        for (;; --depth) {
            if (!depth) return included;
            const int32_t value_at = value.value.start, wanted_at = wanted.value.start;
            Parts others = around(wanted_top, wanted_at, depth), parts = around(top, value_at, depth);
            const Found outer{value.text, depth == 1 ? top.value : around(top, value_at, depth - 1).value};
            const Found outer_wanted{wanted.text, depth == 1 ? wanted_top.value : around(wanted_top, wanted_at, depth - 1).value};
            if (included) {
                if (others.next()) {
                    wanted.value = others.value;
                    if (others.has_keys) {
                        value = outer.member(key_of(wanted.text, others.key));
                        if (value.value.kind != MISSING) break;
                        included = false;
                    } else {
                        Parts first(outer.text, outer.value);
                        first.next();
                        value.value = first.value;
                        break;
                    }
                }
            } else if (!others.has_keys && parts.next()) {
                value.value = parts.value;
                break;
            }
            value = outer, wanted = outer_wanted;
        }
    }
}

DEVICE bool contains(Fault at, String text, String part) {
    const Found document = read(at, text);
    if (document.value.kind == MISSING) return false;
    const Found wanted = read(at, part);
    if (wanted.value.kind == MISSING) return false;
    if (includes(document, wanted)) return true;
    if (!is_container(document)) return false;
    Walk walk(document, document.none());
    do {
        while (walk.next()) {
            if (includes(walk.part(), wanted)) return true;
            if (is_container(walk.part())) walk.enter(document.none());
        }
    } while (walk.leave());
    return false;
}

}  // namespace json
