// Items of groups cut into chunks of `size` or fewer, those of group g from bounds[g] to bounds[g + 1].
#include "rows.cuh"
#include "reduce.cuh"

struct CountedChunks {
    uint64_t chunks = 0, most = 0;
    DEVICE void add(uint64_t count) { chunks += count, most = count > most ? count : most; }
    DEVICE void merge(const CountedChunks& other) {
        chunks += other.chunks, most = other.most > most ? other.most : most;
    }
};

// Counts the chunks of each group behind a first 0; adds them up in `found`, with the most that a group has.
KERNEL count_chunks(int64_t groups, int64_t size, const int64_t* bounds, int64_t* counts, uint64_t* found) {
    CountedChunks counted;
    FOR_EACH_ROW(group, groups) {
        if (group >= groups) continue;
        counted.add(counts[group + 1] = (bounds[group + 1] - bounds[group] + size - 1) / size);
        if (group == 0) counts[0] = 0;
    }
    merge_lanes(counted);
    if (LANE == 0 && counted.chunks) add_to(found, counted.chunks), raise_to(found + 1, counted.most);
}

DEVICE void write_chunks(int64_t group, int first, int step, int64_t size, const int64_t* bounds, const int64_t* firsts,
                         int64_t* starts, int64_t* stops) {
    const int64_t end = bounds[group + 1];
    for (int64_t chunk = firsts[group] + first; chunk < firsts[group + 1]; chunk += step) {
        const int64_t start = bounds[group] + (chunk - firsts[group]) * size;
        starts[chunk] = start, stops[chunk] = start + size < end ? start + size : end;
    }
}

// A thread writes the chunks of a group that has no more than `few`, a warp those of another one.
KERNEL write_few_chunks(int64_t groups, int64_t size, int64_t few, const int64_t* bounds, const int64_t* firsts,
                        int64_t* starts, int64_t* stops) {
    FOR_EACH_ROW(group, groups)
        if (group < groups && firsts[group + 1] - firsts[group] <= few)
            write_chunks(group, 0, 1, size, bounds, firsts, starts, stops);
}
KERNEL write_many_chunks(int64_t groups, int64_t size, int64_t few, const int64_t* bounds, const int64_t* firsts,
                         int64_t* starts, int64_t* stops) {
    FOR_EACH_WARP(group, groups)
        if (firsts[group + 1] - firsts[group] > few)
            write_chunks(group, LANE, LANES, size, bounds, firsts, starts, stops);
}
