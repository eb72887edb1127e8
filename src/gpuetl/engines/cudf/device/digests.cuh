// MD5 (RFC 1321), SHA-1 and SHA-256 (FIPS 180-4) of a text's bytes, in lower-case hexadecimal.
#pragma once

TABLE uint32_t MD5_SINES[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};
TABLE uint8_t MD5_SHIFTS[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

TABLE uint32_t SHA256_ROOTS[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

DEVICE uint32_t rotated_left(uint32_t bits, int by) { return bits << by | bits >> (32 - by); }
DEVICE uint32_t rotated_right(uint32_t bits, int by) { return bits >> by | bits << (32 - by); }

// The byte of a padded text: behind the text stands 0x80, in the last 8 bytes its size in bits.
DEVICE uint32_t padded_byte(String text, int64_t at, int64_t end, bool big_endian) {
    if (at < text.size) return uint8_t(text[at]);
    if (at == text.size) return 0x80;
    const int64_t place = end - 1 - at;  // from the end
    return place < 8 ? uint8_t(uint64_t(text.size) << 3 >> 8 * (big_endian ? place : 7 - place)) : 0;
}

DEVICE void load_block(uint32_t* words, String text, int64_t start, int64_t end, bool big_endian) {
    for (int i = 0; i < 64; ++i) {
        const uint32_t byte = padded_byte(text, start + i, end, big_endian) << 8 * (big_endian ? 3 - i % 4 : i % 4);
        words[i / 4] = i % 4 ? words[i / 4] | byte : byte;
    }
}

DEVICE int64_t padded_size(String text) { return (text.size + 8) / 64 * 64 + 64; }

template <class OUT> DEVICE void put_hexadecimal(OUT& out, const uint32_t* words, int count, bool big_endian) {
    for (int i = 0; i < 8 * count; ++i) {
        const int byte = big_endian ? 3 - i % 8 / 2 : i % 8 / 2;
        const uint32_t digit = words[i / 8] >> (8 * byte + (i % 2 ? 0 : 4)) & 15;
        out.put(char(digit < 10 ? '0' + digit : 'a' + digit - 10));
    }
}

DEVICE void md5_block(uint32_t* state, const uint32_t* words) {
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (int i = 0; i < 64; ++i) {
        const int round = i / 16;
        const uint32_t chosen = round == 0 ? (b & c) | (~b & d) : (d & b) | (~d & c);
        const uint32_t mixed = round < 2 ? chosen : round == 2 ? b ^ c ^ d : c ^ (b | ~d);
        const int place = round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i;
        const uint32_t sum = a + mixed + MD5_SINES[i] + words[place & 15];
        a = d;
        d = c;
        c = b;
        b += rotated_left(sum, MD5_SHIFTS[round][i & 3]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

DEVICE void sha256_block(uint32_t* state, const uint32_t* words) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; ++i) w[i] = words[i];
    for (int i = 16; i < 64; ++i) {
        const uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (rotated_right(x, 7) ^ rotated_right(x, 18) ^ x >> 3) + w[i - 7] +
               (rotated_right(y, 17) ^ rotated_right(y, 19) ^ y >> 10);
    }
    for (int i = 0; i < 8; ++i) s[i] = state[i];
    for (int i = 0; i < 64; ++i) {
        const uint32_t high = rotated_right(s[4], 6) ^ rotated_right(s[4], 11) ^ rotated_right(s[4], 25);
        const uint32_t low = rotated_right(s[0], 2) ^ rotated_right(s[0], 13) ^ rotated_right(s[0], 22);
        const uint32_t first = s[7] + high + ((s[4] & s[5]) ^ (~s[4] & s[6])) + SHA256_ROOTS[i] + w[i];
        const uint32_t second = low + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; --j) s[j] = s[j - 1];
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; ++i) state[i] += s[i];
}

DEVICE void sha1_block(uint32_t* state, const uint32_t* words) {
    uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    for (int i = 0; i < 16; ++i) w[i] = words[i];
    for (int i = 16; i < 80; ++i) w[i] = rotated_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 80; ++i) {
        const int round = i / 20;
        const uint32_t mixed = round == 0 ? (b & c) | (~b & d) : round == 2 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
        const uint32_t constant = round == 0 ? 0x5a827999 : round == 1 ? 0x6ed9eba1 : round == 2 ? 0x8f1bbcdc : 0xca62c1d6;
        const uint32_t first = rotated_left(a, 5) + mixed + e + constant + w[i];
        e = d;
        d = c;
        c = rotated_left(b, 30);
        b = a;
        a = first;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

template <class OUT> DEVICE void sha1(OUT& out, String text) {
    uint32_t words[16], state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (int64_t start = 0, end = padded_size(text); start < end; start += 64) {
        load_block(words, text, start, end, true);
        sha1_block(state, words);
    }
    put_hexadecimal(out, state, 5, true);
}
DEVICE void sha1(Measure& out, String) { out.size += 40; }

template <class OUT> DEVICE void md5(OUT& out, String text) {
    uint32_t words[16], state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    for (int64_t start = 0, end = padded_size(text); start < end; start += 64) {
        load_block(words, text, start, end, false);
        md5_block(state, words);
    }
    put_hexadecimal(out, state, 4, false);
}
DEVICE void md5(Measure& out, String) { out.size += 32; }

template <class OUT> DEVICE void sha256(OUT& out, String text) {
    uint32_t words[16], state[8] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };
    for (int64_t start = 0, end = padded_size(text); start < end; start += 64) {
        load_block(words, text, start, end, true);
        sha256_block(state, words);
    }
    put_hexadecimal(out, state, 8, true);
}
DEVICE void sha256(Measure& out, String) { out.size += 64; }
