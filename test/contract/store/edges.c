// Edges: each limit at one below, at it, at one above and far above it.
//
// A limit is lowered for its own test, so that its edge is near. What a caller can exceed is in
// `edges`; what only bounds how the engine does something is in `inner`, and is crossed all the
// time by the suites that run under tiny limits (../meson.build) and by the simulator. A limit that
// is in neither table fails a test here: a new one needs a place.
#include "base/array.h"
#include "contract/contract.h"

#include "base/containers/vec.h"
#include "base/limits.h"

static Str text_of(World *world, size_t size) {
    char *text = arena_alloc(&world->arena, size + 1);
    memset(text, 'x', size);
    text[size] = '\0';
    return (Str){text, size};
}

static Str fresh_id(World *world) {
    static int number;
    return arena_printf(&world->arena, "edge-%d", number++);
}

static Status run_one(World *world, const Op *op) {
    assert_ok(batch_try(world));
    return op->out.status;
}

static Status try_start(World *world, const RunSpec *spec) {
    batch_new(world);
    return run_one(world, add_create(world, spec));
}

static RunSpec fresh_spec(World *world) { return spec_of(fresh_id(world).data); }

// ---- one function per limit: the status of something of that size ----

static Status run_id(World *world, size_t size) {
    RunSpec spec = fresh_spec(world);
    spec.id = text_of(world, size);
    return try_start(world, &spec);
}

static Status name(World *world, size_t size) {
    RunSpec spec = fresh_spec(world);
    spec.workflow = text_of(world, size);
    return try_start(world, &spec);
}

static Status topic(World *world, size_t size) {
    Op *op = op_new(world, OP_PUBLISH);
    op->in.publish.event = (EventSpec){.topic = text_of(world, size), .id = fresh_id(world)};
    return run_one(world, op);
}

static Status key(World *world, size_t size) {
    RunSpec spec = fresh_spec(world);
    spec.dedupe_key = text_of(world, size);
    return try_start(world, &spec);
}

static Status tag_count(World *world, size_t count) {
    RunSpec spec = fresh_spec(world);
    char *tags = arena_alloc(&world->arena, 2 * count + 1);
    for (size_t i = 0; i < count; i++) {
        tags[2 * i] = 't';
        tags[2 * i + 1] = '\n';
    }
    spec.tags = (Str){tags, 2 * count - 1};
    return try_start(world, &spec);
}

static Status tag_size(World *world, size_t size) {
    RunSpec spec = fresh_spec(world);
    spec.tags = text_of(world, size);
    return try_start(world, &spec);
}

static Status payload(World *world, size_t size) {
    RunSpec spec = fresh_spec(world);
    spec.input = text_of(world, size);
    return try_start(world, &spec);
}

static Status code(World *world, size_t size) {
    Op *op = op_new(world, OP_DEFINE);
    op->in.define.name = fresh_id(world);
    op->in.define.version = STR("v1");
    op->in.define.code = text_of(world, size);
    return run_one(world, op);
}

static Status error_text(World *world, size_t size) {
    RunSpec spec = fresh_spec(world);
    assert_ok(try_start(world, &spec));
    Op *op = op_new(world, OP_CANCEL);
    op->in.cancel.run_id = spec.id;
    op->in.cancel.grace_ms = 1000;
    op->in.cancel.reason = text_of(world, size);
    return run_one(world, op);
}

static Op *fresh_turn(World *world, TurnNext next) {
    return turn(world, create(world, fresh_id(world).data), next);
}

static Status snapshot(World *world, size_t size) {
    Op *op = fresh_turn(world, NEXT_CONTINUE);
    op->in.turn.snapshot = text_of(world, size);
    return run_one(world, op);
}

static Status state_size(World *world, size_t size) {
    Op *op = fresh_turn(world, NEXT_CONTINUE);
    StateSpec *spec = ARENA_NEW(&world->arena, StateSpec);
    *spec = (StateSpec){.name = STR("s"), .value = text_of(world, size)};
    op->in.turn.states = spec;
    op->in.turn.state_count = 1;
    return run_one(world, op);
}

static Status waits(World *world, size_t count) {
    Op *op = fresh_turn(world, NEXT_SUSPEND);
    WaitItem *items = ARENA_ARRAY(&world->arena, WaitItem, count);
    for (size_t i = 0; i < count; i++) items[i] = on_timer(world->now_ms + 1000 + (int64_t)i);
    set_waits(world, op, WAIT_EACH, items, count);
    return run_one(world, op);
}

static Status effects(World *world, size_t count) {
    Op *op = fresh_turn(world, NEXT_CONTINUE);
    op->in.turn.log_count = count;
    op->in.turn.log = ARENA_ARRAY(&world->arena, LogRow, count);
    for (size_t i = 0; i < count; i++)
        op->in.turn.log[i] = (LogRow){.kind = LOG_LINE, .position = -1};
    return run_one(world, op);
}

static Status batch(World *world, size_t count) {
    batch_new(world);
    for (size_t i = 0; i < count; i++) op_add(world, OP_FIRE_DUE)->in.fire_due.max = 1;
    return batch_try(world);
}

static Status signals(World *world, size_t count) {
    RunSpec spec = fresh_spec(world);
    Status status = try_start(world, &spec);
    for (size_t i = 0; i < count && status == OK; i++) {
        Op *op = op_new(world, OP_SIGNAL);
        op->in.signal.run_id = spec.id;
        op->in.signal.name = STR("go");
        status = run_one(world, op);
    }
    return status;
}

static Status tokens(World *world, size_t count) {
    Status status = OK;
    VEC(Str) made = {0};
    for (size_t i = 0; i < count && status == OK; i++) {
        Str id = fresh_id(world);
        Op *op = op_new(world, OP_CREATE_TOKEN);
        op->in.create_token = (TokenRow){.id = id,
                                         .name = id,
                                         .hash = arena_printf(&world->arena, "%064d", (int)i),
                                         .hint = STR("7k3q"),
                                         .scopes = 1};
        status = run_one(world, op);
        if (status == OK) vec_push(&made, id);
    }
    for (size_t i = 0; i < made.count; i++) {
        Op *op = op_new(world, OP_REMOVE_TOKEN);
        op->in.remove_token.id = made.data[i];
        assert_ok(run_one(world, op));
    }
    vec_free(&made);
    return status;
}

static Status depth(World *world, size_t count) {
    Claimed claimed = create(world, fresh_id(world).data);
    Status status = OK;
    for (size_t i = 0; i < count && status == OK; i++) {
        RunSpec child = fresh_spec(world);
        Op *op = turn(world, claimed, NEXT_CONTINUE);
        op->in.turn.children = &child;
        op->in.turn.child_count = 1;
        status = run_one(world, op);
        if (status == OK) claimed = ready_at(world, 0);
    }
    return status;
}

typedef struct Edge {
    const char *limit;
    uint32_t value; // it is lowered to; 0 = the smallest
    Status (*try)(World *world, size_t size);
} Edge;

static const Edge edges[] = {
    {"run_id_size", 0, run_id},       {"name_size", 0, name},
    {"topic_size", 0, topic},         {"key_size", 0, key},
    {"tag_count", 0, tag_count},      {"tag_size", 0, tag_size},
    {"payload_size", 0, payload},     {"code_size", 0, code},
    {"error_size", 0, error_text},    {"snapshot_size", 0, snapshot},
    {"state_size", 0, state_size},    {"waits_per_run", 0, waits},
    {"effects_per_turn", 0, effects}, {"batch_ops", 8, batch},
    {"signals_per_run", 0, signals},  {"token_count", 8, tokens},
    {"child_depth", 0, depth},
};

// Their edges are elsewhere: in the tests of those who keep to them.
static const char *const elsewhere[] = {
    "schedule_name_size", "backfill_ticks", // unit/store/schedules.c
    "states_per_run",                       // unit/api/state.c
    "json_depth",                           // unit/json/read.c
    "events_per_topic",                     // contract/events/topics.c
    "earlier_log",                          // contract/runs/history.c
    "list_page",                            // contract/store/lists.c
    "removed_events",                       // contract/events/pending.c
    "run_attempts",       "schema_depth",   // unit/api/flows.c
};

// Bounds that no caller meets.
static const char *const inner[] = {
    "page_rows",       "read_chunk",     "read_looks",     "expect_lookups", "fetch_rows",
    "replay_rows",     "row_cache_size", "run_cache_size", "known_runs",     "task_cache_size",
    "wait_cache_size", "cached_topics",  "cached_queues",  "cached_modules", "releases_per_batch",
    "evicted_runs",    "adopt_rows",     "claim_looks",    "settle_steps",   "fire_ticks",
    "fire_starts",     "fire_rows",      "purge_rows"};

static const LimitInfo *info_of(const char *limit) {
    for (size_t i = 0; i < limit_count; i++)
        if (strcmp(limit_infos[i].name, limit) == 0) return &limit_infos[i];
    fail_msg("there is no limit %s", limit);
    return NULL;
}

static void each_limit_holds_at_its_edge(void **state) {
    World *world = *state;
    for (size_t i = 0; i < COUNT_OF(edges); i++) {
        const LimitInfo *info = info_of(edges[i].limit);
        uint32_t before = limits_get(info), n = edges[i].value > 0 ? edges[i].value : info->least;
        limits_set(info, n);
        const size_t sizes[] = {n - 1, n, n + 1, 3 * (size_t)n};
        for (int j = 0; j < 4; j++) {
            Status status = edges[i].try(world, sizes[j]);
            Status expected = sizes[j] <= n ? OK : ERR_LIMIT;
            if (status != expected)
                fail_msg("%s=%u: %zu answered %s", edges[i].limit, n, sizes[j],
                         status_name(status));
        }
        limits_set(info, before);
    }
    int64_t row_count;
    assert_ok(store_verify(world->store, &row_count, &world->diag));
}

static bool is_named(const char *const *names, size_t count, const char *wanted) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], wanted) == 0) return true;
    return false;
}

static void each_limit_has_a_test(void **state) {
    (void)state;
    for (size_t i = 0; i < limit_count; i++) {
        const char *limit = limit_infos[i].name;
        bool has_edge = is_named(elsewhere, COUNT_OF(elsewhere), limit) ||
                        is_named(inner, COUNT_OF(inner), limit);
        for (size_t j = 0; j < COUNT_OF(edges); j++)
            has_edge = has_edge || strcmp(edges[j].limit, limit) == 0;
        if (!has_edge) fail_msg("the limit %s has no test: give it a place in this file", limit);
    }
}

int contract_edges(void) {
    const struct CMUnitTest tests[] = {
        CASE(each_limit_holds_at_its_edge),
        CASE(each_limit_has_a_test),
    };
    return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}
