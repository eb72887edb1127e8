// Casts of times: among each other, and from strings in the ISO forms that docs/functions.md lists.
#pragma once
#include "casts.cuh"
#include "calendar.cuh"

DEVICE Outcome<int64_t> timestamp_cast(int32_t date) {
    const int128_t micros = int128_t(date) * DAY;
    return micros == int64_t(micros) ? done(int64_t(micros)) : refused<int64_t>(OVERFLOW_);
}

DEVICE Outcome<int64_t> nanoseconds(int128_t nanos, Reason otherwise) {
    return nanos == int64_t(nanos) ? done(int64_t(nanos)) : refused<int64_t>(otherwise);
}
DEVICE Outcome<int64_t> nanoseconds_cast(int64_t micros) { return nanoseconds(int128_t(micros) * 1000, OVERFLOW_); }
DEVICE Outcome<int64_t> nanoseconds_cast(int32_t date) { return nanoseconds(int128_t(date) * DAY * 1000, OVERFLOW_); }

DEVICE Outcome<int64_t> microseconds_cast(int64_t nanos) {
    return nanos % 1000 ? refused<int64_t>(OVERFLOW_) : done(nanos / 1000);
}

DEVICE Outcome<int32_t> date_of_nanoseconds(int64_t nanos) {
    return nanos % (DAY * 1000) ? refused<int32_t>(HAS_TIME_OF_DAY) : done(int32_t(nanos / (DAY * 1000)));
}

DEVICE Outcome<int32_t> date_cast(int64_t timestamp) {
    const Clock clock = clock_of(timestamp);
    return clock.micros ? refused<int32_t>(HAS_TIME_OF_DAY) : done(int32_t(clock.days));
}

// Reads a text from its beginning; `good` says whether it was as expected so far.
struct IsoText {
    const String text;
    int64_t at;
    bool good;

    DEVICE bool ends() const { return at == text.size; }
    DEVICE bool sees(char byte) const { return at < text.size && text[at] == byte; }
    DEVICE bool takes(char byte) {
        const bool there = sees(byte);
        at += there;
        return there;
    }
    DEVICE bool sees_digit() const { return at < text.size && text[at] >= '0' && text[at] <= '9'; }
    DEVICE int64_t number(int width) {
        int64_t value = 0;
        for (; width--; ++at) {
            good = good && sees_digit();
            value = value * 10 + (good ? text[at] - '0' : 0);
        }
        return value;
    }
    DEVICE int64_t number(int width, int64_t limit) {
        const int64_t value = number(width);
        good = good && value < limit;
        return value;
    }

    DEVICE void skip_spaces() { while (at < text.size && (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r'))) ++at; }
    DEVICE bool takes_any(char one, char other) { return takes(one) || takes(other); }
    // One or two digits.
    DEVICE int64_t short_number(int64_t limit) {
        const int64_t first = number(1), value = sees_digit() ? 10 * first + number(1) : first;
        good = good && value < limit;
        return value;
    }

    // `2020-01-02`, `2020/1/2` or `2020 1 2`, after spaces.
    DEVICE int64_t date() {
        skip_spaces();
        const int64_t year = number(4);
        const char sign = at < text.size ? text[at] : '\0';
        good = good && (sign == '-' || sign == '/' || sign == ' ');
        ++at;
        const int64_t month = short_number(13);
        good = takes(sign) && good;
        const int64_t day = short_number(32), months = (year - 1970) * 12 + month - 1;
        good = good && month > 0 && day > 0 && day <= first_day(months + 1) - first_day(months);
        return first_day(months) + day - 1;
    }
    // Whether only spaces are left.
    DEVICE bool is_done() {
        skip_spaces();
        return good && ends();
    }
    // Whether a time follows.
    DEVICE bool goes_on() {
        const int64_t here = at;
        skip_spaces();
        const bool more = !ends();
        at = here;
        return more;
    }
    DEVICE void before_time() {
        good = takes_any(' ', 'T') && good;
        while (takes(' ')) {}
    }

    // Hours, and minutes and seconds, each where it follows what precedes it; in microseconds, or by 9 places in nanoseconds.
    // Hours of one digit have minutes.  24:00:00 is the end of the day.
    DEVICE int64_t time_of_day(int places = 6, int64_t greatest = 24) {
        const int64_t unit = places == 6 ? SECOND : SECOND * 1000, start = at;
        const int64_t hours = short_number(greatest + 1), limit = 24 * 3600 * unit + (greatest == 24);
        int64_t units = hours * 3600 * unit;
        good = good && (at - start == 2 || sees(':'));
        if (takes(':')) {
            units += number(2, 60) * 60 * unit;
            if (takes(':')) {
                units += number(2, 60) * unit;
                if (takes('.')) units += fraction(places);
            }
        }
        good = good && units < limit;
        return units;
    }

    // Digits, the first of which count; others are 0.
    DEVICE int64_t fraction(int places) {
        int64_t units = number(1);
        for (int i = 1; i < places; ++i) units = units * 10 + (sees_digit() ? number(1) : 0);
        while (sees_digit()) good = number(1) == 0 && good;
        return units;
    }

    // `Z`, `UTC`, or hours and perhaps minutes that the clock is ahead.
    DEVICE int64_t offset() {
        if (takes('Z')) return 0;
        if (sees(' ') || sees('U')) {
            takes(' ');
            good = takes('U') && takes('T') && takes('C') && good;
            return 0;
        }
        const bool behind = sees('-');
        good = (takes('+') || takes('-')) && good;
        int64_t minutes = number(2, 24) * 60;
        if (takes(':') || sees_digit()) minutes += number(2, 60);
        return (behind ? -minutes : minutes) * 60 * SECOND;
    }
};

DEVICE Outcome<int32_t> date_cast(String text) {
    IsoText iso{text, 0, true};
    const int64_t days = iso.date();
    return iso.is_done() ? done(int32_t(days)) : refused<int32_t>(NOT_A_VALUE);
}

// `HH:MM`, and seconds with a fraction.
DEVICE Outcome<int64_t> time_cast(String text) {
    IsoText iso{text, 0, true};
    iso.skip_spaces();
    const int64_t start = iso.at, micros = iso.time_of_day(6, 23), size = iso.at - start;
    return iso.is_done() && size > 2 ? done(micros) : refused<int64_t>(NOT_A_VALUE);
}

constexpr int64_t FIRST_DAY_OF_10000 = 2932897;

DEVICE Outcome<int64_t> timestamp_cast(String text, bool zoned) {
    IsoText iso{text, 0, true};
    int64_t micros = iso.date() * DAY;
    if (zoned || iso.goes_on()) {
        iso.before_time();
        micros += iso.time_of_day();
        iso.good = iso.good && micros < FIRST_DAY_OF_10000 * DAY;
        if (zoned) micros -= iso.offset();
    }
    return iso.is_done() ? done(micros) : refused<int64_t>(NOT_A_VALUE);
}

DEVICE Outcome<int64_t> nanoseconds_cast(String text) {
    IsoText iso{text, 0, true};
    int128_t nanos = int128_t(iso.date()) * DAY * 1000;
    if (iso.goes_on()) {
        iso.before_time();
        nanos += iso.time_of_day(9);
    }
    return iso.is_done() ? nanoseconds(nanos, NOT_A_VALUE) : refused<int64_t>(NOT_A_VALUE);
}
