// What the states of groups come to: a column for each call of an aggregate.
#include "rows.cuh"
#include "aggregates.cuh"
#include "words.cuh"

namespace results {

enum Kind { ROWS, COUNT, FLOAT_SUM, FLOAT_MEAN, EXTREME, INTEGER_SUM, WIDE_SUM, INTEGER_MEAN, WHOLE_MEAN,
            DECIMAL_SUM, HIGH_SUM, LOW_SUM, DECIMAL_MEAN,
            COVARIANCE, DEVIATION, CORRELATION, CENTER, CO_MOMENT,
            SKEWNESS, KURTOSIS, KURTOSIS_POP, THIRD_MOMENT, FOURTH_MOMENT };  // in the order of relational/aggregate_states.py
enum State { NARROW, INTEGERS, DECIMALS, LEAST, GREATEST, MOMENTS, HIGH_MOMENTS };   // how states lie in memory
enum Stored { BYTES_1, BYTES_2, BYTES_4, BYTES_8, BYTES_16, FLOAT_4, FLOAT_8 };

// `detail` is the scale of a mean of decimals, or how many degrees of freedom a variance has less than rows.
struct Result {
    const void* states;
    void* values;
    uint32_t* bits;
    int64_t kind, state, stored, detail;
};

constexpr int MOST = 32;
struct Results {
    int64_t count;
    Result of[MOST];
};

struct Value {
    bool valid;
    int128_t whole;
    double real;

    DEVICE static Value of(Maybe<int64_t> from) { return {from.valid, from.value, 0}; }
    DEVICE static Value of(Maybe<int128_t> from) { return {from.valid, from.value, 0}; }
    DEVICE static Value of(Maybe<double> from) { return {from.valid, 0, from.value}; }
};

DEVICE int128_t whole(uint64_t high, uint64_t low) { return int128_t(uint128_t(high) << 64 | low); }

DEVICE IntegerSum integers(const Result& from, int64_t groups, int64_t row) {
    if (from.state == INTEGERS) return ((const IntegerSum*)from.states)[row];
    const uint64_t* words = (const uint64_t*)from.states + row;
    return {whole(words[groups], words[0]), int64_t(words[2 * groups])};
}
DEVICE DecimalSum decimals(const Result& from, int64_t groups, int64_t row) {
    if (from.state == DECIMALS) return ((const DecimalSum*)from.states)[row];
    const IntegerSum sum = integers(from, groups, row);  // of decimals of 8 bytes, whose high halves are 0
    return {0, sum.sum, sum.n};
}
DEVICE FloatSum floats(const Result& from, int64_t groups, int64_t row) {
    const uint64_t* words = (const uint64_t*)from.states + row;
    return {double_of_bits(words[0]), int64_t(words[groups])};
}

// The extreme of values of up to 8 bytes.  -0.0 leaves as 0.0.
DEVICE Value extreme(const Result& from, int64_t groups, int64_t row) {
    if (from.state == LEAST) return Value::of(((const Least<int128_t>*)from.states)[row].result(Fault{}));
    if (from.state == GREATEST) return Value::of(((const Greatest<int128_t>*)from.states)[row].result(Fault{}));
    const uint64_t* words = (const uint64_t*)from.states + row;
    return {words[groups] != 0, int64_t(words[0]), double_of_bits(words[0]) + 0.0};
}

DEVICE Value value_of(const Result& from, const int64_t* starts, int64_t groups, int64_t row, Fault at) {
    switch (from.kind) {
        case ROWS: return {true, starts[row + 1] - starts[row], 0};
        case COUNT: return {true, int64_t(((const uint64_t*)from.states)[row]), 0};
        case FLOAT_SUM: return Value::of(floats(from, groups, row).result(at));
        case FLOAT_MEAN: return Value::of(floats(from, groups, row).mean(at));
        case EXTREME: return extreme(from, groups, row);
        case INTEGER_SUM: return Value::of(integers(from, groups, row).result(at));
        case WIDE_SUM: return Value::of(integers(from, groups, row).wide(at));
        case INTEGER_MEAN: return Value::of(integers(from, groups, row).mean(at));
        case WHOLE_MEAN: return Value::of(integers(from, groups, row).whole_mean(at));
        case DECIMAL_SUM: return Value::of(decimals(from, groups, row).result(at));
        case HIGH_SUM: return Value::of(decimals(from, groups, row).high(at));
        case LOW_SUM: return Value::of(decimals(from, groups, row).low(at));
        case DECIMAL_MEAN: return Value::of(decimals(from, groups, row).mean(int(from.detail)));
        case COVARIANCE: return Value::of(((const Moments*)from.states)[row].covariance(int(from.detail)));
        case DEVIATION: return Value::of(((const Moments*)from.states)[row].deviation(int(from.detail)));
        case CORRELATION: return Value::of(((const Moments*)from.states)[row].correlation(at));
        case CENTER: return Value::of(((const Moments*)from.states)[row].mean(at));
        case CO_MOMENT: return Value::of(((const Moments*)from.states)[row].moment(at));
        case SKEWNESS: return Value::of(((const HighMoments*)from.states)[row].skewness());
        case KURTOSIS: return Value::of(((const HighMoments*)from.states)[row].kurtosis());
        case KURTOSIS_POP: return Value::of(((const HighMoments*)from.states)[row].kurtosis_pop());
        case THIRD_MOMENT: return Value::of(((const HighMoments*)from.states)[row].third_moment());
        default: return Value::of(((const HighMoments*)from.states)[row].fourth_moment());
    }
}

// Nulls are zeros.
DEVICE void store(const Result& to, int64_t row, const Value& value) {
    const int128_t whole = value.valid ? value.whole : 0;
    const double real = value.valid ? value.real : 0;
    switch (to.stored) {
        case BYTES_1: ((uint8_t*)to.values)[row] = uint8_t(whole); return;
        case BYTES_2: ((uint16_t*)to.values)[row] = uint16_t(whole); return;
        case BYTES_4: ((uint32_t*)to.values)[row] = uint32_t(whole); return;
        case BYTES_8: ((uint64_t*)to.values)[row] = uint64_t(whole); return;
        case BYTES_16: ((int128_t*)to.values)[row] = whole; return;
        case FLOAT_4: ((float*)to.values)[row] = float(real); return;
        default: ((double*)to.values)[row] = real;
    }
}

}  // namespace results

// `starts` has where each group begins, and the number of rows.
KERNEL finish(int64_t groups, const int64_t* starts, uint64_t* faults, uint64_t* nulls, results::Results results) {
    for (int64_t place = 0; place < results.count; ++place) {
        const results::Result result = results.of[place];
        uint32_t missing = 0;
        FOR_EACH_ROW(row, groups) {
            bool valid = false;
            if (row < groups) {
                const results::Value value = value_of(result, starts, groups, row, Fault{faults + place, row});
                results::store(result, row, value);
                valid = value.valid;
            }
            missing += store_word(result.bits, row, row < groups, valid);
        }
        add_nulls(nulls + place, missing);
    }
}
