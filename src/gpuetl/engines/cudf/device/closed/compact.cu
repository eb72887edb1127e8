// The numbers of rows whose value lies between two others, or does not.
#include "compact.cuh"

namespace compacting {

template <class VALUE>
struct Between {
    const VALUE* values;
    int64_t least, greatest;
    bool wanted;

    DEVICE bool operator()(int64_t row) const {
        const int64_t value = values[row];
        return (value >= least && value <= greatest) == wanted;
    }
};

// Behind the numbers of the last tile stands that of all rows where it is wanted, too.
template <class VALUE, class NUMBER>
DEVICE void write_numbers(int64_t rows, int64_t tiles, const Between<VALUE>& test, const int64_t* ends, bool bounded,
                          NUMBER* numbers) {
    FOR_EACH_WARP(tile, tiles) {
        write_tile(rows, tile, test, ends, numbers);
        if (bounded && LANE == 0 && tile == tiles - 1) numbers[ends[tile]] = NUMBER(rows);
    }
}

}  // namespace compacting

#define NUMBERS(VALUE, NUMBER)                                                                                       \
    KERNEL number_##VALUE##_##NUMBER(int64_t rows, int64_t tiles, const VALUE##_t* values, int64_t least,            \
                                     int64_t greatest, int64_t wanted, const int64_t* ends, int64_t bounded,         \
                                     NUMBER##_t* numbers) {                                                          \
        const compacting::Between<VALUE##_t> test{values, least, greatest, wanted != 0};                             \
        compacting::write_numbers(rows, tiles, test, ends, bounded != 0, numbers);                                   \
    }
#define VALUES(VALUE)                                                                                                \
    KERNEL count_##VALUE(int64_t rows, int64_t tiles, const VALUE##_t* values, int64_t least, int64_t greatest,      \
                         int64_t wanted, int64_t* counts) {                                                          \
        count_tiles(rows, tiles, compacting::Between<VALUE##_t>{values, least, greatest, wanted != 0}, counts);      \
    }                                                                                                                \
    NUMBERS(VALUE, int32)                                                                                            \
    NUMBERS(VALUE, int64)

VALUES(uint8)
VALUES(int32)
VALUES(int64)
