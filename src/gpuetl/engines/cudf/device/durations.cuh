// Durations: int64 microseconds, with the arithmetic of integers; the difference of dates (int32 days) is one.
#pragma once

DEVICE int64_t subtract(Fault at, int32_t x, int32_t y) {
    const int128_t micros = (int128_t(x) - y) * DAY;
    if (micros != int64_t(micros)) at(OVERFLOW_);
    return int64_t(micros);
}
