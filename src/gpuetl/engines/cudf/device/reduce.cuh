// Loops of a warp an item, and rows of each group reduced to one state, in two steps and always in the same order:
// chunks of a group's rows by a warp each, then the chunks' states by a warp a group.  So one large group keeps the
// whole device busy, and sums of floats do not change from run to run.
#pragma once

#ifdef GPUETL_HOST
#define FOR_EACH_WARP(item, items) for (int64_t item = 0; item < (items); ++item)
constexpr int LANES = 1, LANE = 0;
template <class STATE> DEVICE void merge_lanes(STATE&) {}
DEVICE void add_to(uint64_t* place, uint64_t value) { *place += value; }
DEVICE uint64_t from_lane(uint64_t value, int) { return value; }
DEVICE bool in_any_lane(bool vote) { return vote; }
#else
#define FOR_EACH_WARP(item, items)                                                               \
    for (int64_t item = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32; item < (items); \
         item += int64_t(gridDim.x) * blockDim.x / 32)
constexpr int LANES = 32;
#define LANE int(threadIdx.x & 31)

// Fetch a state from a lane above, word by word.
template <class STATE> DEVICE STATE from_lane_above(const STATE& state, int distance) {
    static_assert(sizeof(STATE) % 4 == 0, "states are whole words");
    union Words { uint32_t words[sizeof(STATE) / 4]; STATE state; DEVICE Words() {} } mine, other;
    mine.state = state;
    for (int i = 0; i < int(sizeof(STATE) / 4); ++i)
        other.words[i] = __shfl_down_sync(0xffffffffu, mine.words[i], distance);
    return other.state;
}

// All lanes of the warp come here; the first one has the whole in the end.  It is done once for many rows: five copies
// of a merge would only take a quarter of the time in which a kernel is compiled.
template <class STATE> DEVICE void merge_lanes(STATE& state) {
#pragma unroll 1
    for (int distance = 16; distance; distance >>= 1) {
        const STATE other = from_lane_above(state, distance);
        if (LANE + distance < 32) state.merge(other);
    }
}
DEVICE void add_to(uint64_t* place, uint64_t value) {
    atomicAdd((unsigned long long*)place, (unsigned long long)value);
}

// The value of a lane, of which the number's last five bits count.
DEVICE uint64_t from_lane(uint64_t value, int lane) {
    const uint32_t low = __shfl_sync(0xffffffffu, uint32_t(value), lane & 31);
    const uint32_t high = __shfl_sync(0xffffffffu, uint32_t(value >> 32), lane & 31);
    return uint64_t(high) << 32 | low;
}
DEVICE bool in_any_lane(bool vote) { return __ballot_sync(0xffffffffu, vote) != 0; }
#endif

// A number that each lane counts up; all lanes of the warp come to `store`, once.
struct Tally {
    uint64_t count = 0;

    DEVICE void merge(const Tally& other) { count += other.count; }
    DEVICE void store(uint64_t* place) {
        merge_lanes(*this);
        if (LANE == 0 && count) add_to(place, count);
    }
};

// The greatest of numbers that each lane finds, 0 for none; as `Tally`.
struct Peak {
    uint64_t value = 0;

    DEVICE void add(uint64_t other) { value = other > value ? other : value; }
    DEVICE void merge(const Peak& other) { add(other.value); }
    DEVICE void store(uint64_t* place) {
        merge_lanes(*this);
        if (LANE == 0 && value) raise_to(place, value);
    }
};
