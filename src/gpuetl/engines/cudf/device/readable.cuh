// Numbers of bytes as people write them, and bars.
#pragma once
#include "float_reading.cuh"

// In the greatest unit of which there is one, with a digit behind the point that is not rounded.
template <int UNIT, class OUT> DEVICE void put_size(OUT& out, int64_t count) {
    if (count < 0) out.put('-');
    uint64_t rest = count < 0 ? 0 - uint64_t(count) : uint64_t(count), below = 0;
    int power = 0;
    for (; rest >= UNIT && power < 5; ++power) {
        below = rest % UNIT;
        rest /= UNIT;
    }
    put_digits(out, rest);
    if (power == 0) {
        out.put(rest == 1 ? String{" byte", 5} : String{" bytes", 6});
        return;
    }
    out.put('.');
    out.put(char('0' + below * 10 / UNIT));
    out.put(' ');
    out.put(UNIT == 1000 && power == 1 ? 'k' : "KMGTP"[power - 1]);
    if (UNIT == 1024) out.put('i');
    out.put('B');
}

DEVICE bool is_white(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

// Bytes of a unit, 0 where there is no such one.
DEVICE uint64_t bytes_of_unit(String unit) {
    const char* letters = "kmgt";
    const char* names[] = {"kilobyte", "megabyte", "gigabyte", "terabyte"};
    uint64_t thousands = 1000, binary = 1024;
    if (equals_in_any_case(unit, {"b", 1}) || equals_in_any_case(unit, {"byte", 4}) || equals_in_any_case(unit, {"bytes", 5}))
        return 1;
    for (int i = 0; i < 4; ++i, thousands *= 1000, binary *= 1024) {
        const String name{names[i], 8};
        const bool first = unit.size && (unit[0] == letters[i] || unit[0] == letters[i] - 32);
        const String rest = first ? unit.cut(1, unit.size) : unit;
        if (first && (rest.size == 0 || equals_in_any_case(rest, {"b", 1}))) return thousands;
        if (first && equals_in_any_case(rest, {"ib", 2})) return binary;
        const bool plural = unit.size == 9 && (unit[8] == 's' || unit[8] == 'S');
        if (equals_in_any_case(plural ? unit.cut(0, 8) : unit, name)) return thousands;
    }
    return 0;
}

DEVICE uint64_t size_of(Fault at, String text) {
    int64_t start = 0;
    while (start < text.size && is_white(text[start])) ++start;
    int64_t end = start;
    for (; end < text.size; ++end) {
        const char byte = text[end];
        if (!((byte >= '0' && byte <= '9') || byte == '.' || byte == 'e' || byte == 'E' || byte == '-')) break;
    }
    int64_t unit = end, last = text.size;
    while (unit < text.size && is_white(text[unit])) ++unit;
    while (last > unit && is_white(text[last - 1])) --last;
    const Outcome<double> number = read_float<double>(text.cut(start, end));
    const double size = number.value * double(bytes_of_unit(text.cut(unit, last)));
    const bool known = end > start && !number.reason && bytes_of_unit(text.cut(unit, last));
    if (!known || !(size >= 0 && size < 18446744073709551616.0)) {
        at(NO_SIZE);
        return 0;
    }
    return uint64_t(size);
}

template <class OUT> DEVICE void put_bar(OUT& out, Fault at, double x, double low, double high, double most = 80) {
    const bool drawable = most >= 1 && most <= 1000;
    double width = 0;
    if (!(x != x || low != low || high != high || x <= low)) width = x >= high ? most : most * (x - low) / (high - low);
    if (!drawable || !is_finite(width)) {
        at(NO_BAR);
        return;
    }
    const int eighths = int(width * 8), cells = int(most);
    int drawn = eighths / 8;
    for (int i = 0; i < drawn; ++i) out.put(String{"\xE2\x96\x88", 3});
    if (eighths % 8) {
        const char part[] = {char(0xE2), char(0x96), char(0x90 - eighths % 8)};
        out.put(String{part, 3});
        ++drawn;
    }
    for (; drawn < cells; ++drawn) out.put(' ');
}
