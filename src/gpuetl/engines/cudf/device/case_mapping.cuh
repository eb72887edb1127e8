// Upper and lower case, and letters without accents, code point by code point; the tables are arguments, made of
// Python's (like.py).
#pragma once
#include "strings.cuh"

// Rows of code points, sorted by the first of each.
struct Mapping {
    const char32_t* words;  // of each row the first code point, the last, the step between them, and what is added
    int rows;
};
struct Members {
    const char32_t* words;  // of each row the first code point and the last
    int rows;
};

// The row whose code points may include this one: the last that does not begin after it, or -1.
DEVICE int row_of(const char32_t* words, int rows, int width, uint32_t point) {
    int low = 0;
    for (int high = rows; low < high;) {
        const int middle = (low + high) / 2;
        if (words[middle * width] <= point) low = middle + 1;
        else high = middle;
    }
    return low - 1;
}

DEVICE uint32_t mapped(Mapping mapping, uint32_t point) {
    const int row = row_of(mapping.words, mapping.rows, 4, point);
    if (row < 0) return point;
    const char32_t* words = mapping.words + row * 4;
    return point <= words[1] && (point - words[0]) % words[2] == 0 ? point + words[3] : point;
}
DEVICE bool is_one_of(Members members, uint32_t point) {
    const int row = row_of(members.words, members.rows, 2, point);
    return row >= 0 && point <= members.words[row * 2 + 1];
}

// Letters of ASCII are those between two bounds; bit 5 is their case.
DEVICE bool letter_between(char byte, char first, char last) { return byte >= first && byte <= last; }

// One code point's bytes in another case: `from` is the first letter of ASCII that changes.
template <class OUT> DEVICE void put_in_case(OUT& out, String bytes, char from, Mapping mapping) {
    if (bytes.size > 1) put_code_point(out, mapped(mapping, code_point(bytes)));
    else out.put(letter_between(bytes[0], from, char(from + 25)) ? char(bytes[0] ^ 0x20) : bytes[0]);
}

template <class OUT> DEVICE void in_case(OUT& out, String text, char from, Mapping mapping) {
    for (int64_t at = 0, end; at < text.size; at = end) {
        end = code_point_end(text, at);
        put_in_case(out, text.cut(at, end), from, mapping);
    }
}
template <class OUT> DEVICE void upper(OUT& out, String text, Mapping upper_case) { in_case(out, text, 'a', upper_case); }
template <class OUT> DEVICE void lower(OUT& out, String text, Mapping lower_case) { in_case(out, text, 'A', lower_case); }

template <class OUT> DEVICE void initcap(OUT& out, String text, Mapping upper_case, Mapping lower_case, Members in_word) {
    bool inside = false;
    for (int64_t at = 0, end; at < text.size; at = end) {
        end = code_point_end(text, at);
        const String bytes = text.cut(at, end);
        put_in_case(out, bytes, inside ? 'A' : 'a', inside ? lower_case : upper_case);
        inside = is_one_of(in_word, code_point(bytes));
    }
}

// A syllable of Hangul that two parts of one make, or 0.  Source: the Unicode standard, section 3.12.
DEVICE uint32_t hangul_of(uint32_t before, uint32_t point) {
    const uint32_t syllable = before - 0xAC00, leading = before - 0x1100, vowel = point - 0x1161, trailing = point - 0x11A7;
    if (leading < 19 && vowel < 21) return 0xAC00 + (leading * 21 + vowel) * 28;
    return syllable < 11172 && syllable % 28 == 0 && trailing - 1 < 27 ? before + trailing : 0;
}

// Marks are left out; what becomes of Hangul's parts that then stand together waits for what follows.
template <class OUT> DEVICE void strip_accents(OUT& out, String text, Members marks, Mapping plain) {
    constexpr uint32_t NONE = ~0u;
    uint32_t waiting = NONE;
    for (int64_t at = 0, end; at < text.size; at = end) {
        end = code_point_end(text, at);
        uint32_t point = code_point(text.cut(at, end));
        if (point >= 0x80) {
            if (is_one_of(marks, point)) continue;
            point = mapped(plain, point);
        }
        const uint32_t joined = hangul_of(waiting, point);
        if (waiting != NONE && !joined) put_code_point(out, waiting);
        waiting = joined ? joined : point;
    }
    if (waiting != NONE) put_code_point(out, waiting);
}
