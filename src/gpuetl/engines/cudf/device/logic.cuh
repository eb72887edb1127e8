// Comparison, three-valued logic and nulls.
#pragma once

// ---- strings are ordered by their bytes -------------------------------------------------------------------------------

DEVICE bool operator==(String x, String y) {
    if (x.size != y.size) return false;
    for (int64_t i = 0; i < x.size; ++i)
        if (x[i] != y[i]) return false;
    return true;
}
DEVICE bool operator<(String x, String y) {
    const int64_t size = x.size < y.size ? x.size : y.size;
    for (int64_t i = 0; i < size; ++i)
        if (x[i] != y[i]) return uint8_t(x[i]) < uint8_t(y[i]);
    return x.size < y.size;
}
DEVICE bool operator!=(String x, String y) { return !(x == y); }
DEVICE bool operator>(String x, String y) { return y < x; }
DEVICE bool operator<=(String x, String y) { return !(y < x); }
DEVICE bool operator>=(String x, String y) { return !(x < y); }

// ---- values that may be null ----------------------------------------------------------------------------------------

template <class T> DEVICE bool is_not_distinct(Maybe<T> x, Maybe<T> y) {
    return x.valid == y.valid && (!x.valid || x.value == y.value);
}
template <class T> DEVICE bool is_distinct(Maybe<T> x, Maybe<T> y) { return !is_not_distinct(x, y); }
template <class T> DEVICE bool is_null(Maybe<T> x) { return !x.valid; }

template <class T> DEVICE Maybe<T> null_if_equal(Maybe<T> x, Maybe<T> y) {
    return only_if(x.valid && !(y.valid && x.value == y.value), x.value);
}

// Null where x is null, or not found beside a null.
template <class T, int N> DEVICE Maybe<bool> is_member(Maybe<T> x, const Maybe<T> (&values)[N]) {
    bool known = x.valid;
    for (int i = 0; i < N && x.valid; ++i) {
        if (values[i].valid && x.value == values[i].value) return some(true);
        known &= values[i].valid;
    }
    return only_if(known, false);
}

// What tables of constants are sorted by: floats by their bits, zeros by those of +0.
template <class T> DEVICE T constant_key(T x) { return x; }
DEVICE uint64_t constant_key(double x) { return bits_of(x == 0 ? 0.0 : x); }
DEVICE uint32_t constant_key(float x) { return same_bits<uint32_t>(x == 0 ? 0.0f : x); }

template <class T, class KEY, int N>
DEVICE Maybe<bool> is_member(Maybe<T> x, const KEY (&sorted)[N], bool beside_null) {
    const KEY key = constant_key(x.value);
    int low = 0, high = N;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < key) low = middle + 1;
        else high = middle;
    }
    const bool found = low < N && sorted[low] == key;
    return only_if(x.valid && (found || !beside_null), found);
}

// ---- Kleene's logic -------------------------------------------------------------------------------------------------

template <int N> DEVICE Maybe<bool> all_true(const Maybe<bool> (&values)[N]) {
    bool known = true;
    for (int i = 0; i < N; ++i) {
        if (values[i].valid && !values[i].value) return some(false);
        known &= values[i].valid;
    }
    return only_if(known, true);
}
template <int N> DEVICE Maybe<bool> any_true(const Maybe<bool> (&values)[N]) {
    bool known = true;
    for (int i = 0; i < N; ++i) {
        if (values[i].valid && values[i].value) return some(true);
        known &= values[i].valid;
    }
    return only_if(known, false);
}

// ---- the greatest and the least, of what is not null; NaN is the greatest -------------------------------------------

template <class T> DEVICE bool is_above(T x, T y) { return y < x; }
DEVICE bool is_above(double x, double y) { return y < x || (x != x && y == y); }
DEVICE bool is_above(float x, float y) { return is_above(double(x), double(y)); }

template <class T, int N> DEVICE Maybe<T> greatest(const Maybe<T> (&values)[N]) {
    Maybe<T> result = values[0];
    for (int i = 1; i < N; ++i)
        if (values[i].valid && (!result.valid || is_above(values[i].value, result.value))) result = values[i];
    return result;
}
template <class T, int N> DEVICE Maybe<T> least(const Maybe<T> (&values)[N]) {
    Maybe<T> result = values[0];
    for (int i = 1; i < N; ++i)
        if (values[i].valid && (!result.valid || is_above(result.value, values[i].value))) result = values[i];
    return result;
}
