// Wait sets in bytes: small, because a million parked runs keep one each.
//
//   u8 version · u8 mode · varint count · items
//   item: u8 kind · u8 fields · varint slot · varint position, then the fields that are there, in
//   this order: iteration, deadline_at_ms, target, since_ms, waiter (zigzag), name, filter (str),
//   group and quiet (one u8). Waits for children and tasks have no filter; their label stands in
//   its place.
//
//   [waits-4] A field that is zero or null costs nothing; a wait for one signal takes about 20
//        bytes.
//   [waits-5] Decoding never reads outside the bytes, allocates no more than they could describe,
//        and answers ERR_CORRUPT unless they are exactly one wait set.
//   [waits-6] The version byte is first; another version is refused rather than guessed.
#include "model/waits.h"
#include "base/assert.h"
#include "base/containers/bytes.h"
#include "base/limits.h"

enum {
    WAITS_VERSION = 1,
    WAITS_ITEM_SIZE_MIN = 4,    // kind, fields, slot, position
    WAITS_SIZE_MAX = 256 << 20, // far above what the limits on names and items allow
    FIELD_ITERATION = 1 << 0,
    FIELD_DEADLINE = 1 << 1,
    FIELD_TARGET = 1 << 2,
    FIELD_SINCE = 1 << 3,
    FIELD_WAITER = 1 << 4,
    FIELD_NAME = 1 << 5,
    FIELD_FILTER = 1 << 6,
    FIELD_GROUP = 1 << 7,
    QUIET_BITS = 2 // of the byte that has the group above them
};

static const char *const wait_kind_names[WAIT_KIND_COUNT] = {
    [WAIT_EVENT] = "event", [WAIT_SIGNAL] = "signal", [WAIT_TIMER] = "timer",
    [WAIT_RETRY] = "retry", [WAIT_CHILD] = "child",   [WAIT_TASK] = "task",
};

const char *wait_kind_name(int64_t kind) {
    if (kind < WAIT_EVENT || kind >= WAIT_KIND_COUNT) return "unknown";
    return wait_kind_names[kind];
}

bool wait_item_has_target(const WaitItem *item) {
    return item->kind == WAIT_CHILD || item->kind == WAIT_TASK;
}

bool wait_item_is_called(const WaitItem *item, Str name) {
    if (!str_is_null(item->name) && str_equal(item->name, name)) return true;
    return !str_is_null(item->label) && str_equal(item->label, name);
}

static Str filter_or_label(const WaitItem *item) {
    return wait_item_has_target(item) ? item->label : item->filter;
}

bool wait_item_has_good_group(const WaitItem *item) {
    if (item->group == 0) return item->quiet == 0;
    return wait_item_has_target(item) && item->group > 0 && item->group <= WAIT_GROUP_MAX &&
           item->quiet > 0 && item->quiet <= (WAIT_QUIET_OK | WAIT_QUIET_ERROR);
}

static uint8_t item_fields(const WaitItem *item) {
    int fields = 0;
    if (item->iteration != 0) fields |= FIELD_ITERATION;
    if (item->deadline_at_ms != 0) fields |= FIELD_DEADLINE;
    if (item->target != 0) fields |= FIELD_TARGET;
    if (item->since_ms != 0) fields |= FIELD_SINCE;
    if (item->waiter != 0) fields |= FIELD_WAITER;
    if (!str_is_null(item->name)) fields |= FIELD_NAME;
    if (!str_is_null(filter_or_label(item))) fields |= FIELD_FILTER;
    if (item->group != 0) fields |= FIELD_GROUP;
    return (uint8_t)fields;
}

static void item_encode(Buf *buf, const WaitItem *item) {
    ASSERT(item->kind >= WAIT_EVENT && item->kind < WAIT_KIND_COUNT);
    uint8_t fields = item_fields(item);
    bytes_put_u8(buf, (uint8_t)item->kind);
    bytes_put_u8(buf, fields);
    bytes_put_zigzag(buf, item->slot);
    bytes_put_zigzag(buf, item->position);
    if (fields & FIELD_ITERATION) bytes_put_zigzag(buf, item->iteration);
    if (fields & FIELD_DEADLINE) bytes_put_zigzag(buf, item->deadline_at_ms);
    if (fields & FIELD_TARGET) bytes_put_zigzag(buf, item->target);
    if (fields & FIELD_SINCE) bytes_put_zigzag(buf, item->since_ms);
    if (fields & FIELD_WAITER) bytes_put_zigzag(buf, item->waiter);
    if (fields & FIELD_NAME) bytes_put_str(buf, item->name);
    if (fields & FIELD_FILTER) bytes_put_str(buf, filter_or_label(item));
    if (fields & FIELD_GROUP) {
        bytes_put_u8(buf, (uint8_t)(item->group << QUIET_BITS | item->quiet));
    }
}

Str wait_set_encode(Arena *arena, const WaitSet *set) {
    ASSERT(set->mode == WAIT_FIRST || set->mode == WAIT_EACH);
    ASSERT(set->count <= LIMIT_WAITS_PER_RUN);
    Buf buf;
    buf_init(&buf, WAITS_SIZE_MAX);
    bytes_put_u8(&buf, WAITS_VERSION);
    bytes_put_u8(&buf, (uint8_t)set->mode);
    bytes_put_varint(&buf, set->count);
    for (size_t i = 0; i < set->count; i++) item_encode(&buf, &set->items[i]);
    ASSERT(!buf.is_overflown);
    Str bytes = arena_str(arena, buf_str(&buf));
    buf_done(&buf);
    return bytes;
}

static bool item_decode(Arena *arena, ByteReader *reader, WaitItem *ret_item) {
    WaitItem item = {.kind = bytes_get_u8(reader)};
    uint8_t fields = bytes_get_u8(reader);
    item.slot = bytes_get_zigzag(reader);
    item.position = bytes_get_zigzag(reader);
    if (fields & FIELD_ITERATION) item.iteration = bytes_get_zigzag(reader);
    if (fields & FIELD_DEADLINE) item.deadline_at_ms = bytes_get_zigzag(reader);
    if (fields & FIELD_TARGET) item.target = bytes_get_zigzag(reader);
    if (fields & FIELD_SINCE) item.since_ms = bytes_get_zigzag(reader);
    if (fields & FIELD_WAITER) item.waiter = bytes_get_zigzag(reader);
    if (fields & FIELD_NAME) item.name = arena_str(arena, bytes_get_str(reader));
    if (fields & FIELD_FILTER) {
        Str text = arena_str(arena, bytes_get_str(reader));
        if (wait_item_has_target(&item)) item.label = text;
        else item.filter = text;
    }
    if (fields & FIELD_GROUP) {
        uint8_t byte = bytes_get_u8(reader);
        item.group = byte >> QUIET_BITS;
        item.quiet = byte & ((1 << QUIET_BITS) - 1);
    }
    if (reader->is_bad || item.kind < WAIT_EVENT || item.kind >= WAIT_KIND_COUNT) return false;
    if (!wait_item_has_good_group(&item)) return false;
    // What was written has no field that says nothing; bytes that do were not written by us.
    if (item_fields(&item) != fields) return false;
    *ret_item = item;
    return true;
}

Status wait_set_decode(Arena *arena, Str bytes, WaitSet *ret_set) {
    if (str_is_null(bytes)) return ERR_CORRUPT;
    ByteReader reader = bytes_reader(bytes);
    uint8_t version = bytes_get_u8(&reader);
    uint8_t mode = bytes_get_u8(&reader);
    uint64_t count = bytes_get_varint(&reader);
    if (reader.is_bad || version != WAITS_VERSION) return ERR_CORRUPT;
    if (mode != WAIT_FIRST && mode != WAIT_EACH) return ERR_CORRUPT;
    // [waits-5] Checked before the allocation.
    if (count > LIMIT_WAITS_PER_RUN || count > bytes_left(&reader) / WAITS_ITEM_SIZE_MIN) {
        return ERR_CORRUPT;
    }
    WaitSet set = {.mode = mode, .count = (size_t)count, .is_ascending = true};
    set.items = ARENA_ARRAY(arena, WaitItem, set.count);
    for (size_t i = 0; i < set.count; i++) {
        if (!item_decode(arena, &reader, &set.items[i])) return ERR_CORRUPT;
        if (i > 0 && set.items[i].target <= set.items[i - 1].target) set.is_ascending = false;
    }
    if (bytes_left(&reader) != 0) return ERR_CORRUPT;
    *ret_set = set;
    return OK;
}

static bool item_is(const WaitItem *item, WaitKind kind, int64_t target) {
    return item->kind == (int64_t)kind && item->target == target;
}

static const WaitItem *find_ascending(const WaitSet *set, WaitKind kind, int64_t target) {
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (set->items[middle].target < target) low = middle + 1;
        else high = middle;
    }
    return low < set->count && item_is(&set->items[low], kind, target) ? &set->items[low] : NULL;
}

const WaitItem *wait_set_find(const WaitSet *set, WaitKind kind, int64_t target) {
    if (set->is_ascending) return find_ascending(set, kind, target);
    for (size_t i = 0; i < set->count; i++)
        if (item_is(&set->items[i], kind, target)) return &set->items[i];
    return NULL;
}

int64_t wait_set_deadline(const WaitSet *set) {
    int64_t earliest = 0;
    for (size_t i = 0; i < set->count; i++) {
        int64_t deadline = set->items[i].deadline_at_ms;
        if (deadline != 0 && (earliest == 0 || deadline < earliest)) earliest = deadline;
    }
    return earliest;
}

bool wait_set_is_quiet(const WaitSet *set) {
    for (size_t i = 0; i < set->count; i++) {
        int64_t kind = set->items[i].kind;
        if (kind == WAIT_RETRY || kind == WAIT_TASK) return false; // work is under way
    }
    return true;
}

bool wait_set_is_idle(const WaitSet *set) {
    bool has_outside_wait = false;
    for (size_t i = 0; i < set->count; i++) {
        int64_t kind = set->items[i].kind;
        if (kind == WAIT_EVENT || kind == WAIT_SIGNAL) has_outside_wait = true;
    }
    return has_outside_wait && wait_set_is_quiet(set);
}
