// Regular expressions: Thompson's and Pike's virtual machine, in time linear in the text, of several matches the one
// that the order of the pattern prefers.
//
// Source: R. Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009).  Programs: regex.py.
#pragma once
#include "strings.cuh"

struct RegexOp {
    enum : uint32_t { CHARACTER, MATCH, SPLIT, JUMP, SAVE, AT_START, AT_END };
};

// Instructions of three words each: the operation and its operands; a class of characters is the place of its first
// range, and how many there are.  THREADS wait for a character or match; SLOTS are the places that a match keeps: its
// start, then the starts and ends of groups; ANCHORED ones match at the start of the text or not at all.
template <int INSTRUCTIONS_, int THREADS_, int STACK_, int SLOTS_, bool ANCHORED_>
struct RegexProgram {
    static constexpr int INSTRUCTIONS = INSTRUCTIONS_, THREADS = THREADS_, STACK = STACK_, SLOTS = SLOTS_;
    static constexpr bool ANCHORED = ANCHORED_;
    const char32_t* words;

    DEVICE bool takes(int instruction, uint32_t point) const {
        const char32_t* range = words + words[3 * instruction + 1];
        for (int left = words[3 * instruction + 2]; left > 0; --left, range += 2)
            if (point <= range[1]) return point >= range[0];
        return false;
    }
};

// Threads at one place in the text, the most preferred first, each instruction once.
template <class PROGRAM>
struct RegexThreads {
    int count = 0;
    int16_t instruction[PROGRAM::THREADS];
    int32_t slots[PROGRAM::THREADS][PROGRAM::SLOTS];
    uint32_t seen[(PROGRAM::INSTRUCTIONS + 31) / 32];

    DEVICE void clear() {
        count = 0;
        for (uint32_t& word : seen) word = 0;
    }
    DEVICE bool is_new(int at) {
        const uint32_t bit = 1u << (at & 31);
        const bool found = !(seen[at >> 5] & bit);
        seen[at >> 5] |= bit;
        return found;
    }

    // Follow the instructions that take no character.  What is less preferred waits on a stack; a negative entry there
    // gives a slot the value back that it had.
    DEVICE void add(PROGRAM program, int first, int32_t* kept, int64_t at, int64_t size) {
        int16_t stack[PROGRAM::STACK];
        int32_t values[PROGRAM::STACK];
        int waiting = 0;
        for (int now = first; now >= 0;) {
            const char32_t* words = program.words + 3 * now;
            int next = -1;
            if (is_new(now)) {
                switch (words[0]) {
                    case RegexOp::JUMP: next = words[1]; break;
                    case RegexOp::SPLIT: stack[waiting++] = int16_t(words[2]); next = words[1]; break;
                    case RegexOp::AT_START: next = at == 0 ? now + 1 : -1; break;
                    case RegexOp::AT_END: next = at == size ? now + 1 : -1; break;
                    case RegexOp::SAVE:
                        stack[waiting] = int16_t(-int(words[1]));
                        values[waiting++] = kept[words[1]];
                        kept[words[1]] = int32_t(at);
                        next = now + 1;
                        break;
                    default:
                        instruction[count] = int16_t(now);
                        for (int slot = 0; slot < PROGRAM::SLOTS; ++slot) slots[count][slot] = kept[slot];
                        ++count;
                }
            }
            for (; next < 0 && waiting > 0; --waiting) {
                next = stack[waiting - 1];
                if (next < 0) kept[-next] = values[waiting - 1];
            }
            now = next;
        }
    }
};

// The first match: its end, or -1, and its slots, which are -1 where a group took no part.
template <class PROGRAM>
struct RegexMatch {
    int64_t end = -1;
    int32_t slots[PROGRAM::SLOTS];

    DEVICE int64_t start() const { return slots[0]; }
    DEVICE String captured(String text, int place) const {
        if (place == 0) return text.cut(start(), end);
        const int32_t from = slots[2 * place - 1];
        return from < 0 ? text.cut(0, 0) : text.cut(from, slots[2 * place]);
    }
};

// Find the leftmost match at or after `from`; with ANY, any match at all.
template <bool ANY, class PROGRAM> CALLED RegexMatch<PROGRAM> regexp_search(String text, int64_t from, PROGRAM program) {
    RegexThreads<PROGRAM> lists[2];
    RegexMatch<PROGRAM> match;
    int now = 0;
    lists[0].clear();
    for (int64_t at = from;;) {
        RegexThreads<PROGRAM>&threads = lists[now], &next = lists[1 - now];
        if (match.end < 0 && (!PROGRAM::ANCHORED || at == 0)) {
            int32_t slots[PROGRAM::SLOTS];
            for (int slot = 0; slot < PROGRAM::SLOTS; ++slot) slots[slot] = slot ? -1 : int32_t(at);
            threads.add(program, 0, slots, at, text.size);
        }
        const int64_t end = at < text.size ? code_point_end(text, at) : at;
        const uint32_t point = at < text.size ? code_point(text.cut(at, end)) : 0;
        next.clear();
        for (int i = 0; i < threads.count; ++i) {
            const int instruction = threads.instruction[i];
            if (program.words[3 * instruction] == RegexOp::MATCH) {
                match.end = at;
                for (int slot = 0; slot < PROGRAM::SLOTS; ++slot) match.slots[slot] = threads.slots[i][slot];
                break;  // those after it are less preferred
            }
            if (at < text.size && program.takes(instruction, point))
                next.add(program, instruction + 1, threads.slots[i], end, text.size);
        }
        if (at >= text.size || (match.end >= 0 && (ANY || !next.count)) || (PROGRAM::ANCHORED && !next.count)) break;
        at = end;
        now = 1 - now;
    }
    return match;
}

template <class PROGRAM> DEVICE bool regexp_found(String text, PROGRAM program) {
    return regexp_search<true>(text, 0, program).end >= 0;
}

// The last group that is kept, or the whole match where none is.
template <class PROGRAM> DEVICE Maybe<String> regexp_extract(String text, PROGRAM program) {
    const RegexMatch<PROGRAM> match = regexp_search<false>(text, 0, program);
    return match.end < 0 ? none<String>() : some(match.captured(text, PROGRAM::SLOTS / 2));
}

template <class PROGRAM> DEVICE int64_t regexp_count(String text, PROGRAM program) {
    int64_t count = 0;
    for (int64_t at = 0; (at = regexp_search<false>(text, at, program).end) >= 0;) ++count;
    return count;
}

// In the replacement, a byte of 0xF5 or more, which no UTF-8 has, is a place that the match kept.
template <class OUT, class PROGRAM> DEVICE void regexp_replace(OUT& out, String text, PROGRAM program, String put) {
    for (int64_t at = 0;;) {
        const RegexMatch<PROGRAM> match = regexp_search<false>(text, at, program);
        out.put(text.cut(at, match.end < 0 ? text.size : match.start()));
        if (match.end < 0) return;
        for (int64_t i = 0; i < put.size; ++i) {
            const int kept = uint8_t(put[i]) - 0xF5;
            if (kept < 0) out.put(put[i]);
            else out.put(match.captured(text, kept));
        }
        at = match.end;
    }
}
