// Strings told apart by at most 8 bytes: those after a prefix that all of them have.
#pragma once

#include "string_table.cuh"

DEVICE uint64_t first_byte_highest(uint64_t word) {
    word = (word & 0x00ff00ff00ff00ffULL) << 8 | (word >> 8 & 0x00ff00ff00ff00ffULL);
    word = (word & 0x0000ffff0000ffffULL) << 16 | (word >> 16 & 0x0000ffff0000ffffULL);
    return word << 32 | word >> 32;
}

struct Suffixes {
    int64_t prefix;  // bytes, at most 16
    uint64_t first, second;

    DEVICE Suffixes(String model, int64_t prefix) : prefix(prefix), first(0), second(0) {
        if (prefix > 0) first = word_of(model.cut(0, prefix), 0);
        if (prefix > 8) second = word_of(model.cut(0, prefix), 8);
    }
    // One more than the bytes after the prefix as a number, which sorts as the strings do.  0 for a text that has another
    // prefix or more bytes, or ends with a byte 0: a shorter one would have the same number.
    DEVICE uint64_t code(String text) const {
        const int64_t left = text.size - prefix;
        if (left < 0 || left > 8) return 0;
        if (prefix > 0 && word_of(text.cut(0, prefix), 0) != first) return 0;
        if (prefix > 8 && word_of(text.cut(0, prefix), 8) != second) return 0;
        if (!left) return 1;
        const uint64_t word = word_of(text, prefix);
        return word >> 8 * (left - 1) & 0xff ? first_byte_highest(word) + 1 : 0;
    }
};

// The distinct strings of a table in no order, each with its slot, and the row that was first to have it.
struct DistinctStrings {
    uint64_t* codes;  // nullptr: they are not listed
    int32_t* slots;
    int32_t* rows;
};

// Distinct codes with linear probing, of which 0 stands for none.
struct CodeTable {
    enum Failure : uint64_t { TOO_MANY = 1, OTHER_TEXT = 2 };  // as in columns/string_codes.py
    uint64_t* codes;
    uint64_t mask;
    int64_t most_tries;
    DistinctStrings distinct;
    uint64_t* found;  // why the table fails; how many strings are listed, from bit 40 on, and their bytes

    // The slot of a code.  Different codes have different hashes, but may begin at the same slot.
    DEVICE int32_t enter(uint64_t code, int32_t row, int64_t bytes) const {
        uint64_t hash = (code ^ code >> 33) * 0xFF51AFD7ED558CCDULL;
        hash = (hash ^ hash >> 33) * 0xC4CEB9FE1A85EC53ULL;
        uint64_t slot = (hash ^ hash >> 33) & mask;
        for (int64_t tries = most_tries; code && tries; --tries, slot = (slot + 1) & mask) {
            uint64_t taken = codes[slot];  // from a cache, which may not know yet that it is taken
            if (!taken && !(taken = claim(codes + slot, code))) {
                if (distinct.codes) list(code, int32_t(slot), row, bytes);
                return int32_t(slot);
            }
            if (taken == code) return int32_t(slot);
        }
        if (!has_failed()) raise_to(found, code ? TOO_MANY : OTHER_TEXT);
        return 0;
    }
    DEVICE void list(uint64_t code, int32_t slot, int32_t row, int64_t bytes) const {
        const uint64_t place = before_adding(found + 1, uint64_t(1) << 40 | uint64_t(bytes)) >> 40;
        distinct.codes[place] = code, distinct.slots[place] = slot, distinct.rows[place] = row;
    }
    DEVICE bool has_failed() const { return *(volatile uint64_t*)found != 0; }
};
