// Segmented inclusive scans: for each row, the states of the rows of its group up to it, combined in their order.
//
// What is scanned is a FOLD, a struct with
//     State                                 State{} changes nothing that it is combined with
//     State at(int64_t row) const           a row's own state
//     void put(int64_t row, bool in_range, const State&)
//                                           takes the state of a row and all before it; the lanes of a warp call it
//                                           together for the 32 rows of a validity word, those beyond the last too
// and State combine(const State& earlier, const State& later) beside it, an associative function.
//
// Reduce, then scan (Sengupta, Harris, Zhang & Owens 2007, "Scan Primitives for GPU Computing").  A warp takes a tile of
// rows, 32 at a time, so that it reads and writes whole sectors.  What comes before a tile is a matter of the last
// group before it alone: of each tile only the rows since its last beginning are reduced, and nobody looks further back
// than that.  How rows are put together depends on their places alone, so floats come out the same in every run.
//
// There are three kernels: `reduce_tiles` makes the totals of tiles, `reduce_totals` those of more tiles and then what
// comes before each tile, and `scan_tiles` gives each row its state.  The first two know nothing of what is written.
#pragma once

#include "rows.cuh"
#include "reduce.cuh"

namespace windows {

// Where groups, and runs of rows that tie, begin among sorted rows; the first row begins both.
struct Marks {
    const uint8_t* groups;
    const uint8_t* runs;
    int64_t rows;

    DEVICE bool begins_group(int64_t row) const { return groups[row]; }
    DEVICE bool ends_group(int64_t row) const { return row + 1 == rows || groups[row + 1]; }
    DEVICE bool begins_run(int64_t row) const { return runs[row]; }
    DEVICE bool ends_run(int64_t row) const { return row + 1 == rows || runs[row + 1]; }
};

// Rows in the order of a scan; one that is backward begins at the last row, and in each group at its last.
template <bool BACKWARD>
struct Direction {
    Marks marks;

    DEVICE bool begins(int64_t row) const { return BACKWARD ? marks.ends_group(row) : marks.begins_group(row); }
};

// What items one after another come to: the state since the last group that begins among them, and whether one does.
template <class STATE>
struct alignas(16) Segment {
    STATE state{};
    bool begins = false;
};

constexpr int64_t TILE_WORDS = 32;  // of 32 rows each

#ifdef GPUETL_HOST

template <bool BACKWARD, class FOLD>
DEVICE void reduce_tiles(Direction<BACKWARD>, const FOLD&, Segment<typename FOLD::State>*) {}

template <class STATE>
DEVICE void reduce_totals(int64_t, int64_t, Segment<STATE>*, STATE*) {}

template <bool BACKWARD, class FOLD>
DEVICE void scan_tiles(Direction<BACKWARD> order, FOLD& fold, const typename FOLD::State*) {
    typename FOLD::State state{};
    const int64_t rows = order.marks.rows;
    for (int64_t place = 0; place < rows; ++place) {
        const int64_t row = BACKWARD ? rows - 1 - place : place;
        state = order.begins(row) ? fold.at(row) : combine(state, fold.at(row));
        fold.put(row, true, state);
    }
}

#else

// ---- lanes ----------------------------------------------------------------------------------------------------------

template <class T>
DEVICE T from_lane(const T& value, int lane) {
    uint32_t words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
    for (uint32_t& word : words) word = __shfl_sync(0xffffffffu, word, lane & 31);
    T result;
    memcpy(&result, words, sizeof(T));
    return result;
}

// How many lanes before this one belong to its group, where some lanes begin one; `open` if it began before the first.
template <bool BACKWARD>
struct Reach {
    bool open;
    int earlier;

    DEVICE explicit Reach(uint32_t begins) {
        const uint32_t so_far = begins & (BACKWARD ? 0xffffffffu << LANE : 0xffffffffu >> (31 - LANE));
        open = !so_far;
        if (BACKWARD) earlier = (open ? 31 : __ffs(so_far) - 1) - LANE;
        else earlier = LANE - (open ? 0 : 31 - __clz(so_far));
    }
};

// Combine the state of the first lane with what comes before it, unless that lane begins a group, and then each lane's
// with those of so many lanes before it (Hillis & Steele 1986, "Data Parallel Algorithms").
template <bool BACKWARD, class STATE>
DEVICE void scan_lanes(STATE& state, const Reach<BACKWARD>& reach, STATE before) {
    bool takes = reach.open && LANE == (BACKWARD ? 31 : 0);
#pragma unroll 1
    for (int distance = 1;; distance *= 2) {
        if (takes) state = combine(before, state);
        takes = distance <= reach.earlier;
        if (!__ballot_sync(0xffffffffu, takes)) break;  // groups of few rows take fewer rounds
        before = from_lane(state, BACKWARD ? LANE + distance : LANE - distance);
    }
}

// ---- tiles ----------------------------------------------------------------------------------------------------------

// The words of 32 rows in the order of a scan, a tile of them for a warp.
template <bool BACKWARD, class FOLD>
struct Words {
    typedef typename FOLD::State State;
    Direction<BACKWARD> order;
    const FOLD& fold;

    DEVICE int64_t count() const { return (order.marks.rows + 31) / 32; }
    DEVICE int64_t tiles() const { return (count() + TILE_WORDS - 1) / TILE_WORDS; }
    DEVICE int64_t end(int64_t tile) const {
        const int64_t end = (tile + 1) * TILE_WORDS;
        return end < count() ? end : count();
    }
    DEVICE int64_t row(int64_t word) const { return (BACKWARD ? count() - 1 - word : word) * 32 + LANE; }
    DEVICE bool has(int64_t word) const { return row(word) < order.marks.rows; }
    DEVICE uint32_t begins(int64_t word) const {
        return __ballot_sync(0xffffffffu, has(word) && order.begins(row(word)));
    }
    DEVICE State own(int64_t word) const { return has(word) ? fold.at(row(word)) : State{}; }
};

// Scans words from one on, up to a tile's end; gives each lane's row and state to `take`, and returns the last state.
template <bool BACKWARD, class FOLD, class TAKE>
DEVICE typename FOLD::State scan_words(
    const Words<BACKWARD, FOLD>& words, int64_t first, int64_t end, typename FOLD::State carry, TAKE take
) {
    typename FOLD::State next{};
    uint32_t next_begins = 0;
#pragma unroll 1
    for (int64_t word = first - 1; word < end; ++word) {
        typename FOLD::State state = next;
        const Reach<BACKWARD> reach(next_begins);
        if (word + 1 < end) {  // is on its way while this word is scanned
            next = words.own(word + 1);
            next_begins = words.begins(word + 1);
        }
        if (word < first) continue;
        scan_lanes(state, reach, carry);
        take(words.row(word), words.has(word), state);
        carry = from_lane(state, BACKWARD ? 0 : 31);
    }
    return carry;
}

// ---- totals ---------------------------------------------------------------------------------------------------------

// Totals of tiles, or of 32, 32 times 32 and so on: level by level one behind the other, until a level has 32 at most.
template <class STATE>
struct Level {
    Segment<STATE>* totals;
    int64_t count;

    DEVICE Level next() const { return {totals + count, (count + 31) / 32}; }

    // What totals from `first` to before `end` come to, and `last` after them: 32 of them, or fewer and `last`.
    DEVICE Segment<STATE> over(int64_t first, int64_t end, const STATE& last) const {
        const int items = int(end - first);
        const Segment<STATE>* const item = totals + first + LANE;
        const uint32_t begins = __ballot_sync(0xffffffffu, LANE < items && item->begins);
        const int since = begins ? 31 - __clz(begins) : 0;
        STATE state{};
        if (LANE >= since && LANE < items) state = item->state;
        if (LANE == items) state = last;
        scan_lanes(state, Reach<false>(begins), STATE{});
        return {from_lane(state, items < 32 ? items : 31), begins != 0};
    }
};

// The totals of tiles.
template <bool BACKWARD, class FOLD>
DEVICE void reduce_tiles(Direction<BACKWARD> order, const FOLD& fold, Segment<typename FOLD::State>* totals) {
    typedef typename FOLD::State State;
    const Words<BACKWARD, FOLD> words{order, fold};
    FOR_EACH_WARP(tile, words.tiles()) {
        Segment<State> total;
        int64_t since = tile * TILE_WORDS;
        for (int64_t word = since; word < words.end(tile); ++word) {
            if (words.begins(word)) {
                since = word;
                total.begins = true;
            }
        }
        total.state = scan_words(words, since, words.end(tile), State{}, [](int64_t, bool, const State&) {});
        if (LANE == 0) totals[tile] = total;
    }
}

// The totals of a level from 1 on, from those of the level below.  Last, with level 0: what comes before each tile since
// the last group that begins there, from the totals of all levels.
template <class STATE>
DEVICE void reduce_totals(int64_t rows, int64_t level, Segment<STATE>* totals, STATE* before) {
    Level<STATE> below{totals, ((rows + 31) / 32 + TILE_WORDS - 1) / TILE_WORDS};
#pragma unroll 1
    for (int64_t made = 1; made < level; ++made) below = below.next();
    FOR_EACH_WARP(item, level ? below.next().count : below.count) {
        int64_t first = level ? item * 32 : item & ~31LL, end = level ? first + 32 : item;
        if (end > below.count) end = below.count;
        Segment<STATE> total;
#pragma unroll 1
        for (Level<STATE> from = below;; from = from.next()) {
            if (first < end) total = from.over(first, end, total.state);
            if (level || total.begins || first == 0) break;
            end = first / 32;
            first = end & ~31LL;
        }
        if (LANE != 0) continue;
        Segment<STATE>* const made = below.next().totals + item;
        (level ? made->state : before[item]) = total.state;
        if (level) made->begins = total.begins;
    }
}

template <bool BACKWARD, class FOLD>
DEVICE void scan_tiles(Direction<BACKWARD> order, FOLD& fold, const typename FOLD::State* before) {
    typedef typename FOLD::State State;
    const Words<BACKWARD, FOLD> words{order, fold};
    FOR_EACH_WARP(tile, words.tiles()) {
        scan_words(words, tile * TILE_WORDS, words.end(tile), tile ? before[tile] : State{},
                   [&](int64_t row, bool in_range, const State& state) { fold.put(row, in_range, state); });
    }
}

#endif

}  // namespace windows
