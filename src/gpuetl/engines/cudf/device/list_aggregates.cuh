// One value of the elements of a list: a thread walks the list of its row.
#pragma once
#include "lists.cuh"
#include "means.cuh"

// ---- sums -------------------------------------------------------------------------------------------------------------

// An exact sum of integers of up to 128 bits.
struct ExactSum {
    int128_t high = 0;
    uint128_t low = 0;
    int64_t count = 0;

    DEVICE void add(int128_t value) { high += value >> 64, low += uint64_t(value), ++count; }
    DEVICE WideSum wide() const { return {high + int128_t(low >> 64), uint64_t(low)}; }
};

template <class LIST> DEVICE ExactSum exact_sum(LIST list) {
    ExactSum sum;
    for (int64_t at = 0; at < list.size; ++at) {
        const auto element = list[at];
        if (element.valid) sum.add(int128_t(element.value));
    }
    return sum;
}

// The sum of integers or durations; null of no values.
template <class LIST> DEVICE Maybe<int64_t> list_integer_sum(Fault at, LIST list) {
    const ExactSum sum = exact_sum(list);
    const WideSum wide = sum.wide();
    if (wide.high != int128_t(int64_t(wide.low) >> 63)) at(OVERFLOW_);
    return only_if(sum.count > 0, int64_t(wide.low));
}
template <class LIST> DEVICE Maybe<int128_t> list_decimal_sum(Fault at, LIST list) {
    const ExactSum sum = exact_sum(list);
    const WideSum wide = sum.wide();
    const int128_t units = int128_t(uint128_t(wide.high) << 64 | wide.low);
    if (wide.high != int128_t(int64_t(wide.high)) || magnitude(units) >= ten_to_the(MOST_DIGITS)) at(OVERFLOW_);
    return only_if(sum.count > 0, units);
}

struct FloatSum {
    double sum = 0;
    int64_t count = 0;
};
template <class LIST> DEVICE FloatSum float_sum(LIST list) {
    FloatSum found;
    for (int64_t at = 0; at < list.size; ++at) {
        const auto element = list[at];
        if (element.valid) found.sum += double(element.value), ++found.count;
    }
    return found;
}
template <class LIST> DEVICE Maybe<double> list_float_sum(LIST list) {
    const FloatSum found = float_sum(list);
    return only_if(found.count > 0, found.sum);
}

template <class LIST> DEVICE Maybe<double> list_float_mean(LIST list) {
    const FloatSum found = float_sum(list);
    return only_if(found.count > 0, found.sum / double(found.count));
}
template <int SCALE, class LIST> DEVICE Maybe<double> list_exact_mean(LIST list) {
    const ExactSum sum = exact_sum(list);
    return sum.count > 0 ? some(mean_of<SCALE>(sum.wide(), sum.count)) : none<double>();
}
template <class LIST> DEVICE Maybe<int64_t> list_duration_mean(LIST list) {
    const ExactSum sum = exact_sum(list);
    const WideSum wide = sum.wide();
    return sum.count > 0 ? some(whole_mean_of(wide.high << 64 | int128_t(wide.low), sum.count)) : none<int64_t>();
}

// What rounding loses is added again, as DuckDB does.
template <class LIST> DEVICE Maybe<double> list_fsum(LIST list) {
    double sum = 0, error = 0;
    int64_t count = 0;
    for (int64_t at = 0; at < list.size; ++at) {
        const auto element = list[at];
        if (!element.valid) continue;
        const double value = double(element.value) - error, next = sum + value;
        error = (next - sum) - value;
        sum = next;
        ++count;
    }
    return only_if(count > 0, sum);
}

template <class LIST> DEVICE Maybe<double> list_product(LIST list) {
    double product = 1;
    int64_t count = 0;
    for (int64_t at = 0; at < list.size; ++at) {
        const auto element = list[at];
        if (element.valid) product *= double(element.value), ++count;
    }
    return only_if(count > 0, product);
}

// ---- elements ---------------------------------------------------------------------------------------------------------

// The language's order: NaN is the greatest value.
template <class T> DEVICE bool comes_before(T x, T y) { return x < y; }
DEVICE bool comes_before(double x, double y) { return x < y || (is_nan(y) && !is_nan(x)); }
DEVICE bool comes_before(float x, float y) { return x < y || (is_nan(y) && !is_nan(x)); }

template <bool GREATEST, class LIST> DEVICE Maybe<typename LIST::value_type> list_edge(LIST list) {
    auto found = none<typename LIST::value_type>();
    for (int64_t at = 0; at < list.size; ++at) {
        const auto element = list[at];
        if (!element.valid) continue;
        if (!found.valid || (GREATEST ? !comes_before(element.value, found.value) : comes_before(element.value, found.value)))
            found = element;
    }
    return found;
}
template <class LIST> DEVICE Maybe<typename LIST::value_type> list_min(LIST list) { return list_edge<false>(list); }
template <class LIST> DEVICE Maybe<typename LIST::value_type> list_max(LIST list) { return list_edge<true>(list); }

template <class LIST> DEVICE int64_t list_count(LIST list) {
    int64_t count = 0;
    for (int64_t at = 0; at < list.size; ++at) count += list[at].valid;
    return count;
}
template <class LIST> DEVICE Maybe<typename LIST::value_type> list_any_value(LIST list) {
    for (int64_t at = 0; at < list.size; ++at) {
        const auto element = list[at];
        if (element.valid) return element;
    }
    return none<typename LIST::value_type>();
}
// Where it lies among the elements of all lists.
template <class LIST> DEVICE Maybe<int64_t> list_place_of_any(LIST list) {
    for (int64_t at = 0; at < list.size; ++at) if (list[at].valid) return some(list.start + at);
    return none<int64_t>();
}

template <bool ALL, class LIST> DEVICE Maybe<bool> list_truth(LIST list) {
    bool found = ALL, some_known = false;
    for (int64_t at = 0; at < list.size; ++at) {
        const auto element = list[at];
        if (!element.valid) continue;
        some_known = true;
        if (element.value != ALL) found = !ALL;
    }
    return only_if(some_known, found);
}

template <class OUT, class LIST> DEVICE void array_to_string(OUT& out, LIST list, String separator) {
    bool first = true;
    for (int64_t at = 0; at < list.size; ++at) {
        const auto element = list[at];
        if (!element.valid) continue;
        if (!first) out.put(separator);
        out.put(element.value);
        first = false;
    }
}

// ---- products of two lists --------------------------------------------------------------------------------------------

struct Products {
    double both = 0, left = 0, right = 0, apart = 0;
};
template <class LEFT, class RIGHT> DEVICE Products products(Fault at, LEFT left, RIGHT right) {
    Products found;
    if (left.size != right.size) {
        at(LENGTHS_DIFFER);
        return found;
    }
    for (int64_t place = 0; place < left.size; ++place) {
        const auto x = left[place];
        const auto y = right[place];
        if (!x.valid || !y.valid) {
            at(NULL_ELEMENT);
            return found;
        }
        const double a = double(x.value), b = double(y.value);
        found.both += a * b, found.left += a * a, found.right += b * b, found.apart += (a - b) * (a - b);
    }
    return found;
}
template <class LEFT, class RIGHT> DEVICE double list_dot_product(Fault at, LEFT left, RIGHT right) {
    return products(at, left, right).both;
}
template <class LEFT, class RIGHT> DEVICE double list_distance(Fault at, LEFT left, RIGHT right) {
    return sqrt(products(at, left, right).apart);
}
template <class LEFT, class RIGHT> DEVICE Maybe<double> list_cosine_similarity(Fault at, LEFT left, RIGHT right) {
    const Products found = products(at, left, right);
    const double cosine = found.both / sqrt(found.left * found.right);
    return only_if(left.size > 0, cosine < -1 ? -1.0 : cosine > 1 ? 1.0 : cosine);
}
