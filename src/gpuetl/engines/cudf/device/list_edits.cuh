// Lists made of lists: the places of elements, among those of all lists, are written twice: counted, and then put.
//
// A function with elements of several columns gets where each one's begin among all of them.
#pragma once
#include "lists.cuh"

struct CountedElements {
    int64_t size = 0;
    template <class... T> DEVICE void put(T...) { ++size; }
};
template <class T> struct WrittenElements {
    T* at;
    DEVICE void put(int64_t value) { *at++ = T(value); }
};

constexpr int64_t NO_ELEMENT = -1, MOST_IN_RANGE = 1 << 24;

template <class OUT, class LIST> DEVICE void put_all(OUT& out, Maybe<LIST> list, int64_t base) {
    for (int64_t at = 0; list.valid && at < list.value.size; ++at) out.put(base + list.value.start + at);
}

template <class OUT, class LIST> DEVICE void list_reverse(OUT& out, LIST list) {
    for (int64_t at = list.size; at-- > 0;) out.put(list.start + at);
}

template <class OUT, class LIST> DEVICE void list_slice(OUT& out, LIST list, int64_t first, int64_t last) {
    if (first < 0) first += list.size + 1;
    if (last < 0) last += list.size + 1;
    if (first < 1) first = 1;
    if (last > list.size) last = list.size;
    for (int64_t at = first; at <= last; ++at) out.put(list.start + at - 1);
}

template <class OUT, class LIST> DEVICE void list_repeat(OUT& out, Fault at_fault, LIST list, int64_t count) {
    if (count > 0 && list.size > 0 && count > MOST_IN_RANGE / list.size) return at_fault(SIZE_OF_NO_LIST);
    for (int64_t time = 0; time < count && list.size > 0; ++time) put_all(out, Maybe<LIST>{list, true}, 0);
}
template <class OUT, class LIST> DEVICE void list_of_size(OUT& out, Fault at_fault, LIST list, int64_t size) {
    if (list.size != size) at_fault(OTHER_SIZE);
    else put_all(out, Maybe<LIST>{list, true}, 0);
}

// Every step-th element; with a negative step from `first` down to `last`.
template <class OUT, class FAULT, class LIST>
DEVICE void list_steps(OUT& out, FAULT at_fault, LIST list, int64_t first, int64_t last, int64_t step) {
    constexpr int64_t FAR = int64_t(1) << 32;
    if (step == 0) return at_fault(STEP_OF_ZERO);
    int64_t low = step > 0 ? first : last, high = step > 0 ? last : first;
    const int64_t stride = step < -FAR ? FAR : step < 0 ? -step : step > FAR ? FAR : step;
    if (low < 0) low += list.size + 1;
    if (high < 0) high += list.size + 1;
    if (low < 1) low = 1;
    if (low > high || high < 1) return;  // before high - low, which could leave the type
    if (high > list.size) high = list.size;
    for (int64_t at = 0; at <= high - low; at += stride) out.put(list.start + (step > 0 ? low + at : high - at) - 1);
}

// The distinct elements of a list that are in another one.
template <class OUT, class LIST> DEVICE void list_intersect(OUT& out, LIST list, LIST other) {
    for (int64_t at = 0; at < list.size; ++at) {
        const auto element = list[at];
        if (!element.valid || !list_contains(other, element.value)) continue;
        if (list_contains(LIST{list.elements, list.start, at}, element.value)) continue;
        out.put(list.start + at);
    }
}

template <class OUT> struct PlacesFromOne {
    OUT& out;
    int64_t start;
    DEVICE void put(int64_t element) { out.put(element - start + 1); }
};
template <class OUT, class LIST> DEVICE void list_shared_places(OUT& out, LIST list, LIST other) {
    PlacesFromOne<OUT> places{out, list.start};
    list_intersect(places, list, other);
}

template <class OUT, class LIST, class PLACES> DEVICE void list_select(OUT& out, LIST list, PLACES places) {
    for (int64_t number = 0; number < places.size; ++number) {
        const auto place = places[number];
        const int64_t at = place.valid ? place_from_one(int64_t(place.value), list.size) : -1;
        out.put(at >= 0 && at < list.size ? list.start + at : NO_ELEMENT);
    }
}

template <class OUT, class LIST, class MASK> DEVICE void list_where(OUT& out, LIST list, MASK mask) {
    for (int64_t at = 0; at < list.size && at < mask.size; ++at) {
        const auto kept = mask[at];
        if (kept.valid && kept.value) out.put(list.start + at);
    }
}

template <class OUT, class LISTS> DEVICE void flatten(OUT& out, LISTS lists) {
    for (int64_t at = 0; at < lists.size; ++at) put_all(out, lists[at], 0);
}

// A list of so many elements: more are left out, missing ones are the filler.
template <class OUT, class LIST>
DEVICE void put_resized(OUT& out, Maybe<LIST> list, int64_t base, int64_t size, int64_t filler) {
    for (int64_t at = 0; at < size; ++at)
        out.put(list.valid && at < list.value.size ? base + list.value.start + at : filler);
}
template <class OUT, class FAULT, class LIST>
DEVICE bool list_resized(OUT& out, FAULT at, Maybe<LIST> list, int64_t base, Maybe<int64_t> size, int64_t filler) {
    if (list.valid && size.valid && (size.value < 0 || size.value > MOST_IN_RANGE)) at(SIZE_OF_NO_LIST);
    else if (list.valid && size.valid) put_resized(out, list, base, size.value, filler);
    return list.valid;
}

// Whole numbers, which are the elements themselves; `STOPS` where the last may be `stop`.
template <bool STOPS, class OUT> DEVICE void put_range(OUT& out, Fault, int64_t start, int64_t stop, int64_t step) {
    if (!step) return;
    const int128_t end = int128_t(stop) + (STOPS ? (step > 0 ? 1 : -1) : 0);
    for (int128_t value = start; step > 0 ? value < end : value > end; value += step) out.put(int64_t(value));
}
template <bool STOPS> DEVICE void put_range(CountedElements& out, Fault at, int64_t start, int64_t stop, int64_t step) {
    if (!step) return;
    const int128_t end = int128_t(stop) + (STOPS ? (step > 0 ? 1 : -1) : 0);
    const int128_t span = step > 0 ? end - start : start - end, size = step > 0 ? int128_t(step) : -int128_t(step);
    const int128_t count = span > 0 ? (span + size - 1) / size : 0;
    if (count > MOST_IN_RANGE) at(RANGE_TOO_LONG);
    else out.size += int64_t(count);
}
