// Values of a row side by side, so that a row that is read at random is one access to memory.
#pragma once

#include "rows.cuh"

// A value that has been read, in the place of the column's accessor.
template <class T, class STORED = T>
struct Held {
    STORED value;
    bool is_valid;

    DEVICE Maybe<T> operator[](int64_t) const { return is_valid ? some(T(value)) : none<T>(); }
};
