// `hash` of the language: XXH64 (Y. Collet, xxHash fast digest algorithm, specification 0.1.1) over defined bytes.
#pragma once

constexpr uint64_t XXH_PRIME1 = 0x9E3779B185EBCA87, XXH_PRIME2 = 0xC2B2AE3D27D4EB4F, XXH_PRIME3 = 0x165667B19E3779F9;
constexpr uint64_t XXH_PRIME4 = 0x85EBCA77C2B2AE63, XXH_PRIME5 = 0x27D4EB2F165667C5;

DEVICE uint64_t rotated(uint64_t bits, int by) { return bits << by | bits >> (64 - by); }
DEVICE uint64_t xxh_round(uint64_t lane, uint64_t word) { return rotated(lane + word * XXH_PRIME2, 31) * XXH_PRIME1; }

DEVICE uint64_t with_word(uint64_t hash, uint64_t word) {
    return rotated(hash ^ xxh_round(0, word), 27) * XXH_PRIME1 + XXH_PRIME4;
}
DEVICE uint64_t with_half(uint64_t hash, uint64_t word) {
    return rotated(hash ^ word * XXH_PRIME1, 23) * XXH_PRIME2 + XXH_PRIME3;
}
DEVICE uint64_t with_byte(uint64_t hash, uint64_t byte) { return rotated(hash ^ byte * XXH_PRIME5, 11) * XXH_PRIME1; }

DEVICE uint64_t avalanche(uint64_t hash) {
    hash = (hash ^ hash >> 33) * XXH_PRIME2;
    hash = (hash ^ hash >> 29) * XXH_PRIME3;
    return hash ^ hash >> 32;
}

// Strings begin at any byte, and a GPU loads words from multiples of their size only.
DEVICE uint64_t little_endian(String text, int64_t at, int bytes) {
    uint64_t word = 0;
    for (int i = 0; i < bytes; ++i) word |= uint64_t(uint8_t(text[at + i])) << 8 * i;
    return word;
}

DEVICE uint64_t hash_stripes(String text, uint64_t seed) {
    uint64_t lanes[4] = {seed + XXH_PRIME1 + XXH_PRIME2, seed + XXH_PRIME2, seed, seed - XXH_PRIME1};
    for (int64_t at = 0; at + 32 <= text.size; at += 32)
        for (int i = 0; i < 4; ++i) lanes[i] = xxh_round(lanes[i], little_endian(text, at + 8 * i, 8));
    uint64_t hash = rotated(lanes[0], 1) + rotated(lanes[1], 7) + rotated(lanes[2], 12) + rotated(lanes[3], 18);
    for (int lane = 0; lane < 4; ++lane) hash = (hash ^ xxh_round(0, lanes[lane])) * XXH_PRIME1 + XXH_PRIME4;
    return hash;
}

DEVICE uint64_t hash_value(String text, uint64_t seed) {
    uint64_t hash = (text.size >= 32 ? hash_stripes(text, seed) : seed + XXH_PRIME5) + uint64_t(text.size);
    int64_t at = text.size / 32 * 32;
    for (; at + 8 <= text.size; at += 8) hash = with_word(hash, little_endian(text, at, 8));
    if (at + 4 <= text.size) {
        hash = with_half(hash, little_endian(text, at, 4));
        at += 4;
    }
    for (; at < text.size; ++at) hash = with_byte(hash, uint8_t(text[at]));
    return avalanche(hash);
}

// Truth values, integers and times as int64: the sign is extended.
template <class T> DEVICE uint64_t hash_value(T value, uint64_t seed) {
    return avalanche(with_word(seed + XXH_PRIME5 + 8, uint64_t(value)));
}
// Floats as float64, with one zero and one NaN.
DEVICE uint64_t hash_value(double value, uint64_t seed) {
    const uint64_t bits = value != value ? 0x7FF8000000000000 : value == 0 ? 0 : bits_of(value);
    return hash_value(bits, seed);
}
DEVICE uint64_t hash_value(float value, uint64_t seed) { return hash_value(double(value), seed); }
// Decimals, as 16 bytes.
DEVICE uint64_t hash_value(int128_t units, uint64_t seed) {
    return avalanche(with_word(with_word(seed + XXH_PRIME5 + 16, uint64_t(units)), uint64_t(units >> 64)));
}

// A null is the byte 0xFF.
template <class T> DEVICE uint64_t hash_of(Maybe<T> value, uint64_t seed) {
    return value.valid ? hash_value(value.value, seed) : avalanche(with_byte(seed + XXH_PRIME5 + 1, 0xFF));
}

// The hash of the first value is the seed of the next one's, and so on.
DEVICE int64_t chained_hash(uint64_t seed) { return int64_t(seed); }
template <class T, class... REST> DEVICE int64_t chained_hash(uint64_t seed, Maybe<T> first, REST... rest) {
    return chained_hash(hash_of(first, seed), rest...);
}

template <class T> DEVICE int64_t bucket(Maybe<T> value, Maybe<int64_t> count) {
    return int64_t(hash_of(value, 0) % uint64_t(count.value));
}
