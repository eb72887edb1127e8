// The distinct values of row groups, found, sorted and numbered, by the width of their bits: see value_table.cuh.
#include "value_table.cuh"

#define DISTINCT(T)                                                                                                  \
    KERNEL sample_values_##T(int64_t items, const value_table::Tables<T##_t> tables) {                               \
        FOR_EACH_ROW(item, items)                                                                                    \
            if (item < items) tables.sample(item);                                                                   \
    }                                                                                                                \
    KERNEL insert_values_##T(int64_t blocks, const uint64_t* sampled, const value_table::Tables<T##_t> tables) {     \
        tables.insert(blocks, sampled);                                                                              \
    }                                                                                                                \
    KERNEL rank_values_##T(int64_t items, const int64_t* chosen, const uint64_t* keys, const uint32_t* groups,       \
                           const int32_t* where, const int32_t* order, int64_t groups_in_all, int32_t* ranks,        \
                           T##_t* data, const value_table::Tables<T##_t> tables) {                                   \
        tables.rank(items, chosen, keys, groups, where, order, groups_in_all, ranks, data);                          \
    }                                                                                                                \
    KERNEL number_values_##T(int64_t blocks, const int32_t* ranks, const int64_t* chosen, const int64_t* targets,    \
                             const value_table::Tables<T##_t> tables) {                                              \
        tables.number(blocks, ranks, chosen, targets);                                                               \
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
