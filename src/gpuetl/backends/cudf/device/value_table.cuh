// The distinct values of row groups, as their bits: a table of each group's, in which a value's place follows from its
// bits, and a list of the places that are taken.
#pragma once

#include "parquet.cuh"

namespace value_table {

constexpr uint64_t FREE = ~uint64_t(0);  // no value has it: a group with such a NaN is given up
constexpr int MOST_STEPS = 512;          // from a value's first place; in tables half full it is never so far
constexpr int64_t SAMPLE = 1 << 12, MOST_SAMPLED = 4032;  // as in sinks/distinct_values.py

#ifdef GPUETL_HOST
DEVICE uint64_t claim(uint64_t* place, uint64_t key) {
    const uint64_t owner = *place;
    if (owner == FREE) *place = key;
    return owner;
}
DEVICE uint64_t counted(uint64_t* count) { return (*count)++; }
#else
// Take a place that is free; return whose it was.
DEVICE uint64_t claim(uint64_t* place, uint64_t key) {
    const uint64_t owner = *(volatile uint64_t*)place;
    if (owner != FREE) return owner;
    return atomicCAS((unsigned long long*)place, (unsigned long long)FREE, (unsigned long long)key);
}
DEVICE uint64_t counted(uint64_t* count) { return atomicAdd((unsigned long long*)count, 1ull); }
#endif

// Where the search for a key begins: the finalizer of MurmurHash3 (A. Appleby).
DEVICE int64_t first_place(uint64_t key, int64_t places) {
    key = (key ^ key >> 33) * 0xFF51AFD7ED558CCDull;
    key = (key ^ key >> 33) * 0xC4CEB9FE1A85EC53ull;
    return int64_t((key ^ key >> 33) & uint64_t(places - 1));
}

// A group's table of so many places, a power of two, of which at most half are taken; `count` says how many distinct
// values there are, and is greater where there are more.
struct Values {
    uint64_t* table;
    int64_t places;
    uint64_t* count;
    int32_t* taken;

    DEVICE bool full() const { return *(volatile uint64_t*)count > uint64_t(places / 2); }
    DEVICE void insert(uint64_t key) const {
        int64_t place = first_place(key, places);
        for (int step = 0; key != FREE && step < MOST_STEPS; ++step, place = (place + 1) & (places - 1)) {
            const uint64_t owner = claim(table + place, key);
            if (owner == key) return;
            if (owner != FREE) continue;
            const uint64_t number = counted(count);
            if (number < uint64_t(places / 2)) taken[number] = int32_t(place);
            return;
        }
        raise_to(count, uint64_t(places / 2) + 1);
    }
    // The place of a key that is in the table.
    DEVICE int64_t place_of(uint64_t key) const {
        int64_t place = first_place(key, places);
        while (table[place] != key) place = (place + 1) & (places - 1);
        return place;
    }
};

// The tables of the row groups of columns that have equally many pages: see `parquet::Page`.
template <class T>
struct Tables {
    int64_t blocks_a_page, column_pages, group_pages, column_groups, places;
    const int64_t* columns;
    uint64_t *table, *counts;
    int32_t* taken;

    DEVICE int64_t group_of(int64_t page) const {
        return page / column_pages * column_groups + page % column_pages / group_pages;
    }
    DEVICE Values operator[](int64_t group) const {
        return {table + group * places, places, counts + group, taken + group * (places / 2)};
    }
    // Insert the value that stands where number `draw` of `draws` does that are spread over a group.
    DEVICE void sample(int64_t group, int64_t draw, int64_t draws) const {
        const int64_t page = group % column_groups * group_pages, after = page + group_pages;
        const int64_t* const column = columns + group / column_groups * 2;
        const int64_t* const starts = (const int64_t*)column[1];
        const int64_t first = starts[page], rows = starts[after < column_pages ? after : column_pages] - first;
        if (rows) (*this)[group].insert(((const T*)column[0])[first + draw * rows / draws]);
    }
};

}
