// The distinct values of row groups, as their bits: a table of each group's, in which a value's place follows from its
// bits, and a list of the places that are taken.
#pragma once

#include "parquet.cuh"

namespace value_table {

constexpr uint64_t FREE = ~uint64_t(0);  // no value has it: a group with such a NaN is given up
constexpr int MOST_STEPS = 512;          // from a value's first place; in tables half full it is never so far
constexpr int64_t SAMPLE = 1 << 12, MOST_SAMPLED = 4032;  // as in io/dictionary_encoders.py

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

// The tables of the row groups of columns that have equally many pages: see `parquet::Page`.  `chosen` has each group's
// distinct values, zero where it gets no dictionary, and then where they begin among those of all groups.
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
    // Insert one of a group's values: SAMPLE are taken, at equal distances.
    DEVICE void sample(int64_t item) const {
        const int64_t group = item / SAMPLE, page = group % column_groups * group_pages, after = page + group_pages;
        const int64_t* const column = columns + group / column_groups * 2;
        const int64_t* const starts = (const int64_t*)column[1];
        const int64_t first = starts[page], rows = starts[after < column_pages ? after : column_pages] - first;
        if (rows) (*this)[group].insert(((const T*)column[0])[first + item % SAMPLE * rows / SAMPLE]);
    }
    // Insert all values of groups that have few in their sample.
    DEVICE void insert(int64_t blocks, const uint64_t* sampled) const {
        FOR_EACH_WARP(item, blocks) {
            const int64_t group = group_of(item / blocks_a_page);
            const Values own = (*this)[group];
            if (sampled[group] > MOST_SAMPLED || own.full()) continue;
            const parquet::Page<T> page(columns, column_pages, item / blocks_a_page);
            const int64_t first = item % blocks_a_page * parquet::BLOCK, end = page.block_end(first);
            for (int64_t at = first + LANE; at < end; at += LANES) own.insert(page.values[at]);
        }
    }
    // The number of each place's value in its group, and the values in order.
    DEVICE void rank(int64_t items, const int64_t* chosen, const uint64_t* keys, const uint32_t* groups,
                     const int32_t* where, const int32_t* order, int64_t groups_in_all, int32_t* ranks, T* data) const {
        FOR_EACH_ROW(item, items) {
            if (item >= items) break;
            const int32_t from = order[item];
            const int64_t group = groups[from];
            ranks[group * places + where[from]] = int32_t(item - chosen[groups_in_all + group]);
            data[item] = T(keys[from]);
        }
    }
    // The number of each row's value; `targets` has where a column's numbers go.
    DEVICE void number(int64_t blocks, const int32_t* ranks, const int64_t* chosen, const int64_t* targets) const {
        FOR_EACH_WARP(item, blocks) {
            const int64_t group = group_of(item / blocks_a_page);
            if (!chosen[group]) continue;
            const int32_t* const own = ranks + group * places;
            int32_t* const codes = (int32_t*)targets[group / column_groups];
            const parquet::Page<T> page(columns, column_pages, item / blocks_a_page);
            const int64_t first = item % blocks_a_page * parquet::BLOCK, end = page.block_end(first);
            for (int64_t at = first + LANE; at < end; at += LANES)
                codes[page.start + at] = own[(*this)[group].place_of(page.values[at])];
        }
    }
};
static_assert(sizeof(Tables<uint64_t>) == 9 * 8, "words of 8 bytes");

}  // namespace value_table
