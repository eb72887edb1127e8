// Frames: for each row, the states of the rows from one before it up to it, combined in their order.
//
// The rows are cut into blocks of each power of two, whose states are combined from those of half their size; a frame
// is put together from the largest blocks in it, at most two of each size.  Nothing is subtracted, so infinities and
// NaN leave a frame as they came.  A FOLD is what scan.cuh says.
#pragma once

#include "windows.cuh"

namespace windows {

// States of blocks of 2, 4, 8, ... rows.  Each full block has its state at the place of its middle row, which is no
// other block's; those of single rows are computed.
template <class FOLD>
struct Blocks {
    typedef typename FOLD::State State;
    const FOLD& fold;
    State* states;

    DEVICE State& made(int level, int64_t block) const {
        return states[(block << level) + (int64_t(1) << (level - 1))];
    }
    DEVICE State operator()(int level, int64_t block) const { return level ? made(level, block) : fold.at(block); }

    DEVICE void make(int level, int64_t block) const {
        made(level, block) = combine((*this)(level - 1, 2 * block), (*this)(level - 1, 2 * block + 1));
    }

    // The state of rows `from` up to, and without, `end`; blocks have been made up to `levels`.
    DEVICE State over(int64_t from, int64_t end, int levels) const {
        State state{};
        for (int level = 0; from < end; from += int64_t(1) << level) {
            while (level < levels && !(from >> level & 1) && from + (int64_t(2) << level) <= end) ++level;
            while (from + (int64_t(1) << level) > end) --level;
            state = combine(state, (*this)(level, from >> level));
        }
        return state;
    }
};

// ---- where frames begin ---------------------------------------------------------------------------------------------

DEVICE int32_t frame_of_rows(int64_t row, const int32_t* first, int64_t length) {
    const int64_t start = row - (length - 1);
    return int32_t(start > first[row] ? start : first[row]);
}

// The first row of the group whose time is at most `interval` before the row's own; of a null time, the first null.
// Nulls stand together at one end of a group, so from the frame's first row on all are in it: a binary search.
template <int64_t UNIT, class X>
DEVICE int32_t frame_of_interval(int64_t row, const X& x, const int32_t* first, int64_t interval) {
    const Times<X, UNIT> time{x};
    const bool timed = time.valid(row);
    const int64_t now = timed ? time.at(row) : 0;
    const int64_t oldest = now < INT64_LEAST + interval ? INT64_LEAST : now - interval;
    int64_t low = first[row], high = row;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const bool within = time.valid(middle) == timed && (!timed || time.at(middle) >= oldest);
        if (within) high = middle;
        else low = middle + 1;
    }
    return int32_t(low);
}

}  // namespace windows
