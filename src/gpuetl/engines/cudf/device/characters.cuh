// Code points as numbers, how strings differ, and escapes.
#pragma once
#include "binary.cuh"
#include "strings.cuh"

DEVICE int64_t first_code_point(String text, int64_t of_none) {
    return text.size ? int64_t(code_point(text.cut(0, code_point_end(text, 0)))) : of_none;
}

template <class OUT> DEVICE void put_character(OUT& out, Fault at, int64_t number) {
    if (number < 0 || number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF)) at(NO_CODE_POINT);
    else put_code_point(out, uint32_t(number));
}

constexpr int64_t MOST_COMPARED = 1024, COMPARED_WORDS = MOST_COMPARED / 64;  // as in expressions/functions/characters.py

// The distance of two strings, by a bit for each code point of the shorter one.
//
// Source: G. Myers, "A Fast Bit-Vector Algorithm for Approximate String Matching" (1999), in blocks of 64 rows; the first
// row of the matrix grows by one, since the whole of the longer string counts.
DEVICE int64_t levenshtein(Fault at, String x, String y) {
    int64_t rows = length(x), columns = length(y);
    if (rows > columns) {
        const String other = x;
        x = y, y = other;
        const int64_t count = rows;
        rows = columns, columns = count;
    }
    if (rows > MOST_COMPARED) {
        at(LONG_STRINGS);
        return 0;
    }
    if (!rows) return columns;
    const int words = int((rows + 63) / 64);
    uint64_t up[COMPARED_WORDS], down[COMPARED_WORDS];  // where the distance grows and falls from row to row
    for (int word = 0; word < words; ++word) up[word] = ~uint64_t(0), down[word] = 0;
    int64_t distance = rows;
    for (int64_t place = 0; place < y.size;) {
        const int64_t end = code_point_end(y, place);
        const uint32_t point = code_point(y.cut(place, end));
        place = end;
        int across = 1;  // how the distance changes from column to column above the block
        int64_t own = 0;
        for (int word = 0; word < words; ++word) {
            uint64_t equal = 0;
            int bit = 0;
            for (; bit < 64 && own < x.size; ++bit) {
                const int64_t own_end = code_point_end(x, own);
                equal |= uint64_t(code_point(x.cut(own, own_end)) == point) << bit;
                own = own_end;
            }
            const uint64_t last = uint64_t(1) << (bit - 1), vertical = equal | down[word];
            equal |= across < 0;
            const uint64_t horizontal = (((equal & up[word]) + up[word]) ^ up[word]) | equal;
            uint64_t more = down[word] | ~(horizontal | up[word]), less = up[word] & horizontal;
            const int below = (more & last) ? 1 : (less & last) ? -1 : 0;
            more = more << 1 | (across > 0);
            less = less << 1 | (across < 0);
            up[word] = less | ~(vertical | more);
            down[word] = more & vertical;
            across = below;
        }
        distance += across;
    }
    return distance;
}

constexpr int MOST_IN_MATRIX = 256;  // as in expressions/functions/characters.py

// The distance of two strings in which neighbours may change places, by the last two rows of the matrix and one of what a
// change of places begins with.
//
// Source: C. Zhao and S. Sahni, "String correction using the Damerau-Levenshtein distance" (2019), algorithm LS_DL.
DEVICE int64_t damerau_levenshtein(Fault at, String x, String y) {
    const int rows = int(length(x)), columns = int(length(y));
    if (rows > MOST_IN_MATRIX || columns > MOST_IN_MATRIX) {
        at(LONGER_STRING);
        return 0;
    }
    const int most = (rows > columns ? rows : columns) + 1;
    int16_t lines[3][MOST_IN_MATRIX + 2];  // with one place before the first
    int16_t last_row[MOST_IN_MATRIX + 1];  // of a column: the last row with its code point
    int16_t *before = lines[0], *now = lines[1], *swapped = lines[2];
    for (int j = 0; j <= columns + 1; ++j) before[j] = int16_t(most), now[j] = int16_t(j ? j - 1 : most), swapped[j] = int16_t(most);
    for (int j = 0; j <= columns; ++j) last_row[j] = -1;
    int64_t own = 0;
    for (int i = 1; i <= rows; ++i) {
        int16_t* const other = before;
        before = now, now = other;
        const int64_t own_end = code_point_end(x, own);
        const String point = x.cut(own, own_end);
        own = own_end;
        int last_column = -1, beyond = now[1], kept = most;  // `beyond` is of two rows above
        now[1] = int16_t(i);
        int64_t place = 0;
        for (int j = 1; j <= columns; ++j) {
            const int64_t end = code_point_end(y, place);
            const bool equal = same_text(point, y.cut(place, end));
            place = end;
            int distance = before[j] + !equal;
            if (now[j] + 1 < distance) distance = now[j] + 1;
            if (before[j + 1] + 1 < distance) distance = before[j + 1] + 1;
            if (equal) {
                last_column = j;
                swapped[j + 1] = before[j - 1];
                kept = beyond;
            } else {
                const int row = last_row[j];
                if (j - last_column == 1 && row >= 0 && swapped[j + 1] + (i - row) < distance) distance = swapped[j + 1] + (i - row);
                else if (i - row == 1 && last_column >= 0 && kept + (j - last_column) < distance) distance = kept + (j - last_column);
            }
            beyond = now[j + 1];
            now[j + 1] = int16_t(distance);
            if (equal) last_row[j] = int16_t(i);
        }
    }
    return now[columns + 1];
}

DEVICE double jaro_similarity(Fault at, String x, String y) {
    const int64_t own = length(x), others = length(y);
    if (own > MOST_COMPARED || others > MOST_COMPARED) at(LONG_STRING);
    if (own > MOST_COMPARED || others > MOST_COMPARED || !own || !others) return 0;
    const int64_t longer = own > others ? own : others, window = longer / 2 > 1 ? longer / 2 - 1 : 0;
    uint64_t found[COMPARED_WORDS] = {}, matched[COMPARED_WORDS] = {};  // the code points of x and of y that have a match
    int64_t count = 0, first = 0, from = 0, place = 0;
    for (int64_t j = 0; j < others; ++j) {
        if (j > window && from < own) ++from, first = code_point_end(x, first);
        const int64_t end = code_point_end(y, place);
        const String point = y.cut(place, end);
        place = end;
        int64_t byte = first;
        for (int64_t i = from; i <= j + window && i < own; ++i) {
            const int64_t own_end = code_point_end(x, byte);
            const bool equal = same_text(x.cut(byte, own_end), point);
            byte = own_end;
            if (!equal || found[i >> 6] >> (i & 63) & 1) continue;
            found[i >> 6] |= uint64_t(1) << (i & 63);
            matched[j >> 6] |= uint64_t(1) << (j & 63);
            ++count;
            break;
        }
    }
    if (!count) return 0;
    int64_t moved = 0, i = 0, byte = 0;
    place = 0;
    for (int64_t j = 0; j < others; ++j) {
        const int64_t end = code_point_end(y, place);
        const String point = y.cut(place, end);
        place = end;
        if (!(matched[j >> 6] >> (j & 63) & 1)) continue;
        for (; !(found[i >> 6] >> (i & 63) & 1); ++i) byte = code_point_end(x, byte);
        const int64_t own_end = code_point_end(x, byte);
        moved += !same_text(x.cut(byte, own_end), point);
        byte = own_end, ++i;
    }
    const double equal = double(count);
    return (equal / double(own) + equal / double(others) + double(count - moved / 2) / equal) / 3.0;
}
DEVICE double jaro_winkler_similarity(Fault at, String x, String y) {
    const double similarity = jaro_similarity(at, x, y);
    if (!(similarity > 0.7)) return similarity;
    int alike = 0;  // code points that both begin with
    for (int64_t i = 0, end; alike < 4 && i < x.size && i < y.size; i = end, ++alike) {
        end = code_point_end(x, i);
        if (!stands_at(y, i, x.cut(i, end))) break;
    }
    return similarity + alike * 0.1 * (1.0 - similarity);
}

DEVICE int64_t hamming(Fault at, String x, String y) {
    int64_t count = 0, i = 0, j = 0;
    while (i < x.size && j < y.size) {
        const int64_t own = code_point_end(x, i), other = code_point_end(y, j);
        count += !same_text(x.cut(i, own), y.cut(j, other));
        i = own, j = other;
    }
    if (i < x.size || j < y.size) at(OTHER_LENGTH);
    return count;
}

// How many distinct code points a string has, and how many of them are in another one.
DEVICE void count_distinct(String text, String other, int64_t& distinct, int64_t& shared) {
    distinct = shared = 0;
    for (int64_t at = 0, end; at < text.size; at = end) {
        end = code_point_end(text, at);
        const String point = text.cut(at, end);
        if (contains(text.cut(0, at), point)) continue;
        ++distinct;
        shared += contains(other, point);
    }
}
DEVICE double jaccard(Fault at, String x, String y) {
    if (!x.size || !y.size) {
        at(EMPTY_STRING);
        return 0;
    }
    int64_t own, others, shared;
    count_distinct(y, x, others, shared);
    count_distinct(x, y, own, shared);
    return double(shared) / double(own + others - shared);
}

DEVICE bool is_alphanumeric(char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

template <class OUT> DEVICE void url_encode(OUT& out, String text) {
    for (int64_t at = 0; at < text.size; ++at) {
        const char byte = text[at];
        if (is_alphanumeric(byte) || byte == '-' || byte == '_' || byte == '.' || byte == '~') {
            out.put(byte);
            continue;
        }
        out.put('%');
        out.put(hex_digit(uint8_t(byte) >> 4, 'A'));
        out.put(hex_digit(uint8_t(byte) & 15, 'A'));
    }
}

// The bytes of a text in which %XX is a byte, one after the other.
struct UrlBytes {
    String text;
    int64_t at = 0;

    DEVICE UrlBytes(String text) : text(text) {}
    DEVICE bool done() const { return at >= text.size; }
    DEVICE char next() {
        const bool escaped = text[at] == '%' && at + 2 < text.size && hex_value(text[at + 1]) >= 0 && hex_value(text[at + 2]) >= 0;
        const char byte = escaped ? char(hex_byte(text, at + 1)) : text[at];
        at += escaped ? 3 : 1;
        return byte;
    }
};

// Whether bytes that come one after the other are UTF-8, as `is_utf8`.
DEVICE bool are_utf8(UrlBytes bytes) {
    while (!bytes.done()) {
        const uint8_t lead = bytes.next();
        const int more = lead < 0x80 ? 0 : lead < 0xC2 ? -1 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : -1;
        if (more < 0) return false;
        for (int i = 0; i < more; ++i) {
            if (bytes.done()) return false;
            const uint8_t byte = bytes.next();
            const uint8_t least = i ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
            const uint8_t most = i ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
            if (byte < least || byte > most) return false;
        }
    }
    return true;
}
template <class OUT> DEVICE void url_decode(OUT& out, Fault at, String text) {
    if (!are_utf8(UrlBytes(text))) at(NOT_UTF8);
    for (UrlBytes bytes(text); !bytes.done();) out.put(bytes.next());
}

template <class OUT> DEVICE void regexp_escape(OUT& out, String text) {
    for (int64_t at = 0; at < text.size; ++at) {
        const char byte = text[at];
        if (!is_alphanumeric(byte) && byte != '_' && uint8_t(byte) < 0x80) out.put('\\');
        if (byte) out.put(byte);
        else out.put(String{"x00", 3});
    }
}
