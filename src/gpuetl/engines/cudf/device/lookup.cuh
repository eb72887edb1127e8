// Keys in a table of row numbers: by a code made of all components, or by hash with linear probing.
#pragma once

#include "keys.cuh"
#include "claims.cuh"

template <int N> DEVICE bool are_equal(const Components<N>& x, const Components<N>& y) {
    bool equal = x.known == y.known;
#pragma unroll
    for (int at = 0; at < N; ++at) equal &= x.of[at] == y.of[at];
    return equal;
}

// The finalizer of MurmurHash3 (Appleby 2011), component by component.  Padding does not count.
template <int N> DEVICE uint64_t hash_of(const Components<N>& components, int64_t count) {
    uint64_t hash = 0;
#pragma unroll
    for (int at = 0; at < N; ++at) {
        if (at >= count) continue;
        hash = (hash ^ components.of[at]) + 0x9E3779B97F4A7C15ULL;
        hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCDULL;
        hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53ULL;
        hash ^= hash >> 33;
    }
    return hash;
}

// The code of components, -1 if one is outside of its measured range.
template <int N> DEVICE int32_t code_of(const Components<N>& components, const Place (&places)[N]) {
    uint64_t code = 0, beyond = 0;
#pragma unroll
    for (int at = 0; at < N; ++at) {
        const uint64_t part = components.is_known(at) ? components.of[at] - places[at].least : 0;
        beyond |= part >> places[at].bits;
        code |= part << places[at].shift;
    }
    return beyond ? -1 : int32_t(code);
}

// Whether keys can be compared by their stored bits.  Floats cannot: they have two zeros and many NaNs.  Nulls are in the
// table only if nulls are equal.
template <int N> DEVICE bool have_equal_bits(const Keys<N>& keys, bool nulls_equal) {
    bool found = true;
#pragma unroll
    for (int at = 0; at < N; ++at) found &= keys.of[at].order != FLOATING && !(nulls_equal && keys.of[at].valid);
    return found;
}

// Replace components by the bits of the column's values that have these components.
template <int N, int R> DEVICE void take_bits(const Keys<N>& keys, Components<N> (&components)[R]) {
#pragma unroll
    for (int at = 0; at < N; ++at) {
        const Component& component = keys.of[at];
        const uint64_t flag = component.order == FLAG ? 1 ^ component.flipped : 0;  // load_component gives 0 for a flag
        const Turn turn(component);
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const uint64_t value = components[i].of[at];
            components[i].of[at] = component.order == FLAG ? value ^ flag : (value - turn.added) ^ turn.turned;
        }
    }
}

template <int N, int R>
DEVICE void load_bits(const Keys<N>& keys, const int32_t (&rows)[R], Components<N> (&components)[R]) {
#pragma unroll
    for (int at = 0; at < N; ++at) load_component(keys.of[at], rows, at, components);
}

// Probe for the rows whose bit in `open` is set, all rows of a lane in step.  `owner(slot, i)` returns the row that owns a
// slot, or a negative number.  A probe ends at a slot that is free or has the key: `slots` and `owners` say where, and
// whose it is.  With BITS, `components` are bits as of `take_bits`.
template <bool BITS, int N, int R, class OWNER>
DEVICE void probe(const Keys<N>& keys, const Components<N> (&components)[R], uint32_t mask, uint32_t open,
                  const OWNER& owner, uint32_t (&slots)[R], int32_t (&owners)[R]) {
    while (open) {
        int32_t rows[R];
        Components<N> others[R];
#pragma unroll
        for (int i = 0; i < R; ++i)
            if (open >> i & 1) owners[i] = owner(slots[i], i);
#pragma unroll
        for (int i = 0; i < R; ++i) rows[i] = owners[i] < 0 ? 0 : owners[i];
        if (BITS) {
            load_bits(keys, rows, others);
#pragma unroll
            for (int i = 0; i < R; ++i) others[i].known = components[i].known;
        } else {
            load_components<true>(keys, rows, others);
        }
#pragma unroll
        for (int i = 0; i < R; ++i) {
            const uint32_t ends = owners[i] < 0 || are_equal(components[i], others[i]);
            open &= ~(ends << i);
            slots[i] = (slots[i] + (open >> i & 1)) & mask;
        }
    }
}

constexpr int MOST_BITS = 4;  // kernels of more components compare components only: two loops would double their code

// Find the slot of each row's key.
template <int N, int R, class OWNER>
DEVICE void search(const Keys<N>& keys, Components<N> (&components)[R], bool nulls_equal, uint32_t mask, uint32_t open,
                   const OWNER& owner, uint32_t (&slots)[R], int32_t (&owners)[R]) {
#pragma unroll
    for (int i = 0; i < R; ++i) slots[i] = uint32_t(hash_of(components[i], keys.count)) & mask, owners[i] = -1;
    if (N <= MOST_BITS && have_equal_bits(keys, nulls_equal)) {
        take_bits(keys, components);
        probe<true>(keys, components, mask, open, owner, slots, owners);
    } else {
        probe<false>(keys, components, mask, open, owner, slots, owners);
    }
}
