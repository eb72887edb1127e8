// The values of a column counted in a table by hash, and numbers of a vocabulary looked up: see relational/vocabulary.py.
#include "keys.cuh"
#include "claims.cuh"

namespace vocabulary {

// A value and how many rows have it.  All bits of a free slot are set, so `more` is one less than the count.
struct Slot {
    uint64_t value;
    int32_t row;    // one that has the value
    uint32_t more;

    DEVICE uint32_t count() const { return more + 1; }
};

constexpr uint64_t FREE = ~0ULL;
constexpr int ROWS = 4;  // of a lane, that are loaded together

// The finalizer of MurmurHash3 (Appleby 2011).
DEVICE uint64_t hash(uint64_t value) {
    value = (value ^ (value >> 33)) * 0xFF51AFD7ED558CCDULL;
    value = (value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53ULL;
    return value ^ (value >> 33);
}

#ifdef GPUETL_HOST
DEVICE uint64_t taken(uint64_t* place, uint64_t value) {
    const uint64_t before = *place;
    if (before == FREE) *place = value;
    return before;
}
DEVICE void add(uint32_t* count, uint32_t more) { *count += more; }
#else
// Take a place that is free; return what was there.
DEVICE uint64_t taken(uint64_t* place, uint64_t value) {
    const uint64_t before = *(volatile uint64_t*)place;
    return before == FREE ? atomicCAS((unsigned long long*)place, FREE, (unsigned long long)value) : before;
}
DEVICE void add(uint32_t* count, uint32_t more) { atomicAdd(count, more); }
#endif

// Count rows of a value in its slot, at most `probes` slots behind that of its hash; tell whether there was one.  A value
// of which all bits are set has the slot behind the last one.
DEVICE bool count(Slot* slots, uint32_t mask, uint32_t probes, uint64_t value, int32_t row, uint32_t rows) {
    if (value == FREE) {
        slots[mask + 1].row = row;  // any of them
        add(&slots[mask + 1].more, rows);
        return true;
    }
    uint32_t place = uint32_t(hash(value)) & mask;
    for (uint32_t probe = 0; probe < probes; ++probe, place = (place + 1) & mask) {
        const uint64_t before = taken(&slots[place].value, value);
        if (before != FREE && before != value) continue;
        if (before == FREE) slots[place].row = row;
        add(&slots[place].more, rows);
        return true;
    }
    return false;
}

// Each block counts the values that it meets first in shared memory, which the frequent ones are among.  Additions to one
// place in device memory come one by one.
#ifdef GPUETL_HOST
DEVICE void count_values(int64_t rows, int64_t size, uint32_t probes, Slot* slots, uint64_t* full,
                         const Keys<1>& keys) {
    const uint32_t mask = uint32_t(size - 1);
    for (int64_t row = 0; row < rows && !*full; ++row) {
        Components<1> components[1];
        const int32_t own[1] = {int32_t(row)};
        load_components<true>(keys, own, components);
        if (components[0].all_known() && !count(slots, mask, probes, components[0].of[0], int32_t(row), 1))
            *full = 1;
    }
}
#else
constexpr uint32_t OWN = 1 << 10, PROBES = 4;  // of a block: 16 KiB

DEVICE void count_values(int64_t rows, int64_t size, uint32_t probes, Slot* slots, uint64_t* full,
                         const Keys<1>& keys) {
    __shared__ Slot own[OWN + 1];
    const uint32_t mask = uint32_t(size - 1);
    for (uint32_t place = threadIdx.x; place <= OWN; place += blockDim.x) own[place] = {FREE, -1, ~0u};
    __syncthreads();
    FOR_EACH_WARP(round, (rows + ROWS * LANES - 1) / (ROWS * LANES)) {
        if (*(volatile uint64_t*)full) break;
        const int64_t start = round * (ROWS * LANES);
        Components<1> components[ROWS];
        load_round<true>(keys, start, rows, components);
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            const int64_t row = row_of(start, i);
            if (row >= rows || !components[i].all_known()) continue;
            const uint64_t value = components[i].of[0];
            if (count(own, OWN - 1, PROBES, value, int32_t(row), 1)) continue;
            if (!count(slots, mask, probes, value, int32_t(row), 1)) *full = 1;
        }
    }
    __syncthreads();
    for (uint32_t place = threadIdx.x; place <= OWN && !*(volatile uint64_t*)full; place += blockDim.x) {
        const Slot& one = own[place];
        if (one.count() && !count(slots, mask, probes, one.value, one.row, one.count())) *full = 1;
    }
}
#endif

}  // namespace vocabulary

// Rows without a null.  There are `size` slots, a power of two, and one more.  Where a value needs more than `probes`, the
// table is too small, and `full` is set.
KERNEL count_values_1(int64_t rows, int64_t size, int64_t probes, vocabulary::Slot* slots, uint64_t* full,
                      const Keys<1> keys) {
    vocabulary::count_values(rows, size, uint32_t(probes), slots, full, keys);
}

// A row of each value that `least` rows or more have, and how many have it, in any order.  `found` begins as 0.  Of a
// table that is full nothing is kept.
KERNEL keep_values(int64_t size, int64_t least, const vocabulary::Slot* slots, int32_t* rows, int64_t* counts,
                   uint64_t* found, const uint64_t* full) {
    if (*full) return;
    FOR_EACH_ROW(place, size) {
        const uint32_t count = place < size ? slots[place].count() : 0;
        const bool kept = count && count >= least;
#ifdef GPUETL_HOST
        const uint64_t at = *found;
        *found += kept;
#else
        const uint32_t lanes = __ballot_sync(~0u, kept);
        uint64_t first = 0;
        if (LANE == 0 && lanes) first = before_adding(found, __popc(lanes));
        const uint64_t at = __shfl_sync(~0u, first, 0) + __popc(lanes & ((1u << LANE) - 1));
#endif
        if (kept) rows[at] = slots[place].row, counts[at] = count;
    }
}

// The number of each row: 0 for null, that of the row of the vocabulary that was found for it, or that of unknown ones.
KERNEL number_values(int64_t rows, int64_t unknown, const uint32_t* valid, const int32_t* found, const int32_t* ids,
                     int32_t* numbers) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const int32_t place = found[row];
        numbers[row] = !bit_is_set(valid, row) ? 0 : place < 0 ? int32_t(unknown) : ids[place];
    }
}
