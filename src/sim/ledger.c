// The ledger: what workflows and clients saw, held against what they may see.
//
// Workflow functions run many times; every time they get an answer from a durable call they write
// it here, and the second time it must be the same [sim-1]. Consumed events are written with the
// place that consumed them; two places are one too many, and so is one when it was removed [sim-2].
//
// Not here: who writes (workload.c, run.c).
#include "base/containers/map.h"
#include "base/limits.h"
#include "base/memory.h"
#include "sim/sim.h"
#include "store/reads.h"
#include <stdio.h>

typedef struct Entry {
    Str key;   // owned
    Str value; // owned; null for acknowledged events
    bool is_acknowledged;
    bool is_removal_wanted, is_removed; // events
} Entry;

struct Ledger {
    StrMap observed; // "run/incarnation/what" -> value
    StrMap events;   // event -> the place that consumed it
    StrMap ends;     // run -> state
};

struct Ledger *ledger_new(Sim *sim) {
    (void)sim;
    struct Ledger *ledger = mem_zalloc(sizeof(struct Ledger));
    strmap_init(&ledger->observed);
    strmap_init(&ledger->events);
    strmap_init(&ledger->ends);
    return ledger;
}

static void free_entries(StrMap *map) {
    Str key;
    void *value;
    for (size_t at = 0; strmap_next(map, &at, &key, &value);) {
        Entry *entry = value;
        mem_free((void *)(uintptr_t)entry->key.data);
        mem_free((void *)(uintptr_t)entry->value.data);
        mem_free(entry);
    }
    strmap_done(map);
}

void ledger_free(struct Ledger *ledger) {
    free_entries(&ledger->observed);
    free_entries(&ledger->events);
    free_entries(&ledger->ends);
    mem_free(ledger);
}

static Str own(Str s) { return (Str){mem_copy(s.data ? s.data : "", s.len), s.len}; }

// The entry for `key`; a new one has a null value.
static Entry *entry_at(StrMap *map, Str key) {
    Entry *entry = strmap_get(map, key);
    if (entry != NULL) return entry;
    entry = mem_zalloc(sizeof(Entry));
    entry->key = own(key);
    strmap_put(map, entry->key, entry);
    return entry;
}

void ledger_observe(Sim *sim, Str run_id, int64_t incarnation, const char *what, Str value) {
    char key[512];
    int len =
        snprintf(key, sizeof key, "%.*s/%lld/%s", STR_ARG(run_id), (long long)incarnation, what);
    Entry *entry = entry_at(&sim->ledger->observed, (Str){key, (size_t)len});
    if (str_is_null(entry->value)) {
        entry->value = own(value);
    } else if (!str_equal(entry->value, value)) {
        sim_fail(sim, "[X1] %s answered %.*s, and %.*s before", key, STR_ARG(value),
                 STR_ARG(entry->value));
    }
}

void ledger_consume(Sim *sim, Str event, Str run_id, int64_t place) {
    char text[512];
    int len = snprintf(text, sizeof text, "%.*s/%lld", STR_ARG(run_id), (long long)place);
    Entry *entry = entry_at(&sim->ledger->events, event);
    Str where = {text, (size_t)len};
    if (str_is_null(entry->value)) {
        entry->value = own(where);
    } else if (!str_equal(entry->value, where)) {
        sim_fail(sim, "[X2] event %.*s was consumed by %s and by %.*s", STR_ARG(event), text,
                 STR_ARG(entry->value));
    }
}

void ledger_acknowledge(Sim *sim, Str event) {
    entry_at(&sim->ledger->events, event)->is_acknowledged = true;
}

void ledger_want_removed(Sim *sim, Str event) {
    entry_at(&sim->ledger->events, event)->is_removal_wanted = true;
}

void ledger_note_removed(Sim *sim, Str event) {
    entry_at(&sim->ledger->events, event)->is_removed = true;
}

void ledger_terminal(Sim *sim, Str run_id, int64_t state) {
    const char *name = run_state_name(state);
    Entry *entry = entry_at(&sim->ledger->ends, run_id);
    if (str_is_null(entry->value)) {
        entry->value = own(str_from(name));
    } else if (!str_equal(entry->value, str_from(name))) {
        sim_fail(sim, "[X3] run %.*s was %.*s and is %s now", STR_ARG(run_id),
                 STR_ARG(entry->value), name);
    }
}

// [sim-2] Is the payload of some event that is still pending on the topic?
static bool is_pending(Sim *sim, Str event) {
    bool is_found = false;
    EventFilter filter = {STR("jobs"), {.limit = 1000}};
    Arena arena;
    arena_init(&arena);
    do {
        EventPage page;
        Diag diag;
        if (store_list_events(sim->store, &arena, &filter, &page, &diag) != OK) break;
        for (size_t i = 0; i < page.count && !is_found; i++)
            is_found = str_equal(page.rows[i].payload, event);
        filter.page.after = page.next;
    } while (filter.page.after != 0 && !is_found);
    arena_done(&arena);
    return is_found;
}

// [sim-2] What the logs say was consumed: every payload once, whoever got to see it. A run that was
// cancelled or rewound may have been given an event that its function never saw.
static void consume_from_log(Sim *sim, StrMap *consumed, Str run_id) {
    Arena arena;
    arena_init(&arena);
    LogFilter filter = {run_of_id(run_id), {.limit = LIMIT_LIST_PAGE}};
    LogPage page;
    Diag diag;
    do {
        if (store_read_log(sim->store, &arena, &filter, &page, &diag) != OK) break;
        for (size_t i = 0; i < page.count; i++) {
            const LogRow *row = &page.rows[i];
            filter.page.after = row->seq;
            if (row->kind != LOG_WAIT || str_is_null(row->data) || row->data.data[0] != '"')
                continue;
            if (!str_equal(row->name, STR("jobs")) && !str_equal(row->name, STR("go"))) continue;
            Entry *entry = entry_at(consumed, row->data);
            if (!str_is_null(entry->value))
                sim_fail(sim, "[X2] event %.*s is in the log of %.*s and of %.*s",
                         STR_ARG(row->data), STR_ARG(run_id), STR_ARG(entry->value));
            entry->value = own(run_id);
        }
    } while (page.count == LIMIT_LIST_PAGE);
    arena_done(&arena);
}

static void consume_from_logs(Sim *sim, StrMap *consumed) {
    Arena arena;
    arena_init(&arena);
    RunFilter filter = {.limit = LIMIT_LIST_PAGE};
    do {
        RunPage page;
        Diag diag;
        if (store_list_runs(sim->store, &arena, &filter, &page, &diag) != OK) break;
        for (size_t i = 0; i < page.count; i++) consume_from_log(sim, consumed, page.rows[i].id);
        filter.cursor = page.next;
    } while (filter.cursor != 0);
    arena_done(&arena);
}

// It was rewound, or it ended in the turn during which it was cancelled: nothing was cleaned up.
static bool is_excused(Sim *sim, Arena *arena, int64_t run) {
    bool was_told = false; // that it is cancelled
    LogFilter filter = {run_of_key(run), {.limit = LIMIT_LIST_PAGE}};
    LogPage page;
    Diag diag;
    do {
        if (store_read_log(sim->store, arena, &filter, &page, &diag) != OK) return true; // purged
        for (size_t i = 0; i < page.count; i++) {
            const LogRow *row = &page.rows[i];
            if (row->kind == LOG_REWOUND) return true;
            was_told = was_told || (row->kind == LOG_WAIT && row->outcome == OUTCOME_CANCELLED);
            filter.page.after = row->seq;
        }
    } while (page.count == LIMIT_LIST_PAGE);
    return !was_told;
}

static void check_cleanup(Sim *sim) { // [sim-10]
    Arena arena;
    TaskFilter filter = {.states = 1u << TASK_CANCELLED, .page.limit = LIMIT_LIST_PAGE};
    Diag diag;
    arena_init(&arena);
    do {
        TaskPage page;
        if (store_list_tasks(sim->store, &arena, &filter, &page, &diag) != OK) break;
        filter.page.after = page.next;
        for (size_t i = 0; i < page.count; i++) {
            const TaskRow *task = &page.rows[i];
            bool is_cleanup = str_equal(task->name, STR("tidy"));
            if (is_cleanup && !is_excused(sim, &arena, task->run))
                sim_fail(sim, "[X10] task %.*s of the cleanup of run %lld was cancelled",
                         STR_ARG(task->id), (long long)task->run);
        }
    } while (filter.page.after != 0);
    arena_done(&arena);
}

void ledger_check(Sim *sim) {
    check_cleanup(sim);
    StrMap consumed;
    strmap_init(&consumed);
    consume_from_logs(sim, &consumed);
    Str event;
    void *value;
    for (size_t at = 0; strmap_next(&sim->ledger->events, &at, &event, &value);) {
        const Entry *entry = value;
        bool is_consumed = strmap_get(&consumed, event) != NULL;
        if (entry->is_removed && (is_consumed || is_pending(sim, event)))
            sim_fail(sim, "[X2] event %.*s was removed and is still there", STR_ARG(event));
        if (!entry->is_acknowledged || is_consumed || entry->is_removal_wanted) continue;
        if (!is_pending(sim, event))
            sim_fail(sim, "[X2] event %.*s was acknowledged and is lost", STR_ARG(event));
    }
    free_entries(&consumed);
}
