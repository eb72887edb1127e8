// Estimates: registers of hashes, and counts of values by bucket.  See expressions/functions/sketches.py.
#include "groups.cuh"
#include "reduce.cuh"
#include "words.cuh"

namespace sketches {

constexpr int REGISTER_BITS = 12, PLACE_BITS = 6, MOST_PLACE = 64 - REGISTER_BITS + 1;
constexpr int REGISTERS = 1 << REGISTER_BITS, PLACES = (1 << PLACE_BITS) - 1;
constexpr double SCALE = 2954.639443740597;  // REGISTERS / (2 ln 2)
constexpr int DROPPED_BITS = 45, COUNT_BITS = 40;
constexpr int32_t INFINITE_BUCKET = 0x7FF << (52 - DROPPED_BITS), BUCKETS_BEFORE = 1 << (63 - DROPPED_BITS);

#ifdef GPUETL_HOST
DEVICE int leading_zeros(uint64_t word) { return __builtin_clzll(word); }
DEVICE void raise_count(int32_t* place, int32_t value) { if (*place < value) *place = value; }
#else
DEVICE int leading_zeros(uint64_t word) { return __clzll((long long)word); }
DEVICE void raise_count(int32_t* place, int32_t value) {
    if (*place < value) atomicMax((int*)place, int(value));  // most are as great already
}
#endif

// What registers without a value count for; x is below 1.
DEVICE double sigma(double x) {
    double y = 1, total = x;
    for (;;) {
        x = x * x;
        const double more = total + x * y;
        if (more == total) return total;
        y = y + y;
        total = more;
    }
}
// What full registers count for.
DEVICE double tau(double x) {
    if (x <= 0 || x >= 1) return 0;
    double y = 1, total = 1 - x;
    for (;;) {
        x = sqrt(x);
        y = 0.5 * y;
        const double more = total - (1 - x) * (1 - x) * y;
        if (more == total) return total / 3;
        total = more;
    }
}

// The bucket of a value: its bits rounded.  A finite one is in none of infinity.
DEVICE int32_t bucket_of(double value) {
    const uint64_t bits = value != value ? 0x7FF8000000000000 : value == 0 ? 0 : bits_of(value);
    const uint64_t magnitude = bits & ~(uint64_t(1) << 63);
    int32_t rounded = int32_t((magnitude + (uint64_t(1) << (DROPPED_BITS - 1))) >> DROPPED_BITS);
    if (rounded == INFINITE_BUCKET && magnitude < uint64_t(0x7FF) << 52) rounded = INFINITE_BUCKET - 1;
    return BUCKETS_BEFORE + (bits >> 63 ? -rounded : rounded);
}
DEVICE double value_of(int32_t bucket) {
    const int32_t is_signed = bucket - BUCKETS_BEFORE;
    const double magnitude = double_of_bits(uint64_t(is_signed < 0 ? -is_signed : is_signed) << DROPPED_BITS);
    return is_signed < 0 ? -magnitude : magnitude;
}

// The entry that holds the value at a place of all.
DEVICE int64_t entry_at(const int64_t* before, int64_t first, int64_t last, int64_t place) {
    while (first < last) {
        const int64_t middle = first + (last - first + 1) / 2;
        if (before[middle] <= place) first = middle;
        else last = middle - 1;
    }
    return first;
}

}  // namespace sketches

// ---- distinct values ------------------------------------------------------------------------------------------------

// The register of each row's hash and the place in it, 0 of a null.
KERNEL pack_registers(int64_t rows, const uint64_t* hashes, const uint32_t* words, int32_t* packed) {
    using namespace sketches;
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const uint64_t hash = hashes[row], rest = hash << REGISTER_BITS;
        const int place = rest ? leading_zeros(rest) + 1 : MOST_PLACE;
        packed[row] = bit_is_set(words, row) ? int32_t(hash >> (64 - REGISTER_BITS) << PLACE_BITS) | place : 0;
    }
}
// In a table of the registers of all groups; without codes there is one.
KERNEL raise_registers(int64_t items, const int32_t* packed, const int32_t* codes, int32_t* table) {
    using namespace sketches;
    FOR_EACH_ROW(item, items) {
        if (item >= items || !packed[item]) continue;
        const int64_t group = codes ? codes[item] : 0;
        raise_count(table + group * REGISTERS + (packed[item] >> PLACE_BITS), packed[item] & PLACES);
    }
}
KERNEL read_registers(int64_t entries, const int32_t* numbers, const int32_t* table, int32_t* codes, int32_t* packed) {
    using namespace sketches;
    FOR_EACH_ROW(entry, entries) {
        if (entry >= entries) continue;
        const int32_t number = numbers[entry];
        codes[entry] = number / REGISTERS;
        packed[entry] = (number % REGISTERS) << PLACE_BITS | table[number];
    }
}
// The last of each register among items in the order of groups and registers.
KERNEL mark_last_registers(int64_t items, const int32_t* codes, const int32_t* packed, uint8_t* marks) {
    using namespace sketches;
    FOR_EACH_ROW(item, items)
        if (item < items)
            marks[item] = item + 1 == items || codes[item] != codes[item + 1] ||
                          packed[item] >> PLACE_BITS != packed[item + 1] >> PLACE_BITS;
}
// Algorithm 6 of O. Ertl 2017, rounded.
KERNEL estimate_distinct(int64_t groups, int64_t entries, const int32_t* codes, const int32_t* packed, int64_t* found) {
    using namespace sketches;
    FOR_EACH_ROW(group, groups) {
        if (group >= groups) continue;
        int32_t counts[MOST_PLACE + 1];
        for (int place = 0; place <= MOST_PLACE; ++place) counts[place] = 0;
        const int64_t start = first_of(codes, entries, group), end = first_of(codes, entries, group + 1);
        for (int64_t entry = start; entry < end; ++entry) ++counts[packed[entry] & PLACES];
        const int64_t empty = REGISTERS - (end - start);
        double total = REGISTERS * tau(1.0 - double(counts[MOST_PLACE]) / REGISTERS);
        for (int place = MOST_PLACE - 1; place > 0; --place) total = 0.5 * (total + counts[place]);
        if (empty < REGISTERS) total = total + REGISTERS * sigma(double(empty) / REGISTERS);
        const double estimate = REGISTERS * (SCALE / total);
        found[group] = empty == REGISTERS ? 0 : int64_t(floor((estimate < 0x1p62 ? estimate : 0x1p62) + 0.5));
    }
}

// ---- quantiles ------------------------------------------------------------------------------------------------------

// The bucket of each row's value, 0 of a null; and the greatest bucket, and what the least is below a bound.
KERNEL pack_buckets(int64_t rows, const double* values, const uint32_t* words, int32_t* buckets, uint64_t* bounds) {
    using namespace sketches;
    Peak greatest, least;
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int32_t bucket = bit_is_set(words, row) ? bucket_of(values[row]) : 0;
        buckets[row] = bucket;
        if (!bucket) continue;
        greatest.add(uint64_t(bucket));
        least.add(uint64_t(2 * BUCKETS_BEFORE - bucket));
    }
    greatest.store(bounds);
    least.store(bounds + 1);
}
// The bucket and the count of each entry.
KERNEL split_counts(int64_t entries, const int64_t* packed, int32_t* buckets, int64_t* counts) {
    FOR_EACH_ROW(entry, entries) {
        if (entry >= entries) continue;
        buckets[entry] = int32_t(packed[entry] >> sketches::COUNT_BITS);
        counts[entry] = packed[entry] & ((int64_t(1) << sketches::COUNT_BITS) - 1);
    }
}
// Where each row counts in a table of the buckets of all groups, nulls behind it.
#define PLACE_BUCKETS(NUMBER)                                                                                        \
    KERNEL place_buckets_##NUMBER(int64_t rows, int64_t low, int64_t span, int64_t size, const int32_t* buckets,     \
                                  const int32_t* codes, NUMBER##_t* places) {                                        \
        FOR_EACH_ROW(row, rows) {                                                                                    \
            if (row >= rows) continue;                                                                               \
            const int64_t group = codes ? codes[row] : 0;                                                            \
            places[row] = NUMBER##_t(buckets[row] ? group * span + (buckets[row] - low) : size);                     \
        }                                                                                                            \
    }
PLACE_BUCKETS(uint16)
PLACE_BUCKETS(uint32)
KERNEL read_buckets(int64_t entries, int64_t low, int64_t span, const int32_t* numbers, int32_t* codes,
                    int32_t* buckets) {
    FOR_EACH_ROW(entry, entries) {
        if (entry >= entries) continue;
        codes[entry] = int32_t(numbers[entry] / span);
        buckets[entry] = int32_t(low + numbers[entry] % span);
    }
}
// The first of each bucket among items in the order of groups and buckets.
KERNEL mark_first_buckets(int64_t items, const int32_t* codes, const int32_t* buckets, uint8_t* marks) {
    FOR_EACH_ROW(item, items)
        if (item < items)
            marks[item] = item == 0 || codes[item] != codes[item - 1] || buckets[item] != buckets[item - 1];
}
KERNEL pack_counts(int64_t entries, const int32_t* buckets, const int64_t* before, int64_t* packed) {
    FOR_EACH_ROW(entry, entries)
        if (entry < entries)
            packed[entry] = int64_t(buckets[entry]) << sketches::COUNT_BITS | (before[entry + 1] - before[entry]);
}
// The quantile at the float64 of these bits: of the values that stand for buckets, each as often as it counts.
KERNEL find_bucket_quantiles(int64_t groups, int64_t entries, int64_t bits_of_q, const int32_t* codes,
                             const int32_t* buckets, const int64_t* before, uint64_t* nulls, double* found,
                             uint32_t* words) {
    using namespace sketches;
    const double q = double_of_bits(uint64_t(bits_of_q));
    uint32_t missing = 0;
    FOR_EACH_ROW(group, groups) {
        int64_t size = 0;
        if (group < groups) {
            const int64_t start = first_of(codes, entries, group), end = first_of(codes, entries, group + 1);
            size = before[end] - before[start];
            double value = 0.0;
            if (size) {
                const double place = q * double(size - 1);
                const int64_t low = int64_t(place), high = low + (place > double(low));
                const double below = value_of(buckets[entry_at(before, start, end - 1, before[start] + low)]);
                const double above = value_of(buckets[entry_at(before, start, end - 1, before[start] + high)]);
                const double share = place - double(low);
                value = (below == above ? below : below * (1 - share) + above * share) + 0.0;
            }
            found[group] = value;
        }
        missing += store_word(words, group, group < groups, size > 0);
    }
    add_nulls(nulls, missing);
}
