"""Texts of key kernels as they were generated for each list of columns, up to commit c513d695.

What the closed kernels are measured against, and compared with: each text knows its columns' types and nulls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpuetl.engines.cudf.codegen.device_headers import headers_text
from gpuetl.engines.cudf.columns.keys import Layout, unsigned_type

DIGITS = """
// ---- values ---------------------------------------------------------------------------------------------------------

constexpr uint64_t SIGN = 1ULL << 63;

template <class T> DEVICE uint64_t ordered(T value) {
    return is_signed<T>::value ? uint64_t(int64_t(value)) ^ SIGN : uint64_t(value);
}

// The integer that is `ordered` so.
template <class T> DEVICE T integer_of(uint64_t digit) { return T(is_signed<T>::value ? digit ^ SIGN : digit); }

// One zero and one NaN, the greatest.  (Herf 2001, "Radix tricks": negative floats have all bits turned over.)
DEVICE uint64_t ordered(double value) {
    if (is_nan(value)) return ~0ULL;
    const uint64_t bits = bits_of(value == 0 ? 0.0 : value);
    return bits & SIGN ? ~bits : bits | SIGN;
}
DEVICE uint64_t ordered(float value) {
    if (is_nan(value)) return 0xffffffffULL;
    const uint32_t bits = same_bits<uint32_t>(value == 0 ? 0.0f : value), sign = 1u << 31;
    return bits & sign ? ~bits : bits | sign;
}

// ---- digits ---------------------------------------------------------------------------------------------------------

// The digits of a row's keys; those of a null are 0 and not `known`.
template <int N>
struct Digits {
    uint64_t of[N];
    bool known[N];

    DEVICE void flag(int at, bool set) { of[at] = set, known[at] = true; }
    DEVICE void put(int at, bool valid, uint64_t digit, bool descending) {
        of[at] = valid ? (descending ? ~digit : digit) : 0;
        known[at] = valid;
    }
    template <class T> DEVICE void value(int at, Maybe<T> x, bool descending) {
        put(at, x.valid, ordered(x.value), descending);
    }
    DEVICE void value(int at, Maybe<int128_t> x, bool descending) {
        put(at, x.valid, ordered(int64_t(x.value >> 64)), descending);
        put(at + 1, x.valid, uint64_t(x.value), descending);
    }
};

template <int N> DEVICE bool is_before(const Digits<N>& x, const Digits<N>& y) {
    for (int at = 0; at < N; ++at)
        if (x.of[at] != y.of[at]) return x.of[at] < y.of[at];
    return false;
}

// Whether the first `count` digits differ.
template <int N> DEVICE bool differ(const Digits<N>& x, const Digits<N>& y, int count) {
    for (int at = 0; at < count; ++at)
        if (x.of[at] != y.of[at]) return true;
    return false;
}

// ---- what is measured -----------------------------------------------------------------------------------------------

// The least and the greatest of each digit, and whether a row stands after one that it should stand before.
template <int N>
struct Ranges {
    uint64_t least[N], greatest[N], disorder = 0;

    DEVICE Ranges() {
        for (int at = 0; at < N; ++at) least[at] = ~0ULL, greatest[at] = 0;
    }
    DEVICE void include(int at, uint64_t low, uint64_t high) {
        if (low < least[at]) least[at] = low;
        if (high > greatest[at]) greatest[at] = high;
    }
    DEVICE void add(const Digits<N>& digits) {
        for (int at = 0; at < N; ++at)
            if (digits.known[at]) include(at, digits.of[at], digits.of[at]);
    }
    DEVICE void merge(const Ranges& other) {
        for (int at = 0; at < N; ++at) include(at, other.least[at], other.greatest[at]);
        disorder |= other.disorder;
    }
    // Places that begin as 0: the complement of the least and the greatest of each digit, then the disorder.
    DEVICE void store(uint64_t* places) const {
        for (int at = 0; at < N; ++at) {
            raise_if_less(places + 2 * at, ~least[at]);
            raise_if_less(places + 2 * at + 1, greatest[at]);
        }
        raise_if_less(places + 2 * N, disorder);
    }
    DEVICE static void raise_if_less(uint64_t* place, uint64_t value) {
        if (*(volatile uint64_t*)place < value) raise_to(place, value);
    }
};
"""

LOOKUPS = """
template <int N> DEVICE bool all_known(const Digits<N>& digits) {
    for (int at = 0; at < N; ++at)
        if (!digits.known[at]) return false;
    return true;
}

template <int N> DEVICE bool are_equal(const Digits<N>& x, const Digits<N>& y) {
    for (int at = 0; at < N; ++at)
        if (x.of[at] != y.of[at] || x.known[at] != y.known[at]) return false;
    return true;
}

// The finalizer of MurmurHash3 (Appleby 2011), digit by digit.
template <int N> DEVICE uint64_t hash_of(const Digits<N>& digits) {
    uint64_t hash = 0;
    for (int at = 0; at < N; ++at) {
        hash = (hash ^ digits.of[at]) + 0x9E3779B97F4A7C15ULL;
        hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCDULL;
        hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53ULL;
        hash ^= hash >> 33;
    }
    return hash;
}

// The place of a row's key, which becomes the row's if nobody has it; `repeated` tells whether another row does.
template <class KEYS, int N>
DEVICE int64_t insert_by_hash(const KEYS& keys, const Digits<N>& digits, int32_t row, int32_t* owners, uint64_t mask,
                              bool& repeated) {
    for (uint64_t slot = hash_of(digits) & mask;; slot = (slot + 1) & mask) {
        const int32_t owner = claim(owners + slot, row);
        repeated = owner >= 0;
        if (!repeated || are_equal(digits, keys[owner])) return slot;
    }
}

// The place of a key, -1 where it is not there.
template <class KEYS, int N>
DEVICE int64_t find_by_hash(const KEYS& keys, const Digits<N>& digits, const int32_t* owners, uint64_t mask) {
    for (uint64_t slot = hash_of(digits) & mask;; slot = (slot + 1) & mask) {
        const int32_t owner = owners[slot];
        if (owner < 0) return -1;
        if (are_equal(digits, keys[owner])) return slot;
    }
}
"""


@dataclass(frozen=True)
class Kind:
    """A key's type in memory; with `flagged` a digit before its own says where the nulls are."""

    stored: str
    nullable: bool = False
    flagged: bool = False
    descending: bool = False


def parameters(kinds: Sequence[Kind], prefix: str = "") -> list[str]:
    """Return the parameters of columns: values, and validity words where there are nulls."""
    return [
        text
        for at, kind in enumerate(kinds)
        for text in [f"const {kind.stored}* {prefix}data{at}", f"const uint32_t* {prefix}bits{at}"][: 1 + kind.nullable]
    ]


def made(kinds: Sequence[Kind], prefix: str = "", struct: str = "Keys") -> str:
    """Return the text that makes a struct of the parameters."""
    bits = (f"{prefix}bits{at}" if kind.nullable else "nullptr" for at, kind in enumerate(kinds))
    return f"{struct}{{{', '.join(f'{{{prefix}data{at}, {valid}}}' for at, valid in enumerate(bits))}}}"


def struct_text(kinds: Sequence[Kind], name: str = "Keys") -> str:
    """Return the struct whose operator[] gives a row's digits."""
    count = digits_of(kinds)
    fields = " ".join(f"Fixed<{kind.stored}> c{at};" for at, kind in enumerate(kinds))
    lines, digit = [], 0
    for at, kind in enumerate(kinds):
        lines.append(f"const auto x{at} = c{at}[row];")
        if kind.flagged:
            lines.append(f"digits.flag({digit}, !x{at}.valid);")
        lines.append(f"digits.value({digit + kind.flagged}, x{at}, {str(kind.descending).lower()});")
        digit += digits_of([kind])
    return f"""
struct {name} {{
    {fields}
    DEVICE Digits<{count}> operator[](int64_t place) const {{
        const int64_t row = place;
        Digits<{count}> digits;
        {" ".join(lines)}
        return digits;
    }}
}};
"""


def digits_of(kinds: Sequence[Kind]) -> int:
    """Return the number of digits."""
    return sum(1 + kind.flagged + (kind.stored == "int128_t") for kind in kinds)


def headers(*more: str) -> str:
    """Return what all texts begin with."""
    return headers_text(["rows.cuh", "floats.cuh", "reduce.cuh", *more]) + DIGITS


def measure_text(kinds: Sequence[Kind]) -> str:
    """Return the kernel `measure`: rows, places, columns."""
    return f"""{headers()}{struct_text(kinds)}
KERNEL measure(int64_t rows, uint64_t* places, {", ".join(parameters(kinds))}) {{
    const Keys keys = {made(kinds)};
    Ranges<{digits_of(kinds)}> ranges;
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const auto digits = keys[row];
        ranges.add(digits);
        if (!ranges.disorder && row && is_before(digits, keys[row - 1])) ranges.disorder = 1;
    }}
    merge_lanes(ranges);
    if (LANE == 0) ranges.store(places);
}}
"""


def pack_text(kinds: Sequence[Kind], layout: Layout) -> str:
    """Return the kernel `pack`: rows, words, the least value and the shift of each digit in a word, columns."""
    types = [unsigned_type(layout.width(word)) for word in layout.packed_integers]
    outputs = [f"uint{bits}_t* w{at}" for at, bits in enumerate(types)]
    placed = [f"int64_t least{d}, int64_t shift{d}" for word in layout.packed_integers for d in word]
    stores = "\n".join(
        f"        w{at}[row] = uint{bits}_t("
        + " | ".join(f"(digits.known[{d}] ? digits.of[{d}] - uint64_t(least{d}) : 0) << shift{d}" for d in word)
        + ");"
        for at, (word, bits) in enumerate(zip(layout.packed_integers, types, strict=True))
    )
    return f"""{headers()}{struct_text(kinds)}
KERNEL pack({", ".join(["int64_t rows", *outputs, *placed, *parameters(kinds)])}) {{
    const Keys keys = {made(kinds)};
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const auto digits = keys[row];
{stores}
    }}
}}
"""


def mark_text(types: Sequence[str]) -> str:
    """Return the kernel `mark` of words in the order of rows: rows, ties, marks, order, words."""
    words = [f"const {stored}* w{at}" for at, stored in enumerate(types)]
    reads = " ".join(f"const uint64_t x{at} = w{at}[at], y{at} = w{at}[last];" for at in range(len(types)))
    differ = " || ".join(f"x{at} != y{at}" for at in range(len(types)))
    return f"""{headers()}
KERNEL mark(int64_t rows, uint64_t* ties, uint8_t* m0, const int32_t* order, {", ".join(words)}) {{
    Tally ties_met;
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const int64_t previous = row - (row > 0);
        const int64_t at = order[row], last = order[previous];
        {reads}
        const bool d0 = row == 0 || {differ};
        m0[row] = d0;
        ties_met.count += !d0;
    }}
    ties_met.store(ties);
}}
"""


def slot_text(layout: Layout) -> str:
    """Return the statements that compute a slot by code."""
    return "slot = 0;" + "".join(
        f"""
            if (digits.known[{digit}]) {{
                const uint64_t part = digits.of[{digit}] - uint64_t(least{digit});
                if (part >> bits_of{digit}) slot = -1;
                else if (slot >= 0) slot |= part << shift{digit};
            }}"""
        for digit in range(len(layout.bits))
    )


def placement_parameters(layout: Layout | None) -> list[str]:
    """Return the parameters of a layout: least value, bits and shift of each digit."""
    digits = range(len(layout.bits)) if layout else ()
    return [f"int64_t least{digit}, int64_t bits_of{digit}, int64_t shift{digit}" for digit in digits]


def build_text(kinds: Sequence[Kind], layout: Layout | None) -> str:
    """Return the kernel `build`: rows, size, owners, slots, repeated, the layout, columns."""
    if layout:
        place = f"{slot_text(layout)}\n            again = claim(owners + slot, int32_t(row)) >= 0;"
    else:
        place = "slot = insert_by_hash(keys, digits, int32_t(row), owners, size - 1, again);"
    own = ["int64_t rows, int64_t size, int32_t* owners, int32_t* slots, uint64_t* repeated"]
    return f"""{headers("claims.cuh")}{LOOKUPS}{struct_text(kinds)}
KERNEL build({", ".join([*own, *placement_parameters(layout), *parameters(kinds)])}) {{
    const Keys keys = {made(kinds)};
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const auto digits = keys[row];
        int64_t slot = -1;
        if (all_known(digits)) {{
            bool again = false;
            {place}
            if (again) *repeated = 1;
        }}
        slots[row] = int32_t(slot);
    }}
}}
"""


def find_text(kinds: Sequence[Kind], others: Sequence[Kind], layout: Layout | None) -> str:
    """Return the kernel `find`: rows, size, want_slots, owners, found, count, the layout, columns of both sides."""
    keys, columns = f"const OtherKeys others = {made(others, 'other_', 'OtherKeys')};", parameters(others, "other_")
    structs = struct_text(others, "OtherKeys")
    if layout:
        place = slot_text(layout)
    else:
        keys += f" const Keys keys = {made(kinds)};"
        structs += struct_text(kinds)
        columns += parameters(kinds)
        place = "slot = find_by_hash(keys, digits, owners, size - 1);"
    own = ["int64_t rows, int64_t size, int64_t want_slots, const int32_t* owners, int32_t* found, uint64_t* count"]
    return f"""{headers("claims.cuh")}{LOOKUPS}{structs}
KERNEL find({", ".join([*own, *placement_parameters(layout), *columns])}) {{
    {keys}
    Tally hits;
    FOR_EACH_ROW(row, rows) {{
        if (row >= rows) continue;
        const auto digits = others[row];
        int64_t slot = -1;
        if (all_known(digits)) {{
            {place}
        }}
        const int32_t owner = slot < 0 ? -1 : owners[slot];
        found[row] = owner < 0 ? -1 : want_slots ? int32_t(slot) : owner;
        hits.count += owner >= 0;
    }}
    hits.store(count);
}}
"""
