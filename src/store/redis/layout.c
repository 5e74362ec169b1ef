// The layout: which columns a row has on the server, in which order.
//
//   [layout-1] Making the store, or bringing it up, is one call: any number of nodes may start at
//        once.
//   [layout-2] Columns are stored in the order in which they came. Those that a newer abide has
//        added stand at the end; an older one that goes on beside it leaves them as they are.
//   [layout-3] The layout has a number, which every call names: who knows an older one looks again.
//   [layout-4] Indexes cannot be added that way, since an older abide would not fill them: a store
//        with other ones is refused.
//   [layout-5] Keys that are there but not ours are left untouched.
#include "base/containers/hash.h"
#include "store/redis/internal.h"
#include <stdio.h>

// [layout-4] The same number in every program whose indexes sort alike.
static uint32_t orders_digest(Buf *text) {
    buf_clear(text);
    uint32_t digest = 0;
    for (int number = 0; number < TABLE_COUNT; number++) {
        for (int index = SCAN_PRIMARY; index < tables[number].index_count; index++) {
            const Table *table = &tables[number];
            RowOrder order = row_order(table, index);
            const IndexSpec *spec = index >= 0 ? &table->indexes[index] : NULL;
            buf_clear(text);
            buf_printf(text, "%s.%s", table->name, spec != NULL ? spec->name : "order");
            for (uint8_t i = 0; i < order.count; i++) {
                const Column *column = &table->columns[order.columns[i]];
                buf_printf(text, " %s:%d", column->name, column->type == COLUMN_I64);
            }
            bool is_sparse = spec != NULL && spec->sparse != COLUMN_NONE;
            if (is_sparse) buf_printf(text, " if %s", table->columns[spec->sparse].name);
            digest = crc32c(digest, buf_str(text).data, text->len);
        }
    }
    return digest;
}

static void add_tables(RedisLink *link) {
    for (int number = 0; number < TABLE_COUNT; number++) {
        const Table *table = &tables[number];
        redis_call_place(link, redis_key_rows((TableNumber)number));
        for (int index = SCAN_PRIMARY; index < table->index_count; index++) {
            redis_call_place(link, redis_key_order((TableNumber)number, index));
        }
        buf_clear(&link->bytes);
        for (uint8_t i = 0; i < table->column_count; i++) {
            buf_printf(&link->bytes, "%s%s", i > 0 ? " " : "", table->columns[i].name);
        }
        redis_call_add(link, str_from(table->name));
        redis_call_add(link, buf_str(&link->bytes));
    }
}

static uint8_t column_find(const Table *table, Str name) {
    for (uint8_t i = 0; i < table->column_count; i++) {
        if (str_equal(name, str_from(table->columns[i].name))) return i;
    }
    return REDIS_COLUMN_UNKNOWN;
}

// False when a column that we do not know stands before one that we know.
static bool layout_take(RedisTableLayout *layout, const Table *table, Str columns) {
    *layout = (RedisTableLayout){0};
    Str name;
    while (str_split(&columns, ' ', &name)) {
        if (name.len == 0) continue;
        if (layout->count == REDIS_COLUMNS_MAX) return false;
        uint8_t column = column_find(table, name);
        bool is_known = column != REDIS_COLUMN_UNKNOWN;
        if (is_known && layout->known_count < layout->count) return false;
        layout->columns[layout->count++] = column;
        if (is_known) layout->known_count++;
    }
    return true;
}

static Status newer(const RedisLink *link, Str format, Diag *diag) {
    return diag_set(diag, ERR_UNSUPPORTED, "STORE_NEWER",
                    "the store \"%s\" on Redis was made by another version of abide (format %.*s, "
                    "this abide knows %d, or other indexes): use that version",
                    link->address->prefix, STR_ARG(format), REDIS_FORMAT);
}

static Status answer_take(RedisLink *link, const redisReply *reply, Diag *diag) {
    const char *prefix = link->address->prefix;
    if (redis_reply_is(reply, 0, "foreign")) { // [layout-5]
        return diag_set(diag, ERR_INVALID, "STORE_NOT_OURS",
                        "Redis has keys that begin with {%s}: and are not abide's; they were left "
                        "untouched. Name another prefix: ?prefix=NAME",
                        prefix);
    }
    if (redis_reply_is(reply, 0, "newer")) return newer(link, redis_reply_str(reply, 1), diag);
    if (redis_reply_is(reply, 0, "missing")) {
        return diag_set(diag, ERR_NOT_FOUND, "STORE_NOT_FOUND",
                        "there is no store \"%s\" on this Redis", prefix);
    }
    TRY(redis_call_status(link, reply, diag));
    Str number = redis_reply_str(reply, 1);
    if (reply->elements != 2 + TABLE_COUNT || number.len == 0 ||
        number.len >= sizeof(link->layout)) {
        return redis_strange("the description of the store is damaged", diag);
    }
    for (int i = 0; i < TABLE_COUNT; i++) {
        Str columns = redis_reply_str(reply, 2 + (size_t)i);
        if (!layout_take(&link->tables[i], &tables[i], columns)) {
            return newer(link, STR("unknown"), diag);
        }
    }
    memcpy(link->layout, number.data, number.len);
    link->layout[number.len] = '\0';
    return OK;
}

Status redis_layout_open(RedisLink *link, bool is_making, Diag *diag) {
    redis_call_begin(link);
    redis_call_add_i64(link, REDIS_FORMAT);
    redis_call_add_i64(link, orders_digest(&link->bytes));
    add_tables(link);
    redisReply *reply = NULL;
    TRY(redis_call_run(link, is_making ? "open" : "look", &reply, diag)); // [layout-1]
    Status status = answer_take(link, reply, diag);
    freeReplyObject(reply);
    return status;
}
