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
