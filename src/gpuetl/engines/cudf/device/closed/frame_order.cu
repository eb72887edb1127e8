// What frames of rows come to by the order of their values: quantiles, and how many distinct ones there are.
//
// Frames are those of windows: rows from `start` up to, and without, `stop`, or up to the row itself where that is null.
// `first` is the first row of each row's group.
#include "wavelet.cuh"
#include "words.cuh"

namespace frame_order {

DEVICE int64_t stop_of(const int32_t* stop, int64_t row) { return stop ? stop[row] : row + 1; }

// Between equal infinities there is no difference.
DEVICE double between(double below, double above, double share) {
    return (below == above ? below : below * (1 - share) + above * share) + 0.0;
}

constexpr int SHORT = 32;  // a frame of so many rows, or fewer
DEVICE bool comes_later(double x, double y) { return x > y || (x != x && y == y); }

}  // namespace frame_order

// ---- keys: each row's place among its group's values in order, or the row before it that has its value ----------------

// `order` (null: as they are) has the rows by group and value.
KERNEL number_frame_places(int64_t rows, const int32_t* order, const int32_t* first, int32_t* keys) {
    FOR_EACH_ROW(place, rows)
        if (place < rows) keys[order ? order[place] : place] = int32_t(place - first[place]);
}

// One more than the place in the group of the row before that has the same value, 0 where there is none.  A row without a
// value has its own: no frame that it is in begins after it.  `new_value` marks where values begin in the order.
KERNEL find_previous_values(int64_t rows, const int32_t* order, const uint8_t* new_value, const uint32_t* valid,
                     const int32_t* first, int32_t* keys) {
    FOR_EACH_ROW(place, rows) {
        if (place >= rows) continue;
        const int64_t row = order ? order[place] : place;
        const int64_t before = !bit_is_set(valid, row) ? row : new_value[place] ? -1 : order ? order[place - 1] : place - 1;
        keys[row] = before < 0 ? 0 : int32_t(before - first[place] + 1);
    }
}

// ---- the wavelet matrix -----------------------------------------------------------------------------------------------

KERNEL mark_key_bits(int64_t rows, int64_t bit, const int32_t* keys, uint32_t* bits) {
    FOR_EACH_ROW(row, rows) store_word(bits, row, row < rows, row < rows && keys[row] >> bit & 1);
}
KERNEL count_level_bits(int64_t words, const uint32_t* bits, int32_t* counts) {
    FOR_EACH_ROW(word, words)
        if (word < words) counts[word] = ones(bits[word]);
}
KERNEL join_level_words(int64_t words, const uint32_t* bits, const int32_t* before, uint64_t* level) {
    FOR_EACH_ROW(word, words)
        if (word < words) level[word] = uint64_t(uint32_t(before[word])) << 32 | bits[word];
}
KERNEL split_level_keys(int64_t rows, int64_t bit, const uint64_t* level, const int32_t* keys, int32_t* split) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int64_t set = Wavelet::set_before(level, row);
        split[keys[row] >> bit & 1 ? rows - Wavelet::set_before(level, rows) + set : row - set] = keys[row];
    }
}

// ---- quantiles --------------------------------------------------------------------------------------------------------

// `through` (null: all) has how many rows up to each one have a value; those without one come last in their group's order.
KERNEL find_frame_quantiles(int64_t rows, int64_t words, int64_t levels, const uint64_t* memory, int64_t bits_of_q,
                            const int32_t* start, const int32_t* stop, const int32_t* first, const int32_t* through,
                            const int32_t* order, const double* values, uint64_t* nulls, double* found, uint32_t* valid) {
    const Wavelet wavelet{memory, rows, words, int(levels)};
    const double q = double_of_bits(uint64_t(bits_of_q));
    uint32_t missing = 0;
    FOR_EACH_ROW(row, rows) {
        int64_t size = 0;
        if (row < rows) {
            const int64_t from = start[row], end = frame_order::stop_of(stop, row);
            size = end > from ? through ? through[end - 1] - (from ? through[from - 1] : 0) : end - from : 0;
            double value = 0;
            if (size) {
                const double place = q * double(size - 1);
                const int64_t low = int64_t(place), group = first[row];
                auto value_at = [&](int64_t number) {
                    const int64_t sorted = group + wavelet.smallest(from, end, number);
                    return values[order ? order[sorted] : sorted];
                };
                const double below = value_at(low);
                value = frame_order::between(below, place > double(low) ? value_at(low + 1) : below, place - double(low));
            }
            found[row] = value;
        }
        missing += store_word(valid, row, row < rows, size > 0);
    }
    add_nulls(nulls, missing);
}

// Frames of few rows: their values are put in order one after the other.
KERNEL find_short_quantiles(int64_t rows, int64_t bits_of_q, const int32_t* start, const int32_t* stop,
                            const double* values, const uint32_t* given, uint64_t* nulls, double* found,
                            uint32_t* valid) {
    const double q = double_of_bits(uint64_t(bits_of_q));
    uint32_t missing = 0;
    FOR_EACH_ROW(row, rows) {
        int size = 0;
        if (row < rows) {
            double own[frame_order::SHORT];
            const int64_t end = frame_order::stop_of(stop, row);
            for (int64_t at = start[row]; at < end; ++at) {
                if (!bit_is_set(given, at)) continue;
                const double value = values[at];
                int place = size++;
                for (; place > 0 && frame_order::comes_later(own[place - 1], value); --place) own[place] = own[place - 1];
                own[place] = value;
            }
            const double place = q * double(size - 1);
            const int low = int(place), high = low + (place > double(low));
            found[row] = size ? frame_order::between(own[low], own[high], place - double(low)) : 0.0;
        }
        missing += store_word(valid, row, row < rows, size > 0);
    }
    add_nulls(nulls, missing);
}

// ---- distinct values: the rows whose value no row before them in the frame has --------------------------------------------

KERNEL count_frame_values(int64_t rows, int64_t words, int64_t levels, const uint64_t* memory, const int32_t* start,
                          const int32_t* stop, const int32_t* first, int64_t* counts) {
    const Wavelet wavelet{memory, rows, words, int(levels)};
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int64_t from = start[row], end = frame_order::stop_of(stop, row);
        counts[row] = end > from ? wavelet.below(from, end, from - first[row] + 1) : 0;
    }
}
KERNEL count_short_values(int64_t rows, const int32_t* keys, const int32_t* start, const int32_t* stop,
                          const int32_t* first, int64_t* counts) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int64_t from = start[row], end = frame_order::stop_of(stop, row), limit = from - first[row] + 1;
        int64_t count = 0;
        for (int64_t at = from; at < end; ++at) count += keys[at] < limit;
        counts[row] = count;
    }
}
