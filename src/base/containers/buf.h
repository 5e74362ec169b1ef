// Buf: bytes that grow, up to a ceiling.
//   [buf-1] A write past `max_size` is dropped and sets `is_overflown`; the content stays valid.
//   [buf-2] The owner checks `is_overflown` once at the end instead of at each write.
//   [buf-3] `capacity` is at most max_size + 1: room in it is room under the ceiling.
#pragma once
#include "base/text/str.h"
#include <stdarg.h>
#include <stdint.h>

typedef struct Buf {
    char *data; // NULL until the first write
    size_t len;
    size_t capacity;
    size_t max_size;
    bool is_overflown;
} Buf;

void buf_init(Buf *buf, size_t max_size);
void buf_done(Buf *buf);
void buf_clear(Buf *buf); // len = 0, overflow forgotten, memory kept
// Room for `extra` more bytes at data + len, or is_overflown.
void buf_reserve(Buf *buf, size_t extra);
void buf_append_slowly(Buf *buf, const void *data, size_t len); // what the next two fall back on
static inline void buf_append(Buf *buf, const void *data, size_t len) {
    if (buf->is_overflown || len == 0 || len >= buf->capacity - buf->len) {
        buf_append_slowly(buf, data, len);
        return;
    }
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
}
static inline void buf_append_char(Buf *buf, char c) {
    if (buf->is_overflown || buf->capacity - buf->len <= 1) buf_append_slowly(buf, &c, 1);
    else buf->data[buf->len++] = c;
}
void buf_append_str(Buf *buf, Str s);
void buf_append_cstr(Buf *buf, const char *text);
void buf_printf(Buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The content, NUL-terminated in place (the NUL is not counted). Never NULL.
const char *buf_cstr(Buf *buf);
static inline Str buf_str(const Buf *buf) { return (Str){buf->data ? buf->data : "", buf->len}; }
