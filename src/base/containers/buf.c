// Buf: bytes that double until a ceiling.
//
//   [buf-4] A write that does not fit under `max_size` is dropped whole, and so is every later one
//        until buf_clear: the content is always a prefix of what was written.
//   [buf-5] `capacity` leaves a byte beyond the content for the NUL of buf_cstr.
//   [buf-6] `capacity` is at most max_size + 1: the inline writers of the header rely on it.
#include "base/containers/buf.h"
#include "base/assert.h"
#include "base/memory.h"
#include <stdio.h>

enum { BUF_FIRST_CAPACITY = 64 };

void buf_init(Buf *buf, size_t max_size) {
    ASSERT(max_size < SIZE_MAX);
    *buf = (Buf){.max_size = max_size};
}

void buf_done(Buf *buf) {
    mem_free(buf->data);
    *buf = (Buf){.max_size = buf->max_size};
}

void buf_clear(Buf *buf) {
    buf->len = 0;
    buf->is_overflown = false;
}

void buf_reserve(Buf *buf, size_t extra) {
    if (buf->is_overflown || extra > buf->max_size - buf->len) {
        buf->is_overflown = true; // [buf-4]
        return;
    }
    size_t needed = buf->len + extra + 1; // [buf-5]
    if (needed <= buf->capacity) return;
    size_t capacity = buf->capacity ? buf->capacity : BUF_FIRST_CAPACITY;
    while (capacity < needed && capacity <= buf->max_size / 2) capacity *= 2;
    if (capacity < needed || capacity > buf->max_size) capacity = buf->max_size + 1; // [buf-6]
    buf->data = mem_realloc(buf->data, capacity);
    buf->capacity = capacity;
}

void buf_append_slowly(Buf *buf, const void *data, size_t len) {
    buf_reserve(buf, len);
    if (buf->is_overflown || len == 0) return;
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
}

void buf_append_str(Buf *buf, Str s) { buf_append(buf, s.data, s.len); }

void buf_append_cstr(Buf *buf, const char *text) { buf_append(buf, text, strlen(text)); }

__attribute__((format(printf, 2, 0))) static void buf_vprintf(Buf *buf, const char *format,
                                                              va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int len = vsnprintf(NULL, 0, format, arguments);
    ASSERT(len >= 0);
    buf_reserve(buf, (size_t)len);
    if (!buf->is_overflown) {
        vsnprintf(buf->data + buf->len, (size_t)len + 1, format, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}

void buf_printf(Buf *buf, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    buf_vprintf(buf, format, arguments);
    va_end(arguments);
}

const char *buf_cstr(Buf *buf) {
    if (!buf->data) return "";
    buf->data[buf->len] = '\0';
    return buf->data;
}
