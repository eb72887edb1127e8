// Regular expressions: Thompson's and Pike's virtual machine, in time linear in the text, of several matches the one
// that the order of the pattern prefers.
//
// Source: R. Cox, "Regular Expression Matching: the Virtual Machine Approach" (2009).  Programs: regex.py.
#pragma once
#include "strings.cuh"
#include "regex_automaton.cuh"

struct RegexOp {
    enum : uint32_t { CHARACTER, MATCH, SPLIT, JUMP, SAVE, START, END, LINE_START, LINE_END, WORD_BOUND, NO_WORD_BOUND };
};

// Words are of ASCII.
DEVICE bool in_regex_word(String text, int64_t at) {
    if (at < 0 || at >= text.size) return false;
    const char byte = text[at];
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || byte == '_' || (byte >= 'a' && byte <= 'z');
}
// Whether a place is what an operation asks for that looks at the bytes around it.
DEVICE bool stands_between(uint32_t op, String text, int64_t at) {
    switch (op) {
        case RegexOp::LINE_START: return at == 0 || text[at - 1] == '\n';
        case RegexOp::LINE_END: return at == text.size || text[at] == '\n';
        default: return (in_regex_word(text, at - 1) != in_regex_word(text, at)) == (op == RegexOp::WORD_BOUND);
    }
}

// Instructions of three words each: the operation and its operands; a class of characters is the place of its first
// range, and how many there are.  THREADS wait for a character or match; SLOTS are the places that a match keeps: its
// start, then the starts and ends of groups; ANCHORED ones match at the start of the text or not at all; those that LOOK
// have operations that look around.
template <int INSTRUCTIONS_, int THREADS_, int STACK_, int SLOTS_, bool ANCHORED_, bool LOOKS_>
struct RegexProgram {
    static constexpr int INSTRUCTIONS = INSTRUCTIONS_, THREADS = THREADS_, STACK = STACK_, SLOTS = SLOTS_;
    static constexpr bool LOOKS = LOOKS_;
    const char32_t* words;

    DEVICE static constexpr bool anchored() { return ANCHORED_; }
    DEVICE static constexpr int seen_words() { return (INSTRUCTIONS + 31) / 32; }
};

// The program of a row: one of many, of a size that a kernel is compiled for.  Before its instructions are the size that
// it needs, whether it is anchored, how many groups its pattern has, and how many instructions there are.
template <int SIZE, int SLOTS_>
struct RowProgram {
    static constexpr int INSTRUCTIONS = 4 * SIZE, THREADS = SIZE, STACK = 2 * SIZE, SLOTS = SLOTS_;
    static constexpr bool LOOKS = true;
    const char32_t* words;

    DEVICE static RowProgram at(const char32_t* programs, int32_t place) { return {programs + place + 4}; }
    DEVICE bool fits() const { return words[-4] == SIZE; }
    DEVICE bool anchored() const { return words[-3]; }
    DEVICE int64_t groups() const { return words[-2]; }
    DEVICE int seen_words() const { return (words[-1] + 31) / 32; }
};

// Whether the class of an instruction has a code point.
DEVICE bool regex_takes(const char32_t* words, int instruction, uint32_t point) {
    const char32_t* range = words + words[3 * instruction + 1];
    int left = words[3 * instruction + 2];
    for (int half; left > 16; left -= half) {  // many ranges are halved first
        half = left / 2;
        if (point < range[2 * half]) left = half, half = 0;
        else range += 2 * half;
    }
    for (; left > 0; --left, range += 2)
        if (point <= range[1]) return point >= range[0];
    return false;
}

// Threads at one place in the text, the most preferred first, each instruction once.
template <class PROGRAM>
struct RegexThreads {
    int count = 0;
    int16_t instruction[PROGRAM::THREADS];
    int32_t slots[PROGRAM::THREADS][PROGRAM::SLOTS];
    uint32_t seen[(PROGRAM::INSTRUCTIONS + 31) / 32];

    DEVICE void clear(PROGRAM program) {
        count = 0;
        for (int i = 0; i < program.seen_words(); ++i) seen[i] = 0;
    }
    DEVICE bool is_new(int at) {
        const uint32_t bit = 1u << (at & 31);
        const bool found = !(seen[at >> 5] & bit);
        seen[at >> 5] |= bit;
        return found;
    }

    // Follow the instructions that take no character.  What is less preferred waits on a stack; a negative entry there
    // gives a slot the value back that it had.
    DEVICE void add(PROGRAM program, int first, int32_t* kept, int64_t at, String text) {
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
                    case RegexOp::START: next = at == 0 ? now + 1 : -1; break;
                    case RegexOp::END: next = at == text.size ? now + 1 : -1; break;
                    case RegexOp::SAVE:
                        stack[waiting] = int16_t(-int(words[1]));
                        values[waiting++] = kept[words[1]];
                        kept[words[1]] = int32_t(at);
                        next = now + 1;
                        break;
                    case RegexOp::LINE_START:
                    case RegexOp::LINE_END:
                    case RegexOp::WORD_BOUND:
                    case RegexOp::NO_WORD_BOUND:
                        if constexpr (PROGRAM::LOOKS) next = stands_between(words[0], text, at) ? now + 1 : -1;
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
    lists[0].clear(program);
    for (int64_t at = from;;) {
        RegexThreads<PROGRAM>&threads = lists[now], &next = lists[1 - now];
        if (match.end < 0 && (!program.anchored() || at == 0)) {
            int32_t slots[PROGRAM::SLOTS];
            for (int slot = 0; slot < PROGRAM::SLOTS; ++slot) slots[slot] = slot ? -1 : int32_t(at);
            threads.add(program, 0, slots, at, text);
        }
        const int64_t end = at < text.size ? code_point_end(text, at) : at;
        const uint32_t point = at < text.size ? code_point(text.cut(at, end)) : 0;
        next.clear(program);
        for (int i = 0; i < threads.count; ++i) {
            const int instruction = threads.instruction[i];
            if (program.words[3 * instruction] == RegexOp::MATCH) {
                match.end = at;
                for (int slot = 0; slot < PROGRAM::SLOTS; ++slot) match.slots[slot] = threads.slots[i][slot];
                break;  // those after it are less preferred
            }
            if (at < text.size && regex_takes(program.words, instruction, point))
                next.add(program, instruction + 1, threads.slots[i], end, text);
        }
        if (at >= text.size || (match.end >= 0 && (ANY || !next.count)) || (program.anchored() && !next.count)) break;
        at = end;
        now = 1 - now;
    }
    return match;
}

template <class PROGRAM> DEVICE bool regexp_found(String text, PROGRAM program) {
    return regexp_search<true>(text, 0, program).end >= 0;
}

// What a group among those that are kept matched, by default the last one, or the whole match where none is.
template <class PROGRAM> DEVICE Maybe<String> regexp_extract(String text, PROGRAM program, int group = PROGRAM::SLOTS / 2) {
    const RegexMatch<PROGRAM> match = regexp_search<false>(text, 0, program);
    return match.end < 0 ? none<String>() : some(match.captured(text, group));
}

// The matches that are replaced, one after the other: an empty one does not follow the one before it directly.
template <class PROGRAM>
struct RegexReplacements {
    String text;
    PROGRAM program;
    int64_t at = 0, last = -1;

    DEVICE RegexReplacements(String text, PROGRAM program) : text(text), program(program) {}
    DEVICE bool next(RegexMatch<PROGRAM>& match) {
        while (at <= text.size) {
            match = regexp_search<false>(text, at, program);
            if (match.end < 0) return false;
            if (match.end == match.start() && match.end == last) {
                at = at < text.size ? code_point_end(text, at) : at + 1;
                continue;
            }
            at = last = match.end;
            return true;
        }
        return false;
    }
};

template <class PROGRAM> DEVICE int64_t regexp_count(String text, PROGRAM program) {
    RegexReplacements<PROGRAM> matches(text, program);
    int64_t count = 0;
    for (RegexMatch<PROGRAM> match; matches.next(match);) ++count;
    return count;
}

// A text that is searched from one place after the other; behind its end nothing is left.
template <class PROGRAM>
struct RegexScan {
    String text;
    PROGRAM program;
    int64_t at = 0;

    DEVICE RegexScan(String text, PROGRAM program) : text(text), program(program) {}
    DEVICE bool is_done() const { return at > text.size; }
    DEVICE RegexMatch<PROGRAM> search() const { return regexp_search<false>(text, at, program); }
};

// What a group among those that are kept is in each match, 0 the whole match; behind an empty one a character is passed.
template <class PROGRAM>
struct RegexMatches : RegexScan<PROGRAM> {
    using RegexScan<PROGRAM>::text;
    using RegexScan<PROGRAM>::at;

    int group;

    DEVICE RegexMatches(String text, PROGRAM program, int group) : RegexScan<PROGRAM>(text, program), group(group) {}
    DEVICE bool next(Maybe<String>& part) {
        if (this->is_done()) return false;
        const RegexMatch<PROGRAM> match = this->search();
        if (match.end < 0) return false;
        part = {match.captured(text, group), group == 0 || match.slots[group ? 2 * group - 1 : 0] >= 0};
        at = match.end > match.start() ? match.end : match.end < text.size ? code_point_end(text, match.end) : text.size + 1;
        return true;
    }
};
template <class PROGRAM> DEVICE RegexMatches<PROGRAM> regex_matches(String text, PROGRAM program, int group = PROGRAM::SLOTS / 2) {
    return {text, program, group};
}

// What stands between the matches, none of which is empty.
template <class PROGRAM>
struct RegexParts : RegexScan<PROGRAM> {
    using RegexScan<PROGRAM>::text;
    using RegexScan<PROGRAM>::at;

    DEVICE RegexParts(String text, PROGRAM program) : RegexScan<PROGRAM>(text, program) {}
    DEVICE bool next(Maybe<String>& part) {
        if (this->is_done()) return false;
        const RegexMatch<PROGRAM> match = this->search();
        part = some(text.cut(at, match.end < 0 ? text.size : match.start()));
        at = match.end < 0 ? text.size + 1 : match.end;
        return true;
    }
};
template <class PROGRAM> DEVICE RegexParts<PROGRAM> regex_parts(String text, PROGRAM program) { return {text, program}; }

// In the replacement, a byte of 0xF5 or more, which no UTF-8 has, is a place that the match kept.
template <class OUT, class PROGRAM> DEVICE void regexp_replace(OUT& out, String text, PROGRAM program, String put) {
    RegexReplacements<PROGRAM> matches(text, program);
    int64_t done = 0;
    for (RegexMatch<PROGRAM> match; matches.next(match);) {
        out.put(text.cut(done, match.start()));
        done = match.end;
        for (int64_t i = 0; i < put.size; ++i) {
            const int kept = uint8_t(put[i]) - 0xF5;
            if (kept < 0) out.put(put[i]);
            else out.put(match.captured(text, kept));
        }
    }
    out.put(text.cut(done, text.size));
}
