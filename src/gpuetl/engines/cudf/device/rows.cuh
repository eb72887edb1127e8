// What every generated kernel stands on: columns, nulls, errors, and the loop over rows.
//
// The text compiles with NVRTC for a GPU and, with GPUETL_HOST defined, with a C++17 compiler for tests on a CPU, where
// one thread runs all rows.
//
// A function is DEVICE and becomes part of who calls it, or CALLED: one that takes many instructions, a call of which costs
// little beside it, is compiled once for all places that call it.
#pragma once

#ifdef GPUETL_HOST
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#define DEVICE inline
#define CALLED inline
#define TABLE static const
#define KERNEL extern "C" void
using std::is_same;
using std::is_signed;
#else
#define DEVICE __device__ __forceinline__
#define CALLED __device__ __noinline__
#define TABLE __device__ const
#define KERNEL extern "C" __global__ void
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
template <class A, class B> struct is_same { static constexpr bool value = false; };
template <class A> struct is_same<A, A> { static constexpr bool value = true; };
template <class T> struct is_signed { static constexpr bool value = T(-1) < T(0); };
#endif

typedef __int128 int128_t;
typedef unsigned __int128 uint128_t;

constexpr int64_t INT64_LEAST = -9223372036854775807LL - 1;
constexpr int64_t INT64_GREATEST = 9223372036854775807LL;
constexpr int64_t SECOND = 1000000;           // in microseconds, as all times and durations
constexpr int64_t DAY = 86400 * SECOND;

// ---- values ---------------------------------------------------------------------------------------------------------

// A value, or null; the value of a null is zero.
template <class T>
struct Maybe {
    T value;
    bool valid;
};

template <class T> DEVICE Maybe<T> some(T value) { return {value, true}; }
template <class T> DEVICE Maybe<T> none() { return {T{}, false}; }
template <class T> DEVICE Maybe<T> only_if(bool valid, T value) { return {valid ? value : T{}, valid}; }

// UTF-8 bytes that somebody else owns.
struct String {
    const char* data;
    int64_t size;

    DEVICE char operator[](int64_t at) const { return data[at]; }
    DEVICE String cut(int64_t from, int64_t until) const { return {data + from, until - from}; }
};

// What a call gave: a value, or a value or null.
template <class T, class R> DEVICE void assign(T& value, bool& valid, const R& result) {
    value = T(result);
    valid = true;
}
template <class T, class R> DEVICE void assign(T& value, bool& valid, const Maybe<R>& result) {
    value = T(result.value);
    valid = result.valid;
}

// ---- columns --------------------------------------------------------------------------------------------------------

// A word of 32 validity bits.  Columns without nulls have no bits, which are 0 then, and all of their rows are valid.
//
// The word is loaded under a predicate.  A branch would have the compiler make loops with and without nulls of each
// column, which takes longer, and would have later loads wait for it.
DEVICE uint32_t valid_word(const uint32_t* bits, int64_t at) {
    uint32_t word = ~0u;
#ifdef __CUDACC_RTC__
    asm("{ .reg .pred some; setp.ne.u64 some, %1, 0; @some ld.global.nc.u32 %0, [%2]; }"
        : "+r"(word) : "l"(bits), "l"(bits + at));
#else
    if (bits) word = bits[at];
#endif
    return word;
}

DEVICE bool bit_is_set(const uint32_t* bits, int64_t at) { return valid_word(bits, at >> 5) >> (at & 31) & 1; }

// Numbers, truth values (bytes) and times; STORED is what lies in memory, T what is calculated with.
template <class T, class STORED = T>
struct Fixed {
    const STORED* data;
    const uint32_t* bits;
    typedef T value_type;

    DEVICE bool valid(int64_t row) const { return bit_is_set(bits, row); }
    DEVICE Maybe<T> operator[](int64_t row) const {
        const STORED value = data[row];
        return only_if(valid(row), T(value));
    }
};

template <class OFFSET>
struct Strings {
    const char* data;
    const OFFSET* offsets;
    const uint32_t* bits;
    typedef String value_type;

    DEVICE bool valid(int64_t row) const { return bit_is_set(bits, row); }
    DEVICE Maybe<String> operator[](int64_t row) const {
        const OFFSET start = offsets[row], end = offsets[row + 1];
        return only_if(valid(row), String{data + start, int64_t(end - start)});
    }
};

// Strings by their numbers in a dictionary.
template <class STRINGS>
struct CodedStrings {
    STRINGS dictionary;
    const int32_t* numbers;
    const uint32_t* bits;
    typedef String value_type;

    DEVICE bool valid(int64_t row) const { return bit_is_set(bits, row); }
    DEVICE Maybe<String> operator[](int64_t row) const {
        const int32_t number = numbers[row];
        return valid(row) ? dictionary[number] : none<String>();
    }
};

// Structs: whether there is one.  Their fields are columns of their own.
struct Structs {
    const uint32_t* bits;
    typedef bool value_type;

    DEVICE bool valid(int64_t row) const { return bit_is_set(bits, row); }
    DEVICE Maybe<bool> operator[](int64_t row) const { return only_if(valid(row), true); }
};

// A null list that is in no column; others have the type of their column.
struct NoList {};

// Elements of a list, in a column of them.
template <class ELEMENTS>
struct List {
    ELEMENTS elements;
    int64_t start, size;
    typedef typename ELEMENTS::value_type value_type;

    DEVICE Maybe<value_type> operator[](int64_t at) const { return elements[start + at]; }
};

template <class ELEMENTS>
struct Lists {
    ELEMENTS elements;
    const int32_t* offsets;
    const uint32_t* bits;
    typedef List<ELEMENTS> value_type;

    DEVICE bool valid(int64_t row) const { return bit_is_set(bits, row); }
    DEVICE Maybe<value_type> operator[](int64_t row) const {
        const int32_t start = offsets[row], end = offsets[row + 1];
        return only_if(valid(row), value_type{elements, start, int64_t(end - start)});
    }
};

// Keeps a load in its place.  Otherwise the compiler moves it into the branch that uses its value, and there it waits for
// what the branch depends on, such as the validity of the row.
#ifdef __CUDACC_RTC__
template <class T> DEVICE void hold(T value) { asm volatile("" ::"r"(int32_t(value))); }
DEVICE void hold(int64_t value) { asm volatile("" ::"l"(value)); }
DEVICE void hold(uint64_t value) { asm volatile("" ::"l"(value)); }
DEVICE void hold(float value) { asm volatile("" ::"f"(value)); }
DEVICE void hold(double value) { asm volatile("" ::"d"(value)); }
DEVICE void hold(int128_t value) { hold(int64_t(value)), hold(int64_t(value >> 64)); }
DEVICE void hold(String value) { hold(int64_t(value.data)), hold(value.size); }
template <class ELEMENTS> DEVICE void hold(List<ELEMENTS> value) { hold(value.start), hold(value.size); }
#else
template <class T> DEVICE void hold(const T&) {}
#endif

// ---- the loop over rows ---------------------------------------------------------------------------------------------

#ifdef GPUETL_HOST
#define FOR_EACH_ROW(row, rows) for (int64_t row = 0; row < (rows); ++row)

DEVICE void raise_to(uint64_t* place, uint64_t value) { if (*place < value) *place = value; }
#else
// All lanes of a warp take part in each round, those beyond the last row too: `store_word` asks all of them.
#define FOR_EACH_ROW(row, rows)                                                          \
    for (int64_t row = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; row < (((rows) + 31) & ~int64_t(31)); \
         row += int64_t(gridDim.x) * blockDim.x)

DEVICE void raise_to(uint64_t* place, uint64_t value) {
    atomicMax((unsigned long long*)place, (unsigned long long)value);
}
#endif

// ---- errors ---------------------------------------------------------------------------------------------------------

// Why a value has no result.  `engines/cudf/codegen/evaluate.py` has the words, in this order.
enum Reason : int {
    OVERFLOW_ = 1,        // the result leaves its type
    NOT_EXACT = 2,        // the target type does not hold the value
    NOT_A_VALUE = 3,      // the text is no value of the target type
    OUT_OF_DATES = 4,     // beyond the range of dates
    OUT_OF_TIMESTAMPS = 5,
    NO_DATE = 6,          // these parts are no date
    NO_DATE_AND_TIME = 7,
    NO_SUCH_FORM = 8,     // the text is no date and time of this form
    YEAR_DIGITS = 9,      // its year has not 4 digits
    OUT_OF_MICROSECONDS = 10,
    SHOWN_TWICE = 11,     // the clock of the zone shows it twice
    NEVER_SHOWN = 12,
    OFFSET_SECONDS = 13,  // the clock was ahead by minutes and seconds
    NOT_0_OR_1 = 14,
    HAS_TIME_OF_DAY = 15,
    BEYOND_FLOAT = 16,    // a finite number would become infinite
    NO_NUMBER = 17,       // NaN or infinite, for a decimal
    TOO_MANY_DIGITS = 18, // a decimal's digits
    NOT_HEX = 19,
    NOT_BASE64 = 20,
    NOT_UTF8 = 21,
    TOO_MANY_CHARACTERS = 22,
    EMPTY_FILL = 23,
    LENGTHS_DIFFER = 24,  // of lists that go together
    NULL_ELEMENT = 25,
    RANGE_TOO_LONG = 26,
    NO_CODE_POINT = 27,
    LONG_STRINGS = 28,
    OTHER_LENGTH = 29,
    EMPTY_STRING = 30,
    EQUAL_KEYS = 31,      // of a map
    NULL_KEY = 32,
    NOT_JSON = 33,
    NO_JSON_NUMBER = 34,
    LONG_STRING = 35,
    LONGER_STRING = 36,
    NOT_FORMATTED = 37,
    SIZE_OF_NO_LIST = 38,
    STEP_OF_ZERO = 39,
    NOT_A_PATH = 40,
    OTHER_SIZE = 41,
    NO_PART = 42,         // of a date has this name
    NOT_ABOVE_ZERO = 43,  // is a bucket's width
    NO_SIZE = 44,         // of bytes
    NO_BAR = 45,          // has such a width
};

// Where one call tells of a row that has no result; the least row is kept, with the reason.
struct Fault {
    uint64_t* place;
    int64_t row;

    DEVICE void operator()(Reason reason) const { raise_to(place, ~(uint64_t(row) << 8 | (255 - reason))); }
};

struct NoFault {
    DEVICE void operator()(Reason) const {}
};

// ---- strings that are written -----------------------------------------------------------------------------------------

// A text is written twice: once for its size, once for its bytes.
struct Measure {
    int64_t size = 0;

    DEVICE void put(char) { ++size; }
    DEVICE void put(String text) { size += text.size; }
    DEVICE void put_few(String text) { size += text.size; }
};

struct Bytes {
    char* at;

    DEVICE void put(char byte) { *at++ = byte; }
    DEVICE void put(String text) { for (int64_t i = 0; i < text.size; ++i) *at++ = text.data[i]; }
    // Bytes that are a few, and near, as digits are: loads are not waited for, so none are begun ahead.
    DEVICE void put_few(String text) {
#pragma unroll 1
        for (int64_t i = 0; i < text.size; ++i) *at++ = text.data[i];
    }
};

// ---- floats by their bits -------------------------------------------------------------------------------------------

#ifdef GPUETL_HOST
template <class TO, class FROM> DEVICE TO same_bits(FROM from) { TO to; std::memcpy(&to, &from, sizeof to); return to; }
#else
template <class TO, class FROM> DEVICE TO same_bits(FROM from) {
    union { FROM from; TO to; } both;
    both.from = from;
    return both.to;
}
#endif
DEVICE double double_of_bits(uint64_t bits) { return same_bits<double>(bits); }
DEVICE float float_of_bits(uint32_t bits) { return same_bits<float>(bits); }
DEVICE uint64_t bits_of(double value) { return same_bits<uint64_t>(value); }
