// Documents merged, the patch between two, and members in the order of their keys.
#pragma once
#include "json_compare.cuh"

namespace json {

enum Merge { PATCH, DEEP };

DEVICE bool is_object(const Found& found) { return found.value.kind == OBJECT; }

// Opens an object, and writes the old members that the patch says nothing about.
template <Merge MERGE, class OUT> DEVICE Separated<OUT> put_kept(OUT& out, const Found& old, const Found& patch) {
    out.put('{');
    Separated<OUT> separated{out};
    if (!is_object(old)) return separated;
    for (Parts parts(old.text, old.value); parts.next();) {
        const Kind kind = patch.member(key_of(old.text, parts.key)).value.kind;
        if (kind == MISSING || (MERGE == DEEP && kind == NIL)) separated.part(parts, parts.scanner.at);
    }
    return separated;
}

template <Merge MERGE, class OUT> DEVICE bool put_merged(OUT& out, const Found& old, const Found& patch) {
    if (!is_object(old) || !is_object(patch)) return put(out, MERGE == DEEP && patch.value.kind == NIL ? old : patch);
    Walk walk(patch, old);
    bool any = put_kept<MERGE>(out, old, patch).any;
    for (;;) {
        while (walk.next()) {
            const Found part = walk.part();
            if (part.value.kind == NIL) continue;
            Separated<OUT> separated{out, any};
            any = true;
            if (is_object(part)) {
                const Found beside = walk.beside();
                if (MERGE == PATCH || is_object(beside)) {
                    separated.part(walk.parts, walk.parts.start);
                    any = put_kept<MERGE>(out, beside, part).any;
                    walk.enter(is_object(beside) ? beside : beside.none());
                    continue;
                }
            }
            separated.part(walk.parts, walk.parts.scanner.at);
        }
        out.put('}');
        any = true;
        if (!walk.leave()) return true;
    }
}

// Of a text that is null, the other one; null where the patch is.
template <Merge MERGE, class OUT> DEVICE bool put_merged(OUT& out, Fault at, Maybe<String> old, Maybe<String> patch) {
    Found before, change;
    if (old.valid && (before = read(at, old.value)).value.kind == MISSING) return true;
    if (!patch.valid) return false;
    if ((change = read(at, patch.value)).value.kind == MISSING) return true;
    return old.valid ? put_merged<MERGE>(out, before, change) : put(out, change);
}

// Opens an object, and writes null for the old members that are gone.
template <class OUT> DEVICE bool put_gone(OUT& out, const Found& old, const Found& now) {
    out.put('{');
    Separated<OUT> separated{out};
    for (Parts parts(old.text, old.value); parts.next();) {
        if (now.member(key_of(old.text, parts.key)).value.kind != MISSING) continue;
        separated.part(parts, parts.start);
        out.put(String{"null", 4});
    }
    return separated.any;
}

template <class OUT> DEVICE bool put_patch_between(OUT& out, const Found& old, const Found& now) {
    if (!is_object(old) || !is_object(now)) return put(out, now);
    Walk walk(now, old);
    bool any = put_gone(out, old, now);
    for (;;) {
        while (walk.next()) {
            const Found part = walk.part(), beside = walk.beside();
            if (beside.value.kind != MISSING && same_values(part, beside)) continue;
            Separated<OUT> separated{out, any};
            any = true;
            if (is_object(part) && is_object(beside)) {
                separated.part(walk.parts, walk.parts.start);
                any = put_gone(out, beside, part);
                walk.enter(beside);
                continue;
            }
            separated.part(walk.parts, walk.parts.scanner.at);
        }
        out.put('}');
        any = true;
        if (!walk.leave()) return true;
    }
}
template <class OUT> DEVICE bool put_patch_between(OUT& out, Fault at, Maybe<String> old, Maybe<String> now) {
    Found before, after;
    if (old.valid && (before = read(at, old.value)).value.kind == MISSING) return true;
    if (!now.valid) return false;
    if ((after = read(at, now.value)).value.kind == MISSING) return true;
    return old.valid ? put_patch_between(out, before, after) : put(out, after);
}

// ---- members in order -----------------------------------------------------------------------------------------------

DEVICE int compare(Key one, Key other) {
    for (;;) {
        const int a = one.next(), b = other.next();
        if (a != b) return a < b ? -1 : 1;
        if (a < 0) return 0;
    }
}

// The part of a container that comes after the one that begins at a place, from 0 for the first; false for none.
DEVICE bool next_in_order(const Found& container, int32_t after, Parts& found) {
    Parts last(container.text, container.value);
    while (after && last.next() && last.start != after) {}
    if (container.value.kind == ARRAY) return found = last, found.next();
    bool any = false;
    for (Parts parts(container.text, container.value); parts.next();) {
        const Key key = key_of(container.text, parts.key);
        if (after) {
            const int order = compare(key, key_of(container.text, last.key));
            if (order < 0 || (order == 0 && parts.start <= after)) continue;
        }
        if (!any || compare(key, key_of(container.text, found.key)) < 0) found = parts, any = true;
    }
    return any;
}

template <class OUT> DEVICE bool put_normalised(OUT& out, const Found& document) {
    if (!is_container(document)) return put(out, document);
    const String text = document.text;
    Found container = document;
    int32_t after = 0;
    out.put(text[container.value.start]);
    for (int depth = 0;;) {
        Parts parts(text, container.value);
        if (next_in_order(container, after, parts)) {
            Separated<OUT> separated{out, after > 0};
            const Found part{text, parts.value};
            after = parts.start;
            separated.part(parts, is_container(part) ? parts.start : parts.scanner.at);
            if (!is_container(part)) continue;
            out.put(text[parts.start]);
            container = part, after = 0, ++depth;
            continue;
        }
        out.put(container.value.kind == OBJECT ? '}' : ']');
        if (!depth) return true;
        after = container.value.start;
        container.value = --depth ? around(document, after, depth).value : document.value;
    }
}

}  // namespace json
