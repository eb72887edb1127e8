// Dates (int32 days) and numbers of days.  Durations are int64 microseconds, with the arithmetic of integers.
#pragma once

DEVICE int32_t day_of(Fault at, int128_t days) {
    if (days != int32_t(days)) at(OUT_OF_DATES);
    return int32_t(days);
}
DEVICE int32_t add(Fault at, int32_t date, int64_t days) { return day_of(at, int128_t(date) + days); }
DEVICE int32_t add(Fault at, int64_t days, int32_t date) { return day_of(at, int128_t(date) + days); }
DEVICE int32_t subtract(Fault at, int32_t date, int64_t days) { return day_of(at, int128_t(date) - days); }

// A time of day and a duration, which goes on after midnight.
DEVICE int64_t within_day(int64_t micros) {
    constexpr int64_t day = 86400000000;
    return micros % day + (micros % day < 0 ? day : 0);
}
DEVICE int64_t moved_time(int64_t x, int64_t y, int sign) { return within_day(within_day(x) + sign * within_day(y)); }
DEVICE int64_t subtract(Fault, int32_t x, int32_t y) { return int64_t(x) - y; }
