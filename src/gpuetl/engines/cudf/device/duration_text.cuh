// Durations as text and back: `2 days 03:04:05.25`, `90 minutes`, `1h30m`, `3 days ago`.
#pragma once
#include "time_casts.cuh"
#include "number_text.cuh"

constexpr int64_t MINUTE = 60 * SECOND, HOUR = 60 * MINUTE;

// ---- written --------------------------------------------------------------------------------------------------------

template <class OUT> DEVICE void write_duration(OUT& out, int64_t micros) {
    const bool negative = micros < 0;
    const uint64_t length = negative ? 0 - uint64_t(micros) : uint64_t(micros);
    const uint64_t days = length / DAY, rest = length % DAY;
    if (days) {
        if (negative) out.put('-');
        put_digits(out, days);
        out.put(days == 1 ? String{" day", 4} : String{" days", 5});
        if (!rest) return;
        out.put(' ');
    }
    if (negative) out.put('-');
    put_digits(out, rest / HOUR, 2);
    out.put(':');
    put_digits(out, rest / MINUTE % 60, 2);
    out.put(':');
    put_digits(out, rest / SECOND % 60, 2);
    uint64_t fraction = rest % SECOND;
    if (!fraction) return;
    int digits = 6;
    for (; fraction % 10 == 0; fraction /= 10) --digits;
    out.put('.');
    put_digits(out, fraction, digits);
}

// ---- read -----------------------------------------------------------------------------------------------------------

struct DurationUnit {
    String name;    // in lower case
    bool plural;    // whether an s may follow
    int64_t micros;
};

// The microseconds of a unit; 0 for a word that is none, or months.
DEVICE int64_t unit_length(String word) {
    const DurationUnit units[] = {
        {{"microsecond", 11}, true, 1},   {{"us", 2}, false, 1},         {{"usec", 4}, true, 1},      {{"usecond", 7}, true, 1},
        {{"millisecond", 11}, true, 1000}, {{"ms", 2}, false, 1000},      {{"msec", 4}, true, 1000},   {{"msecond", 7}, true, 1000},
        {{"second", 6}, true, SECOND},    {{"sec", 3}, true, SECOND},    {{"s", 1}, false, SECOND},   {{"minute", 6}, true, MINUTE},
        {{"min", 3}, true, MINUTE},       {{"m", 1}, false, MINUTE},     {{"hour", 4}, true, HOUR},   {{"hr", 2}, true, HOUR},
        {{"h", 1}, false, HOUR},          {{"day", 3}, true, DAY},       {{"d", 1}, false, DAY},      {{"week", 4}, true, 7 * DAY},
        {{"w", 1}, false, 7 * DAY},
    };
    const bool ends_in_s = word.size && lower_letter(word[word.size - 1]) == 's';
    for (const DurationUnit& unit : units) {
        if (equals_in_any_case(word, unit.name)) return unit.micros;
        if (unit.plural && ends_in_s && equals_in_any_case(word.cut(0, word.size - 1), unit.name)) return unit.micros;
    }
    return 0;
}

// Reads amounts with units, and perhaps a time, one after the other; `good` says whether the text was as expected so far.
struct DurationText {
    const String text;
    int64_t at;
    bool good;
    int128_t micros;

    DEVICE bool ends() const { return at >= text.size; }
    DEVICE char next() const { return ends() ? '\0' : text[at]; }
    DEVICE bool takes(char byte) {
        const bool there = !ends() && text[at] == byte;
        at += there;
        return there;
    }
    DEVICE void skip_spaces() { while (next() == ' ' || (next() >= '\t' && next() <= '\r')) ++at; }

    // 1 to `most` digits.
    DEVICE uint64_t digits(int most) {
        uint64_t value = 0;
        int count = 0;
        for (; is_digit(next()); ++count) {
            good = good && count < most;
            value = good ? 10 * value + uint64_t(text[at] - '0') : 0;
            ++at;
        }
        good = good && count;
        return value;
    }
    // 1 to `places` digits as so many.
    DEVICE uint64_t fraction(int places) {
        const int64_t start = at;
        uint64_t value = digits(places);
        for (int64_t count = at - start; good && count < places; ++count) value *= 10;
        return value;
    }
    DEVICE uint64_t sixtieths() {
        const uint64_t value = digits(2);
        good = good && value < 60;
        return value;
    }

    // A time behind its hours, at the end of the text.
    DEVICE void time_of_day(uint64_t hours, int64_t digits_of_hours, bool negative) {
        good = good && digits_of_hours <= 9;
        int128_t length = int128_t(hours) * HOUR + sixtieths() * MINUTE;
        if (takes(':')) {
            length += sixtieths() * SECOND;
            if (takes('.')) length += fraction(6);
        }
        skip_spaces();
        good = good && ends();
        add(negative, length);
    }
    DEVICE void add(bool negative, int128_t length) { micros += negative ? -length : length; }

    // An amount with its unit; a number alone is seconds.  `first` says whether none was before.
    DEVICE void amount(bool first) {
        const bool apart = !at || text[at - 1] == ' ' || (text[at - 1] >= '\t' && text[at - 1] <= '\r') || (at == 1 && text[0] == '@');
        const bool negative = takes('-');
        const int64_t start = at;
        const uint64_t whole = digits(19);
        const int64_t count = at - start;
        if (apart && takes(':')) return time_of_day(whole, count, negative);
        const uint64_t billionths = takes('.') ? fraction(9) : 0;
        skip_spaces();
        const int64_t word = at;
        while (lower_letter(next()) >= 'a' && lower_letter(next()) <= 'z') ++at;
        const bool alone = first && word == at && ends() && text[0] != '@';
        const int64_t unit = alone ? SECOND : unit_length(text.cut(word, at));
        good = good && unit && (unit > 1 || !billionths);
        const uint128_t scaled = uint128_t(billionths) * uint64_t(unit);
        const int128_t length = int128_t(whole) * unit + int128_t((scaled + 500000000) / 1000000000);
        good = good && length <= int128_t(1) << 64;
        add(negative, good ? length : 0);
    }

    DEVICE void read() {
        takes('@');
        skip_spaces();
        bool first = true, ago = false;
        while (good && !ends() && !ago) {
            ago = !first && lower_letter(next()) == 'a';
            if (ago) break;
            amount(first);
            skip_spaces();
            first = false;
        }
        good = good && !first;
        if (!ago) return;
        good = good && text.size - at >= 3 && equals_in_any_case(text.cut(at, at + 3), String{"ago", 3});
        at += 3;
        skip_spaces();
        good = good && ends();
        micros = -micros;
    }
};

DEVICE Outcome<int64_t> read_duration(String text) {
    DurationText duration{text, 0, true, 0};
    duration.read();
    const bool fits = duration.good && duration.micros == int64_t(duration.micros);
    return fits ? done(int64_t(duration.micros)) : refused<int64_t>(NOT_A_VALUE);
}
