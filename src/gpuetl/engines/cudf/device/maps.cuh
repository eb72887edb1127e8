// Maps: the places of keys and of values are written side by side, as those of lists are (list_edits.cuh).
#pragma once
#include "list_edits.cuh"

struct WrittenPairs {
    int32_t* at;
    int64_t total;  // of all maps
    DEVICE void put(int64_t key, int64_t value) { at[total] = int32_t(value), *at++ = int32_t(key); }
};

// Keys are equal as groups are: NaN is one key, and zero is minus zero.
template <class T> DEVICE bool same_key(T x, T y) { return x == y; }
DEVICE bool same_key(double x, double y) { return x == y || (x != x && y != y); }
DEVICE bool same_key(float x, float y) { return x == y || (x != x && y != y); }

// The place of a key among the first ones of a list without nulls; -1 without one.
template <class KEYS, class KEY> DEVICE int64_t place_of_key(KEYS keys, int64_t count, KEY key) {
    for (int64_t at = 0; at < count; ++at) {
        if (same_key(keys[at].value, key)) return at;
    }
    return -1;
}

template <class OUT, class KEYS, class VALUES> DEVICE void make_map(OUT& out, Fault at, KEYS keys, VALUES values) {
    if (keys.size != values.size) return at(LENGTHS_DIFFER);
    for (int64_t place = 0; place < keys.size; ++place) {
        const auto key = keys[place];
        if (!key.valid) return at(NULL_KEY);
        if (place_of_key(keys, place, key.value) >= 0) return at(EQUAL_KEYS);
        out.put(keys.start + place, values.start + place);
    }
}

// The entries of two maps: of a key in both the second one's value, in the place of the first.
template <class OUT, class KEYS, class OTHERS>
DEVICE bool map_union(OUT& out, Maybe<KEYS> keys, int64_t base, Maybe<OTHERS> others, int64_t other_base) {
    for (int64_t at = 0; keys.valid && at < keys.value.size; ++at) {
        const int64_t other = others.valid ? place_of_key(others.value, others.value.size, keys.value[at].value) : -1;
        const int64_t place = base + keys.value.start + at;
        out.put(place, other < 0 ? place : other_base + others.value.start + other);
    }
    for (int64_t at = 0; others.valid && at < others.value.size; ++at) {
        const auto key = others.value[at].value;
        const int64_t place = other_base + others.value.start + at;
        if (!keys.valid || place_of_key(keys.value, keys.value.size, key) < 0) out.put(place, place);
    }
    return keys.valid || others.valid;
}
