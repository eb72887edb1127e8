// Rows gathered by number: values of any fixed width, and the sizes of strings and lists.
//
// A warp gathers a tile of one column, so its code knows the width, and each lane has several loads under way whatever
// the columns are.  Tiles come column by column within chunks of rows: a chunk's row numbers are read from memory once
// and then from the cache, and rows in random order are looked for in one column at a time, which keeps to few pages.
// Columns with and without nulls share the code: the addresses of their words say which they are.
#include "rows.cuh"
#include "words.cuh"
#include "reduce.cuh"

namespace gathering {

constexpr int MOST_COLUMNS = 100;            // by value: older drivers pass 4 KB of arguments
constexpr int64_t CHUNK = int64_t(1) << 22;  // rows whose numbers stay in the cache: 16 or 32 MB of them
constexpr int AT_ONCE = 8;                   // rows of a lane that are loaded before any of them is stored

enum Kind { BYTES_1, BYTES_2, BYTES_4, BYTES_8, BYTES_16, OFFSETS_4, OFFSETS_8 };  // in the order of columns/gather.py

struct Column {
    const void* source;      // values, or offsets
    void* target;            // values, or sizes (int32) after a first 0
    const uint32_t* valid;   // the source's validity words, null where it has none
    uint32_t* words;         // the target's
    int64_t kind;
};

struct Columns {
    int64_t count;
    Column of[MOST_COLUMNS];
};
static_assert(sizeof(Columns) == 8 + MOST_COLUMNS * 40, "words of 8 bytes");

struct alignas(16) Wide { uint64_t low, high; };

// How rows are cut: into chunks, and these into tiles, of which a warp takes one of a column at a time.  A frame has less
// than 2^31 rows and a tile 256 or more, so 32 bits count the tiles of all columns.
struct Tiles {
    int64_t rows, tile_rows;
    uint32_t columns;

    DEVICE uint32_t count() const { return uint32_t((rows + tile_rows - 1) / tile_rows); }
    DEVICE uint32_t a_chunk() const { return uint32_t(CHUNK / tile_rows); }
};

struct Item {
    uint32_t column;
    int64_t start, end;  // rows

    DEVICE Item(uint32_t item, const Tiles& tiles, uint32_t count, uint32_t a_chunk) {
        const uint32_t first = item / (a_chunk * tiles.columns) * a_chunk, rest = item - first * tiles.columns;
        const uint32_t own = count - first < a_chunk ? count - first : a_chunk;
        column = rest / own;
        start = (first + rest % own) * tiles.tile_rows;
        end = start + tiles.tile_rows < tiles.rows ? start + tiles.tile_rows : tiles.rows;
    }
};

// The numbers of a lane's rows from `start` on; behind the `end` the last one's.
template <int N, class NUMBER>
DEVICE void load_numbers(int64_t end, int64_t start, const NUMBER* from, NUMBER (&at)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) {
        const int64_t row = start + i * LANES + LANE;
        at[i] = from[row < end ? row : end - 1];
    }
}

// A row that there is, in the place of none: loads need no branch, and what they find is left out.
template <class NUMBER> DEVICE NUMBER readable(NUMBER at) { return at < 0 ? 0 : at; }

// Which of a lane's rows are valid, a bit each.
template <int N, class NUMBER>
DEVICE uint32_t load_valid(const uint32_t* words, const NUMBER (&at)[N]) {
    uint32_t there = 0, valid = 0;
#pragma unroll
    for (int i = 0; i < N; ++i) there |= uint32_t(at[i] >= 0) << i;
    if (!words) return there;
    uint32_t found[N];
#pragma unroll
    for (int i = 0; i < N; ++i) found[i] = words[readable(at[i]) >> 5];
#pragma unroll
    for (int i = 0; i < N; ++i) valid |= (found[i] >> (at[i] & 31) & 1) << i;
    return valid & there;
}

// Stores the words of a lane's rows, of which N are loaded; returns how many of them are null.
template <int N>
DEVICE uint32_t store_valid(uint32_t* words, int64_t end, int64_t start, uint32_t valid) {
    uint32_t missing = 0;
    if (!words) return missing;
#pragma unroll 1
    for (int64_t first = start; first < end && first < start + N * LANES; first += LANES, valid >>= 1)
        missing += store_word(words, first + LANE, first + LANE < end, valid & 1);
    return missing;
}

template <class T, int N, class NUMBER>
DEVICE void gather_values(const Item& item, const NUMBER* from, const Column& column, uint64_t* counters) {
    const T* const source = (const T*)column.source;
    T* const target = (T*)column.target;
    uint32_t missing = 0;
    const int64_t end = item.end;
#pragma unroll 1
    for (int64_t start = item.start; start < end; start += N * LANES) {
        NUMBER at[N];
        T values[N];
        load_numbers(end, start, from, at);
#pragma unroll
        for (int i = 0; i < N; ++i) values[i] = source[readable(at[i])];
        const uint32_t valid = load_valid(column.valid, at);
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const int64_t row = start + i * LANES + LANE;
            if (row < end) target[row] = valid >> i & 1 ? values[i] : T{};
        }
        missing += store_valid<N>(column.words, end, start, valid);
    }
    if (column.words) add_nulls(counters, missing);
}

template <class OFFSET, int N, class NUMBER>
DEVICE void gather_sizes(const Item& item, const NUMBER* from, const Column& column, uint64_t* counters) {
    const OFFSET* const source = (const OFFSET*)column.source;
    int32_t* const target = (int32_t*)column.target;
    uint32_t missing = 0;
    Tally amount;
    const int64_t end = item.end;
#pragma unroll 1
    for (int64_t start = item.start; start < end; start += N * LANES) {
        NUMBER at[N];
        int32_t sizes[N];
        load_numbers(end, start, from, at);
#pragma unroll
        for (int i = 0; i < N; ++i) sizes[i] = int32_t(source[readable(at[i]) + 1] - source[readable(at[i])]);
        const uint32_t valid = load_valid(column.valid, at);
#pragma unroll
        for (int i = 0; i < N; ++i) {
            const int64_t row = start + i * LANES + LANE;
            const int32_t size = row < end && valid >> i & 1 ? sizes[i] : 0;
            if (row < end) target[row + 1] = size;
            amount.count += size;
        }
        missing += store_valid<N>(column.words, end, start, valid);
    }
    if (item.start == 0 && LANE == 0) target[0] = 0;
    if (column.words) add_nulls(counters, missing);
    amount.store(counters + 1);
}

template <class NUMBER>
DEVICE void gather_tile(const Item& item, const NUMBER* from, const Column& column, uint64_t* counters) {
    switch (column.kind) {
        case BYTES_1: return gather_values<uint8_t, AT_ONCE>(item, from, column, counters);
        case BYTES_2: return gather_values<uint16_t, AT_ONCE>(item, from, column, counters);
        case BYTES_4: return gather_values<uint32_t, AT_ONCE>(item, from, column, counters);
        case BYTES_8: return gather_values<uint64_t, AT_ONCE>(item, from, column, counters);
        case BYTES_16: return gather_values<Wide, AT_ONCE / 2>(item, from, column, counters);
        case OFFSETS_4: return gather_sizes<int32_t, AT_ONCE / 2>(item, from, column, counters);
        case OFFSETS_8: return gather_sizes<int64_t, AT_ONCE / 2>(item, from, column, counters);
    }
}

template <class NUMBER>
DEVICE void gather(int64_t rows, int64_t tile_rows, const NUMBER* from, uint64_t* counters, const Columns& columns) {
    const Tiles tiles{rows, tile_rows, uint32_t(columns.count)};
    const uint32_t count = tiles.count(), a_chunk = tiles.a_chunk();
    FOR_EACH_WARP(item, int64_t(count) * columns.count) {
        const Item own(uint32_t(item), tiles, count, a_chunk);
        gather_tile(own, from, columns.of[own.column], counters + 2 * own.column);
    }
}

}  // namespace gathering

// A negative number in `from` gives null, and nulls are written as zeros.  `counters` has two numbers a column, to which are
// added its nulls, and its strings' bytes or lists' elements; none are where no column has words or sizes.  The rows of a
// tile are a multiple of 256.
KERNEL gather_int32(int64_t rows, int64_t tile_rows, const int32_t* from, uint64_t* counters,
                    const gathering::Columns columns) {
    gathering::gather(rows, tile_rows, from, counters, columns);
}
KERNEL gather_int64(int64_t rows, int64_t tile_rows, const int64_t* from, uint64_t* counters,
                    const gathering::Columns columns) {
    gathering::gather(rows, tile_rows, from, counters, columns);
}
