// Which strings are not UTF-8 (Unicode 15, table 3-7), of any column.
#pragma once

DEVICE bool continues(char byte) { return (byte & 0xC0) == 0x80; }

DEVICE bool is_utf8(String text) {
    int64_t at = 0;
    while (at < text.size) {
        const uint8_t lead = text[at];
        const int more = lead < 0x80 ? 0 : lead < 0xC2 ? -1 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : -1;
        if (more < 0 || at + more >= text.size) return false;
        const uint8_t second = more ? text[at + 1] : 0;
        if (lead == 0xE0 && second < 0xA0 || lead == 0xED && second > 0x9F) return false;  // overlong; surrogates
        if (lead == 0xF0 && second < 0x90 || lead == 0xF4 && second > 0x8F) return false;  // overlong; beyond Unicode
        for (int i = 1; i <= more; ++i)
            if (!continues(text[at + i])) return false;
        at += more + 1;
    }
    return true;
}
