// Whether a regular expression has a match, by a deterministic automaton: two loads of small tables a byte.
#pragma once

#include "string_words.cuh"

// The bytes of a text, 8 at a time, the last ones with zeros behind.  Aligned words are loaded, each once.
#ifdef GPUETL_HOST
struct TextWords {
    const char* place;
    int64_t left;

    DEVICE TextWords(String text) : place(text.data), left(text.size) {}
    DEVICE uint64_t next() {
        uint64_t word = 0;
        for (int i = 0; i < 8 && i < left; ++i) word |= uint64_t(uint8_t(place[i])) << 8 * i;
        place += 8, left -= 8;
        return word;
    }
};
#else
struct TextWords {
    const char* place;
    int64_t left;   // bytes from `place` on
    int skip;       // bytes before those that come next
    uint64_t word;  // at `place`

    DEVICE TextWords(String text) {
        skip = int(uint64_t(text.data) % 8);
        place = text.data - skip, left = text.size + skip;
        word = text.size > 0 ? first_bytes(place, left < 8 ? int(left) : 8) : 0;
    }
    DEVICE uint64_t next() {
        const uint64_t begun = word >> 8 * skip;
        place += 8, left -= 8;
        word = left > 0 ? first_bytes(place, left < 8 ? int(left) : 8) : 0;
        return begun | word << 8 << (56 - 8 * skip);  // of all of the word if nothing is skipped
    }
};
#endif

// The class of each byte, and the rows of the states, of WIDTH: by class the next state, the last one for the end of the
// text.  A state is where its row begins.  The first one is that of no match, the second one that of a match: these are left
// no more.  Then comes that at the start.
template <int WIDTH>
struct RegexAutomaton {
    static constexpr uint32_t FOUND = WIDTH, START = 2 * WIDTH, END = WIDTH - 1;
    String classes;
    const char16_t* steps;

    DEVICE uint32_t class_of(uint8_t byte) const { return uint8_t(classes.data[byte]); }
    DEVICE uint32_t next(uint32_t state, uint32_t symbol) const { return steps[state + symbol]; }
};

template <int WIDTH> DEVICE bool regexp_found(String text, RegexAutomaton<WIDTH> automaton) {
    uint32_t state = automaton.START;
    TextWords words(text);
    for (int64_t left = text.size; left > 0 && state > automaton.FOUND; left -= 8) {
        uint64_t word = words.next();
        const int count = left < 8 ? int(left) : 8;
#pragma unroll
        for (int i = 0; i < 8; ++i, word >>= 8) {
            const uint32_t next = automaton.next(state, automaton.class_of(uint8_t(word)));
            state = i < count ? next : state;
        }
    }
    return automaton.next(state, automaton.END) == automaton.FOUND;
}
