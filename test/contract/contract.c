// The fixture and helpers of the contract tests, and the program that runs all groups against the
// store that the test was started for. This is the only file that knows which one that is.
#include "contract/contract.h"
#include "servers/postgres.h"
#include "servers/redis.h"
#include "servers/servers.h"
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool world_has_file(void) { return test_backend_is("sqlite"); }
bool world_is_postgres(void) { return test_backend_is("postgres"); }
static bool is_redis(void) { return test_backend_is("redis"); }
bool world_is_kept(void) { return world_has_file() || world_is_postgres() || is_redis(); }

// A filter matches when the payload contains it.
static bool filter_contains(Str filter, Str payload) {
    return filter.len <= payload.len &&
           memmem(payload.data, payload.len, filter.data, filter.len) != NULL;
}

static void print_diag(const Diag *diag) {
    print_error("%s: %s\n", diag->code[0] ? diag->code : "(no code)", diag->message);
}

// A definition whose config is the word "defaults" fills specs in, "picky" does not take the input
// "bad"; others say nothing.
static Status prepare_by_words(const DefinitionRow *definition, RunSpec *spec, Arena *arena,
                               Str *ret_error, Diag *diag) {
    (void)arena;
    if (str_equal(definition->config, STR("defaults"))) {
        if (spec->timeout_ms == 0) spec->timeout_ms = 5000;
        spec->queue = STR("slow");
        spec->tags = STR("of-workflow");
    }
    bool is_bad =
        str_equal(definition->config, STR("picky")) && str_equal(spec->input, STR("\"bad\""));
    if (!is_bad) return OK;
    *ret_error = STR("{\"type\":\"InputError\"}");
    return diag_set(diag, ERR_INVALID, "BAD_INPUT", "the input is bad");
}

static void world_open(World *world) {
    Status status = store_open(str_from(world->url), &world->config, &world->store, &world->diag);
    if (status != OK) print_diag(&world->diag);
    assert_ok(status);
}

int world_setup(void **state) {
    World *world = calloc(1, sizeof(World));
    world->now_ms = START_MS;
    world->claim_max = 100;
    world->config.filter_matches = filter_contains;
    world->config.run_prepare = prepare_by_words;
    snprintf(world->url, sizeof(world->url), "%s:", test_backend());
    if (world_has_file()) {
        if (!test_folder_new("contract", world->directory, sizeof(world->directory))) return -1;
        snprintf(world->url, sizeof(world->url), "%s:%s/test.db", test_backend(), world->directory);
    }
    if (is_redis()) {
        test_redis_clear();
        test_redis_url("contract", world->url, sizeof(world->url));
    }
    if (world_is_postgres()) {
        test_postgres_clear("contract");
        test_postgres_url("contract", world->url, sizeof(world->url));
    }
    arena_init(&world->arena);
    world_open(world);
    world->node = join(world, "node-1", HOUR_MS);
    *state = world;
    return 0;
}

int world_teardown(void **state) {
    World *world = *state;
    int64_t row_count = 0;
    Status status = store_verify(world->store, &row_count, &world->diag);
    if (status != OK) print_diag(&world->diag);
    store_close(world->store);
    if (world->directory[0]) test_folder_remove(world->directory);
    arena_done(&world->arena);
    free(world);
    return status == OK ? 0 : -1;
}

void world_reopen(World *world) {
    if (!world_is_kept()) return;
    store_close(world->store);
    world_open(world);
}

void world_crash(World *world) {
    world_reopen(world);
    world->node = 0;
    Op *op = op_new(world, OP_JOIN);
    op->in.join.name = STR("after the crash");
    op->in.join.lease_ms = HOUR_MS;
    op->in.join.is_exclusive = true;
    op_run(world, op, OK);
    world->node = op->out.join.node;
}

Str world_dump(World *world) {
    static const char *const topics[] = {"t", "u", "news", "orders"};
    static const char *const tags[] = {"red", "blue"};
    DumpOptions options = {
        .topics = topics, .topic_count = 4, .tags = tags, .tag_count = 2, .now_ms = world->now_ms};
    return store_dump(world->store, &world->arena, &options);
}

void check_unchanged(World *world, Str before, const char *file, int line) {
    Str after = world_dump(world);
    if (str_equal(before, after)) return;
    dump_print_difference(before, after);
    print_error("the store was changed\n");
    _fail(file, line);
}

// ---- batches ----

void batch_new(World *world) {
    batch_init(&world->batch, &world->arena, world->now_ms);
    world->batch.node = world->node;
    world->batch.number = ++world->batch_number;
    world->batch.claim_max = world->claim_max;
    world->batch.executes = world->executes;
}

Op *op_add(World *world, OpKind kind) { return batch_add(&world->batch, kind); }

// The request as it is, with what a store might be tempted to fill in behind it. [ops-1] of ops.h
static OpIn *request_copy(World *world, const Op *op) {
    OpIn *copy = ARENA_NEW(&world->arena, OpIn);
    memcpy(copy, &op->in, sizeof(OpIn));
    size_t count = op->kind == OP_COMMIT_TURN ? op->in.turn.log_count : 0;
    if (count == 0) return copy;
    copy->turn.log = ARENA_ARRAY(&world->arena, LogRow, count);
    memcpy(copy->turn.log, op->in.turn.log, count * sizeof(LogRow));
    return copy;
}

static void assert_request_kept(const Op *op, OpIn *copy) {
    if (op->kind == OP_COMMIT_TURN && op->in.turn.log_count > 0) {
        assert_memory_equal(op->in.turn.log, copy->turn.log,
                            op->in.turn.log_count * sizeof(LogRow));
        copy->turn.log = op->in.turn.log;
    }
    assert_memory_equal(&op->in, copy, sizeof(OpIn));
}

Status batch_try(World *world) {
    Batch *batch = &world->batch;
    OpIn **copies = ARENA_ARRAY(&world->arena, OpIn *, batch->count + 1);
    for (size_t i = 0; i < batch->count; i++) copies[i] = request_copy(world, batch->ops[i]);
    diag_clear(&world->diag);
    Status status = store_commit(world->store, batch, &world->diag);
    for (size_t i = 0; i < batch->count; i++) assert_request_kept(batch->ops[i], copies[i]);
    return status;
}

void batch_run(World *world) {
    Status status = batch_try(world);
    if (status != OK) print_diag(&world->diag);
    assert_ok(status);
}

Op *op_new(World *world, OpKind kind) {
    batch_new(world);
    return op_add(world, kind);
}

void check_op(World *world, Op *op, Status expected, const char *file, int line) {
    Status status = batch_try(world);
    if (status != OK) print_diag(&world->diag);
    check_status(status, OK, file, line);
    if (op->out.status != expected) print_diag(&op->out.diag);
    check_status(op->out.status, expected, file, line);
}

void check_refused(const Op *op, Status expected, const char *code, const char *file, int line) {
    check_status(op->out.status, expected, file, line);
    if (strcmp(op->out.diag.code, code) == 0 && op->out.diag.message[0]) return;
    print_error("code \"%s\" instead of \"%s\" (%s)\n", op->out.diag.code, code,
                op->out.diag.message);
    _fail(file, line);
}

// ---- runs ----

int64_t join(World *world, const char *name, int64_t lease_ms) {
    int64_t node = world->node;
    world->node = 0;
    Op *op = op_new(world, OP_JOIN);
    op->in.join.name = str_from(name);
    op->in.join.lease_ms = lease_ms;
    op_run(world, op, OK);
    world->node = node;
    return op->out.join.node;
}

RunSpec spec_of(const char *id) {
    return (RunSpec){.id = str_from(id),
                     .workflow = STR("order"),
                     .kind = RUN_NATIVE,
                     .input = STR("{\"a\":1}"),
                     .keep_ms = -1};
}

Op *add_create(World *world, const RunSpec *spec) {
    Op *op = op_add(world, OP_CREATE_RUN);
    op->in.create_run.spec = *spec;
    return op;
}

Op *create_op(World *world, const RunSpec *spec) {
    batch_new(world);
    Op *op = add_create(world, spec);
    op_run(world, op, OK);
    return op;
}

Claimed ready_at(const World *world, size_t place) {
    assert_true(place < world->batch.out.ready_count);
    return (Claimed){world->batch.out.ready[place].run, world->batch.out.ready[place].claim.epoch};
}

Claimed ready_of(const World *world, int64_t run) {
    for (size_t i = 0; i < world->batch.out.ready_count; i++) {
        if (world->batch.out.ready[i].run == run) return ready_at(world, i);
    }
    fail_msg("run %lld is not ready", (long long)run);
    return (Claimed){0};
}

Claimed create_from(World *world, const RunSpec *spec) {
    Op *op = create_op(world, spec);
    assert_true(op->out.create_run.is_new);
    return ready_of(world, op->out.create_run.key);
}

Claimed create(World *world, const char *id) {
    RunSpec spec = spec_of(id);
    return create_from(world, &spec);
}

Op *claim(World *world, int64_t max) {
    Op *op = op_new(world, OP_CLAIM);
    op->in.claim.max = max;
    op_run(world, op, OK);
    return op;
}

Op *add_turn(World *world, Claimed claimed, TurnNext next) {
    Op *op = op_add(world, OP_COMMIT_TURN);
    op->in.turn.run = claimed.run;
    op->in.turn.epoch = claimed.epoch;
    op->in.turn.next = next;
    return op;
}

Op *turn(World *world, Claimed claimed, TurnNext next) {
    batch_new(world);
    return add_turn(world, claimed, next);
}

LogRow log_step(const char *name, int64_t position, int64_t iteration, const char *data) {
    return (LogRow){.kind = LOG_STEP,
                    .position = position,
                    .iteration = iteration,
                    .attempt = 1,
                    .name = str_from(name),
                    .data = str_from(data)};
}

void set_log(World *world, Op *op, LogRow entry) {
    op->in.turn.log = ARENA_NEW(&world->arena, LogRow);
    *op->in.turn.log = entry;
    op->in.turn.log_count = 1;
}

Op *save_entry(World *world, Claimed claimed, LogRow entry) {
    Op *op = turn(world, claimed, NEXT_CONTINUE);
    set_log(world, op, entry);
    op_run(world, op, OK);
    return op;
}

Op *save_step(World *world, Claimed claimed, const char *name, int64_t position) {
    return save_entry(world, claimed, log_step(name, position, 0, "1"));
}

Op *finish(World *world, Claimed claimed, TurnNext next, const char *result) {
    Op *op = turn(world, claimed, next);
    op->in.turn.result = str_from(result);
    op_run(world, op, OK);
    return op;
}

WaitItem on_signal(const char *name) {
    return (WaitItem){.kind = WAIT_SIGNAL, .position = 7, .name = str_from(name)};
}
WaitItem on_event(const char *topic) {
    return (WaitItem){.kind = WAIT_EVENT, .position = 7, .name = str_from(topic)};
}
WaitItem on_timer(int64_t at_ms) {
    return (WaitItem){.kind = WAIT_TIMER, .position = 7, .deadline_at_ms = at_ms};
}
WaitItem on_retry(int64_t at_ms) {
    return (WaitItem){.kind = WAIT_RETRY, .position = 7, .deadline_at_ms = at_ms};
}
WaitItem on_child(const char *id) {
    return (WaitItem){.kind = WAIT_CHILD, .position = 7, .name = str_from(id)};
}
WaitItem on_task(const char *id) {
    return (WaitItem){.kind = WAIT_TASK, .position = 7, .name = str_from(id)};
}
WaitItem with_deadline(WaitItem item, int64_t at_ms) {
    item.deadline_at_ms = at_ms;
    return item;
}
WaitItem with_filter(WaitItem item, const char *filter) {
    item.filter = str_from(filter);
    return item;
}

void set_waits(World *world, Op *op, WaitMode mode, const WaitItem *items, size_t count) {
    op->in.turn.waits = (WaitSet){
        .mode = mode, .items = ARENA_ARRAY(&world->arena, WaitItem, count), .count = count};
    for (size_t i = 0; i < count; i++) {
        op->in.turn.waits.items[i] = items[i];
        op->in.turn.waits.items[i].slot = (int64_t)i;
    }
}

Op *park_on(World *world, Claimed claimed, WaitMode mode, const WaitItem *items, size_t count) {
    Op *op = turn(world, claimed, NEXT_SUSPEND);
    set_waits(world, op, mode, items, count);
    op_run(world, op, OK);
    return op;
}

// ---- the world outside ----

Op *publish(World *world, const char *topic, const char *payload) {
    Op *op = op_new(world, OP_PUBLISH);
    op->in.publish.event =
        (EventSpec){.topic = str_from(topic), .id = STR("event"), .payload = str_from(payload)};
    op_run(world, op, OK);
    return op;
}

Op *publish_once(World *world, const char *topic, const char *id, const char *payload) {
    Op *op = op_new(world, OP_PUBLISH);
    op->in.publish.event = (EventSpec){.topic = str_from(topic),
                                       .id = str_from(id),
                                       .is_deduplicated = true,
                                       .payload = str_from(payload)};
    op_run(world, op, OK);
    return op;
}

Op *signal_run(World *world, const char *run_id, const char *name, const char *payload) {
    Op *op = op_new(world, OP_SIGNAL);
    op->in.signal.run_id = str_from(run_id);
    op->in.signal.name = str_from(name);
    op->in.signal.id = STR("signal");
    op->in.signal.payload = str_from(payload);
    op_run(world, op, OK);
    return op;
}

Op *cancel_run(World *world, const char *run_id, int64_t grace_ms) {
    Op *op = op_new(world, OP_CANCEL);
    op->in.cancel.run_id = str_from(run_id);
    op->in.cancel.reason = STR("\"asked\"");
    op->in.cancel.grace_ms = grace_ms;
    op_run(world, op, OK);
    return op;
}

static Op *hold_run(World *world, OpKind kind, const char *run_id) {
    Op *op = op_new(world, kind);
    op->in.hold.run_id = str_from(run_id);
    op_run(world, op, OK);
    return op;
}

Op *pause_run(World *world, const char *run_id) { return hold_run(world, OP_PAUSE, run_id); }
Op *resume_run(World *world, const char *run_id) { return hold_run(world, OP_RESUME, run_id); }

Op *rewind_run(World *world, const char *run_id, const char *step, int64_t iteration) {
    Op *op = op_new(world, OP_REWIND);
    op->in.rewind.run_id = str_from(run_id);
    op->in.rewind.step.name = str_from(step);
    op->in.rewind.step.iteration = iteration;
    op->in.rewind.step.is_last = iteration < 0;
    op_run(world, op, OK);
    return op;
}

Op *fire(World *world) {
    Op *op = op_new(world, OP_FIRE_DUE);
    op->in.fire_due.max = 1000;
    op_run(world, op, OK);
    return op;
}

Op *fire_at(World *world, int64_t now_ms) {
    world->now_ms = now_ms;
    return fire(world);
}

Op *sweep(World *world) {
    Op *op = op_new(world, OP_SWEEP);
    op->in.sweep.max = 1000;
    op_run(world, op, OK);
    return op;
}

void set_topic(World *world, const char *name, TopicConsume consume, TopicVisible visible) {
    Op *op = op_new(world, OP_SET_TOPIC);
    op->in.set_topic.row =
        (TopicRow){.name = str_from(name), .consume = consume, .visible = visible};
    op_run(world, op, OK);
}

// ---- tasks ----

TaskSpec task_of(const char *id) {
    return (TaskSpec){.id = str_from(id), .name = STR("charge"), .input = STR("{\"n\":1}")};
}

Op *add_task(World *world, const TaskSpec *spec) {
    Op *op = op_add(world, OP_CREATE_TASK);
    op->in.create_task.spec = *spec;
    return op;
}

Op *create_task(World *world, const TaskSpec *spec) {
    batch_new(world);
    Op *op = add_task(world, spec);
    op_run(world, op, OK);
    return op;
}

void set_task(World *world, Op *turn_op, const TaskSpec *spec) {
    turn_op->in.turn.tasks = ARENA_NEW(&world->arena, TaskSpec);
    *turn_op->in.turn.tasks = *spec;
    turn_op->in.turn.task_count = 1;
}

Op *lease_tasks(World *world, const char *queue, int64_t max) {
    Op *op = op_new(world, OP_CLAIM_TASKS);
    op->in.claim_tasks.worker = STR("worker-1");
    op->in.claim_tasks.queues = ARENA_NEW(&world->arena, Str);
    op->in.claim_tasks.queues[0] = str_from(queue);
    op->in.claim_tasks.queue_count = 1;
    op->in.claim_tasks.max = max;
    op->in.claim_tasks.lease_ms = MINUTE_MS;
    op_run(world, op, OK);
    return op;
}

TaskRow lease_one(World *world, const char *queue) {
    Op *op = lease_tasks(world, queue, 1);
    assert_int_equal(op->out.claim_tasks.task_count, 1);
    return op->out.claim_tasks.tasks[0];
}

Op *complete_task(World *world, const char *id, int64_t token, const char *result) {
    Op *op = op_new(world, OP_COMPLETE_TASK);
    op->in.complete_task.id = str_from(id);
    op->in.complete_task.token = token;
    op->in.complete_task.result = str_from(result);
    op_run(world, op, OK);
    return op;
}

Op *fail_task(World *world, const char *id, int64_t token, const char *error) {
    Op *op = op_new(world, OP_FAIL_TASK);
    op->in.fail_task.id = str_from(id);
    op->in.fail_task.token = token;
    op->in.fail_task.type = STR("Error");
    op->in.fail_task.error = str_from(error);
    op_run(world, op, OK);
    return op;
}

// ---- reads ----

static void assert_read(World *world, Status status) {
    if (status != OK) print_diag(&world->diag);
    assert_ok(status);
}

RunRow get_run(World *world, const char *id) {
    RunRow run = {0};
    assert_read(world,
                store_run_by_id(world->store, &world->arena, str_from(id), &run, &world->diag));
    return run;
}

LogPage get_log(World *world, const char *id) {
    const LogFilter filter = {.run = run_of_id(str_from(id))};
    LogPage log = {0};
    assert_read(world, store_read_log(world->store, &world->arena, &filter, &log, &world->diag));
    return log;
}

RunLoad get_load(World *world, const char *id) {
    int64_t key = get_run(world, id).key;
    RunLoad load = {0};
    assert_read(world, store_load_run(world->store, &world->arena, key, &load, &world->diag));
    return load;
}

Str get_result(World *world, const char *id) {
    RunResult result = {0};
    assert_read(world, store_find_result(world->store, &world->arena, run_of_id(str_from(id)),
                                         &result, &world->diag));
    return result.json;
}

Str get_input(World *world, const char *id) { return get_load(world, id).input; }

EventPage get_signals(World *world, const char *id) {
    const SignalFilter filter = {.run = run_of_id(str_from(id))};
    EventPage page = {0};
    assert_read(world,
                store_list_signals(world->store, &world->arena, &filter, &page, &world->diag));
    return page;
}

TaskRow get_task(World *world, const char *id) {
    TaskRow task = {0};
    assert_read(world,
                store_find_task(world->store, &world->arena, str_from(id), &task, &world->diag));
    return task;
}

LogRow last_entry(World *world, const char *id, LogKind kind) {
    LogPage log = get_log(world, id);
    for (size_t i = log.count; i > 0; i--) {
        if (log.rows[i - 1].kind == (int64_t)kind) return log.rows[i - 1];
    }
    fail_msg("the log of %s has no entry of kind %d", id, (int)kind);
    return (LogRow){0};
}

size_t entry_count(World *world, const char *id, LogKind kind) {
    LogPage log = get_log(world, id);
    size_t count = 0;
    for (size_t i = 0; i < log.count; i++) count += log.rows[i].kind == (int64_t)kind;
    return count;
}

int64_t get_counter(World *world, int counter) {
    StoreStats stats = {0};
    assert_read(world, store_stats(world->store, &world->arena, &stats, &world->diag));
    return stats.counters[counter];
}

EventPage get_events(World *world, const char *topic) {
    const EventFilter filter = {.topic = str_from(topic)};
    EventPage page = {0};
    assert_read(world,
                store_list_events(world->store, &world->arena, &filter, &page, &world->diag));
    return page;
}

DeadLetterPage get_dead_letters(World *world) {
    const PageSpec first = {0};
    DeadLetterPage page = {0};
    assert_read(world,
                store_list_dead_letters(world->store, &world->arena, &first, &page, &world->diag));
    return page;
}

bool has_run(World *world, const char *id) {
    RunRow run;
    Status status = store_run_by_id(world->store, &world->arena, str_from(id), &run, &world->diag);
    if (status != ERR_NOT_FOUND) assert_ok(status);
    return status == OK;
}

void check_state(World *world, const char *id, int64_t expected, const char *file, int line) {
    int64_t state = get_run(world, id).state;
    if (state == expected) return;
    print_error("%s is %s instead of %s\n", id, run_state_name(state), run_state_name(expected));
    _fail(file, line);
}

void check_text(Str actual, const char *expected, const char *file, int line) {
    if (str_same(actual, str_from(expected))) return;
    print_error("\"%.*s\"%s instead of \"%s\"\n", STR_ARG(actual), actual.data ? "" : " (null)",
                expected ? expected : "(null)");
    _fail(file, line);
}

void check_resolved(Resolution actual, int64_t slot, int64_t outcome, const char *data,
                    const char *file, int line) {
    if (actual.count != 1) {
        print_error("%zu entries instead of one\n", actual.count);
        _fail(file, line);
    }
    const LogRow *row = actual.rows;
    bool is_same = row->kind == LOG_WAIT && row->slot == slot && row->outcome == outcome;
    if (!is_same) {
        print_error("slot %lld, outcome %lld instead of slot %lld, outcome %lld\n",
                    (long long)row->slot, (long long)row->outcome, (long long)slot,
                    (long long)outcome);
        _fail(file, line);
    }
    check_text(row->data, data, file, line);
}

// ---- the program ----

// Every third case on servers under sanitizers, where most of the time is the server's: all of them
// run there on the stores without one, and on servers in the build that is shipped.
static size_t thinning(void) {
    bool is_sanitized = getenv("ABIDE_TEST_SANITIZED") != NULL;
    return is_sanitized && test_server_is(test_backend()) ? 3 : 1;
}

int run_cases(const char *name, const struct CMUnitTest *cases, size_t count) {
    static size_t place; // over all groups, so that short ones take part as well
    struct CMUnitTest *chosen = calloc(count, sizeof(*chosen));
    size_t chosen_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (place++ % thinning() == 0) chosen[chosen_count++] = cases[i];
    }
    int failed = _cmocka_run_group_tests(name, chosen, chosen_count, NULL, NULL);
    free(chosen);
    return failed;
}

int main(void) {
    int failed = 0;
    failed += contract_verbs();
    failed += contract_batches();
    failed += contract_waits() + contract_code();
    failed += contract_topics();
    failed += contract_pending();
    failed += contract_letters();
    failed += contract_terminal();
    failed += contract_steering();
    failed += contract_history();
    failed += contract_retry();
    failed += contract_loading();
    failed += contract_payloads();
    failed += contract_lists();
    failed += contract_tasks();
    failed += contract_queues();
    failed += contract_eager();
    failed += contract_embedded();
    failed += contract_places();
    failed += contract_foreseen();
    failed += contract_repair();
    failed += contract_move();
    failed += contract_rewind();
    failed += contract_resume();
    failed += contract_states();
    failed += contract_idle();
    failed += contract_tokens();
    failed += contract_rates();
    failed += contract_nodes();
    failed += contract_affinity();
    failed += contract_reserved();
    failed += contract_threads();
    failed += contract_keeping();
    failed += contract_edges();
    failed += contract_limits();
    if (world_has_file()) failed += contract_files();
    if (!world_is_kept()) failed += contract_no_files();
    if (world_has_file() || world_is_postgres()) failed += contract_steps();
    else failed += contract_no_steps();
    if (world_is_postgres()) failed += contract_steps_postgres();
    return failed != 0;
}
