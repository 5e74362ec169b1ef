// The changes of late, and how a reader is told.
//
// A thing that changed several times is told once, with its last status. A reader that fell behind,
// or to whom too much would have to be told, gets an event that says so instead.
//
// Not here: connections (exchange/change_stream.c).
#include "server/observe/change_ring.h"
#include "base/memory.h"

const char *change_kind_name(int kind) {
    static const char *const names[] = {"runs",   "tasks",  "schedules",
                                        "topics", "queues", "workflows"};
    return names[kind];
}

void change_ring_init(ChangeRing *ring, int64_t now_ms) {
    *ring = (ChangeRing){0};
    pthread_mutex_init(&ring->lock, NULL);
    ring->first = ring->next = now_ms * 1000; // [change-ring-3]
}

static void change_clear(Change *change) {
    mem_free((void *)(uintptr_t)change->id.data);
    mem_free((void *)(uintptr_t)change->label.data);
    *change = (Change){0};
}

void change_ring_done(ChangeRing *ring) {
    for (size_t i = 0; i < CHANGES_MAX; i++) change_clear(&ring->items[i]);
    pthread_mutex_destroy(&ring->lock);
}

void change_ring_enter(ChangeRing *ring) {
    pthread_mutex_lock(&ring->lock);
    ring->reader_count++;
    if (!ring->is_noting) { // [change-ring-2] what came meanwhile was not noted
        ring->next++;
        ring->first = ring->next;
    }
    atomic_store(&ring->is_noting, true);
    pthread_mutex_unlock(&ring->lock);
}

void change_ring_leave(ChangeRing *ring) {
    pthread_mutex_lock(&ring->lock);
    ring->reader_count--;
    ring->left_at = ring->next;
    pthread_mutex_unlock(&ring->lock);
}

static Str copy(Str text) {
    if (str_is_null(text)) return text;
    return (Str){mem_copy(text.data, text.len), text.len};
}

bool change_ring_note(ChangeRing *ring, const Change *change) {
    if (!atomic_load(&ring->is_noting)) return false;
    pthread_mutex_lock(&ring->lock);
    bool is_unread = ring->reader_count == 0 && ring->next - ring->left_at >= CHANGES_MAX;
    if (is_unread) {
        atomic_store(&ring->is_noting, false); // [change-ring-2]
    } else {
        Change *item = &ring->items[ring->next % CHANGES_MAX];
        change_clear(item);
        *item = *change;
        item->id = copy(change->id);
        item->label = copy(change->label);
        ring->next++;
        if (ring->next - ring->first > CHANGES_MAX) ring->first = ring->next - CHANGES_MAX;
    }
    pthread_mutex_unlock(&ring->lock);
    return !is_unread;
}

static const char *run_status(EngineEventKind kind) {
    switch (kind) {
    case ENGINE_RUN_STARTED:
    case ENGINE_RUN_RESUMED:
    case ENGINE_RUN_RETRIED: return "running";
    case ENGINE_RUN_SUSPENDED: return "suspended";
    case ENGINE_RUN_COMPLETED: return "completed";
    case ENGINE_RUN_FAILED: return "failed";
    case ENGINE_RUN_CANCELLED: return "cancelled";
    case ENGINE_RUN_PAUSED: return "paused";
    default: return NULL;
    }
}

bool change_ring_notice(ChangeRing *ring, const EngineEvent *event) {
    if (!atomic_load(&ring->is_noting)) return false;
    const char *status = run_status(event->kind);
    if (status != NULL)
        return change_ring_note(ring, &(Change){.kind = CHANGE_RUNS,
                                                .id = event->run_id,
                                                .label = event->workflow,
                                                .status = status});
    bool is_task = event->kind == ENGINE_TASK_CLAIMED || event->kind == ENGINE_TASK_ENDED;
    if (is_task && event->measure != NULL)
        return change_ring_note(ring, &(Change){.kind = CHANGE_TASKS,
                                                .id = event->detail,
                                                .label = event->name,
                                                .run = event->measure->run,
                                                .status = task_state_name(event->measure->state)});
    if (event->kind == ENGINE_TASKS_READY)
        return change_ring_note(ring, &(Change){.kind = CHANGE_QUEUES, .is_whole = true});
    if (event->kind == ENGINE_PUBLISHED)
        return change_ring_note(ring, &(Change){.kind = CHANGE_TOPICS, .id = event->name});
    return false;
}

// ---- reading ----

void change_write_resync(Buf *out, int64_t number, const char *reason, unsigned kinds) {
    buf_printf(out, "id: %lld\nevent: resync\ndata: {\"reason\":\"%s\",\"kinds\":[",
               (long long)number, reason);
    bool is_first = true;
    for (int kind = 0; kind < CHANGE_KIND_COUNT; kind++) {
        if (!(kinds & 1u << kind)) continue;
        buf_printf(out, "%s\"%s\"", is_first ? "" : ",", change_kind_name(kind));
        is_first = false;
    }
    buf_append_cstr(out, "]}\n\n");
}

static bool is_wanted(const ChangeReader *reader, const Change *change) {
    if (!(reader->kinds & 1u << change->kind)) return false;
    if (str_is_null(reader->run_id)) return true;
    if (change->kind == CHANGE_RUNS)
        return change->is_whole || str_equal(change->id, reader->run_id);
    return change->kind == CHANGE_TASKS && change->run != 0 && change->run == reader->run;
}

// Whether a later change is about the same thing.
static bool is_repeated(const ChangeRing *ring, int64_t number) {
    const Change *change = &ring->items[number % CHANGES_MAX];
    for (int64_t later = number + 1; later < ring->next; later++) {
        const Change *other = &ring->items[later % CHANGES_MAX];
        if (other->kind == change->kind && str_same(other->id, change->id)) return true;
    }
    return false;
}

static void put_change(JsonWriter *json, const Change *change) {
    if (change->kind != CHANGE_RUNS && change->kind != CHANGE_TASKS) {
        json_write_string(json, change->id);
        return;
    }
    bool is_run = change->kind == CHANGE_RUNS;
    json_write_object_begin(json);
    json_put_string(json, "id", change->id);
    json_put_string(json, is_run ? "workflow" : "name", change->label);
    json_put_cstr(json, "status", change->status);
    json_write_object_end(json);
}

typedef struct Telling {
    int64_t numbers[CHANGES_TOLD_MAX];
    size_t count;
    unsigned kinds; // that have something to be told
    unsigned whole; // kinds of which anything may have changed
} Telling;

static bool gather(const ChangeRing *ring, const ChangeReader *reader, Telling *telling) {
    for (int64_t number = reader->after + 1; number < ring->next; number++) {
        const Change *change = &ring->items[number % CHANGES_MAX];
        if (!is_wanted(reader, change)) continue;
        if (change->is_whole) {
            telling->whole |= 1u << change->kind;
            continue;
        }
        if (is_repeated(ring, number)) continue;
        if (telling->count == CHANGES_TOLD_MAX) return false;
        telling->numbers[telling->count++] = number;
        telling->kinds |= 1u << change->kind;
    }
    return true;
}

static void write_changes(const ChangeRing *ring, const Telling *telling, Buf *out) {
    JsonWriter json;
    buf_printf(out, "id: %lld\nevent: changes\ndata: ", (long long)ring->next - 1);
    json_writer_init(&json, out, STR_NULL);
    json_write_object_begin(&json);
    for (int kind = 0; kind < CHANGE_KIND_COUNT; kind++) {
        if (!(telling->kinds & 1u << kind)) continue;
        json_write_key(&json, str_from(change_kind_name(kind)));
        json_write_array_begin(&json);
        for (size_t i = 0; i < telling->count; i++) {
            const Change *change = &ring->items[telling->numbers[i] % CHANGES_MAX];
            if ((int)change->kind == kind) put_change(&json, change);
        }
        json_write_array_end(&json);
    }
    json_write_object_end(&json);
    buf_append_cstr(out, "\n\n");
}

void change_ring_read(ChangeRing *ring, ChangeReader *reader, Buf *out) {
    pthread_mutex_lock(&ring->lock);
    int64_t last = ring->next - 1;
    Telling telling = {0};
    if (reader->after == 0) reader->after = last;
    bool is_missed = reader->after + 1 < ring->first || reader->after > last;
    if (is_missed) {
        change_write_resync(out, last, "missed", reader->kinds);
    } else if (!gather(ring, reader, &telling)) {
        change_write_resync(out, last, "too_many", reader->kinds);
    } else {
        if (telling.count > 0) write_changes(ring, &telling, out);
        if (telling.whole) change_write_resync(out, last, "changed", telling.whole);
    }
    reader->after = last;
    pthread_mutex_unlock(&ring->lock);
}
