// Groups among rows in the order of their codes, each found by a binary search.
#include "groups.cuh"
#include "reduce.cuh"
#include "words.cuh"

KERNEL find_edges(int64_t groups, int64_t rows, int64_t last, const int32_t* codes, int64_t* places) {
    FOR_EACH_ROW(group, groups) {
        if (group >= groups) continue;
        const int64_t start = first_of(codes, rows, group), end = first_of(codes, rows, group + 1);
        places[group] = start == end ? -1 : last ? end - 1 : start;
    }
}
KERNEL measure_groups(int64_t groups, int64_t rows, const int32_t* codes, int64_t* sizes) {
    FOR_EACH_ROW(group, groups)
        if (group < groups) sizes[group] = first_of(codes, rows, group + 1) - first_of(codes, rows, group);
}
// Where each group begins, by `step` items a row, with the end of all; and which have rows.
KERNEL find_starts(int64_t groups, int64_t rows, int64_t step, const int32_t* codes, int32_t* starts, uint8_t* found) {
    FOR_EACH_ROW(group, groups + 1) {
        if (group > groups) continue;
        const int64_t start = first_of(codes, rows, group);
        starts[group] = int32_t(start * step);
        if (group < groups) found[group] = start < rows && codes[start] == group;
    }
}
// The numbers of strings side by side: of each value, and before it `separator`, or the string after that where the value
// is the first of its group.
KERNEL place_separators(int64_t values, int64_t separator, const int32_t* codes, const int32_t* rows, int32_t* numbers) {
    FOR_EACH_ROW(value, values) {
        if (value >= values) continue;
        const bool first = value == 0 || codes[value] != codes[value - 1];
        numbers[2 * value] = int32_t(separator + first);
        numbers[2 * value + 1] = rows[value];
    }
}
// The row of each cell: of each group and place; rows at a negative place are in none.
KERNEL place_cells(int64_t rows, int64_t groups, const int64_t* places, const int32_t* codes, int32_t* cells) {
    FOR_EACH_ROW(row, rows)
        if (row < rows && places[row] >= 0) cells[places[row] * groups + codes[row]] = int32_t(row);
}
// Rows that are not of a run, so that runs of more rows come first in their order.
KERNEL count_others(int64_t runs, int64_t rows, const int32_t* starts, uint32_t* others) {
    FOR_EACH_ROW(run, runs)
        if (run < runs) others[run] = uint32_t(rows - ((run + 1 < runs ? starts[run + 1] : rows) - starts[run]));
}
KERNEL count_ties(int64_t items, int64_t rows, int64_t runs, const int64_t* places, const int32_t* starts,
                  uint64_t* ties) {
    Tally others;
    FOR_EACH_ROW(item, items) {
        if (item >= items || places[item] < 0) continue;
        const int64_t after = first_of(starts, runs, places[item] + 1);
        others.count += (after < runs ? starts[after] : rows) - starts[after - 1] - 1;
    }
    others.store(ties);
}

// Between equal infinities there is no difference.
DEVICE double between(double below, double above, double share) {
    return (below == above ? below : below * (1 - share) + above * share) + 0.0;
}

// The quantile at the float64 of these bits, of each group's values in order.
KERNEL find_quantiles(int64_t groups, int64_t rows, int64_t bits_of_q, const int32_t* codes, const int32_t* order,
                      const double* values, uint64_t* nulls, double* found, uint32_t* words) {
    const double q = double_of_bits(uint64_t(bits_of_q));
    uint32_t missing = 0;
    FOR_EACH_ROW(group, groups) {
        int64_t size = 0;
        if (group < groups) {
            const int64_t start = first_of(codes, rows, group);
            size = first_of(codes, rows, group + 1) - start;
            const double place = q * double(size - 1);
            const int64_t low = int64_t(place), high = low + (place > double(low));
            found[group] = size ? between(values[order[start + low]], values[order[start + high]], place - double(low))
                                : 0.0;
        }
        missing += store_word(words, group, group < groups, size > 0);
    }
    add_nulls(nulls, missing);
}

// Where the quantile at the float64 of these bits lies among each group's values in order; -1 where it has none.
KERNEL find_quantile_places(int64_t groups, int64_t rows, int64_t bits_of_q, const int32_t* codes, int64_t* places) {
    const double q = double_of_bits(uint64_t(bits_of_q));
    FOR_EACH_ROW(group, groups) {
        if (group >= groups) continue;
        const int64_t start = first_of(codes, rows, group), size = first_of(codes, rows, group + 1) - start;
        const int64_t number = size - int64_t(floor(double(size) - double(size) * q));
        places[group] = size ? start + (number > 1 ? number - 1 : 0) : -1;
    }
}
// How far each row's value is from its group's.
KERNEL find_deviations(int64_t rows, const int32_t* codes, const double* centers, const double* values, double* made) {
    FOR_EACH_ROW(row, rows)
        if (row < rows) made[row] = fabs(values[row] - centers[codes[row]]);
}
KERNEL measure_runs(int64_t runs, const int32_t* starts, int64_t* sizes) {
    FOR_EACH_ROW(run, runs) if (run < runs) sizes[run] = starts[run + 1] - starts[run];
}
// What each distinct value adds to the entropy of its group, whose values are from `first` of it to that of the next.
KERNEL entropy_terms(int64_t runs, const int32_t* codes, const int32_t* first, const int32_t* starts, double* terms) {
    FOR_EACH_ROW(run, runs) {
        if (run >= runs) continue;
        const double count = starts[run + 1] - starts[run];
        const double all = starts[first[codes[run] + 1]] - starts[first[codes[run]]];
        terms[run] = count / all * log2(all / count);
    }
}
KERNEL choose_found(int64_t rows, const uint8_t* found, const double* values, double* chosen) {
    FOR_EACH_ROW(row, rows) if (row < rows) chosen[row] = found[row] ? values[row] : 0.0;
}
