// Segmented inclusive scans: for each row, the states of the rows of its group up to it, combined in their order.
//
// What is scanned is a FOLD, a struct with
//     State                                 State{} changes nothing that it is combined with
//     State at(int64_t row) const           a row's own state
//     void put(int64_t row, const State&)   takes the state of a row and all before it
// and State combine(const State& earlier, const State& later) beside it, an associative function.
//
// Reduce, then scan (Sengupta, Harris, Zhang & Owens 2007, "Scan Primitives for GPU Computing"): each tile's rows are
// combined, the tiles' totals are scanned, and each tile is scanned again from what comes before it.  How rows are put
// together depends on their places alone, so floats come out the same in every run.
#pragma once

#include "rows.cuh"

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

    DEVICE int64_t row(int64_t place) const { return BACKWARD ? marks.rows - 1 - place : place; }
    DEVICE bool begins(int64_t row) const { return BACKWARD ? marks.ends_group(row) : marks.begins_group(row); }
};

#ifdef GPUETL_HOST

template <class STATE> using Segment = STATE;

template <bool BACKWARD, class FOLD>
DEVICE void reduce_tiles(Direction<BACKWARD>, const FOLD&, typename FOLD::State*) {}

template <class STATE> DEVICE void scan_tile_totals(int64_t, STATE*) {}

template <bool BACKWARD, class FOLD>
DEVICE void scan_tiles(Direction<BACKWARD> order, const FOLD& fold, const typename FOLD::State*) {
    typename FOLD::State state{};
    for (int64_t place = 0; place < order.marks.rows; ++place) {
        const int64_t row = order.row(place);
        state = order.begins(row) ? fold.at(row) : combine(state, fold.at(row));
        fold.put(row, state);
    }
}

#else

constexpr int SCAN_THREADS = 128, SCAN_ITEMS = 8, SCAN_TILE = SCAN_THREADS * SCAN_ITEMS, SCAN_WARPS = SCAN_THREADS / 32;

// What rows one after another come to: the state since the last group that begins among them, and whether one does.
template <class STATE>
struct alignas(16) Segment {
    STATE state{};
    bool begins = false;
};

template <class STATE>
DEVICE Segment<STATE> combine(const Segment<STATE>& earlier, const Segment<STATE>& later) {
    if (later.begins) return later;
    return {combine(earlier.state, later.state), earlier.begins};
}

// The value of the lane that is `distance` before; a lane that has none before it gets its own.
template <class T>
DEVICE T from_lane_before(const T& value, int distance) {
    static_assert(sizeof(T) % sizeof(uint32_t) == 0, "lanes pass whole words");
    uint32_t words[sizeof(T) / sizeof(uint32_t)];
    memcpy(words, &value, sizeof(T));
    for (uint32_t& word : words) word = __shfl_up_sync(0xffffffffu, word, distance);
    T result;
    memcpy(&result, words, sizeof(T));
    return result;
}

// What comes before each thread's segment in its block, and the total of all; every thread of the block must call it.
template <class SEGMENT>
DEVICE SEGMENT before_thread(const SEGMENT& own, SEGMENT& total) {
    alignas(16) __shared__ char memory[SCAN_WARPS * sizeof(SEGMENT)];  // bytes: shared variables have no constructors
    SEGMENT* const warps = reinterpret_cast<SEGMENT*>(memory);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    SEGMENT through = own;
#pragma unroll 1
    for (int distance = 1; distance < 32; distance *= 2) {
        const SEGMENT earlier = from_lane_before(through, distance);
        if (lane >= distance) through = combine(earlier, through);
    }
    const SEGMENT in_warp = from_lane_before(through, 1);
    if (lane == 31) warps[warp] = through;
    __syncthreads();
    SEGMENT before{};
    total = SEGMENT{};
#pragma unroll 1
    for (int each = 0; each < SCAN_WARPS; ++each) {
        if (each == warp) before = total;
        total = combine(total, warps[each]);
    }
    __syncthreads();  // another call may write `warps`
    return lane ? combine(before, in_warp) : before;
}

template <bool BACKWARD, class FOLD>
DEVICE Segment<typename FOLD::State> segment_at(const Direction<BACKWARD>& order, const FOLD& fold, int64_t row) {
    return {fold.at(row), order.begins(row)};
}

// The thread's first place, and the place after its last: none of them where the rows end before.
DEVICE int64_t first_place() { return int64_t(blockIdx.x) * SCAN_TILE + threadIdx.x * SCAN_ITEMS; }
DEVICE int64_t end_place(int64_t first, int64_t places) {
    return first + SCAN_ITEMS < places ? first + SCAN_ITEMS : places;
}

template <bool BACKWARD, class FOLD>
DEVICE Segment<typename FOLD::State> thread_segment(const Direction<BACKWARD>& order, const FOLD& fold) {
    Segment<typename FOLD::State> own{};
    const int64_t first = first_place(), end = end_place(first, order.marks.rows);
#pragma unroll 1
    for (int64_t place = first; place < end; ++place) own = combine(own, segment_at(order, fold, order.row(place)));
    return own;
}

// The total of each tile, one a block.
template <bool BACKWARD, class FOLD>
DEVICE void reduce_tiles(Direction<BACKWARD> order, const FOLD& fold, Segment<typename FOLD::State>* totals) {
    Segment<typename FOLD::State> total;
    before_thread(thread_segment(order, fold), total);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

// Each tile's total becomes that of the tiles before it; by one block, whose threads go round together.
template <class SEGMENT>
DEVICE void scan_tile_totals(int64_t tiles, SEGMENT* totals) {
    SEGMENT carried{};
    for (int64_t start = 0; start < tiles; start += SCAN_TILE) {
        const int64_t first = start + threadIdx.x * SCAN_ITEMS, end = end_place(first, tiles);
        SEGMENT own{}, total;
#pragma unroll 1
        for (int64_t tile = first; tile < end; ++tile) own = combine(own, totals[tile]);
        SEGMENT before = combine(carried, before_thread(own, total));
#pragma unroll 1
        for (int64_t tile = first; tile < end; ++tile) {
            const SEGMENT here = totals[tile];
            totals[tile] = before;
            before = combine(before, here);
        }
        carried = combine(carried, total);
    }
}

template <bool BACKWARD, class FOLD>
DEVICE void scan_tiles(Direction<BACKWARD> order, const FOLD& fold, const Segment<typename FOLD::State>* totals) {
    Segment<typename FOLD::State> total;
    Segment<typename FOLD::State> before = combine(totals[blockIdx.x], before_thread(thread_segment(order, fold), total));
    const int64_t first = first_place(), end = end_place(first, order.marks.rows);
#pragma unroll 1
    for (int64_t place = first; place < end; ++place) {
        const int64_t row = order.row(place);
        before = combine(before, segment_at(order, fold, row));
        fold.put(row, before.state);
    }
}

#endif

}  // namespace windows
