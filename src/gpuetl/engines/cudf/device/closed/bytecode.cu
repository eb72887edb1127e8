// Expressions computed by instructions, for rows whose own kernel is not compiled yet: see codegen/bytecode.py.
//
// All threads run the same instructions, each for its row.  Numbers are in registers of 64 bits: integers, times, decimals
// of up to 18 digits, and floats by their bits.  Booleans are bits of two words: whether they are true, and whether they
// are not null.  Nothing branches; what can fail is computed where a guard, a boolean, is true.
#include "rows.cuh"
#include "arithmetic.cuh"
#include "calendar.cuh"
#include "like.cuh"
#include "strings.cuh"
#include "words.cuh"

#if defined(__CUDACC_RTC__)
#define CODE_BY_VALUE const __grid_constant__
#else
#define CODE_BY_VALUE const
#endif
#ifdef GPUETL_HOST
#define CODE_PER_BLOCK
#define CODE_PLACE 0
#define CODE_BLOCK 1
#define CODE_WHOLE_BLOCK()
DEVICE void add_in_block(uint32_t* sum, uint32_t count) { *sum += count; }
#else
#define CODE_PER_BLOCK __shared__
#define CODE_PLACE threadIdx.x
#define CODE_BLOCK 256
#define CODE_WHOLE_BLOCK() __syncthreads()
DEVICE void add_in_block(uint32_t* sum, uint32_t count) { if ((threadIdx.x & 31) == 0 && count) atomicAdd(sum, count); }
#endif

namespace bytecode {
constexpr int NUMBERS = 16, OUTPUTS = 32, WORDS = 440, NONE = 255;

// Instructions of two words, and data behind them: where strings lie, constants, lists.
struct Code {
    int64_t words[WORDS];
};

// In the order of codegen/bytecode.py.
enum Operation : int {
    LOAD_INT8, LOAD_INT16, LOAD_INT32, LOAD_INT64, LOAD_UINT8, LOAD_UINT16, LOAD_UINT32, LOAD_BOOLEAN,
    VALID, VALID_BOOLEAN, NUMBER, NULL_NUMBER, BOOLEAN, NULL_BOOLEAN,
    EQUAL, NOT_EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL,
    FLOAT_EQUAL, FLOAT_NOT_EQUAL, FLOAT_LESS, FLOAT_LESS_EQUAL, FLOAT_GREATER, FLOAT_GREATER_EQUAL,
    TEXT_EQUAL, TEXT_NOT_EQUAL, TEXT_LESS, TEXT_LESS_EQUAL, TEXT_GREATER, TEXT_GREATER_EQUAL,
    ADD, SUBTRACT, MULTIPLY, FLOAT_ADD, FLOAT_SUBTRACT, FLOAT_MULTIPLY, FLOAT_DIVIDE, DIVIDE, FLOAT_OF_INT,
    YEAR, QUARTER, MONTH, DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE,
    ALL_TRUE, ANY_TRUE, NOT, IS_NULL, BOOLEAN_IS_NULL, TEXT_IS_NULL, GUARD,
    SELECT, SELECT_BOOLEAN, FIRST_VALID, FIRST_VALID_BOOLEAN,
    STARTS_WITH, ENDS_WITH, CONTAINS, LIKE,
    STORE_INT8, STORE_INT16, STORE_INT32, STORE_INT64, STORE_BOOLEAN, STORE_VALID, STORE_VALID_BOOLEAN
};

// A text of a column or a constant, which lies in the code itself.
DEVICE Maybe<String> text_at(const Code& code, int64_t place, int64_t row) {
    const int64_t* const words = code.words + place;
    const char* const data = (const char*)words[1];
    const uint32_t* const bits = (const uint32_t*)words[4];
    const int32_t* const numbers = (const int32_t*)words[3];
    const Strings<int32_t> narrow{data, (const int32_t*)words[2], numbers ? nullptr : bits};
    const Strings<int64_t> wide{data, (const int64_t*)words[2], numbers ? nullptr : bits};
    if (words[0] == 0) return some(String{(const char*)(code.words + words[1]), words[2]});
    if (!numbers) return words[0] == 4 ? narrow[row] : wide[row];
    return words[0] == 4 ? CodedStrings<Strings<int32_t>>{narrow, numbers, bits}[row]
                         : CodedStrings<Strings<int64_t>>{wide, numbers, bits}[row];
}

// Whether values compare as an operation says; `first` is the first of the six.
template <class T> DEVICE bool compared(int operation, int first, T x, T y) {
    switch (operation - first) {
        case 0: return x == y;
        case 1: return x != y;
        case 2: return x < y;
        case 3: return x <= y;
        case 4: return x > y;
        default: return x >= y;
    }
}

DEVICE int64_t part_of(int operation, Clock clock) {
    switch (operation) {
        case YEAR: return year(clock);
        case QUARTER: return quarter(clock);
        case MONTH: return month(clock);
        case DAY_OF_MONTH: return day(clock);
        case DAY_OF_WEEK: return dayofweek(clock);
        case HOUR: return hour(clock);
        default: return minute(clock);
    }
}

DEVICE double computed_float(int operation, double x, double y) {
    switch (operation) {
        case FLOAT_ADD: return x + y;
        case FLOAT_SUBTRACT: return x - y;
        case FLOAT_MULTIPLY: return x * y;
        default: return divide(x, y);
    }
}

DEVICE int64_t computed_int(int operation, Fault at, int64_t x, int64_t y) {
    switch (operation) {
        case ADD: return add(at, x, y);
        case SUBTRACT: return subtract(at, x, y);
        default: return multiply(at, x, y);
    }
}

DEVICE bool searched(int operation, String text, String pattern) {
    switch (operation) {
        case STARTS_WITH: return starts_with(text, pattern);
        case ENDS_WITH: return ends_with(text, pattern);
        case CONTAINS: return contains(text, pattern);
        default: return like(text, LikePattern{(const char32_t*)pattern.data, int(pattern.size / 4)}, AsWritten{});
    }
}

DEVICE int64_t loaded(int operation, int64_t address, int64_t row) {
    switch (operation) {
        case LOAD_INT8: return ((const int8_t*)address)[row];
        case LOAD_INT16: return ((const int16_t*)address)[row];
        case LOAD_INT32: return ((const int32_t*)address)[row];
        case LOAD_INT64: return ((const int64_t*)address)[row];
        case LOAD_UINT16: return ((const uint16_t*)address)[row];
        case LOAD_UINT32: return ((const uint32_t*)address)[row];
        default: return ((const uint8_t*)address)[row];
    }
}

DEVICE void store(int operation, int64_t address, int64_t row, int64_t value) {
    switch (operation) {
        case STORE_INT16: ((int16_t*)address)[row] = int16_t(value); break;
        case STORE_INT32: ((int32_t*)address)[row] = int32_t(value); break;
        case STORE_INT64: ((int64_t*)address)[row] = value; break;
        default: ((int8_t*)address)[row] = int8_t(value);
    }
}


// An instruction's first word has the operation, `to`, `a`, `b`, a guard and a place for faults, a byte each.
KERNEL interpret(int64_t rows, int64_t count, uint64_t* faults, uint64_t* nulls, CODE_BY_VALUE Code code) {
    CODE_PER_BLOCK int64_t numbers[NUMBERS][CODE_BLOCK];
    CODE_PER_BLOCK uint32_t missing[OUTPUTS];
    for (int place = CODE_PLACE; place < OUTPUTS; place += CODE_BLOCK) missing[place] = 0;
    CODE_WHOLE_BLOCK();
    FOR_EACH_ROW(row, rows) {
        const bool in_range = row < rows;
        const int64_t at = in_range ? row : 0;
        uint64_t truth = 0, known = 0;
        uint32_t valid = 0;
        for (int64_t next = 0; next < count; ++next) {
            const uint64_t word = code.words[2 * next];
            const int64_t value = code.words[2 * next + 1];
            const int operation = word & 255, to = word >> 8 & 255, a = word >> 16 & 255, b = word >> 24 & 255;
            const int guard = word >> 32 & 255, site = word >> 40 & 255;
            const int64_t x = a < NUMBERS ? numbers[a][CODE_PLACE] : 0;
            const int64_t y = b == NONE ? value : b < NUMBERS ? numbers[b][CODE_PLACE] : 0;
            const bool a_true = truth >> (a & 63) & 1, a_known = known >> (a & 63) & 1;
            const bool b_true = truth >> (b & 63) & 1, b_known = known >> (b & 63) & 1;
            const bool a_valid = valid >> (a & 31) & 1, b_valid = valid >> (b & 31) & 1;
            const bool both = a_valid && (b == NONE || b_valid);
            const auto set_number = [&](int64_t result, bool there) {
                numbers[to][CODE_PLACE] = result;
                valid = (valid & ~(1u << to)) | uint32_t(there) << to;
            };
            const auto set_boolean = [&](bool result, bool there) {
                truth = (truth & ~(1ull << to)) | uint64_t(result && there) << to;
                known = (known & ~(1ull << to)) | uint64_t(there) << to;
            };
            switch (operation) {
                case LOAD_BOOLEAN: set_boolean(((const uint8_t*)value)[at], true); break;
                case VALID: valid &= ~(uint32_t(!bit_is_set((const uint32_t*)value, at)) << a); break;
                case VALID_BOOLEAN:
                    if (!bit_is_set((const uint32_t*)value, at)) truth &= ~(1ull << a), known &= ~(1ull << a);
                    break;
                case NUMBER: set_number(value, true); break;
                case NULL_NUMBER: set_number(0, false); break;
                case BOOLEAN: set_boolean(value, true); break;
                case NULL_BOOLEAN: set_boolean(false, false); break;
                case EQUAL: case NOT_EQUAL: case LESS: case LESS_EQUAL: case GREATER: case GREATER_EQUAL:
                    set_boolean(compared(operation, EQUAL, x, y), both);
                    break;
                case FLOAT_EQUAL: case FLOAT_NOT_EQUAL: case FLOAT_LESS: case FLOAT_LESS_EQUAL: case FLOAT_GREATER:
                case FLOAT_GREATER_EQUAL:
                    set_boolean(compared(operation, FLOAT_EQUAL, double_of_bits(x), double_of_bits(y)), both);
                    break;
                case TEXT_EQUAL: case TEXT_NOT_EQUAL: case TEXT_LESS: case TEXT_LESS_EQUAL: case TEXT_GREATER:
                case TEXT_GREATER_EQUAL: {
                    const auto left = text_at(code, value & 0xffff, at), right = text_at(code, value >> 16, at);
                    const bool there = left.valid && right.valid;
                    set_boolean(there && compared(operation, TEXT_EQUAL, left.value, right.value), there);
                    break;
                }
                case ADD: case SUBTRACT: case MULTIPLY: {
                    const bool wanted = both && (guard == NONE || truth >> (guard & 63) & 1);
                    set_number(wanted ? computed_int(operation, Fault{faults + site, at}, x, y) : 0, wanted);
                    break;
                }
                case FLOAT_ADD: case FLOAT_SUBTRACT: case FLOAT_MULTIPLY: case FLOAT_DIVIDE:
                    set_number(bits_of(computed_float(operation, double_of_bits(x), double_of_bits(y))), both);
                    break;
                case DIVIDE: set_number(bits_of(divide(x, y)), both); break;
                case FLOAT_OF_INT: set_number(bits_of(double(x)), a_valid); break;
                case YEAR: case QUARTER: case MONTH: case DAY_OF_MONTH: case DAY_OF_WEEK: case HOUR: case MINUTE:
                    set_number(part_of(operation, value ? clock_of(x) : clock_of(int32_t(x))), a_valid);
                    break;
                case ALL_TRUE: {
                    const uint64_t of = uint64_t(value);
                    const bool is_false = (known & ~truth & of) != 0;
                    set_boolean(!is_false, is_false || (known & of) == of);
                    break;
                }
                case ANY_TRUE: {
                    const uint64_t of = uint64_t(value);
                    const bool is_true = (truth & of) != 0;
                    set_boolean(is_true, is_true || (known & of) == of);
                    break;
                }
                case NOT: set_boolean(!a_true, a_known); break;
                case IS_NULL: set_boolean(!a_valid, true); break;
                case BOOLEAN_IS_NULL: set_boolean(!a_known, true); break;
                case TEXT_IS_NULL: set_boolean(!text_at(code, value, at).valid, true); break;
                case GUARD: set_boolean((guard == NONE || truth >> (guard & 63) & 1) && a_true == bool(value), true); break;
                case SELECT: {
                    const bool first = truth >> (guard & 63) & 1;
                    set_number(first ? x : y, first ? a_valid : b_valid);
                    break;
                }
                case SELECT_BOOLEAN: {
                    const bool first = truth >> (guard & 63) & 1;
                    set_boolean(first ? a_true : b_true, first ? a_known : b_known);
                    break;
                }
                case FIRST_VALID: set_number(a_valid ? x : y, a_valid || b_valid); break;
                case FIRST_VALID_BOOLEAN: set_boolean(a_known ? a_true : b_true, a_known || b_known); break;
                case STARTS_WITH: case ENDS_WITH: case CONTAINS: case LIKE: {
                    const auto text = text_at(code, value & 0xffff, at), pattern = text_at(code, value >> 16, at);
                    const bool there = text.valid && pattern.valid;
                    set_boolean(there && searched(operation, text.value, pattern.value), there);
                    break;
                }
                case STORE_BOOLEAN: if (in_range) ((uint8_t*)value)[row] = a_true; break;
                case STORE_VALID: case STORE_VALID_BOOLEAN: {
                    const bool there = in_range && (operation == STORE_VALID ? a_valid : a_known);
                    add_in_block(missing + to, store_word((uint32_t*)value, row, in_range, there));
                    break;
                }
                case STORE_INT8: case STORE_INT16: case STORE_INT32: case STORE_INT64:
                    if (in_range) store(operation, value, row, a_valid ? x : 0);
                    break;
                default: set_number(loaded(operation, value, at), true);
            }
        }
    }
    CODE_WHOLE_BLOCK();
    for (int place = CODE_PLACE; place < OUTPUTS; place += CODE_BLOCK)
        if (missing[place]) {
#ifdef GPUETL_HOST
            nulls[place] += missing[place];
#else
            atomicAdd((unsigned long long*)nulls + place, (unsigned long long)missing[place]);
#endif
        }
}
}  // namespace bytecode
