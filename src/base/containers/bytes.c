// Bytes: the encodings that snapshots and stored blobs are made of.
//
// Numbers are assembled byte by byte, so the format does not depend on the machine; compilers
// turn this into single moves.
//   [bytes-1] A varint has the shortest form; a longer one, or one past 64 bits, is bad input.
//   [bytes-2] Nothing is read at or after `end`, whatever the bytes say.
#include "base/containers/bytes.h"

void bytes_put_u8(Buf *buf, uint8_t value) { buf_append(buf, &value, 1); }

void bytes_put_u32(Buf *buf, uint32_t value) {
    uint8_t bytes[4];
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    buf_append(buf, bytes, sizeof(bytes));
}

void bytes_put_u64(Buf *buf, uint64_t value) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(value >> (8 * i));
    buf_append(buf, bytes, sizeof(bytes));
}

void bytes_put_f64(Buf *buf, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    bytes_put_u64(buf, bits);
}

void bytes_put_varint(Buf *buf, uint64_t value) {
    uint8_t bytes[10];
    size_t len = 0;
    for (; value >= 0x80; value >>= 7) bytes[len++] = (uint8_t)(value | 0x80);
    bytes[len++] = (uint8_t)value;
    buf_append(buf, bytes, len);
}

void bytes_put_zigzag(Buf *buf, int64_t value) {
    uint64_t sign = value < 0 ? UINT64_MAX : 0;
    bytes_put_varint(buf, ((uint64_t)value << 1) ^ sign);
}

void bytes_put_str(Buf *buf, Str s) {
    bytes_put_varint(buf, str_is_null(s) ? 0 : (uint64_t)s.len + 1);
    buf_append_str(buf, s);
}

ByteReader bytes_reader(Str s) {
    const uint8_t *start = (const uint8_t *)(s.data ? s.data : "");
    return (ByteReader){.at = start, .end = start + s.len};
}

// From the first fault on, every read answers zero.
static bool reader_has(ByteReader *reader, size_t size) {
    if (!reader->is_bad && bytes_left(reader) >= size) return true; // [bytes-2]
    reader->is_bad = true;
    return false;
}

uint8_t bytes_get_u8(ByteReader *reader) { return reader_has(reader, 1) ? *reader->at++ : 0; }

uint32_t bytes_get_u32(ByteReader *reader) {
    if (!reader_has(reader, 4)) return 0;
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) value |= (uint32_t)reader->at[i] << (8 * i);
    reader->at += 4;
    return value;
}

uint64_t bytes_get_u64(ByteReader *reader) {
    if (!reader_has(reader, 8)) return 0;
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value |= (uint64_t)reader->at[i] << (8 * i);
    reader->at += 8;
    return value;
}

double bytes_get_f64(ByteReader *reader) {
    uint64_t bits = bytes_get_u64(reader);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

uint64_t bytes_get_varint(ByteReader *reader) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (!reader_has(reader, 1)) return 0;
        uint8_t byte = *reader->at++;
        value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte & 0x80) continue;
        bool is_overlong = shift > 0 && byte == 0;
        bool is_too_large = shift == 63 && byte > 1;
        if (is_overlong || is_too_large) break; // [bytes-1]
        return value;
    }
    reader->is_bad = true;
    return 0;
}

int64_t bytes_get_zigzag(ByteReader *reader) {
    uint64_t value = bytes_get_varint(reader);
    return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

Str bytes_get_str(ByteReader *reader) {
    uint64_t size = bytes_get_varint(reader);
    if (size == 0) return STR_NULL;
    if (size - 1 > bytes_left(reader)) {
        reader->is_bad = true;
        return STR_NULL;
    }
    Str s = {(const char *)reader->at, (size_t)size - 1};
    reader->at += s.len;
    return s;
}
