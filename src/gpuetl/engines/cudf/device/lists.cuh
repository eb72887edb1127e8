// Lists.
#pragma once
#include "logic.cuh"

template <class LIST> DEVICE int64_t list_length(LIST list) { return list.size; }

// NaN is in no list, and zero is minus zero.
template <class LIST> DEVICE bool list_contains(LIST list, typename LIST::value_type value) {
    for (int64_t at = 0; at < list.size; ++at) {
        const auto element = list[at];
        if (element.valid && element.value == value) return true;
    }
    return false;
}

// The place in the list of an index from 1, or from the end where it is negative; none of 0.
DEVICE int64_t place_from_one(int64_t index, int64_t size) { return index > 0 ? index - 1 : index < 0 ? index + size : -1; }

template <class LIST> DEVICE Maybe<typename LIST::value_type> list_extract(LIST list, int64_t index) {
    const int64_t at = place_from_one(index, list.size);
    return at >= 0 && at < list.size ? list[at] : none<typename LIST::value_type>();
}

template <class LIST> DEVICE Maybe<int64_t> list_index(LIST list, typename LIST::value_type value) {
    for (int64_t at = 0; at < list.size; ++at) {
        const auto element = list[at];
        if (element.valid && element.value == value) return some(at);
    }
    return none<int64_t>();
}

// Where elements lie among those of all lists.
template <class LIST> DEVICE Maybe<int64_t> list_place(LIST list, int64_t index) {
    const int64_t at = index < 0 ? index + list.size : index;
    return only_if(at >= 0 && at < list.size, list.start + at);
}
template <class LIST> DEVICE Maybe<int64_t> list_place_from_one(LIST list, int64_t index) {
    const int64_t at = place_from_one(index, list.size);
    return only_if(at >= 0 && at < list.size, list.start + at);
}

template <class LIST> DEVICE Maybe<typename LIST::value_type> list_get(LIST list, int64_t index) {
    const int64_t at = index < 0 ? index + list.size : index;
    return at >= 0 && at < list.size ? list[at] : none<typename LIST::value_type>();
}

// The place from 1 of the first element that equals a value, or that is null as the value is.
template <class LIST> DEVICE Maybe<int64_t> list_position(Maybe<LIST> list, Maybe<typename LIST::value_type> value) {
    for (int64_t at = 0; list.valid && at < list.value.size; ++at) {
        const auto element = list.value[at];
        if (element.valid == value.valid && (!value.valid || element.value == value.value)) return some(at + 1);
    }
    return none<int64_t>();
}

template <class LIST> DEVICE bool list_has_any(LIST list, LIST other) {
    for (int64_t at = 0; at < other.size; ++at) {
        const auto element = other[at];
        if (element.valid && list_contains(list, element.value)) return true;
    }
    return false;
}
template <class LIST> DEVICE bool list_has_all(LIST list, LIST other) {
    for (int64_t at = 0; at < other.size; ++at) {
        const auto element = other[at];
        if (element.valid && !list_contains(list, element.value)) return false;
    }
    return true;
}
