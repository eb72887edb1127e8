// Left and right rows of the same code, paired.
#include "rows.cuh"
#include "reduce.cuh"

namespace pairing {

constexpr int FEW = 32;  // partners of a row that one thread writes; a warp writes those of rows that have more

struct Rows {
    const int32_t* codes;
    const int64_t *counts, *starts, *ends;
    const int32_t* by_code;
    int32_t *left, *right;

    DEVICE bool has_many(int64_t row) const { return codes[row] >= 0 && counts[codes[row]] > FEW; }
    DEVICE void write(int64_t row, int first, int step) const {
        const int64_t begin = row ? ends[row - 1] : 0, size = ends[row] - begin;
        const int64_t count = codes[row] < 0 ? 0 : counts[codes[row]];
        for (int64_t at = first; at < size; at += step) {
            left[begin + at] = int32_t(row);
            right[begin + at] = at < count ? by_code[starts[codes[row]] + at] : -1;
        }
    }
};

}  // namespace pairing

KERNEL count_codes(int64_t rows, const int32_t* codes, uint64_t* counts) {
    FOR_EACH_ROW(row, rows) if (row < rows && codes[row] >= 0) add_to(counts + codes[row], 1);
}
KERNEL pair_few(int64_t rows, const int32_t* codes, const int64_t* counts, const int64_t* starts, const int64_t* ends,
                const int32_t* by_code, int32_t* left, int32_t* right) {
    const pairing::Rows pairs{codes, counts, starts, ends, by_code, left, right};
    FOR_EACH_ROW(row, rows)
        if (row < rows && !pairs.has_many(row)) pairs.write(row, 0, 1);
}
KERNEL pair_many(int64_t items, const int32_t* many, const int32_t* codes, const int64_t* counts,
                 const int64_t* starts, const int64_t* ends, const int32_t* by_code, int32_t* left, int32_t* right) {
    const pairing::Rows pairs{codes, counts, starts, ends, by_code, left, right};
    FOR_EACH_WARP(item, items) pairs.write(many[item], LANE, LANES);
}

// How many rows each left row gives: as many as have its code on the right, `least` or more.
KERNEL count_partners(int64_t rows, int64_t least, const int32_t* codes, const int64_t* counts, int64_t* repeats) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int64_t count = codes[row] < 0 ? 0 : counts[codes[row]];
        repeats[row] = count < least ? least : count;
    }
}
KERNEL pair_all(int64_t pairs, int64_t others, int32_t* left, int32_t* right) {
    FOR_EACH_ROW(pair, pairs) {
        if (pair < pairs) left[pair] = int32_t(pair / others), right[pair] = int32_t(pair % others);
    }
}
// The owner of each row's code, or the code itself where it has one; -1 for none.
KERNEL find_owners(int64_t rows, int64_t want_codes, const int32_t* codes, const int32_t* owners, int32_t* found,
                   uint64_t* count) {
    Tally hits;
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int32_t owner = codes[row] < 0 ? -1 : owners[codes[row]];
        found[row] = owner < 0 ? -1 : want_codes ? codes[row] : owner;
        hits.count += owner >= 0;
    }
    hits.store(count);
}

namespace pairing {

// How many pairs the rows of a code make; on one side alone it is the rows.
struct Repeats {
    const int32_t* codes;
    const int64_t *own, *others;

    DEVICE uint64_t operator[](int64_t row) const {
        const int32_t code = codes[row];
        return code < 0 ? 0 : uint64_t(own[code]) * (others ? uint64_t(others[code]) : 1);
    }
};

}  // namespace pairing

// The most pairs of a row's code; and, less than 2^63, how far the first row that has so many is from there.
KERNEL find_most(int64_t rows, const int32_t* codes, const int64_t* own, const int64_t* others, uint64_t* most) {
    const pairing::Repeats repeats{codes, own, others};
    Peak found;
    FOR_EACH_ROW(row, rows) if (row < rows) found.add(repeats[row]);
    found.store(most);
}
KERNEL find_first_most(int64_t rows, const int32_t* codes, const int64_t* own, const int64_t* others,
                       const uint64_t* most, uint64_t* first) {
    const pairing::Repeats repeats{codes, own, others};
    Peak found;
    FOR_EACH_ROW(row, rows) if (row < rows && repeats[row] == *most) found.add(uint64_t(INT64_GREATEST - row));
    found.store(first);
}

namespace pairing {

// Whether a value comes before another; NaN is the greatest.
template <class T> DEVICE bool before(T a, T b) { return a < b || (b != b && a == a); }

// How many of `count` ordered values come before a value, or, with `equal`, do not come after it.
template <class T> DEVICE int64_t rank(const T* ordered, int64_t count, T value, bool equal) {
    int64_t least = 0, most = count;
    while (least < most) {
        const int64_t middle = least + (most - least) / 2;
        const bool is_before = equal ? !before(value, ordered[middle]) : before(ordered[middle], value);
        if (is_before) least = middle + 1;
        else most = middle;
    }
    return least;
}

template <class T> struct End {
    const T* values;
    const uint32_t* bits;
    bool is_inclusive;
};

// For each row the run of ordered values between a lower and an upper end, either of which may be missing.
template <class T>
DEVICE void find_runs(int64_t rows, End<T> lower, End<T> upper, int64_t count, const T* ordered, int64_t* starts,
                      int64_t* sizes) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        int64_t begin = 0, end = count;
        if (lower.values)
            begin = bit_is_set(lower.bits, row) ? rank(ordered, count, lower.values[row], !lower.is_inclusive) : count;
        if (upper.values)
            end = bit_is_set(upper.bits, row) ? rank(ordered, count, upper.values[row], upper.is_inclusive) : 0;
        starts[row] = begin;
        sizes[row] = end > begin ? end - begin : 0;
    }
}

}  // namespace pairing

#define FIND_RUNS(T)                                                                                                \
    KERNEL find_runs_##T(int64_t rows, const T##_value* lower, const uint32_t* lower_bits, int64_t has_lower_equal, \
                         const T##_value* upper, const uint32_t* upper_bits, int64_t has_upper_equal,               \
                         int64_t count, const T##_value* ordered, int64_t* starts, int64_t* sizes) {                \
        pairing::find_runs<T##_value>(rows, {lower, lower_bits, has_lower_equal != 0},                              \
                                      {upper, upper_bits, has_upper_equal != 0}, count, ordered, starts, sizes);    \
    }
typedef int64_t int64_value;
typedef double float64_value;
FIND_RUNS(int64)
FIND_RUNS(float64)

// Some of the candidates for pairs, from number `first`: each row's are before its place in `ends`, and begin at its
// place in `starts` among `others`.  Without `ends`, each row has all `others`, which are `width` rows.
KERNEL pair_between(int64_t pairs, int64_t first, int64_t rows, int64_t width, const int64_t* ends,
                    const int64_t* starts, const int32_t* others, int32_t* own, int32_t* other) {
    FOR_EACH_ROW(at, pairs) {
        if (at >= pairs) continue;
        const int64_t pair = first + at;
        if (!ends) {
            own[at] = int32_t(pair / width), other[at] = int32_t(pair % width);
            continue;
        }
        int64_t least = 0, most = rows - 1;
        while (least < most) {
            const int64_t middle = least + (most - least) / 2;
            if (ends[middle] > pair) most = middle;
            else least = middle + 1;
        }
        own[at] = int32_t(least);
        other[at] = others[starts[least] + pair - (least ? ends[least - 1] : 0)];
    }
}
