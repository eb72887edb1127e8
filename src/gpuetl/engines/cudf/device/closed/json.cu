// Values of JSON lines: where those of keys and elements stand, and the strings of them.
#include "json_text.cuh"
#include "reduce.cuh"

namespace json {

// The keys that are looked for, whose bytes lie side by side; the last one that was found is likely followed by the next.
struct Keys {
    int64_t count;
    const int32_t* places;
    const uint8_t* bytes;
    int64_t next = 0;

    DEVICE bool is(int64_t key, const uint8_t* name, int32_t size) const {
        if (places[key + 1] - places[key] != size) return false;
        const uint8_t* own = bytes + places[key];
        for (int32_t i = 0; i < size; ++i) {
            if (own[i] != name[i]) return false;
        }
        return true;
    }
    DEVICE int64_t find(const uint8_t* name, int32_t size) {
        for (int64_t tried = 0; tried < count; ++tried) {
            const int64_t key = next;
            next = next + 1 == count ? 0 : next + 1;
            if (is(key, name, size)) return key;
        }
        return -1;
    }
};

// The values of an object's members, one array of `rows` for each key.
struct Members {
    int64_t rows;
    int32_t* starts;
    int32_t* sizes;
    uint8_t* kinds;

    DEVICE void store(int64_t key, int64_t row, const Value& value) const {
        const int64_t place = key * rows + row;
        starts[place] = value.start, sizes[place] = value.size, kinds[place] = value.kind;
    }
};

// Whether a text is an object whose keys have no escapes, and stand once if they are looked for; with `all_keys` there
// are no others.
DEVICE bool read_object(Scanner scanner, Keys keys, bool all_keys, int64_t row, const Members& members) {
    if (!scanner.accept('{')) return false;
    scanner.skip_blanks();
    for (bool first = true; first ? !scanner.accept('}') : true; first = false) {
        Value name, value;
        if (!scanner.key(name) || name.kind == ESCAPED || !scanner.value(value)) return false;
        const int64_t key = keys.find(scanner.text + name.start, name.size);
        if (key < 0 && all_keys) return false;
        if (key >= 0) {
            if (members.kinds[key * members.rows + row] != MISSING) return false;
            members.store(key, row, value);
        }
        scanner.skip_blanks();
        if (scanner.accept('}')) break;
        if (!scanner.accept(',')) return false;
        scanner.skip_blanks();
    }
    return scanner.at == scanner.end;
}

// Whether a value is written with no more than so many digits behind the point, and without an exponent.
DEVICE bool is_decimal(const uint8_t* text, int32_t size, int64_t scale) {
    Scanner scanner{text, 0, size};
    scanner.accept('-');
    if (!scanner.digits()) return false;
    if (scanner.accept('.')) {
        const int32_t start = scanner.at;
        if (!scanner.digits() || scanner.at - start > scale) return false;
    }
    return scanner.at == size;
}

DEVICE int put_utf8(uint8_t* to, uint32_t code) {
    const int size = utf8_size(code);
    if (size == 1) {
        to[0] = uint8_t(code);
        return 1;
    }
    for (int i = size - 1; i; --i, code >>= 6) to[i] = uint8_t(0x80 | (code & 0x3F));
    to[0] = uint8_t((0xF00 >> size) | code);
    return size;
}

}  // namespace json

// Where line ends stand.
KERNEL mark_line_ends(int64_t rows, const uint8_t* text, uint8_t* marks) {
    FOR_EACH_ROW(row, rows) if (row < rows) marks[row] = text[row] == '\n';
}

// Where lines begin without the blanks around them, their sizes, and whether they have any text.
KERNEL place_lines(int64_t rows, const uint8_t* text, const int32_t* ends, int32_t* starts, int32_t* sizes,
                   uint8_t* marks, uint64_t* blank) {
    Tally found;
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        json::Scanner line{text, row ? ends[row - 1] + 1 : 0, ends[row]};
        line.skip_blanks();
        int32_t end = line.end;
        while (end > line.at && (text[end - 1] == ' ' || text[end - 1] == '\t' || text[end - 1] == '\r')) --end;
        starts[row] = line.at, sizes[row] = end - line.at, marks[row] = end > line.at;
        found.count += end == line.at;
    }
    found.store(blank);
}

// The members of objects, by key; `odd` counts objects that cannot be read here.  With `outer` these are values, of which
// those that are missing or null have no members.
KERNEL read_objects(int64_t rows, int64_t keys, int64_t all_keys, const uint8_t* text, const int32_t* starts,
                    const int32_t* sizes, const uint8_t* outer, const int32_t* key_places, const uint8_t* key_bytes,
                    int32_t* member_starts, int32_t* member_sizes, uint8_t* member_kinds, uint64_t* odd) {
    const json::Members members{rows, member_starts, member_sizes, member_kinds};
    Tally found;
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        for (int64_t key = 0; key < keys; ++key) members.store(key, row, json::Value{});
        if (outer && outer[row] <= json::NIL) continue;
        const json::Scanner scanner{text, starts[row], starts[row] + sizes[row]};
        found.count += !json::read_object(scanner, {keys, key_places, key_bytes}, all_keys, row, members);
    }
    found.store(odd);
}

// How many elements arrays have, after a first 0; `odd` counts values that are none.  The text is known to be JSON.
KERNEL count_elements(int64_t rows, const uint8_t* text, const int32_t* starts, const int32_t* sizes,
                      const uint8_t* kinds, int32_t* counts, uint64_t* odd) {
    Tally found;
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        int32_t count = 0;
        if (kinds[row] == json::ARRAY) {
            json::Scanner scanner{text, starts[row] + 1, starts[row] + sizes[row]};
            json::Value value;
            scanner.skip_blanks();
            for (bool more = !scanner.accept(']'); more && scanner.value(value); ++count) {
                scanner.skip_blanks();
                more = scanner.accept(',');
                scanner.skip_blanks();
            }
        } else {
            found.count += kinds[row] > json::NIL;
        }
        if (row == 0) counts[0] = 0;
        counts[row + 1] = count;
    }
    found.store(odd);
}

// Where the elements of arrays stand, from the offset of each array on.
KERNEL place_elements(int64_t rows, const uint8_t* text, const int32_t* starts, const int32_t* sizes,
                      const int32_t* offsets, int32_t* element_starts, int32_t* element_sizes, uint8_t* element_kinds) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows || offsets[row] == offsets[row + 1]) continue;
        json::Scanner scanner{text, starts[row] + 1, starts[row] + sizes[row]};
        for (int32_t place = offsets[row]; place < offsets[row + 1]; ++place) {
            json::Value value;
            scanner.skip_blanks();
            scanner.value(value);
            scanner.skip_blanks();
            scanner.accept(',');
            element_starts[place] = value.start, element_sizes[place] = value.size, element_kinds[place] = value.kind;
        }
    }
}

// Which values are there.
KERNEL mark_values(int64_t rows, const uint8_t* kinds, uint8_t* valid) {
    FOR_EACH_ROW(row, rows) if (row < rows) valid[row] = kinds[row] > json::NIL;
}

// The sizes of values as strings, after a first 0, and which are there.  `wanted` has a bit for each kind that may be;
// with a scale of 0 or more values are written as decimals.  `counts` has the values that are of another kind or not so
// written, and the strings with escapes.
KERNEL place_values(int64_t rows, int64_t wanted, int64_t scale, const uint8_t* text, const int32_t* starts,
                    const int32_t* sizes, const uint8_t* kinds, int32_t* string_sizes, uint8_t* valid,
                    uint64_t* counts) {
    Tally odd, escaped;
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        const uint8_t kind = kinds[row];
        const bool is_valid = kind > json::NIL;
        if (row == 0) string_sizes[0] = 0;
        string_sizes[row + 1] = is_valid ? sizes[row] : 0;
        valid[row] = is_valid;
        const bool fits = wanted >> kind & 1 && (scale < 0 || json::is_decimal(text + starts[row], sizes[row], scale));
        odd.count += is_valid && !fits;
        escaped.count += kind == json::ESCAPED;
    }
    odd.store(counts);
    escaped.store(counts + 1);
}

// The bytes of strings some of which have escapes.
KERNEL copy_escaped(int64_t rows, const uint8_t* text, const int32_t* starts, const uint8_t* kinds,
                    const int32_t* offsets, uint8_t* bytes) {
    FOR_EACH_ROW(row, rows) {
        if (row >= rows) continue;
        json::Scanner scanner{text, starts[row], 0x7fffffff};
        for (int32_t to = offsets[row]; to < offsets[row + 1];) {
            const uint8_t c = text[scanner.at++];
            if (c == '\\' && kinds[row] == json::ESCAPED) {
                to += json::put_utf8(bytes + to, uint32_t(scanner.escape()));
            } else {
                bytes[to++] = c;
            }
        }
    }
}
