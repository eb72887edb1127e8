// The values of columns counted in tables by hash, and numbers of vocabularies looked up: see relational/vocabularies.py.
//
// A kernel does the same for several columns.  Its blocks go to the columns in turns, and those of a column share its
// rows.  The columns are a struct by value.
#include "keys.cuh"
#include "claims.cuh"

#if defined(__CUDACC_RTC__)
#define BY_VALUE const __grid_constant__  // else indexing copies it for each thread
#else
#define BY_VALUE const
#endif

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

constexpr int MOST = 32;  // columns of a launch, as in relational/vocabularies.py

// A column that is counted.  `size` is a power of two, and there is one slot more.  With `seen`, values are counted that
// may be in `least` rows: those whose counter says so.  What is kept goes to `rows`, `counts` and `values`, in any order.
// `found` begins as 0, and tells how many values are kept.  `full`: the table is too small.
struct Counted {
    Component component;
    Slot* slots;
    int64_t size;
    uint32_t* seen;
    int64_t seen_size, least;
    int32_t* rows;
    int64_t* counts;
    uint64_t* values;
    uint64_t* found;
    uint64_t* full;

    DEVICE Keys<1> keys() const { return {nullptr, 0, 1, {component}}; }
    DEVICE uint32_t* counter(uint64_t value) const { return seen + ((hash(value) >> 32) & (seen_size - 1)); }
    DEVICE bool may_be_kept(uint64_t value) const { return !seen || *counter(value) >= least; }
};
struct CountedColumns { Counted of[MOST]; };

// The values of a column that are kept, and where they go among those of all columns.
struct Kept {
    const int32_t* rows;
    const int64_t* counts;
    const uint64_t* values;
    int64_t number, start, count;
};
struct KeptColumns { Kept of[MOST]; };

// A vocabulary that is written: `bytes` of each value, at `out`, which is nullptr where values have no fixed width.
struct Written {
    const void* data;
    void* out;
    int64_t bytes, start, count, first;
};
struct WrittenColumns { Written of[MOST]; };

// A vocabulary's table, and the values, those of the vocabulary or of rows, that are put into it or looked up.
struct Numbered {
    Component component;
    Slot* slots;
    int64_t size;
    int32_t* numbers;
    int64_t count, unknown;

    DEVICE Keys<1> keys() const { return {nullptr, 0, 1, {component}}; }
};
struct NumberedColumns { Numbered of[MOST]; };

// The column of a block, and the parts of it that a warp takes.
#ifdef GPUETL_HOST
#define FOR_EACH_COLUMN(column, columns) for (int64_t column = 0; column < (columns); ++column)
#define FOR_EACH_PART(part, parts, columns) for (int64_t part = 0; part < (parts); ++part)
constexpr int PART = 1;
DEVICE int64_t item_of(int64_t part) { return part; }
#else
#define FOR_EACH_COLUMN(column, columns) for (int64_t column = blockIdx.x % (columns), once = 1; once; once = 0)
#define FOR_EACH_PART(part, parts, columns)                                                                       \
    for (int64_t part = int64_t(blockIdx.x / (columns)) * (blockDim.x / LANES) + threadIdx.x / LANES;             \
         part < (parts); part += int64_t(gridDim.x / (columns)) * (blockDim.x / LANES))
constexpr int PART = LANES;
DEVICE int64_t item_of(int64_t part) { return part * LANES + LANE; }
#endif
DEVICE int64_t parts_of(int64_t items) { return (items + PART - 1) / PART; }

#ifdef GPUETL_HOST
DEVICE bool load(const Component& component, int64_t row, uint64_t& value) {
    const Keys<1> keys{nullptr, 0, 1, {component}};
    Components<1> components[1];
    const int32_t own[1] = {int32_t(row)};
    load_components<true>(keys, own, components);
    value = components[0].of[0];
    return components[0].all_known();
}
#endif

// Add up rows in the counter of a value's hash, up to `least`: what is less for all values of a counter is not kept.
DEVICE void see(const Counted& of, uint64_t value) {
    uint32_t* counter = of.counter(value);
    if (*(volatile uint32_t*)counter < of.least) add(counter, 1);
}

DEVICE void see_values(int64_t rows, int64_t columns, const Counted& of) {
#ifdef GPUETL_HOST
    uint64_t value;
    for (int64_t row = 0; row < rows; ++row)
        if (load(of.component, row, value)) see(of, value);
#else
    const Keys<1> keys = of.keys();
    FOR_EACH_PART(part, (rows + ROWS * LANES - 1) / (ROWS * LANES), columns) {
        const int64_t start = part * (ROWS * LANES);
        Components<1> components[ROWS];
        load_round<true>(keys, start, rows, components);
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
            if (row_of(start, i) < rows && components[i].all_known()) see(of, components[i].of[0]);
    }
#endif
}

// Each block counts the values that it meets first in shared memory, which the frequent ones are among.  Additions to one
// place in device memory come one by one.
DEVICE void count_values(int64_t rows, int64_t columns, uint32_t probes, const Counted& of) {
    const uint32_t mask = uint32_t(of.size - 1);
#ifdef GPUETL_HOST
    uint64_t value;
    for (int64_t row = 0; row < rows && !*of.full; ++row) {
        if (!load(of.component, row, value) || !of.may_be_kept(value)) continue;
        if (!count(of.slots, mask, probes, value, int32_t(row), 1)) *of.full = 1;
    }
#else
    constexpr uint32_t OWN = 1 << 10, PROBES = 4;  // of a block: 16 KiB
    __shared__ Slot own[OWN + 1];
    for (uint32_t place = threadIdx.x; place <= OWN; place += blockDim.x) own[place] = {FREE, -1, ~0u};
    __syncthreads();
    const Keys<1> keys = of.keys();
    FOR_EACH_PART(part, (rows + ROWS * LANES - 1) / (ROWS * LANES), columns) {
        if (*(volatile uint64_t*)of.full) break;
        const int64_t start = part * (ROWS * LANES);
        Components<1> components[ROWS];
        load_round<true>(keys, start, rows, components);
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            const int64_t row = row_of(start, i);
            if (row >= rows || !components[i].all_known()) continue;
            const uint64_t value = components[i].of[0];
            if (!of.may_be_kept(value) || count(own, OWN - 1, PROBES, value, int32_t(row), 1)) continue;
            if (!count(of.slots, mask, probes, value, int32_t(row), 1)) *of.full = 1;
        }
    }
    __syncthreads();
    for (uint32_t place = threadIdx.x; place <= OWN && !*(volatile uint64_t*)of.full; place += blockDim.x) {
        const Slot& one = own[place];
        if (one.count() && !count(of.slots, mask, probes, one.value, one.row, one.count())) *of.full = 1;
    }
#endif
}

template <class T> DEVICE void copy_item(const void* from, int64_t at, void* to, int64_t place) {
    ((T*)to)[place] = ((const T*)from)[at];
}
DEVICE void copy_value(const Written& of, int64_t row, int64_t place) {
    switch (of.bytes) {
        case 8: return copy_item<uint64_t>(of.data, row, of.out, place);
        case 4: return copy_item<uint32_t>(of.data, row, of.out, place);
        case 2: return copy_item<uint16_t>(of.data, row, of.out, place);
        case 1: return copy_item<uint8_t>(of.data, row, of.out, place);
    }
}

// The slot of a value, or a free one.
DEVICE int64_t slot_of(const Numbered& of, uint64_t value) {
    const int64_t mask = of.size - 1;
    if (value == FREE) return of.size;
    int64_t place = hash(value) & mask;
    while (of.slots[place].value != FREE && of.slots[place].value != value) place = (place + 1) & mask;
    return place;
}

}  // namespace vocabulary

// Count rows by the hashes of their values, for those that are in few rows.
KERNEL see_values(int64_t rows, int64_t columns, BY_VALUE vocabulary::CountedColumns all) {
    FOR_EACH_COLUMN(column, columns) {
        const vocabulary::Counted of = all.of[column];
        if (of.seen) vocabulary::see_values(rows, columns, of);
    }
}

// Count the rows of each value; nulls are none.  Where a value needs more than `probes`, the table is too small.
KERNEL count_values(int64_t rows, int64_t columns, int64_t probes, BY_VALUE vocabulary::CountedColumns all) {
    FOR_EACH_COLUMN(column, columns) {
        const vocabulary::Counted of = all.of[column];
        vocabulary::count_values(rows, columns, uint32_t(probes), of);
    }
}

// A row of each value that `least` rows or more have, how many have it, and the value.  Of a table that is full nothing.
KERNEL keep_values(int64_t columns, BY_VALUE vocabulary::CountedColumns all) {
    FOR_EACH_COLUMN(column, columns) {
        const vocabulary::Counted of = all.of[column];
        if (*of.full) continue;
        FOR_EACH_PART(part, vocabulary::parts_of(of.size + 1), columns) {
            const int64_t place = vocabulary::item_of(part);
            const uint32_t count = place <= of.size ? of.slots[place].count() : 0;
            const bool kept = count && count >= of.least;
#ifdef GPUETL_HOST
            const uint64_t at = *of.found;
            *of.found += kept;
#else
            const uint32_t lanes = __ballot_sync(~0u, kept);
            uint64_t first = 0;
            if (LANE == 0 && lanes) first = before_adding(of.found, __popc(lanes));
            const uint64_t at = __shfl_sync(~0u, first, 0) + __popc(lanes & ((1u << LANE) - 1));
#endif
            if (!kept) continue;
            of.rows[at] = of.slots[place].row;
            of.counts[at] = count;
            of.values[at] = place == of.size ? vocabulary::FREE : of.slots[place].value;
        }
    }
}

// What is kept of all columns, one behind the other, with the number of the column.
KERNEL join_kept(int64_t columns, int32_t* numbers, int64_t* counts, uint64_t* values, int32_t* rows,
                 BY_VALUE vocabulary::KeptColumns all) {
    FOR_EACH_COLUMN(column, columns) {
        const vocabulary::Kept of = all.of[column];
        FOR_EACH_PART(part, vocabulary::parts_of(of.count), columns) {
            const int64_t at = vocabulary::item_of(part);
            if (at >= of.count) continue;
            numbers[of.start + at] = int32_t(of.number);
            counts[of.start + at] = of.counts[at];
            values[of.start + at] = of.values[at];
            rows[of.start + at] = of.rows[at];
        }
    }
}

// Values, counts and numbers in the order of the numbers; and the rows that have the values.
KERNEL write_vocabularies(int64_t columns, const int32_t* order, const int32_t* rows, const int64_t* counts,
                          int32_t* own_rows, int64_t* own_counts, int32_t* numbers,
                          BY_VALUE vocabulary::WrittenColumns all) {
    FOR_EACH_COLUMN(column, columns) {
        const vocabulary::Written of = all.of[column];
        FOR_EACH_PART(part, vocabulary::parts_of(of.count), columns) {
            const int64_t item = vocabulary::item_of(part), at = of.start + item;
            if (item >= of.count) continue;
            const int32_t place = order[at], row = rows[place];
            own_rows[at] = row;
            own_counts[at] = counts[place];
            numbers[at] = int32_t(of.first + item);
            if (of.out) vocabulary::copy_value(of, row, item);
        }
    }
}

// Put the values of vocabularies into tables, with their numbers.  No value comes twice.
KERNEL place_numbers(int64_t columns, BY_VALUE vocabulary::NumberedColumns all) {
    FOR_EACH_COLUMN(column, columns) {
        const vocabulary::Numbered of = all.of[column];
        FOR_EACH_PART(part, vocabulary::parts_of(of.count), columns) {
            const int64_t row = vocabulary::item_of(part);
#ifdef GPUETL_HOST
            uint64_t value;
            if (!vocabulary::load(of.component, row, value)) continue;
#else
            Components<1> components[1];
            load_round<true>(of.keys(), part * LANES, of.count, components);
            if (row >= of.count || !components[0].all_known()) continue;
            const uint64_t value = components[0].of[0];
#endif
            int64_t place = vocabulary::slot_of(of, value);
            while (value != vocabulary::FREE) {
                const uint64_t before = vocabulary::taken(&of.slots[place].value, value);
                if (before == vocabulary::FREE || before == value) break;
                place = (place + 1) & (of.size - 1);
            }
            of.slots[place].row = of.numbers[row];
        }
    }
}

// The number of each row of several columns: 0 for null, that of its value in the table, or that of unknown ones.
KERNEL number_columns(int64_t rows, int64_t columns, BY_VALUE vocabulary::NumberedColumns all) {
    FOR_EACH_COLUMN(column, columns) {
        const vocabulary::Numbered of = all.of[column];
#ifdef GPUETL_HOST
        for (int64_t row = 0; row < rows; ++row) {
            uint64_t value;
            const bool known = vocabulary::load(of.component, row, value);
            const int32_t number = known ? of.slots[vocabulary::slot_of(of, value)].row : 0;
            of.numbers[row] = number < 0 ? int32_t(of.unknown) : number;
        }
#else
        const Keys<1> keys = of.keys();
        FOR_EACH_PART(part, (rows + vocabulary::ROWS * LANES - 1) / (vocabulary::ROWS * LANES), columns) {
            const int64_t start = part * (vocabulary::ROWS * LANES);
            Components<1> components[vocabulary::ROWS];
            load_round<true>(keys, start, rows, components);
#pragma unroll
            for (int i = 0; i < vocabulary::ROWS; ++i) {
                const int64_t row = row_of(start, i);
                if (row >= rows) continue;
                const uint64_t value = components[i].of[0];
                const int32_t number =
                    components[i].all_known() ? of.slots[vocabulary::slot_of(of, value)].row : 0;
                of.numbers[row] = number < 0 ? int32_t(of.unknown) : number;
            }
        }
#endif
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
