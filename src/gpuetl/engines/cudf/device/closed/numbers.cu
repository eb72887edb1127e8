// Numbers brought into the form that the engine has them in: one zero and one NaN, times in microseconds.
#include "rows.cuh"
#include "floats.cuh"

#define CANONICAL(NAME, TYPE)                                                                                        \
    KERNEL make_canonical_##NAME(int64_t rows, const TYPE* values, TYPE* made) {                                     \
        const TYPE nan = TYPE(double_of_bits(0x7ff8000000000000ULL));                                                \
        FOR_EACH_ROW(row, rows) {                                                                                    \
            if (row < rows) made[row] = is_nan(values[row]) ? nan : values[row] == 0 ? TYPE(0) : values[row];        \
        }                                                                                                            \
    }
CANONICAL(float32, float)
CANONICAL(float64, double)

// Times of a longer unit, of which one is `factor` microseconds, and of a shorter one, of which `divisor` are one; the
// first row whose time is no int64 of them is told.
KERNEL convert_longer(int64_t rows, int64_t factor, int64_t* converted, uint64_t* fault, const int64_t* values,
                      const uint32_t* bits) {
    const Fixed<int64_t> times{values, bits};
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int64_t value = times[row].value, micros = int64_t(int128_t(value) * factor);
        if (micros / factor != value) Fault{fault, row}(NOT_EXACT);
        converted[row] = micros;
    }
}
KERNEL convert_shorter(int64_t rows, int64_t divisor, int64_t* converted, uint64_t* fault, const int64_t* values,
                       const uint32_t* bits) {
    const Fixed<int64_t> times{values, bits};
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int64_t value = times[row].value, micros = value / divisor;
        if (micros * divisor != value) Fault{fault, row}(NOT_EXACT);
        converted[row] = micros;
    }
}
