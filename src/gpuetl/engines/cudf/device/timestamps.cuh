// Moments: dates (int32 days) and timestamps (int64 microseconds) made, moved and truncated.
#pragma once
#include "calendar.cuh"

constexpr int64_t SINCE_YEAR_0 = 1970 * 12;  // months: centuries are counted from the year 0
constexpr int64_t FAR_YEAR = 10000000, FAR_DAY = 1LL << 33;  // beyond any date and timestamp, and far from what wraps

// The day of a date's parts, which must be one.
DEVICE int64_t days_of(Fault at, int64_t year, int64_t month, int64_t day, Reason reason) {
    const bool near = month >= 1 && month <= 12 && year >= -FAR_YEAR && year <= FAR_YEAR;
    const int64_t months = near ? (year - 1970) * 12 + month - 1 : 0, first = first_day(months);
    if (!near || day < 1 || day > first_day(months + 1) - first) {
        at(reason);
        return 0;
    }
    return first + day - 1;
}

DEVICE int32_t make_date(Fault at, int64_t year, int64_t month, int64_t day) {
    return date_of(at, days_of(at, year, month, day, NO_DATE));
}

DEVICE int64_t make_timestamp(Fault at, int64_t year, int64_t month, int64_t day, int64_t hour, int64_t minute,
                              double seconds = 0) {
    if (!(hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && seconds >= 0 && seconds < 60)) {
        at(NO_DATE_AND_TIME);
        return 0;
    }
    const Clock clock = {days_of(at, year, month, day, NO_DATE_AND_TIME), int64_t(rint(seconds * SECOND))};
    return timestamp_of(at, moved(clock, hour * 3600 + minute * 60));
}

DEVICE int64_t make_time(Fault at, int64_t hour, int64_t minute, double seconds) {
    const bool fits = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && seconds >= 0 && seconds < 60;
    const int64_t micros = fits ? int64_t(rint(seconds * SECOND)) + (hour * 3600 + minute * 60) * SECOND : DAY;
    if (micros >= DAY) at(NO_DATE_AND_TIME);
    return micros;
}

// A number of units of so many microseconds; the fraction of floats is rounded half to even.
DEVICE int64_t micros_of(Fault at, int64_t number, int64_t length) {
    if (number < INT64_LEAST / length || number > INT64_GREATEST / length) {
        at(OUT_OF_MICROSECONDS);
        return 0;
    }
    return number * length;
}
DEVICE int64_t micros_of(Fault at, double number, int64_t length) {
    const double micros = rint(number * length);
    if (!(micros >= -9223372036854775808.0 && micros < 9223372036854775808.0)) {  // NaN neither
        at(OUT_OF_MICROSECONDS);
        return 0;
    }
    return int64_t(micros);
}

// What a clock without a zone shows, as a date or a timestamp.
template <class T> DEVICE T naive(Fault at, Clock clock);
template <> DEVICE int32_t naive<int32_t>(Fault at, Clock clock) { return date_of(at, clock.days); }
template <> DEVICE int64_t naive<int64_t>(Fault at, Clock clock) { return timestamp_of(at, clock); }

// ---- clocks moved ---------------------------------------------------------------------------------------------------

// A constant of months, then days, then microseconds.
struct Interval {
    int32_t months, days;
    int64_t micros;
};

DEVICE Clock days_later(Fault at, Clock clock, int64_t days) {
    if (days >= -FAR_DAY && days <= FAR_DAY) return {clock.days + days, clock.micros};
    at(OUT_OF_DATES);
    return {0, 0};
}

// The same day of the month so many months later, or the last one if it has no such day.
DEVICE Clock months_later(Fault at, Clock clock, int64_t months) {
    if (months < -12 * FAR_YEAR || months > 12 * FAR_YEAR) {
        at(OUT_OF_DATES);
        return {0, 0};
    }
    const Civil date = civil(clock.days);
    const int64_t month = date.months() + months;
    const int64_t day = first_day(month) + date.day, next = first_day(month + 1);
    return {(day < next ? day : next) - 1, clock.micros};
}

DEVICE Clock later(Fault at, Clock clock, Interval interval) {
    const Clock found = months_later(at, clock, interval.months);
    const int64_t micros = found.micros + floor_remainder(interval.micros, DAY);
    return {found.days + interval.days + floor_quotient(interval.micros, DAY) + micros / DAY, micros % DAY};
}

// ---- units ----------------------------------------------------------------------------------------------------------

// The midnight with which a clock's day, week or some months begin.
DEVICE Clock start_of_day(Clock clock) { return {clock.days, 0}; }
DEVICE Clock start_of_week(Clock clock) { return {clock.days - weekday(clock), 0}; }
DEVICE Clock start_of_months(Clock clock, int64_t many) {
    const int64_t months = civil(clock.days).months();
    return {first_day(months - floor_remainder(months + SINCE_YEAR_0, many)), 0};
}

DEVICE Clock start_of_months_since(Clock clock, int64_t many, int64_t origin) {
    const int64_t months = civil(clock.days).months();
    return {first_day(months - floor_remainder(months - origin, many)), 0};
}

// So much earlier, by what is not negative.
DEVICE int64_t earlier(Fault at, int64_t timestamp, int64_t by) {
    if (timestamp < INT64_LEAST + by) at(OUT_OF_TIMESTAMPS);
    return int64_t(uint64_t(timestamp) - uint64_t(by));
}

// The start of a unit shorter than a day: it has whole ones, and the clock's offset stays.
DEVICE int64_t truncated(Fault at, int64_t timestamp, Clock clock, int64_t length) {
    return earlier(at, timestamp, clock.micros % length);
}

DEVICE int64_t time_bucket(Fault at, int64_t width, int64_t timestamp, int64_t origin = 0) {
    if (width <= 0) {
        at(NOT_ABOVE_ZERO);
        return 0;
    }
    const int64_t passed = floor_remainder(timestamp, width) - floor_remainder(origin, width);
    return earlier(at, timestamp, floor_remainder(passed, width));
}

DEVICE int64_t months_between(Clock a, Clock b, int64_t many) {
    return floor_quotient(civil(b.days).months() + SINCE_YEAR_0, many) -
           floor_quotient(civil(a.days).months() + SINCE_YEAR_0, many);
}
DEVICE int64_t days_between(Clock a, Clock b) { return b.days - a.days; }
DEVICE int64_t weeks_between(Clock a, Clock b) { return days_between(start_of_week(a), start_of_week(b)) / 7; }

// How many months are complete from a to b; the last day of a month ends one that began on a later day.
DEVICE int64_t months_complete(Clock a, Clock b) {
    if (b.days < a.days || (b.days == a.days && b.micros < a.micros)) return -months_complete(b, a);
    const Civil start = civil(a.days), end = civil(b.days);
    const int64_t last = first_day(end.months() + 1) - first_day(end.months());
    const int64_t began = end.day == last && start.day > last ? last : start.day;
    return end.months() - start.months() - (began > end.day || (began == end.day && a.micros > b.micros));
}

// How many days are complete on the clock, toward zero.
DEVICE int64_t days_complete(Clock a, Clock b) {
    const int64_t days = b.days - a.days;
    return days - (days > 0 && b.micros < a.micros) + (days < 0 && b.micros > a.micros);
}

// Whole units between two starts of them.
DEVICE int64_t units_between(Fault at, int64_t a, int64_t b, int64_t length) {
    const int128_t passed = int128_t(b) - a;
    if (passed != int64_t(passed) || passed == INT64_LEAST) at(OVERFLOW_);
    return int64_t(passed) / length;
}
