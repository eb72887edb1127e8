// Arithmetic: integers in int64, checked; floats by IEEE 754; decimals in int128, checked against their digits.
#pragma once

DEVICE bool add_overflows(int64_t x, int64_t y, int64_t* result) {
    *result = int64_t(uint64_t(x) + uint64_t(y));
    return ((x ^ *result) & (y ^ *result)) < 0;
}

DEVICE int64_t add(Fault at, int64_t x, int64_t y) {
    int64_t result;
    if (add_overflows(x, y, &result)) at(OVERFLOW_);
    return result;
}
DEVICE double add(Fault, double x, double y) { return x + y; }
DEVICE float add(Fault, float x, float y) { return x + y; }

DEVICE double divide(double x, double y) { return x / y; }
