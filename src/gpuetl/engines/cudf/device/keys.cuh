// Keys as components, unsigned numbers in the order of the contract: what sorts, groups and joins compare.
//
// A value has one component, and a long decimal has two.  A flag may stand before them: it says where the nulls go.  A
// kernel is instantiated for a number of components.  It takes the descriptions of the components by value.  Each lane
// loads a component for several rows at once, so the switch over column types runs once for all of them, and all loads
// are issued before the first result is used.
#pragma once

#include "rounds.cuh"
#include "floats.cuh"

// ---- descriptors ---------------------------------------------------------------------------------------------------

enum Order { UNSIGNED, SIGNED, FLOATING, FLAG };  // as in columns/keys.py

// A component of a null is 0 and not known.  A flag has no values: its component is the validity bit, and always known.
struct Component {
    const void* data;       // values, or the first half to read
    const uint32_t* valid;  // validity words, nullptr if there are no nulls
    uint8_t bytes;          // stride of the values: 16 for halves of 128 bits, 0 for a flag
    uint8_t order;
    uint8_t flipped;        // reverse the order
};

// The components of rows, the most significant first.  The components from `count` on are padding: 0 in all rows.
template <int N>
struct Keys {
    const void* selected;  // numbers of the rows to read, nullptr for all rows
    int64_t selected_bytes, count;
    Component of[N];
};

// Where a component goes in a word of 64 bits: `shift` bits stand below it.
struct Place {
    uint64_t least;
    void* word;    // output, if this is the last component of its word; else nullptr
    uint8_t bits;  // pack: width of the output; lookups: width of the component
    uint8_t shift;
    uint8_t more;  // pack: whether the word has other components already, which stay
};

template <int N>
struct PlacedKeys {
    Keys<N> keys;
    Place places[N];
};

template <int N>
struct Components {
    uint64_t of[N];
    uint32_t known;  // one bit per component

    DEVICE bool is_known(int at) const { return known >> at & 1; }
    DEVICE bool all_known() const { return known == (1u << N) - 1; }
};

// Rows that a lane loads together.  The bytes in flight are about the same for any number of components.
template <int N> constexpr int TOGETHER = N == 1 ? 8 : N == 2 ? 4 : N <= 4 ? 2 : 1;

// ---- values ---------------------------------------------------------------------------------------------------------

constexpr uint64_t SIGN = 1ULL << 63;

// One zero and one NaN, the greatest.  (Herf 2001, "Radix tricks": negative floats have all bits turned over.)
DEVICE uint64_t ordered(double value) {
    if (is_nan(value)) return ~0ULL;
    const uint64_t bits = bits_of(value == 0 ? 0.0 : value);
    return bits & SIGN ? ~bits : bits | SIGN;
}
DEVICE uint64_t ordered(float value) {
    if (is_nan(value)) return 0xffffffffULL;
    const uint32_t bits = same_bits<uint32_t>(value == 0 ? 0.0f : value), sign = 1u << 31;
    return bits & sign ? ~bits : bits | sign;
}

// Turns the zero-extended bits of an integer into its component: (bits ^ turned) + added.  Flipping the sign bit and
// adding the distance to bit 63 extends the sign.  For 8 bytes `added` is 0.  For the reverse order, ~(x + y) is ~x - y.
struct Turn {
    uint64_t turned, added;

    DEVICE Turn(const Component& component) {
        const uint64_t sign = component.bytes < 8 ? 1ULL << (8 * component.bytes - 1) : SIGN;
        turned = component.order == SIGNED ? sign : 0;
        added = component.order == SIGNED ? SIGN - sign : 0;
        if (component.flipped) turned = ~turned, added = 0 - added;
    }
};

// ---- loads ----------------------------------------------------------------------------------------------------------

// Load the bits of rows' values as unsigned integers.
template <class T, int STEP, int N, int R>
DEVICE void load_values(const void* data, const int32_t (&rows)[R], int at, Components<N> (&components)[R]) {
#pragma unroll
    for (int i = 0; i < R; ++i) components[i].of[at] = ((const T*)data)[int64_t(rows[i]) * STEP];
}

template <int N, int R>
DEVICE void load_component(const Component& component, const int32_t (&rows)[R], int at,
                           Components<N> (&components)[R]) {
    switch (component.bytes) {
        case 8: return load_values<uint64_t, 1>(component.data, rows, at, components);
        case 4: return load_values<uint32_t, 1>(component.data, rows, at, components);
        case 16: return load_values<uint64_t, 2>(component.data, rows, at, components);
        case 2: return load_values<uint16_t, 1>(component.data, rows, at, components);
        case 1: return load_values<uint8_t, 1>(component.data, rows, at, components);
    }
#pragma unroll
    for (int i = 0; i < R; ++i) components[i].of[at] = 0;
}

// The validity bits of rows.  Without NULLS all rows are valid.
template <bool NULLS, int R>
struct Validity {
    uint32_t words[R];

    DEVICE void load(const uint32_t* valid, const int32_t (&rows)[R]) {
        if (valid) {
#pragma unroll
            for (int i = 0; i < R; ++i) words[i] = valid[rows[i] >> 5];
        } else {
#pragma unroll
            for (int i = 0; i < R; ++i) words[i] = ~0u;
        }
    }
    DEVICE uint32_t bit(int i, int32_t row) const { return words[i] >> (row & 31) & 1; }
};
template <int R>
struct Validity<false, R> {
    DEVICE void load(const uint32_t*, const int32_t (&)[R]) {}
    DEVICE uint32_t bit(int, int32_t) const { return 1; }
};

// Replace the loaded bits of a component by the component.
template <bool NULLS, int N, int R>
DEVICE void order_component(const Component& component, const int32_t (&rows)[R], const Validity<NULLS, R>& validity,
                            int at, Components<N> (&components)[R]) {
    if (component.order == FLAG) {
#pragma unroll
        for (int i = 0; i < R; ++i) {
            components[i].of[at] = validity.bit(i, rows[i]) ^ component.flipped;
            components[i].known |= 1u << at;
        }
        return;
    }
    const uint64_t flip = component.flipped ? ~0ULL : 0;
    if (component.order != FLOATING) {
        const Turn turn(component);
        if (component.bytes >= 8) {
#pragma unroll
            for (int i = 0; i < R; ++i) components[i].of[at] ^= turn.turned;
        } else {
#pragma unroll
            for (int i = 0; i < R; ++i) components[i].of[at] = (components[i].of[at] ^ turn.turned) + turn.added;
        }
    } else if (component.bytes == 8) {
#pragma unroll
        for (int i = 0; i < R; ++i) components[i].of[at] = ordered(double_of_bits(components[i].of[at])) ^ flip;
    } else {
#pragma unroll
        for (int i = 0; i < R; ++i)
            components[i].of[at] = ordered(float_of_bits(uint32_t(components[i].of[at]))) ^ flip;
    }
#pragma unroll
    for (int i = 0; i < R; ++i) {
        const uint32_t known = validity.bit(i, rows[i]);
        components[i].of[at] = known ? components[i].of[at] : 0;
        components[i].known |= known << at;
    }
}

// Load the components of rows.  Without NULLS no component has validity words (see `have_nulls`).
template <bool NULLS, int N, int R>
DEVICE void load_components(const Keys<N>& keys, const int32_t (&rows)[R], Components<N> (&components)[R]) {
    Validity<NULLS, R> validity[N];
#pragma unroll
    for (int at = 0; at < N; ++at) {
        load_component(keys.of[at], rows, at, components);
        validity[at].load(keys.of[at].valid, rows);
    }
#pragma unroll
    for (int i = 0; i < R; ++i) components[i].known = 0;
#pragma unroll
    for (int at = 0; at < N; ++at) order_component(keys.of[at], rows, validity[at], at, components);
}

// Whether to run the variant with NULLS.  Kernels of 3 components and more have no other: it would double their code.
template <int N> DEVICE bool have_nulls(const Keys<N>& keys) {
    bool found = N > 2;
#pragma unroll
    for (int at = 0; at < N; ++at) found |= keys.of[at].valid != nullptr;
    return found;
}

// Replace places by the numbers of the selected rows.
template <int N, int R>
DEVICE void select(const Keys<N>& keys, int32_t (&rows)[R]) {
    if (!keys.selected) return;
    if (keys.selected_bytes == 4) {
#pragma unroll
        for (int i = 0; i < R; ++i) rows[i] = ((const int32_t*)keys.selected)[rows[i]];
    } else {
#pragma unroll
        for (int i = 0; i < R; ++i) rows[i] = int32_t(((const int64_t*)keys.selected)[rows[i]]);
    }
}

// A lane's row, or the last row if that is past the end: loads need no branch.  A frame has less than 2^31 rows.
DEVICE int32_t near_row(int64_t start, int place, int64_t rows) {
    const uint32_t row = uint32_t(start) + place * LANES + LANE, last = uint32_t(rows) - 1;
    return int32_t(row < last ? row : last);
}

// Load a lane's rows of a round.
template <bool NULLS, int N, int R>
DEVICE void load_round(const Keys<N>& keys, int64_t start, int64_t rows, Components<N> (&components)[R]) {
    int32_t at[R];
#pragma unroll
    for (int i = 0; i < R; ++i) at[i] = near_row(start, i, rows);
    select(keys, at);
    load_components<NULLS>(keys, at, components);
}

// ---- rows and their predecessors ------------------------------------------------------------------------------------

// The rows of a round, and the row before the first one.  Row 0 is its own predecessor.
template <bool NULLS, int N, int R>
struct Neighbours {
    Components<N> components[R + 1];

    DEVICE Neighbours(const Keys<N>& keys, int64_t start, int64_t rows) {
        int32_t at[R + 1];
        at[0] = int32_t(start - (start > 0));
#pragma unroll
        for (int i = 0; i < R; ++i) at[i + 1] = near_row(start, i, rows);
        select(keys, at);
        load_components<NULLS>(keys, at, components);
    }
    DEVICE const Components<N>& own(int i) const { return components[i + 1]; }
    // The previous row is in the lane below.  Lane 0 gets it from the last lane, which sends its row before this one.
    DEVICE Components<N> before(int i) const {
        Components<N> found;
#pragma unroll
        for (int at = 0; at < N; ++at)
            found.of[at] = from_lane(LANE == LANES - 1 ? components[i].of[at] : components[i + 1].of[at], LANE - 1);
        return found;
    }
};

template <int N> DEVICE bool is_before(const Components<N>& x, const Components<N>& y) {
    bool before = false;
#pragma unroll
    for (int at = N - 1; at >= 0; --at) before = x.of[at] < y.of[at] || (x.of[at] == y.of[at] && before);
    return before;
}

// ---- ranges ----------------------------------------------------------------------------------------------------------

// The least and the greatest value of each component, and whether some row should stand before its predecessor.
template <int N>
struct Ranges {
    uint64_t least[N], greatest[N], disorder = 0;

    DEVICE Ranges() {
#pragma unroll
        for (int at = 0; at < N; ++at) least[at] = ~0ULL, greatest[at] = 0;
    }
    DEVICE void include(int at, uint64_t low, uint64_t high) {
        if (low < least[at]) least[at] = low;
        if (high > greatest[at]) greatest[at] = high;
    }
    DEVICE void add(const Components<N>& components) {
#pragma unroll
        for (int at = 0; at < N; ++at)
            include(at, components.is_known(at) ? components.of[at] : ~0ULL, components.of[at]);
    }
    DEVICE void merge(const Ranges& other) {
#pragma unroll
        for (int at = 0; at < N; ++at) include(at, other.least[at], other.greatest[at]);
        disorder |= other.disorder;
    }
    // Places start at 0.  They hold ~least and greatest of each component, then the disorder.
    DEVICE void store(uint64_t* places, int64_t count) const {
#pragma unroll
        for (int at = 0; at < N; ++at) {
            if (at >= count) continue;
            raise_if_less(places + 2 * at, ~least[at]);
            raise_if_less(places + 2 * at + 1, greatest[at]);
        }
        raise_if_less(places + 2 * count, disorder);
    }
    DEVICE static void raise_if_less(uint64_t* place, uint64_t value) {
        if (*(volatile uint64_t*)place < value) raise_to(place, value);
    }
};
