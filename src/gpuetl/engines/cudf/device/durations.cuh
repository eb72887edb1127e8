// Dates (int32 days) and numbers of days.  Durations are int64 microseconds, with the arithmetic of integers.
#pragma once

DEVICE int32_t day_of(Fault at, int128_t days) {
    if (days != int32_t(days)) at(OUT_OF_DATES);
    return int32_t(days);
}
DEVICE int32_t add(Fault at, int32_t date, int64_t days) { return day_of(at, int128_t(date) + days); }
DEVICE int32_t add(Fault at, int64_t days, int32_t date) { return day_of(at, int128_t(date) + days); }
DEVICE int32_t subtract(Fault at, int32_t date, int64_t days) { return day_of(at, int128_t(date) - days); }
DEVICE int64_t subtract(Fault, int32_t x, int32_t y) { return int64_t(x) - y; }
