// The examples under examples/flows with a fault at every commit.
//
// Each is played once undisturbed on the simulator's store, which gives its result, the tasks it
// starts and what they answer. Then it is played once for each commit and each fault at it: error
// before, error after (outcome unknown), crash before, crash after. Whatever happens, the result
// must be the same, and the tasks must be the same: none is missing, and none is started that the
// undisturbed run did not start. A task's body may run again after a crash (its key is the same,
// and the world here answers the same), but the flow never asks twice.
#include "base/containers/buf.h"
#include "base/memory.h"
#include "cli/run/files.h"
#include "cli/run/mock.h"
#include "cli/run/script.h"
#include "engine/runners/filter.h"
#include "flow/flow.h"
#include "flow/lexer/source.h"
#include "sim/clients.h"
#include "store/reads.h"
#include "unit/unit.h"
#include <stdio.h>

enum { EFFECTS_MAX = 64, ANSWERS_MAX = 8, ROUNDS_MAX = 20000 };

typedef struct Effect { // one task of the undisturbed run
    char key[96];
    const JsonValue *answers[ANSWERS_MAX];
    int answer_count;
    // in the present play
    int given;
    int last_attempt;
} Effect;

typedef struct Example {
    const char *name;
    const char *queue;  // with a rate of 3 a minute; NULL = none
    const char *run_id; // "r0", or that of the first tick of its schedule
    Arena arena;
    Buf source, mock_text, input, script_text, schedule_text;
    Mocks mocks;
    EventScript script;
    Effect effects[EFFECTS_MAX];
    int effect_count;
    bool is_reference; // the undisturbed play: answers are taken from the mocks, and kept
    char result[1024]; // of the undisturbed play
    char trouble[256];
} Example;

typedef struct TaskOf {
    Example *example;
    Mock *mock;
} TaskOf;

// ---- the world that executes tasks ----

static bool is_error(const JsonValue *answer) {
    return answer->kind == JSON_KIND_OBJECT && answer->count == 1 &&
           str_equal(answer->first->key, STR("error"));
}

// The key of a run, which its tasks' ids may have, depends on what was made before it: an attempt
// to join more, and it is another one.
static void drop_run_key(const char *id, char *ret_text, size_t size) {
    enum { KEY_PLACE = 5 + 32 }; // see model/tasks/id.h
    size_t len = strlen(id), digits = 0;
    bool has_key = len > KEY_PLACE && id[KEY_PLACE] == 'k';
    if (has_key) digits = 1 + strspn(id + KEY_PLACE + 1, "0123456789");
    size_t begin = has_key ? KEY_PLACE : len;
    snprintf(ret_text, size, "%.*s%s", (int)begin, id, id + begin + digits);
}

static Effect *find_effect(Example *example, const char *id) {
    char key[sizeof((Effect *)0)->key];
    drop_run_key(id, key, sizeof key);
    for (int i = 0; i < example->effect_count; i++)
        if (strcmp(example->effects[i].key, key) == 0) return &example->effects[i];
    if (!example->is_reference || example->effect_count == EFFECTS_MAX) return NULL;
    Effect *effect = &example->effects[example->effect_count++];
    snprintf(effect->key, sizeof effect->key, "%s", key);
    return effect;
}

static void learn_answer(TaskOf *task, Effect *effect) {
    const JsonValue *answer = task->mock->answers;
    unsigned number = atomic_fetch_add(&task->mock->call_count, 1);
    if (answer->kind == JSON_KIND_ARRAY) answer = json_item(answer, number);
    assert_non_null(answer);
    assert_true(effect->answer_count < ANSWERS_MAX);
    effect->answers[effect->answer_count++] = answer;
}

static const JsonValue *next_answer(TaskOf *task, Effect *effect, int attempt) {
    bool is_repeated = effect->given > 0 && effect->last_attempt == attempt;
    bool is_settled = effect->given > 0 && !is_error(effect->answers[effect->given - 1]);
    if (is_repeated || is_settled) return effect->answers[effect->given - 1];
    if (task->example->is_reference) learn_answer(task, effect);
    effect->last_attempt = attempt;
    if (effect->given < effect->answer_count) effect->given++;
    return effect->answers[effect->given - 1];
}

static int execute(abide_call *call, const char *input) {
    (void)input;
    TaskOf *task = abide_call_user_data(call);
    Effect *effect = find_effect(task->example, abide_call_key(call));
    if (effect == NULL) {
        snprintf(task->example->trouble, sizeof task->example->trouble,
                 "task %s was started once more than without the fault", task->mock->name);
        return abide_throw_final(call, "Error", "not expected");
    }
    const JsonValue *answer = next_answer(task, effect, abide_call_attempt(call));
    if (!is_error(answer))
        return abide_return(call, abide_call_printf(call, "%.*s", STR_ARG(answer->raw)));
    const JsonValue *error = answer->first;
    Str message = STR("failed");
    bool is_final = false;
    Diag diag;
    assert_ok(json_get_string(error, "message", &message, &diag));
    assert_ok(json_get_bool(error, "final", &is_final, &diag));
    return abide_throw_with(call, "Error", abide_call_printf(call, "%.*s", STR_ARG(message)), NULL,
                            is_final);
}

// ---- reading an example ----

static void read_part(Example *example, const char *file, Buf *ret_text, bool is_optional) {
    char path[512];
    Diag diag;
    snprintf(path, sizeof path, "%s/examples/flows/%s/%s", getenv("ABIDE_SOURCE_DIR"),
             example->name, file);
    buf_init(ret_text, 1 << 20);
    if (file_read(path, ret_text, &diag) != OK && !is_optional) fail_msg("%s", diag.message);
    (void)buf_cstr(ret_text);
}

static Example *example_open(const char *name, const char *queue) {
    Example *example = mem_zalloc(sizeof(Example));
    Diag diag;
    char file[64];
    example->name = name;
    example->queue = queue;
    arena_init(&example->arena);
    snprintf(file, sizeof file, "%s.flow", name);
    read_part(example, file, &example->source, false);
    read_part(example, "mock.json", &example->mock_text, false);
    read_part(example, "input.json", &example->input, false);
    read_part(example, "events.txt", &example->script_text, true);
    read_part(example, "schedule.json", &example->schedule_text, true);
    example->run_id = "r0";
    // The simulator begins on a Friday; nine in Berlin is eight in January.
    if (example->schedule_text.len > 0)
        example->run_id = "sched:weekly-report:2027-01-18T08:00:00Z";
    assert_ok(mocks_parse(&example->arena, buf_str(&example->mock_text), &example->mocks, &diag));
    assert_ok(
        script_parse(&example->arena, buf_str(&example->script_text), &example->script, &diag));
    return example;
}

static void example_free(Example *example) {
    buf_done(&example->source);
    buf_done(&example->mock_text);
    buf_done(&example->input);
    buf_done(&example->script_text);
    buf_done(&example->schedule_text);
    arena_done(&example->arena);
    mem_free(example);
}

// ---- one play ----

typedef struct Play {
    Sim *sim;
    Example *example;
    Clients clients;
    TaskOf tasks[16];
    char workflow[64];        // the first of the file
    int64_t careful_until_ms; // a node that died is given up only after its lease, by a sweep
} Play;

static void set_schedule(Play *play, Batch *batch) {
    JsonValue *object;
    Diag diag;
    Op *op = batch_add(batch, OP_SET_SCHEDULE);
    ScheduleRow *row = &op->in.set_schedule.row;
    *row = (ScheduleRow){.kind = SCHEDULE_CRON, .keep_ms = -1, .overlap = OVERLAP_SKIP};
    assert_ok(json_parse(batch->arena, buf_str(&play->example->schedule_text), &object, &diag));
    assert_ok(json_get_string(object, "name", &row->name, &diag));
    assert_ok(json_get_string(object, "workflow", &row->workflow, &diag));
    assert_ok(json_get_string(object, "cron", &row->spec, &diag));
    assert_ok(json_get_string(object, "timezone", &row->zone, &diag));
    json_get_raw(object, "input", &row->input);
}

static void define(Play *play) {
    FlowModule *module;
    Diag diag;
    Arena arena;
    Batch batch;
    Str source = buf_str(&play->example->source);
    char file[64];
    snprintf(file, sizeof file, "%s.flow", play->example->name);
    assert_ok(flow_compile(str_from(file), source, &module, NULL, &diag));
    arena_init(&arena);
    batch_init(&batch, &arena, play->sim->now_ms);
    for (uint32_t i = flow_module_workflow_count(module); i-- > 0;) {
        FlowWorkflowInfo info = flow_module_workflow(module, i);
        snprintf(play->workflow, sizeof play->workflow, "%.*s", STR_ARG(info.name));
        Op *op = batch_add(&batch, OP_DEFINE);
        op->in.define.name = info.name;
        op->in.define.version = flow_module_hash(module);
        op->in.define.source = source;
        op->in.define.config = info.config_json;
        op->in.define.kind = RUN_FLOW;
    }
    if (play->example->queue != NULL) {
        Op *op = batch_add(&batch, OP_SET_QUEUE);
        op->in.set_queue.row.name = str_from(play->example->queue);
        op->in.set_queue.row.max_per_key = 1;
        op->in.set_queue.row.rate_count = 3;
        op->in.set_queue.row.rate_period_ms = 60000;
    }
    if (play->example->schedule_text.len > 0) set_schedule(play, &batch);
    assert_ok(store_commit(play->sim->store, &batch, &diag));
    for (size_t i = 0; i < batch.count; i++) assert_ok(batch.ops[i]->out.status);
    arena_done(&arena);
    flow_module_release(module);
}

static void add_calls(Play *play) {
    if (play->example->schedule_text.len > 0) return; // the schedule starts it
    ClientCall *start = clients_call(&play->clients, OP_CREATE_RUN);
    start->request.op.in.create_run.spec = (RunSpec){.id = STR("r0"),
                                                     .workflow = str_from(play->workflow),
                                                     .input = buf_str(&play->example->input),
                                                     .keep_ms = -1,
                                                     .parent_position = -1};
    for (size_t i = 0; i < play->example->script.count; i++) {
        const ScriptItem *item = &play->example->script.items[i];
        assert_int_equal(item->kind, SCRIPT_SIGNAL);
        ClientCall *call = clients_call(&play->clients, OP_SIGNAL);
        snprintf(call->id, sizeof call->id, "s%zu", i);
        call->retry_at_ms = play->sim->now_ms + item->after_ms;
        call->request.op.in.signal.run_id = STR("r0");
        call->request.op.in.signal.name = item->name;
        call->request.op.in.signal.id = str_from(call->id);
        call->request.op.in.signal.is_deduplicated = true;
        call->request.op.in.signal.payload = item->payload;
    }
}

static void start_node(Play *play) {
    SimNode *node = &play->sim->nodes[0];
    if (play->sim->crash_count > 0) play->careful_until_ms = play->sim->now_ms + 60000;
    node_start(node);
    if (node->coordinator == NULL) return; // it met the fault while it joined
    for (size_t i = 0; i < play->example->mocks.count; i++) {
        play->tasks[i] = (TaskOf){play->example, &play->example->mocks.items[i]};
        assert_ok(coordinator_add_task(node->coordinator,
                                       str_from(play->example->mocks.items[i].name), execute,
                                       &play->tasks[i]));
    }
}

// To the next moment at which something happens; sweeps and leases are not worth a stop, unless
// a node has died.
static void advance(Play *play) {
    Sim *sim = play->sim;
    SimNode *node = &sim->nodes[0];
    int64_t next = 0;
    bool is_careful = node->coordinator == NULL || sim->now_ms < play->careful_until_ms;
    if (is_careful || !coordinator_is_idle(node->coordinator, &next)) {
        sim_advance(sim, &play->clients);
        return;
    }
    LIST_EACH (link, &play->clients.calls) {
        int64_t at = container_of(link, ClientCall, link)->retry_at_ms;
        if (next == 0 || at < next) next = at;
    }
    sim->now_ms = next > sim->now_ms ? next : sim->now_ms + 1000;
}

// The result once every run has ended; false before.
static bool read_result(const Play *play, char *ret_text, size_t size) {
    Sim *sim = play->sim;
    Str run_id = str_from(play->example->run_id);
    Arena arena;
    Diag diag;
    arena_init(&arena);
    StoreStats stats;
    RunRow run;
    RunResult result;
    int64_t live = 0;
    assert_ok(store_stats(sim->store, &arena, &stats, &diag));
    for (int state = RUN_PENDING; state <= RUN_PAUSED; state++)
        live += stats.counters[COUNTER_RUNS_FIRST + state];
    bool is_over = live == 0 && store_run_by_id(sim->store, &arena, run_id, &run, &diag) == OK &&
                   store_find_result(sim->store, &arena, run_of_id(run_id), &result, &diag) == OK;
    if (is_over)
        snprintf(ret_text, size, "%s %.*s", run_state_name(run.state), STR_ARG(result.json));
    arena_done(&arena);
    return is_over;
}

static void play_rounds(Play *play, char *ret_result, size_t size) {
    Sim *sim = play->sim;
    SimNode *node = &sim->nodes[0];
    for (int round = 0; round < ROUNDS_MAX && !sim_has_failed(sim); round++) {
        if (node->coordinator == NULL) start_node(play);
        bool has_acted = clients_send(&play->clients);
        has_acted = node_act(node) || has_acted;
        if (has_acted) continue;
        if (list_is_empty(&play->clients.calls) && read_result(play, ret_result, size)) return;
        advance(play);
    }
    sim_fail(sim, "it did not end");
}

// Answers the number of commits.
static int64_t play_once(Example *example, int64_t fault_at, Fault fault, char *ret_result,
                         size_t size) {
    Sim *sim = mem_zalloc(sizeof(Sim));
    Play play = {.sim = sim, .example = example, .clients.sim = sim};
    StoreConfig config = {.filter_matches = filter_matches};
    Diag diag;
    sim->options = (SimOptions){.seed = 1, .node_count = 1};
    sim->random_state = 12345;
    sim->now_ms = 1800000000000;
    sim->crash_at_call = fault_at;
    sim->crash_kind = fault;
    sim->ledger = ledger_new(sim);
    assert_ok(store_open(STR("memory:"), &config, &sim->store, &diag));
    list_init(&play.clients.calls);
    list_init(&play.clients.claims);
    define(&play);
    add_calls(&play);
    for (int i = 0; i < example->effect_count; i++) example->effects[i].given = 0;
    node_init(sim, &sim->nodes[0], 0);
    play_rounds(&play, ret_result, size);
    node_crash(&sim->nodes[0]);
    clients_free(&play.clients);
    int64_t row_count;
    if (!sim_has_failed(sim) && store_verify(sim->store, &row_count, &diag) != OK)
        sim_fail(sim, "the store does not verify: %s", diag.message);
    if (sim_has_failed(sim))
        snprintf(example->trouble, sizeof example->trouble, "%.250s", sim->failure);
    int64_t calls = sim->store_calls;
    store_close(sim->store);
    ledger_free(sim->ledger);
    mem_free(sim);
    return calls;
}

static void check_play(Example *example, int64_t call, Fault fault, const char *result) {
    for (int i = 0; i < example->effect_count && example->trouble[0] == 0; i++)
        if (example->effects[i].given == 0)
            snprintf(example->trouble, sizeof example->trouble, "task %s was not started",
                     example->effects[i].key);
    if (example->trouble[0] == 0 && strcmp(result, example->result) != 0)
        snprintf(example->trouble, sizeof example->trouble, "it ended %.100s instead of %.100s",
                 result, example->result);
    if (example->trouble[0] != 0)
        fail_msg("%s, fault %d at commit %lld: %s", example->name, (int)fault, (long long)call,
                 example->trouble);
}

static void play_all(const char *name, const char *queue, const char *expected) {
    Example *example = example_open(name, queue);
    char result[1024] = "";
    example->is_reference = true;
    int64_t calls = play_once(example, 0, FAULT_NONE, example->result, sizeof example->result);
    check_play(example, 0, FAULT_NONE, example->result);
    if (strstr(example->result, expected) == NULL) fail_msg("%s: %s", name, example->result);
    assert_true(example->effect_count > 0);
    example->is_reference = false;
    int64_t points = 0;
    for (int64_t call = 1; call <= calls; call++)
        for (int fault = FAULT_BEFORE; fault <= FAULT_CRASH_AFTER; fault++) {
            (void)play_once(example, call, (Fault)fault, result, sizeof result);
            check_play(example, call, (Fault)fault, result);
            points++;
        }
    print_message("%s: %lld commits, %d tasks, %lld faults\n", name, (long long)calls,
                  example->effect_count, (long long)points);
    example_free(example);
}

static void hello(void **state) {
    (void)state;
    play_all("hello", NULL, "completed {\"name\":\"Ada\",\"answer\":{\"ok\":");
}
static void order(void **state) {
    (void)state;
    play_all("order", NULL, "completed {\"orderId\":7,\"status\":\"done\",\"total\":80");
}
static void fan_out(void **state) {
    (void)state;
    play_all("fan-out", NULL, "completed {\"total\":52,\"failed\":[");
}
static void saga(void **state) {
    (void)state;
    play_all("saga", NULL, "completed {\"trip\":\"t-9\",\"status\":\"cancelled\"");
}
static void polling(void **state) {
    (void)state;
    play_all("polling", NULL, "completed {\"result\":[1,2,3]}");
}
static void reminders(void **state) {
    (void)state;
    play_all("reminders", NULL, "\"reviewer\":\"bob\",\"verdict\":\"approved\",\"reminders\":1}");
}
static void report(void **state) {
    (void)state;
    play_all("report", NULL, "completed {\"rate\":");
}
static void children(void **state) {
    (void)state;
    play_all("children", NULL, "3 errors in ten minutes");
}
static void batch(void **state) {
    (void)state;
    play_all("batch", "mail", "completed {\"sent\":7}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order),    cmocka_unit_test(fan_out),   cmocka_unit_test(saga),
        cmocka_unit_test(polling),  cmocka_unit_test(reminders), cmocka_unit_test(report),
        cmocka_unit_test(children), cmocka_unit_test(batch),     cmocka_unit_test(hello),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
