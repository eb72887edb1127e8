// Strings: UTF-8 bytes; lengths and places count code points.  What only cuts returns a view.
//
// Strings are found by their bytes: in UTF-8 a whole code point is never found in the middle of another.
#pragma once

DEVICE bool begins_code_point(char byte) { return (byte & 0xC0) != 0x80; }

// How many bytes the code point has that begins with this one.
DEVICE int code_point_size(char byte) {
    const uint8_t first = uint8_t(byte);
    return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

// Where the code point ends that begins at `at`; in bytes that are no UTF-8, never beyond the text.
DEVICE int64_t code_point_end(String text, int64_t at) {
    const int64_t end = at + code_point_size(text[at]);
    return end < text.size ? end : text.size;
}

// Where the code point begins that ends before `end`.
DEVICE int64_t code_point_start(String text, int64_t end) {
    do --end; while (end > 0 && !begins_code_point(text[end]));
    return end;
}

// The code point of its bytes.
DEVICE uint32_t code_point(String bytes) {
    const uint32_t first = uint8_t(bytes[0]);
    if (bytes.size == 1) return first;
    uint32_t point = first & (0x7F >> bytes.size);
    for (int i = 1; i < bytes.size; ++i) point = point << 6 | (bytes[i] & 0x3F);
    return point;
}

template <class OUT> DEVICE void put_code_point(OUT& out, uint32_t point) {
    if (point < 0x80) {
        out.put(char(point));
        return;
    }
    const int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    out.put(char((0xF0 << (3 - more)) | point >> 6 * more));
    for (int i = more - 1; i >= 0; --i) out.put(char(0x80 | (point >> 6 * i & 0x3F)));
}

// Where so many code points after `at` end, or the text does.
DEVICE int64_t after_code_points(String text, int64_t at, int64_t count) {
    for (; count > 0 && at < text.size; --count) at = code_point_end(text, at);
    return at;
}

DEVICE int64_t length(String text) {
    int64_t count = 0;
    for (int64_t i = 0; i < text.size; ++i) count += begins_code_point(text[i]);
    return count;
}
DEVICE int64_t byte_length(String text) { return text.size; }

// ---- strings in strings -------------------------------------------------------------------------------------------------

DEVICE bool stands_at(String text, int64_t at, String part) {
    if (part.size > text.size - at) return false;
    for (int64_t i = 0; i < part.size; ++i) if (text[at + i] != part[i]) return false;
    return true;
}

// The first byte, at or after `from`, at which the part stands; -1 where it does not.
DEVICE int64_t place_of(String text, String part, int64_t from) {
    for (; from + part.size <= text.size; ++from) if (stands_at(text, from, part)) return from;
    return -1;
}

DEVICE bool same_text(String x, String y) { return x.size == y.size && stands_at(x, 0, y); }
DEVICE bool starts_with(String text, String prefix) { return stands_at(text, 0, prefix); }
DEVICE bool ends_with(String text, String suffix) {
    return suffix.size <= text.size && stands_at(text, text.size - suffix.size, suffix);
}
DEVICE bool contains(String text, String part) { return place_of(text, part, 0) >= 0; }
DEVICE int64_t strpos(String text, String part) {
    const int64_t place = place_of(text, part, 0);
    return place < 0 ? 0 : length(text.cut(0, place)) + 1;
}

// ---- strings that are cut ---------------------------------------------------------------------------------------------

DEVICE String ltrim(String text, String characters) {
    int64_t at = 0;
    while (at < text.size && contains(characters, text.cut(at, code_point_end(text, at)))) at = code_point_end(text, at);
    return text.cut(at, text.size);
}
DEVICE String rtrim(String text, String characters) {
    int64_t end = text.size;
    while (end > 0 && contains(characters, text.cut(code_point_start(text, end), end))) end = code_point_start(text, end);
    return text.cut(0, end);
}
DEVICE String trim(String text, String characters) { return rtrim(ltrim(text, characters), characters); }

// The code points from one number, from 0, to before another.
DEVICE String sliced(String text, int64_t from, int64_t until) {
    const int64_t start = after_code_points(text, 0, from);
    return text.cut(start, after_code_points(text, start, until - from));
}

DEVICE String last_code_points(String text, int64_t count) {
    int64_t start = text.size;
    for (; count > 0 && start > 0; --count) start = code_point_start(text, start);
    return text.cut(start, text.size);
}

// The last code points but for the very last ones.
DEVICE String sliced_from_end(String text, int64_t count, int64_t without) {
    const String last = last_code_points(text, count);
    return last.cut(0, last.size - last_code_points(last, without).size);
}

constexpr int64_t MOST_CODE_POINTS = int64_t(1) << 62;

// A count with the other sign, at most that of any text.
DEVICE int64_t negated_count(int64_t count) { return count < -MOST_CODE_POINTS ? MOST_CODE_POINTS : -count; }

DEVICE String left(String text, int64_t count) {
    return count < 0 ? sliced_from_end(text, MOST_CODE_POINTS, negated_count(count)) : sliced(text, 0, count);
}
DEVICE String right(String text, int64_t count) {
    return count < 0 ? sliced(text, negated_count(count), MOST_CODE_POINTS) : last_code_points(text, count);
}

// SQL's substring: positions from 1, or from the end; those before the text count, and hold nothing.  A negative count
// takes those before the start.
DEVICE String substring(String text, int64_t start) {
    return start < 0 ? last_code_points(text, negated_count(start)) : sliced(text, start > 1 ? start - 1 : 0, MOST_CODE_POINTS);
}
DEVICE String substring(String text, int64_t start, int64_t count) {
    const int128_t first = start > 0 ? int128_t(start) - 1 : start < 0 ? int128_t(start) + length(text) : -1;
    const int128_t other = first + count;
    const int128_t from = count < 0 ? other : first, until = count < 0 ? first : other;
    const int64_t low = from < 0 ? 0 : int64_t(from);
    return sliced(text, low, until > MOST_CODE_POINTS ? MOST_CODE_POINTS : until < low ? low : int64_t(until));
}

// The code points from one place to another, both from 1, or from the end where they are negative.
DEVICE String text_slice(String text, int64_t first, int64_t last) {
    const int64_t size = first < 0 || last < 0 ? length(text) : MOST_CODE_POINTS;
    const int64_t from = first > 0 ? first - 1 : first && first >= -size ? first + size : 0;
    const int64_t until = last >= 0 ? last : last >= -size ? last + size + 1 : 0;
    return sliced(text, from, until < from ? from : until);
}

DEVICE String remove_prefix(String text, String prefix) {
    return starts_with(text, prefix) ? text.cut(prefix.size, text.size) : text;
}
DEVICE String remove_suffix(String text, String suffix) {
    return ends_with(text, suffix) ? text.cut(0, text.size - suffix.size) : text;
}

// How many parts there are between separators, which are looked for from the left; an empty one parts all code points.
DEVICE int64_t parts_of(String text, String separator) {
    if (!separator.size) return length(text);
    int64_t count = 1;
    for (int64_t at = 0; (at = place_of(text, separator, at)) >= 0; at += separator.size) ++count;
    return count;
}

// The part that begins at a byte.
DEVICE String part_from(String text, String separator, int64_t at) {
    const int64_t end = separator.size ? place_of(text, separator, at) : code_point_end(text, at);
    return text.cut(at, end < 0 ? text.size : end);
}

// The parts one after the other, as a list has them.
struct SplitParts {
    String text, separator;
    int64_t at = 0;  // beyond the text where none is left

    DEVICE SplitParts(String text, String separator) : text(text), separator(separator) {}
    DEVICE bool next(Maybe<String>& part) {
        if (at > text.size || (!separator.size && at == text.size)) return false;
        part = some(part_from(text, separator, at));
        const int64_t end = at + part.value.size;
        at = !separator.size ? end : end == text.size ? end + 1 : end + separator.size;
        return true;
    }
};

DEVICE String split_part(String text, String separator, int64_t index) {
    if (index < 0) index += parts_of(text, separator) + 1;
    if (!separator.size) return index > 0 ? sliced(text, index - 1, index) : text.cut(0, 0);
    int64_t at = index > 0 ? 0 : -1;
    for (; at >= 0 && index > 1; --index) {
        at = place_of(text, separator, at);
        if (at >= 0) at += separator.size;
    }
    return at < 0 ? text.cut(0, 0) : part_from(text, separator, at);
}

// ---- strings that are written -----------------------------------------------------------------------------------------

template <class OUT> DEVICE void concat(OUT& out) {}
template <class OUT, class... REST> DEVICE void concat(OUT& out, String first, REST... rest) {
    out.put(first);
    concat(out, rest...);
}

constexpr int MOST_IN_LINE = 4;  // more strings than these are copied by calls

CALLED char* copied(char* to, String text) {
    for (int64_t i = 0; i < text.size; ++i) *to++ = text.data[i];
    return to;
}
template <class OUT> DEVICE void put_by_call(OUT& out, String text) { out.put(text); }
DEVICE void put_by_call(Bytes& out, String text) { out.at = copied(out.at, text); }

template <bool CALLS, class OUT> DEVICE void put_text(OUT& out, String text) {
    if constexpr (CALLS) put_by_call(out, text);
    else out.put(text);
}
template <bool CALLS, class OUT> DEVICE void join_strings(OUT& out, String separator, bool begun) {}
template <bool CALLS, class OUT, class... REST>
DEVICE void join_strings(OUT& out, String separator, bool begun, Maybe<String> first, REST... rest) {
    if (first.valid && begun) put_text<CALLS>(out, separator);
    if (first.valid) put_text<CALLS>(out, first.value);
    join_strings<CALLS>(out, separator, begun || first.valid, rest...);
}
template <class OUT, class... STRINGS> DEVICE bool concat_ws(OUT& out, Maybe<String> separator, STRINGS... strings) {
    if (separator.valid) join_strings<(sizeof...(STRINGS) > MOST_IN_LINE)>(out, separator.value, false, strings...);
    return separator.valid;
}

template <class OUT> DEVICE void replace(OUT& out, String text, String old, String put) {
    int64_t done = 0;
    if (old.size) {
        for (int64_t at = 0; (at = place_of(text, old, at)) >= 0; done = at += old.size) {
            out.put(text.cut(done, at));
            out.put(put);
        }
    }
    out.put(text.cut(done, text.size));
}

// What `translate` puts for one code point: itself, that of the same number in `put`, or nothing.
DEVICE String translated(String point, String old, String put) {
    const int64_t place = place_of(old, point, 0);
    if (place < 0) return point;
    const int64_t number = length(old.cut(0, place));
    return sliced(put, number, number + 1);
}
template <class OUT> DEVICE void translate(OUT& out, String text, String old, String put) {
    for (int64_t at = 0, end; at < text.size; at = end) {
        end = code_point_end(text, at);
        out.put(translated(text.cut(at, end), old, put));
    }
}

template <class OUT> DEVICE void repeat(OUT& out, String text, int64_t count) {
    for (; count > 0; --count) out.put(text);
}
constexpr int64_t MOST_COPIES = 1000000;

// Of counts that vary: too great a one has no result.
template <class FAULT> DEVICE bool is_count(FAULT at, int64_t count) {
    if (count > MOST_COPIES) at(TOO_MANY_CHARACTERS);
    return count <= MOST_COPIES;
}
template <class OUT> DEVICE void repeat(OUT& out, Fault at, String text, int64_t count) {
    if (is_count(at, count)) repeat(out, text, count);
}
template <class OUT> DEVICE void reverse(OUT& out, String text) {
    for (int64_t end = text.size, start; end > 0; end = start) {
        start = code_point_start(text, end);
        out.put(text.cut(start, end));
    }
}
template <class OUT> DEVICE void lpad(OUT& out, String text, int64_t width, String fill) {
    repeat(out, fill, width - length(text));
    out.put(text);
}
template <class OUT> DEVICE void rpad(OUT& out, String text, int64_t width, String fill) {
    out.put(text);
    repeat(out, fill, width - length(text));
}
template <class OUT> DEVICE void lpad(OUT& out, Fault at, String text, int64_t width, String fill) {
    if (is_count(at, width)) lpad(out, text, width < 0 ? 0 : width, fill);
}
template <class OUT> DEVICE void rpad(OUT& out, Fault at, String text, int64_t width, String fill) {
    if (is_count(at, width)) rpad(out, text, width < 0 ? 0 : width, fill);
}

// As many code points of a text as are missing, which begins anew at its end.
template <class OUT, class FAULT> DEVICE void fill_up(OUT& out, FAULT at, int64_t missing, String fill) {
    if (missing <= 0) return;
    const int64_t points = length(fill);
    if (!points) return at(EMPTY_FILL);
    repeat(out, fill, missing / points);
    out.put(sliced(fill, 0, missing % points));
}
template <class OUT, class FAULT> DEVICE void lpad_with(OUT& out, FAULT at, String text, int64_t width, String fill) {
    if (is_count(at, width)) fill_up(out, at, (width < 0 ? 0 : width) - length(text), fill);
    out.put(text);
}
template <class OUT, class FAULT> DEVICE void rpad_with(OUT& out, FAULT at, String text, int64_t width, String fill) {
    out.put(text);
    if (is_count(at, width)) fill_up(out, at, (width < 0 ? 0 : width) - length(text), fill);
}
