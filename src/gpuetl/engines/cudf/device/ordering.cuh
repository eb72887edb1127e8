// Values as texts whose bytes compare as the values do: the digits of numbers in base 64, from '0' to 'o', at a fixed width.
#pragma once
#include "floats.cuh"

// A number of so many bits, the highest digit first.
template <class OUT, class BITS> DEVICE void put_order_digits(OUT& out, BITS number, int bits) {
    for (int place = (bits + 5) / 6 - 1; place >= 0; --place) out.put(char('0' + int(number >> 6 * place & 63)));
}

// One zero, and one NaN, the greatest: negative floats have all bits turned over, the others their sign.
template <class OUT> DEVICE void put_order(OUT& out, double value) {
    const uint64_t sign = 1ULL << 63, bits = bits_of(value == 0 ? 0.0 : value);
    put_order_digits(out, is_nan(value) ? ~0ULL : bits & sign ? ~bits : bits | sign, 64);
}
template <class OUT> DEVICE void put_order(OUT& out, float value) {
    const uint32_t sign = 1u << 31, bits = same_bits<uint32_t>(value == 0 ? 0.0f : value);
    put_order_digits(out, is_nan(value) ? ~0u : bits & sign ? ~bits : bits | sign, 32);
}
template <class OUT> DEVICE void put_order(OUT& out, bool value) { out.put(value ? '1' : '0'); }
template <class OUT> DEVICE void put_order(OUT& out, int128_t value) {
    put_order_digits(out, uint128_t(value) ^ uint128_t(1) << 127, 128);
}
// A zero byte ends the string: one that is in it is 1 1, and a byte 1 is 1 2.
template <class OUT> DEVICE void put_order(OUT& out, String text) {
    out.put('0');
    for (int64_t at = 0; at < text.size; ++at) {
        const uint8_t byte = uint8_t(text[at]);
        if (byte < 2) out.put('\1');
        out.put(byte < 2 ? char(byte + 1) : char(byte));
    }
    out.put('\0');
}
template <class OUT, class T> DEVICE void put_order(OUT& out, T value) {
    const int bits = 8 * int(sizeof(T));
    const uint64_t sign = T(-1) < T(0) ? 1ULL << (bits - 1) : 0, mask = bits < 64 ? (1ULL << bits) - 1 : ~0ULL;
    put_order_digits(out, (uint64_t(value) ^ sign) & mask, bits);
}

template <class OUT, class T> DEVICE void put_order_or_null(OUT& out, Maybe<T> value) {
    if (value.valid) put_order(out, value.value);
    else out.put('~');
}
