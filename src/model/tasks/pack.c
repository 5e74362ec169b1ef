// Packed tasks: a bit for each field that is there, then those fields in the order below.
//
//   [tasks-pack-1] Numbers of fields are part of the file format: append, never renumber.
//   [tasks-pack-2] Reading never goes outside the bytes, and answers ERR_CORRUPT unless they are
//        exactly one task.
#include "model/tasks/pack.h"
#include "base/array.h"
#include "base/assert.h"
#include "base/containers/bytes.h"

enum { PACK_VERSION = 1 };

// [tasks-pack-1] All columns but `run` and `phase`.
static const uint16_t number_fields[] = {
    offsetof(TaskRow, key),
    offsetof(TaskRow, position),
    offsetof(TaskRow, state),
    offsetof(TaskRow, priority),
    offsetof(TaskRow, claim_rank),
    offsetof(TaskRow, key_rank),
    offsetof(TaskRow, attempt),
    offsetof(TaskRow, token),
    offsetof(TaskRow, max_attempts),
    offsetof(TaskRow, backoff_ms),
    offsetof(TaskRow, backoff_max_ms),
    offsetof(TaskRow, backoff_factor_pct),
    offsetof(TaskRow, jitter_pct),
    offsetof(TaskRow, start_timeout_ms),
    offsetof(TaskRow, run_timeout_ms),
    offsetof(TaskRow, heartbeat_ms),
    offsetof(TaskRow, due_at_ms),
    offsetof(TaskRow, close_at_ms),
    offsetof(TaskRow, is_cancel_wanted),
    offsetof(TaskRow, created_at_ms),
    offsetof(TaskRow, started_at_ms),
    offsetof(TaskRow, finished_at_ms),
};
static const uint16_t text_fields[] = {
    offsetof(TaskRow, id),
    offsetof(TaskRow, name),
    offsetof(TaskRow, queue),
    offsetof(TaskRow, worker),
    offsetof(TaskRow, non_retryable),
    offsetof(TaskRow, concurrency_key),
    offsetof(TaskRow, input),
    offsetof(TaskRow, result),
    offsetof(TaskRow, error),
    offsetof(TaskRow, progress),
    offsetof(TaskRow, secrets),
};
_Static_assert(sizeof(TaskRow) == (COUNT_OF(number_fields) + 2) * sizeof(int64_t) +
                                      COUNT_OF(text_fields) * sizeof(Str),
               "a field of TaskRow is not listed");

static int64_t *number_at(TaskRow *task, size_t i) {
    return (int64_t *)(void *)((char *)task + number_fields[i]);
}

static Str *text_at(TaskRow *task, size_t i) {
    return (Str *)(void *)((char *)task + text_fields[i]);
}

typedef struct Writer { // into room that is large enough
    char *at;
} Writer;

static void put_varint(Writer *writer, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *writer->at++ = (char)(value | 0x80);
    *writer->at++ = (char)value;
}

static void put_zigzag(Writer *writer, int64_t value) {
    put_varint(writer, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static void put_str(Writer *writer, Str s) { // as bytes_put_str does
    put_varint(writer, s.len + 1);
    if (s.len > 0) memcpy(writer->at, s.data, s.len);
    writer->at += s.len;
}

Str task_pack(Arena *arena, const TaskRow *task) {
    enum { VARINT_MAX = 10, NUMBERS = COUNT_OF(number_fields), TEXTS = COUNT_OF(text_fields) };
    TaskRow row = *task;
    uint32_t numbers = 0, texts = 0;
    size_t size = 1 + VARINT_MAX * (2 + NUMBERS + TEXTS);
    for (size_t i = 0; i < NUMBERS; i++) numbers |= (uint32_t)(*number_at(&row, i) != 0) << i;
    for (size_t i = 0; i < TEXTS; i++) {
        texts |= (uint32_t)!str_is_null(*text_at(&row, i)) << i;
        size += text_at(&row, i)->len;
    }
    char *bytes = arena_alloc(arena, size);
    Writer writer = {bytes};
    *writer.at++ = PACK_VERSION;
    put_varint(&writer, numbers);
    put_varint(&writer, texts);
    for (size_t i = 0; i < NUMBERS; i++)
        if (numbers >> i & 1) put_zigzag(&writer, *number_at(&row, i));
    for (size_t i = 0; i < TEXTS; i++)
        if (texts >> i & 1) put_str(&writer, *text_at(&row, i));
    ASSERT((size_t)(writer.at - bytes) <= size);
    return (Str){bytes, (size_t)(writer.at - bytes)};
}

Status task_unpack(Arena *arena, Str bytes, TaskRow *ret_task) {
    if (str_is_null(bytes)) return ERR_CORRUPT;
    TaskRow task = {0};
    ByteReader reader = bytes_reader(bytes);
    uint8_t version = bytes_get_u8(&reader);
    uint64_t numbers = bytes_get_varint(&reader), texts = bytes_get_varint(&reader);
    bool is_known = version == PACK_VERSION && numbers >> COUNT_OF(number_fields) == 0 &&
                    texts >> COUNT_OF(text_fields) == 0;
    if (reader.is_bad || !is_known) return ERR_CORRUPT;
    for (size_t i = 0; i < COUNT_OF(number_fields); i++)
        if (numbers >> i & 1) *number_at(&task, i) = bytes_get_zigzag(&reader);
    for (size_t i = 0; i < COUNT_OF(text_fields); i++)
        if (texts >> i & 1) *text_at(&task, i) = arena_str(arena, bytes_get_str(&reader));
    if (reader.is_bad || bytes_left(&reader) != 0) return ERR_CORRUPT; // [tasks-pack-2]
    *ret_task = task;
    return OK;
}
