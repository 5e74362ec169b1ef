// Script: see script.h. The batches come from the generator of the differential test.
#include "fault/script.h"
#include <stdio.h>
#include <stdlib.h>

static bool filter_contains(Str filter, Str payload) {
    return filter.len <= payload.len &&
           memmem(payload.data, payload.len, filter.data, filter.len) != NULL;
}

Store *script_open(const char *url, Status *ret_status, Diag *ret_diag) {
    StoreConfig config = {.filter_matches = filter_contains,
                          .events_per_topic = 8,
                          .event_retention_ms = 30000,
                          .busy_timeout_ms = 50};
    Store *store = NULL;
    *ret_status = store_open(str_from(url), &config, &store, ret_diag);
    return *ret_status == OK ? store : NULL;
}

typedef struct Submitted {
    Knowledge after;
    Str answers;
} Submitted;

// Each time a fresh copy of the batch. The answers live in the arena.
static Status submit(const Script *script, size_t place, Store *store, Arena *arena,
                     Submitted *ret_submitted, Diag *diag) {
    Batch batch;
    Knowledge knowledge = script->before[place];
    const TraceBatch *from = &script->trace.batches[place];
    trace_advance(&knowledge, from);
    trace_build(&knowledge, from, arena, &batch);
    Status status = store_commit(store, &batch, diag);
    if (status != OK && status != ERR_FENCED) return status;
    ret_submitted->answers = trace_answers(arena, status, diag, &batch);
    trace_learn(&knowledge, &batch, status, store);
    ret_submitted->after = knowledge;
    return status;
}

Status script_submit(const Script *script, size_t place, Store *store, Diag *diag) {
    Arena arena;
    arena_init(&arena);
    Submitted submitted = {0};
    Status status = submit(script, place, store, &arena, &submitted, diag);
    bool is_done = status == OK || status == ERR_FENCED;
    if (is_done && !str_equal(submitted.answers, script->answers[place])) {
        dump_print_difference(script->answers[place], submitted.answers);
        status = diag_set(diag, ERR_CONFLICT, "ANSWERS_DIFFER", "batch %zu", place);
    }
    arena_done(&arena);
    return status;
}

Str script_state(const Script *script, size_t place, Store *store, Arena *arena) {
    DumpOptions options = {.topics = trace_topics,
                           .topic_count = trace_topic_count,
                           .tags = trace_tags,
                           .tag_count = trace_tag_count,
                           .now_ms = script->before[place].now_ms,
                           .has_batch_numbers = true};
    return store_dump(store, arena, &options);
}

void script_init(Script *script, uint64_t seed, size_t batch_count) {
    *script = (Script){0};
    arena_init(&script->arena);
    script->trace = trace_generate(&script->arena, seed, batch_count);
    script->before = ARENA_ARRAY(&script->arena, Knowledge, batch_count + 1);
    script->state = ARENA_ARRAY(&script->arena, Str, batch_count + 1);
    script->answers = ARENA_ARRAY(&script->arena, Str, batch_count);
    knowledge_init(&script->before[0]);
    Status status;
    Diag diag = {0};
    Store *store = script_open("memory:", &status, &diag);
    if (!store) abort();
    script->state[0] = script_state(script, 0, store, &script->arena);
    for (size_t i = 0; i < batch_count; i++) {
        Submitted submitted = {0};
        status = submit(script, i, store, &script->arena, &submitted, &diag);
        if (status != OK && status != ERR_FENCED) abort();
        script->before[i + 1] = submitted.after;
        script->answers[i] = submitted.answers;
        script->state[i + 1] = script_state(script, i + 1, store, &script->arena);
    }
    store_close(store);
}

void script_done(Script *script) { arena_done(&script->arena); }

int64_t script_find(const Script *script, Store *store, size_t min, size_t max) {
    Arena arena;
    arena_init(&arena);
    int64_t found = -1;
    Str actual = STR_NULL;
    for (size_t i = min; i <= max && i <= script->trace.count && found < 0; i++) {
        actual = script_state(script, i, store, &arena);
        if (str_equal(actual, script->state[i])) found = (int64_t)i;
    }
    if (found < 0) {
        fprintf(stderr, "the store holds neither %zu nor %zu batches; against %zu:\n", min, max,
                min);
        dump_print_difference(script->state[min], script_state(script, min, store, &arena));
    }
    arena_done(&arena);
    return found;
}
