// Script: see script.h. The batches come from the generator of the differential test.
#include "fault/script.h"
#include <stdio.h>
#include <stdlib.h>

static bool filter_contains(Str filter, Str payload) {
    return filter.len <= payload.len &&
           memmem(payload.data, payload.len, filter.data, filter.len) != NULL;
}

Store *script_open(const char *url, Status *ret_status, Diag *ret_diag) {
    StoreConfig config = {.filter_matches = filter_contains, .events_per_topic = 8,
                          .event_retention_ms = 30000, .busy_timeout_ms = 50};
    Store *store = NULL;
    *ret_status = store_open(str_from(url), &config, &store, ret_diag);
    return *ret_status == OK ? store : NULL;
}

// Each batch as a fresh copy; the learned knowledge goes on in *ret_after.
static Status submit(const Script *script, size_t place, Store *store, Knowledge *ret_after,
                     Diag *diag) {
    Arena arena;
    arena_init(&arena);
    Batch batch;
    Knowledge knowledge = script->before[place];
    const TraceBatch *from = &script->trace.batches[place];
    trace_advance(&knowledge, from);
    trace_build(&knowledge, from, &arena, &batch);
    Status status = store_commit(store, &batch, diag);
    if (ret_after) {
        trace_learn(&knowledge, &batch, status, store);
        *ret_after = knowledge;
    }
    arena_done(&arena);
    return status;
}

Status script_submit(const Script *script, size_t place, Store *store, Diag *diag) {
    return submit(script, place, store, NULL, diag);
}

Str script_state(const Script *script, size_t place, Store *store, Arena *arena) {
    DumpOptions options = {.topics = trace_topics, .topic_count = trace_topic_count,
                           .tags = trace_tags, .tag_count = trace_tag_count,
                           .now_ms = script->before[place].now_ms, .has_batch_numbers = true};
    return store_dump(store, arena, &options);
}

void script_init(Script *script, uint64_t seed, size_t batch_count) {
    if (batch_count > SCRIPT_BATCHES_MAX) abort();
    *script = (Script){0};
    arena_init(&script->arena);
    script->trace = trace_generate(&script->arena, seed, batch_count);
    knowledge_init(&script->before[0]);
    Status status;
    Diag diag = {0};
    Store *store = script_open("memory:", &status, &diag);
    if (!store) abort();
    script->state[0] = script_state(script, 0, store, &script->arena);
    for (size_t i = 0; i < batch_count; i++) {
        status = submit(script, i, store, &script->before[i + 1], &diag);
        if (status != OK && status != ERR_FENCED) abort();
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
