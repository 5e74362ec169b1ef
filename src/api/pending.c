// What is pending: events that are kept on a topic, signals that a run has not taken.
//
// Lists read the store beside the engine. Removing all of something is several operations, each
// durable by itself: an error in between leaves the rest, and the call can be repeated.
//
// Not here: publishing and signalling (steer.c), what the operations do (store/kernel/events).
#include "api/api.h"
#include "base/limits.h"
#include "store/reads.h"

// ---- looking ----

typedef struct Listing {
    Str topic; // null: signals of the run
    Str run_id;
    int64_t after;
    int limit; // as the caller gave it
    int (*visit)(void *user, const abide_pending *pending);
    void *user;
    Status status; // of the other arguments
    Diag diag;
} Listing;

static void describe(const EventRow *row, Arena *arena, abide_pending *pending) {
    *pending = (abide_pending){
        .id = row->key,
        .event_id = arena_str(arena, row->id).data,
        .name = arena_str(arena, row->name).data,
        .payload = arena_str(arena, row->payload).data,
        .created_at_ms = row->created_at_ms,
        .expires_at_ms = row->due_at_ms,
        .is_taken = event_is_taken(row),
    };
}

static Status read_page(abide_engine *engine, Listing *listing, Arena *arena, EventPage *ret_page) {
    const PageSpec page = {.after = listing->after,
                           .limit = listing->limit > 0 ? listing->limit : 100};
    if (str_is_null(listing->topic)) {
        const SignalFilter filter = {run_of_id(listing->run_id), page};
        return store_list_signals(engine->store, arena, &filter, ret_page, &listing->diag);
    }
    const EventFilter filter = {listing->topic, page};
    return store_list_events(engine->store, arena, &filter, ret_page, &listing->diag);
}

static int list(abide_engine *engine, Listing *listing, abide_error *error) {
    if (engine == NULL || listing->visit == NULL)
        return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine and visit are required");
    if (listing->limit < 0 || listing->limit > (int)LIMIT_LIST_PAGE)
        return api_refuse(error, ABIDE_INVALID, "BAD_OPTION", "limit is %d; at most %d are given",
                          listing->limit, LIMIT_LIST_PAGE);
    if (listing->status != OK) return api_answer(error, listing->status, &listing->diag);
    Arena arena;
    EventPage page;
    arena_init(&arena);
    Status status = read_page(engine, listing, &arena, &page);
    for (size_t i = 0; status == OK && i < page.count; i++) {
        abide_pending pending;
        describe(&page.rows[i], &arena, &pending);
        if (listing->visit(listing->user, &pending) != 0) break;
    }
    arena_done(&arena);
    return api_answer(error, status, &listing->diag);
}

int abide_list_events(abide_engine *engine, const char *topic, int64_t after, int limit,
                      int (*visit)(void *user, const abide_pending *event), void *user,
                      abide_error *error) {
    Listing listing = {.after = after, .limit = limit, .visit = visit, .user = user};
    listing.status = api_check_name(topic, "the topic", &listing.topic, &listing.diag);
    return list(engine, &listing, error);
}

int abide_list_signals(abide_engine *engine, const char *run_id, int64_t after, int limit,
                       int (*visit)(void *user, const abide_pending *signal), void *user,
                       abide_error *error) {
    Listing listing = {.after = after, .limit = limit, .visit = visit, .user = user};
    listing.status = api_check_run_id(run_id, &listing.run_id, &listing.diag);
    return list(engine, &listing, error);
}

// ---- removing ----

static int remove_meant(abide_engine *engine, OpKind kind, EventRemoval removal,
                        int64_t *ret_removed, abide_error *error) {
    int64_t removed = 0;
    int code;
    do {
        Request request = {.op.kind = kind};
        request.op.in.remove_events = removal;
        code = api_answer(error, driver_request(&engine->driver, &request), &request.op.out.diag);
        if (code != ABIDE_OK) break;
        const EventRemovalReply *part = &request.op.out.remove_events;
        removed += part->removed_count;
        removal.after_key = part->next_key;
        removal.up_to_key = part->newest_key;
    } while (removal.after_key != 0);
    if (ret_removed != NULL) *ret_removed = removed;
    return code;
}

static Status check_key(int64_t id, int64_t *ret_key, Diag *diag) {
    *ret_key = id;
    if (id >= 0) return OK;
    return diag_set(diag, ERR_INVALID, "BAD_ARGUMENT", "the id is negative; 0 stands for all");
}

int abide_remove_events(abide_engine *engine, const char *topic, int64_t id, int64_t *ret_removed,
                        abide_error *error) {
    if (engine == NULL) return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine is NULL");
    EventRemoval removal = {0};
    Diag diag;
    Status status = api_check_name(topic, "the topic", &removal.topic, &diag);
    if (status == OK) status = check_key(id, &removal.key, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    return remove_meant(engine, OP_REMOVE_EVENTS, removal, ret_removed, error);
}

int abide_remove_signals(abide_engine *engine, const char *run_id, const char *name, int64_t id,
                         int64_t *ret_removed, abide_error *error) {
    if (engine == NULL) return api_refuse(error, ABIDE_INVALID, "BAD_ARGUMENT", "engine is NULL");
    EventRemoval removal = {0};
    Diag diag;
    Status status = api_check_run_id(run_id, &removal.run_id, &diag);
    if (status == OK && name != NULL)
        status = api_check_name(name, "the signal name", &removal.name, &diag);
    if (status == OK) status = check_key(id, &removal.key, &diag);
    if (status != OK) return api_answer(error, status, &diag);
    return remove_meant(engine, OP_REMOVE_SIGNALS, removal, ret_removed, error);
}
