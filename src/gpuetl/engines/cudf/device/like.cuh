// LIKE and ILIKE, by code points.
#pragma once
#include "case_mapping.cuh"

constexpr char32_t ONE_CODE_POINT = 0x110000, ANY_TEXT = 0x110001;

// The code points of a pattern and the wildcards above.
struct LikePattern {
    const char32_t* words;
    int size;
};

struct AsWritten {
    DEVICE uint32_t operator()(uint32_t point) const { return point; }
};
struct InLowerCase {
    Mapping lower_case;
    DEVICE uint32_t operator()(uint32_t point) const {
        return point < 0x80 ? point | letter_between(char(point), 'A', 'Z') << 5 : mapped(lower_case, point);
    }
};

// The code points and wildcards of a pattern that is a value of the row, without an escape.
DEVICE char32_t like_point(String pattern, int64_t at) {
    const char first = pattern[at];
    if (first == '%') return ANY_TEXT;
    return first == '_' ? ONE_CODE_POINT : char32_t(code_point(pattern.cut(at, code_point_end(pattern, at))));
}
template <class FOLD> DEVICE bool like_text(String text, String pattern, FOLD fold) {
    int64_t at = 0, taken = 0, place = 0, after_any = -1;
    while (at < text.size) {
        const int64_t end = code_point_end(text, at);
        const char32_t wanted = place < pattern.size ? like_point(pattern, place) : 0x110002;
        if (wanted == ANY_TEXT) {
            after_any = ++place;
            taken = at;
        } else if (wanted == ONE_CODE_POINT || (wanted < ONE_CODE_POINT && fold(wanted) == fold(code_point(text.cut(at, end))))) {
            place = code_point_end(pattern, place);
            at = end;
        } else if (after_any >= 0) {
            place = after_any;
            at = taken = code_point_end(text, taken);
        } else {
            return false;
        }
    }
    while (place < pattern.size && pattern[place] == '%') ++place;
    return place == pattern.size;
}

// Where a code point does not fit, the last % takes one more: what stood before it fits as well as it ever will.
template <class FOLD> DEVICE bool like(String text, LikePattern pattern, FOLD fold) {
    int64_t at = 0, taken = 0;
    int place = 0, after_any = 0;
    while (at < text.size) {
        const int64_t end = code_point_end(text, at);
        const char32_t wanted = place < pattern.size ? pattern.words[place] : 0x110002;
        if (wanted == ANY_TEXT) {
            after_any = ++place;
            taken = at;
        } else if (wanted == ONE_CODE_POINT || wanted == fold(code_point(text.cut(at, end)))) {
            ++place;
            at = end;
        } else if (after_any) {
            place = after_any;
            at = taken = code_point_end(text, taken);
        } else {
            return false;
        }
    }
    while (place < pattern.size && pattern.words[place] == ANY_TEXT) ++place;
    return place == pattern.size;
}
