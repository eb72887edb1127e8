// The distinct values of row groups, found, sorted and numbered, by the width of their bits.
//
// `chosen` has each group's distinct values, zero where it gets no dictionary, and then where they begin among those of
// all groups.
#include "value_table.cuh"

namespace value_table {

template <class T>
DEVICE void insert(int64_t blocks, const uint64_t* sampled, const Tables<T>& tables) {
    FOR_EACH_WARP(item, blocks) {
        const int64_t group = tables.group_of(item / tables.blocks_a_page);
        const Values own = tables[group];
        if (sampled[group] > MOST_SAMPLED || own.full()) continue;
        const parquet::Page<T> page(tables.columns, tables.column_pages, item / tables.blocks_a_page);
        const int64_t first = item % tables.blocks_a_page * parquet::BLOCK, end = page.block_end(first);
        for (int64_t at = first + LANE; at < end; at += LANES) own.insert(page.values[at]);
    }
}

// The number of each place's value in its group, and the values in order.
template <class T>
DEVICE void rank(int64_t items, const int64_t* chosen, const uint64_t* keys, const uint32_t* groups,
                 const int32_t* where, const int32_t* order, int64_t groups_in_all, int32_t* ranks, T* data,
                 const Tables<T>& tables) {
    FOR_EACH_ROW(item, items) {
        if (item >= items) break;
        const int32_t from = order[item];
        const int64_t group = groups[from];
        ranks[group * tables.places + where[from]] = int32_t(item - chosen[groups_in_all + group]);
        data[item] = T(keys[from]);
    }
}

// The number of each row's value; `targets` has where a column's numbers go.
template <class T>
DEVICE void number(int64_t blocks, const int32_t* ranks, const int64_t* chosen, const int64_t* targets,
                   const Tables<T>& tables) {
    FOR_EACH_WARP(item, blocks) {
        const int64_t group = tables.group_of(item / tables.blocks_a_page);
        if (!chosen[group]) continue;
        const int32_t* const own = ranks + group * tables.places;
        int32_t* const codes = (int32_t*)targets[group / tables.column_groups];
        const parquet::Page<T> page(tables.columns, tables.column_pages, item / tables.blocks_a_page);
        const int64_t first = item % tables.blocks_a_page * parquet::BLOCK, end = page.block_end(first);
        for (int64_t at = first + LANE; at < end; at += LANES)
            codes[page.start + at] = own[tables[group].place_of(page.values[at])];
    }
}

}  // namespace value_table

#define DISTINCT(BITS)                                                                                               \
    KERNEL sample_values_##BITS(int64_t items, const value_table::Tables<BITS##_t> tables) {                         \
        FOR_EACH_ROW(item, items)                                                                                    \
            if (item < items)                                                                                        \
                tables.sample(item / value_table::SAMPLE, item % value_table::SAMPLE, value_table::SAMPLE);          \
    }                                                                                                                \
    KERNEL insert_values_##BITS(int64_t blocks, const uint64_t* sampled,                                             \
                                const value_table::Tables<BITS##_t> tables) {                                        \
        value_table::insert(blocks, sampled, tables);                                                                \
    }                                                                                                                \
    KERNEL rank_values_##BITS(int64_t items, const int64_t* chosen, const uint64_t* keys, const uint32_t* groups,    \
                              const int32_t* where, const int32_t* order, int64_t groups_in_all, int32_t* ranks,     \
                              BITS##_t* data, const value_table::Tables<BITS##_t> tables) {                          \
        value_table::rank(items, chosen, keys, groups, where, order, groups_in_all, ranks, data, tables);            \
    }                                                                                                                \
    KERNEL number_values_##BITS(int64_t blocks, const int32_t* ranks, const int64_t* chosen, const int64_t* targets, \
                                const value_table::Tables<BITS##_t> tables) {                                        \
        value_table::number(blocks, ranks, chosen, targets, tables);                                                 \
    }

DISTINCT(uint32)
DISTINCT(uint64)

// The values of groups that are chosen, of any width, and which places they have.
KERNEL collect_values(int64_t items, const int64_t* chosen, uint64_t* keys, uint32_t* groups, int32_t* where,
                      const value_table::Tables<uint64_t> tables) {
    const int64_t half = tables.places / 2;
    FOR_EACH_ROW(item, items) {
        const int64_t group = item / half;
        if (item >= items || item % half >= chosen[group]) continue;
        const int64_t at = chosen[items / half + group] + item % half;
        groups[at] = uint32_t(group);
        where[at] = tables.taken[item];
        keys[at] = tables.table[group * tables.places + tables.taken[item]];
    }
}
