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

template <class LIST> DEVICE Maybe<typename LIST::value_type> list_get(LIST list, int64_t index) {
    const int64_t at = index < 0 ? index + list.size : index;
    return at >= 0 && at < list.size ? list[at] : none<typename LIST::value_type>();
}
