// Texts: UTF-8 bytes; lengths and places count code points.
#pragma once

DEVICE bool begins_code_point(char byte) { return (byte & 0xC0) != 0x80; }

DEVICE int64_t length(Text text) {
    int64_t count = 0;
    for (int64_t i = 0; i < text.size; ++i) count += begins_code_point(text[i]);
    return count;
}

template <class OUT> DEVICE void concat(OUT& out) {}
template <class OUT, class... REST> DEVICE void concat(OUT& out, Text first, REST... rest) {
    out.put(first);
    concat(out, rest...);
}
