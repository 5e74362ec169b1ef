// Bytes: numbers into and out of byte strings. Little-endian and LEB128 varints.
// A ByteReader never reads past its end: the first short read sets `is_bad`, and from then on
// every read answers zero, so a decoder checks once at the end.
#pragma once
#include "base/containers/buf.h"

void bytes_put_u8(Buf *buf, uint8_t value);
void bytes_put_u32(Buf *buf, uint32_t value);
void bytes_put_u64(Buf *buf, uint64_t value);
void bytes_put_f64(Buf *buf, double value);
void bytes_put_varint(Buf *buf, uint64_t value);
void bytes_put_zigzag(Buf *buf, int64_t value);
void bytes_put_str(Buf *buf, Str s); // varint(len + 1) and the bytes; 0 = null

typedef struct ByteReader {
    const uint8_t *at;
    const uint8_t *end;
    bool is_bad;
} ByteReader;

ByteReader bytes_reader(Str s);
uint8_t bytes_get_u8(ByteReader *reader);
uint32_t bytes_get_u32(ByteReader *reader);
uint64_t bytes_get_u64(ByteReader *reader);
double bytes_get_f64(ByteReader *reader);
uint64_t bytes_get_varint(ByteReader *reader);
int64_t bytes_get_zigzag(ByteReader *reader);
Str bytes_get_str(ByteReader *reader); // points into the input
static inline size_t bytes_left(const ByteReader *r) { return (size_t)(r->end - r->at); }
