// Frames: for each row, the states of the rows from one row up to another, combined in their order.
//
// The rows are cut into blocks of 8, 16, 32, ... rows, whose states are combined from those of half their size; a frame
// is put together from the largest blocks in it, at most two of each size, and fewer than 8 single rows at each end.
// Nothing is subtracted, so infinities and NaN leave a frame as they came.  A FOLD is what scan.cuh says.
#pragma once

#include "windows.cuh"

namespace windows {

constexpr int LEAF = 3;  // the least blocks have 2^LEAF rows

// A block's state lies at the place of its middle row, which is no other block's, counted in half leaves.
template <class FOLD>
struct Blocks {
    typedef typename FOLD::State State;
    const FOLD& fold;
    State* states;

    DEVICE State& made(int level, int64_t block) const {
        return states[((block << level) + (int64_t(1) << (level - 1))) >> (LEAF - 1)];
    }

    DEVICE void make(int level, int64_t block) const {
        const int parts = level == LEAF ? 1 << LEAF : 2;
        State state{};
#pragma unroll 1
        for (int64_t part = block * parts; part < (block + 1) * parts; ++part)
            state = combine(state, level == LEAF ? fold.at(part) : made(level - 1, part));
        made(level, block) = state;
    }

    // The state of rows `from` up to, and without, `end`; blocks have been made up to `levels`, if any.
    DEVICE State over(int64_t from, int64_t end, int levels) const {
        State state{};
        for (int level = 0; from < end; from += int64_t(1) << level) {
            level = level_from(level, from, end, levels);
            state = combine(state, level ? made(level, from >> level) : fold.at(from));
        }
        return state;
    }

    // The row among those at which `count`, of a state, has come to `nth`; -1 if it does not.
    template <class COUNT>
    DEVICE int32_t nth(int64_t from, int64_t end, int levels, int64_t nth, COUNT count) const {
        for (int level = 0; from < end; from += int64_t(1) << level) {
            level = level_from(level, from, end, levels);
            const int64_t found = count(level ? made(level, from >> level) : fold.at(from));
            if (found >= nth) return in_block(level, from, nth, count);
            nth -= found;
        }
        return -1;
    }
    template <class COUNT>
    DEVICE int32_t in_block(int level, int64_t row, int64_t nth, COUNT count) const {
        while (level > LEAF) {
            const int64_t first = row >> --level, found = count(made(level, first));
            if (found >= nth) continue;
            nth -= found;
            row += int64_t(1) << level;
        }
        for (int64_t found; (found = count(fold.at(row))) < nth; ++row) nth -= found;
        return int32_t(row);
    }

    // The level of the block, 0 of a row, that comes next in a frame.
    DEVICE static int level_from(int level, int64_t from, int64_t end, int levels) {
        for (int next = level ? level + 1 : LEAF; next <= levels && begins_block(from, next, end); ++next) level = next;
        while (from + (int64_t(1) << level) > end) level = level > LEAF ? level - 1 : 0;
        return level;
    }

    DEVICE static bool begins_block(int64_t from, int level, int64_t end) {
        const int64_t size = int64_t(1) << level;
        return !(from & (size - 1)) && from + size <= end;
    }
};

// ---- where frames begin ---------------------------------------------------------------------------------------------

DEVICE int32_t frame_of_rows(int64_t row, int32_t first, int64_t length) {
    const int64_t start = row - (length - 1);
    return int32_t(start > first ? start : first);
}

// The first row of the group whose time is at most `interval` before the row's own; of a null time, the first null.
// Nulls stand together at one end of a group, so from the frame's first row on all are in it: a search that goes back
// by doubling steps, then by halves (Bentley & Yao 1976, "An almost optimal algorithm for unbounded searching").
template <class X>
DEVICE int32_t frame_of_interval(int64_t row, const X& x, int32_t first, int64_t interval) {
    const Times<X> time{x};
    const bool timed = time.valid(row);
    const int64_t now = timed ? time.at(row) : 0;
    const int64_t oldest = now < INT64_LEAST + interval ? INT64_LEAST : now - interval;
    int64_t low = first, high = row, step = 1;
    while (low < high) {
        const bool doubling = step > 0;
        const int64_t row_asked = !doubling ? low + (high - low) / 2 : high - low > step ? high - step : low;
        const bool within = time.valid(row_asked) == timed && (!timed || time.at(row_asked) >= oldest);
        if (within) high = row_asked;
        else low = row_asked + 1;
        step = doubling && within ? 2 * step : 0;
    }
    return int32_t(low);
}

// Rows of the group, or the one after it: bounds of frames.
DEVICE int32_t first_of_group(int64_t, int32_t first) { return first; }
DEVICE int32_t after_group(int64_t, int32_t last) { return last + 1; }
DEVICE int32_t row_in_group(int64_t row, int32_t first, int32_t last, int64_t offset) {
    const int64_t at = row + offset, after = int64_t(last) + 1;
    return int32_t(at < first ? first : at > after ? after : at);
}

// Keys as they are compared: whole numbers in 128 bits, floats with NaN as the greatest.
struct WholeKey {
    int128_t value;
    DEVICE bool operator<(WholeKey other) const { return value < other.value; }
};
struct FloatKey {
    double value;
    DEVICE bool operator<(FloatKey other) const { return value < other.value || (other.value != other.value && value == value); }
};
template <class X> DEVICE WholeKey whole_key(const X& x, int64_t row) { return {int128_t(x.data[row])}; }
template <class X> DEVICE FloatKey float_key(const X& x, int64_t row) { return {double(x.data[row])}; }

// The first row of the group that is `there`, among those that have a key if the row has one, else among those that have
// none; the row behind these where none is.  What is there comes after what is not.  A search from the row on by doubling
// steps, then by halves (as in `frame_of_interval`): O(log(rows between)).
template <class X, class THERE>
DEVICE int32_t first_there(int64_t row, const X& x, int32_t first, int32_t last, THERE is_there) {
    const bool keyed = x.valid(row), nulls_first = !x.valid(first);
    auto found = [&](int64_t at) { return x.valid(at) == keyed ? is_there(at) : keyed != nulls_first; };
    int64_t low = first, high = int64_t(last) + 1;
    if (found(row)) {
        high = row;
        for (int64_t step = 1; high > low; step *= 2) {
            const int64_t at = high - step > low ? high - step : low;
            if (!found(at)) {
                low = at + 1;
                break;
            }
            high = at;
        }
    } else {
        low = row + 1;
        for (int64_t step = 1; low < high; step *= 2) {
            const int64_t at = low + step < high ? low + step : high - 1;
            if (found(at)) {
                high = at;
                break;
            }
            low = at + 1;
        }
    }
    while (low < high) {
        const int64_t at = low + (high - low) / 2;
        if (found(at)) high = at;
        else low = at + 1;
    }
    return int32_t(low);
}

DEVICE int128_t shift_of(int64_t high, int64_t low) { return int128_t(uint128_t(uint64_t(high)) << 64 | uint64_t(low)); }

// The first row whose key is `shift` above the row's own or more, and the first whose key is more than that above.
template <class X>
DEVICE int32_t whole_key_from(int64_t row, const X& x, int32_t first, int32_t last, int64_t high, int64_t low) {
    const WholeKey bound{whole_key(x, row).value + shift_of(high, low)};
    return first_there(row, x, first, last, [&](int64_t at) { return !x.valid(row) || !(whole_key(x, at) < bound); });
}
template <class X>
DEVICE int32_t whole_key_after(int64_t row, const X& x, int32_t first, int32_t last, int64_t high, int64_t low) {
    const WholeKey bound{whole_key(x, row).value + shift_of(high, low)};
    return first_there(row, x, first, last, [&](int64_t at) { return x.valid(row) && bound < whole_key(x, at); });
}
template <class X>
DEVICE int32_t float_key_from(int64_t row, const X& x, int32_t first, int32_t last, int64_t bits) {
    const FloatKey bound{float_key(x, row).value + double_of_bits(uint64_t(bits))};
    return first_there(row, x, first, last, [&](int64_t at) { return !x.valid(row) || !(float_key(x, at) < bound); });
}
template <class X>
DEVICE int32_t float_key_after(int64_t row, const X& x, int32_t first, int32_t last, int64_t bits) {
    const FloatKey bound{float_key(x, row).value + double_of_bits(uint64_t(bits))};
    return first_there(row, x, first, last, [&](int64_t at) { return x.valid(row) && bound < float_key(x, at); });
}

}  // namespace windows
