// Calendar: parts of what a clock shows.  The proleptic Gregorian calendar, weeks by ISO 8601.
#pragma once

// What a clock shows: days since 1970-01-01, and microseconds of the day.
struct Clock {
    int64_t days, micros;
};

// The year before 1 is 0; months and days count from 1.
struct Civil {
    int64_t year;
    int32_t month, day;

    DEVICE int64_t months() const { return (year - 1970) * 12 + month - 1; }  // since January 1970
};

DEVICE int64_t floor_quotient(int64_t x, int64_t y) { return x / y - (x % y < 0); }
DEVICE int64_t floor_remainder(int64_t x, int64_t y) { return x % y + (x % y < 0 ? y : 0); }

// ---- clocks ---------------------------------------------------------------------------------------------------------

DEVICE Clock clock_of(int32_t date) { return {date, 0}; }
DEVICE Clock clock_of(int64_t timestamp) { return {floor_quotient(timestamp, DAY), floor_remainder(timestamp, DAY)}; }

DEVICE Clock moved(Clock clock, int64_t seconds) {
    const int64_t micros = clock.micros + seconds * SECOND;
    return {clock.days + floor_quotient(micros, DAY), floor_remainder(micros, DAY)};
}

DEVICE int32_t date_of(Fault at, int64_t days) {
    if (days != int32_t(days)) at(OUT_OF_DATES);
    return int32_t(days);
}

DEVICE int64_t timestamp_of(Fault at, Clock clock) {
    const int128_t micros = int128_t(clock.days) * DAY + clock.micros;
    if (micros != int64_t(micros)) at(OUT_OF_TIMESTAMPS);
    return int64_t(micros);
}

// ---- years, months, days: Hinnant, "chrono-Compatible Low-Level Date Algorithms"; their years begin in March --------

constexpr int64_t CYCLE_DAYS = 146097;         // of 400 years, after which the calendar repeats
constexpr int64_t SINCE_MARCH_OF_0 = 719468;   // days from 0000-03-01 to 1970-01-01

DEVICE Civil civil(int64_t days) {
    const int64_t cycle = floor_quotient(days + SINCE_MARCH_OF_0, CYCLE_DAYS);
    const uint32_t day = uint32_t(days + SINCE_MARCH_OF_0 - cycle * CYCLE_DAYS);
    const uint32_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    const uint32_t day_of_year = day - (365 * year + year / 4 - year / 100);
    const uint32_t month = (5 * day_of_year + 2) / 153;  // March is 0
    const bool next = month >= 10;
    return {cycle * 400 + year + next, int32_t(next ? month - 9 : month + 3),
            int32_t(day_of_year - (153 * month + 2) / 5 + 1)};
}

// The first day of a month, both counted since 1970.
DEVICE int64_t first_day(int64_t months) {
    const int64_t march = months + 1970 * 12 - 2;
    const uint32_t month = uint32_t(floor_remainder(march, 12));
    const int64_t cycle = floor_quotient(march, 4800);
    const uint32_t year = uint32_t(floor_remainder(march, 4800)) / 12;
    return cycle * CYCLE_DAYS + (365 * year + year / 4 - year / 100 + (153 * month + 2) / 5) - SINCE_MARCH_OF_0;
}

// ---- parts ----------------------------------------------------------------------------------------------------------

DEVICE int64_t weekday(Clock clock) { return floor_remainder(clock.days + 3, 7); }  // Monday is 0

// The Thursday of the same week: its year is the ISO year, its day the ISO week's number.
DEVICE Clock thursday(Clock clock) { return {clock.days - weekday(clock) + 3, clock.micros}; }

DEVICE int64_t year(Clock clock) { return civil(clock.days).year; }
DEVICE int64_t month(Clock clock) { return civil(clock.days).month; }
DEVICE int64_t quarter(Clock clock) { return (month(clock) + 2) / 3; }
DEVICE int64_t day(Clock clock) { return civil(clock.days).day; }
DEVICE int64_t dayofyear(Clock clock) { return clock.days - first_day((year(clock) - 1970) * 12) + 1; }
DEVICE int64_t week(Clock clock) { return (dayofyear(thursday(clock)) + 6) / 7; }
DEVICE int64_t iso_year(Clock clock) { return year(thursday(clock)); }
DEVICE int64_t decade(Clock clock) { return year(clock) / 10; }
DEVICE int64_t age_of(int64_t year, int64_t length) { return year > 0 ? (year - 1) / length + 1 : year / length - 1; }
DEVICE int64_t century(Clock clock) { return age_of(year(clock), 100); }
DEVICE int64_t millennium(Clock clock) { return age_of(year(clock), 1000); }
DEVICE int64_t era(Clock clock) { return year(clock) > 0; }
DEVICE int64_t yearweek(Clock clock) {
    const int64_t of = iso_year(clock);
    return of * 100 + (of > 0 ? week(clock) : -week(clock));
}
DEVICE double julian(Clock clock) { return double(clock.days + 2440588) + double(clock.micros) / DAY; }
DEVICE int64_t dayofweek(Clock clock) { return (weekday(clock) + 1) % 7; }
DEVICE int64_t isodow(Clock clock) { return weekday(clock) + 1; }
DEVICE int64_t hour(Clock clock) { return clock.micros / (3600 * SECOND); }
DEVICE int64_t minute(Clock clock) { return clock.micros / (60 * SECOND) % 60; }
DEVICE int64_t second(Clock clock) { return clock.micros / SECOND % 60; }
DEVICE int64_t millisecond(Clock clock) { return clock.micros % SECOND / 1000; }
DEVICE int64_t microsecond(Clock clock) { return clock.micros % SECOND; }
DEVICE int32_t to_date(Clock clock) { return int32_t(clock.days); }

DEVICE int64_t days_in_month(Clock clock) {
    const int64_t months = civil(clock.days).months();
    return first_day(months + 1) - first_day(months);
}
DEVICE int32_t last_day(Fault at, Clock clock) { return date_of(at, first_day(civil(clock.days).months() + 1) - 1); }
DEVICE bool is_leap_year(Clock clock) {
    const int64_t number = year(clock);
    return number % 4 == 0 && (number % 100 != 0 || number % 400 == 0);
}

// ---- names ----------------------------------------------------------------------------------------------------------

TABLE char MONTH_NAMES[12][10] = {"January", "February", "March", "April", "May", "June", "July", "August", "September",
                                  "October", "November", "December"};
TABLE char DAY_NAMES[7][10] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};

DEVICE String name_of(const char* letters) {
    int64_t size = 0;
    while (letters[size]) ++size;
    return {letters, size};
}
DEVICE String day_name(Clock clock) { return name_of(DAY_NAMES[weekday(clock)]); }
DEVICE String month_name(Clock clock) { return name_of(MONTH_NAMES[month(clock) - 1]); }

// ---- counts since 1970: of moments and durations in microseconds, and of dates --------------------------------------

DEVICE double epoch(int64_t micros) { return double(micros) / SECOND; }
DEVICE double epoch(int32_t days) { return days * 86400.0; }
DEVICE int64_t epoch_ms(int64_t micros) { return floor_quotient(micros, 1000); }
DEVICE int64_t epoch_ns(Fault at, int64_t micros) {
    const int128_t nanos = int128_t(micros) * 1000;
    if (nanos != int64_t(nanos)) at(OVERFLOW_);
    return int64_t(nanos);
}
DEVICE double unknown_part(Fault at, String) {
    at(NO_PART);
    return 0;
}
DEVICE int64_t epoch_us(int64_t micros) { return micros; }
