// What the contract tests share: a store of the kind under test, a virtual clock, a node.
//
// Every test gets a fresh World and, when it is through, the whole store is verified against its
// invariants. The tests speak to the store through store.h only, so they hold for every backend.
//
// Three ways to submit operations:
//   Op *op = op_new(world, OP_X);  … set inputs …  op_run(world, op, OK);      a batch of one
//   batch_new(world); op_add(world, OP_X); …  batch_run(world);                a batch of several
//   the helpers below, which do the common ones and answer the Op
#pragma once
#include "base/array.h"
#include "base/limits.h"
#include "contract/dump.h"
#include "store/reads.h"
#include "unit/unit.h"

enum { START_MS = 1000000, SECOND_MS = 1000, MINUTE_MS = 60000, HOUR_MS = 3600000 };
#define DAY_MS  (24LL * HOUR_MS)
#define WEEK_MS (7 * DAY_MS) // how long events are kept unless told

typedef struct World {
    Store *store;
    StoreConfig config;
    Arena arena; // everything a test makes or is answered
    Batch batch; // the present or last one
    Diag diag;   // of the last batch or query
    int64_t now_ms;
    int64_t node; // who submits; 0 = not a node
    int64_t batch_number;
    int64_t claim_max;
    const WorkflowSet *executes; // NULL = it has every workflow in C
    char directory[64];          // empty for stores without files
    char url[128];
} World;

int world_setup(void **state);
int world_teardown(void **state);
bool world_has_file(void);
bool world_is_postgres(void);
bool world_is_kept(void); // closed and opened again it has what it had
// Ends the process, so to speak: the store is opened again where that keeps anything, and a new
// node joins that knows itself alone. world->node is the new one.
void world_crash(World *world);
void world_reopen(World *world); // just that; nothing happens to a store in memory
Str world_dump(World *world);
#define assert_unchanged(world, before) check_unchanged((world), (before), __FILE__, __LINE__)
void check_unchanged(World *world, Str before, const char *file, int line);

// ---- the application's own tables, past the store ----
void app_sql(World *world, const char *sql);
int64_t app_number(World *world, const char *sql);

// ---- batches ----
void batch_new(World *world);
Op *op_add(World *world, OpKind kind);
void batch_run(World *world); // the batch itself must answer OK
Status batch_try(World *world);
Op *op_new(World *world, OpKind kind);
#define op_run(world, op, expected) check_op((world), (op), (expected), __FILE__, __LINE__)
void check_op(World *world, Op *op, Status expected, const char *file, int line);
#define assert_refused(op, expected, code_text)                                                    \
    check_refused((op), (expected), (code_text), __FILE__, __LINE__)
void check_refused(const Op *op, Status expected, const char *code, const char *file, int line);

// ---- runs ----
typedef struct Claimed {
    int64_t run;
    int64_t epoch;
} Claimed;

int64_t join(World *world, const char *name, int64_t lease_ms); // answers the node
RunSpec spec_of(const char *id);
Op *add_create(World *world, const RunSpec *spec);
Op *create_op(World *world, const RunSpec *spec); // a batch of one, answered OK
Claimed create(World *world, const char *id);     // started and claimed
Claimed create_from(World *world, const RunSpec *spec);
Claimed ready_at(const World *world, size_t place); // of the last batch
Claimed ready_of(const World *world, int64_t run);
Op *claim(World *world, int64_t max);

Op *add_turn(World *world, Claimed claimed, TurnNext next);
Op *turn(World *world, Claimed claimed, TurnNext next); // a batch of one, not submitted yet
LogRow log_step(const char *name, int64_t position, int64_t iteration, const char *data);
void set_log(World *world, Op *op, LogRow entry);
Op *save_step(World *world, Claimed claimed, const char *name, int64_t position);
Op *save_entry(World *world, Claimed claimed, LogRow entry);
Op *finish(World *world, Claimed claimed, TurnNext next, const char *result);

WaitItem on_signal(const char *name);
WaitItem on_event(const char *topic);
WaitItem on_timer(int64_t at_ms);
WaitItem on_retry(int64_t at_ms);
WaitItem on_child(const char *id);
WaitItem on_task(const char *id);
WaitItem with_deadline(WaitItem item, int64_t at_ms);
WaitItem with_filter(WaitItem item, const char *filter); // wants payloads that contain it
// The n-th item gets slot n.
void set_waits(World *world, Op *op, WaitMode mode, const WaitItem *items, size_t count);
Op *park_on(World *world, Claimed claimed, WaitMode mode, const WaitItem *items, size_t count);
#define park(world, claimed, ...)                                                                  \
    park_on((world), (claimed), WAIT_FIRST, (WaitItem[]){__VA_ARGS__},                             \
            sizeof((WaitItem[]){__VA_ARGS__}) / sizeof(WaitItem))
#define park_each(world, claimed, ...)                                                             \
    park_on((world), (claimed), WAIT_EACH, (WaitItem[]){__VA_ARGS__},                              \
            sizeof((WaitItem[]){__VA_ARGS__}) / sizeof(WaitItem))

// ---- the world outside ----
Op *publish(World *world, const char *topic, const char *payload);
Op *publish_once(World *world, const char *topic, const char *id, const char *payload);
Op *signal_run(World *world, const char *run_id, const char *name, const char *payload);
Op *cancel_run(World *world, const char *run_id, int64_t grace_ms);
Op *pause_run(World *world, const char *run_id);
Op *resume_run(World *world, const char *run_id);
Op *rewind_run(World *world, const char *run_id, const char *step, int64_t iteration);
Op *fire(World *world);
Op *fire_at(World *world, int64_t now_ms);
Op *sweep(World *world);
void set_topic(World *world, const char *name, TopicConsume consume, TopicVisible visible);

// ---- tasks ----
TaskSpec task_of(const char *id);
Op *add_task(World *world, const TaskSpec *spec);
Op *create_task(World *world, const TaskSpec *spec);
void set_task(World *world, Op *turn_op, const TaskSpec *spec); // queued by a turn
Op *lease_tasks(World *world, const char *queue, int64_t max);
TaskRow lease_one(World *world, const char *queue); // exactly one is there
Op *complete_task(World *world, const char *id, int64_t token, const char *result);
Op *fail_task(World *world, const char *id, int64_t token, const char *error);

// ---- reads ----
RunRow get_run(World *world, const char *id);
TaskRow get_task(World *world, const char *id);
LogPage get_log(World *world, const char *id);
RunLoad get_load(World *world, const char *id);
LogRow last_entry(World *world, const char *id, LogKind kind); // the last one of that kind
size_t entry_count(World *world, const char *id, LogKind kind);
Str get_result(World *world, const char *id);
Str get_input(World *world, const char *id);
int64_t get_counter(World *world, int counter);
EventPage get_events(World *world, const char *topic);
EventPage get_signals(World *world, const char *run_id);
DeadLetterPage get_dead_letters(World *world);
bool has_run(World *world, const char *id);
#define assert_state(world, id, expected) check_state((world), (id), (expected), __FILE__, __LINE__)
void check_state(World *world, const char *id, int64_t expected, const char *file, int line);
// The one entry that resolved a wait: its slot, outcome and data (NULL = none).
#define assert_resolved(rows, count, slot, outcome, data)                                          \
    check_resolved((Resolution){(rows), (count)}, (slot), (outcome), (data), __FILE__, __LINE__)
typedef struct Resolution {
    const LogRow *rows;
    size_t count;
} Resolution;
void check_resolved(Resolution actual, int64_t slot, int64_t outcome, const char *data,
                    const char *file, int line);
#define assert_text(actual, expected) check_text((actual), (expected), __FILE__, __LINE__)
void check_text(Str actual, const char *expected, const char *file, int line); // NULL = null

#define CASE(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)

// Runs the cases of a group, or some of them where all would take too long; answers how many
// failed.
#define run_group(name, cases) run_cases((name), (cases), COUNT_OF(cases))
int run_cases(const char *name, const struct CMUnitTest *cases, size_t count);

// ---- the groups, one per file ----
int contract_verbs(void);
int contract_batches(void);
int contract_waits(void);
int contract_code(void);
int contract_topics(void);
int contract_pending(void);
int contract_letters(void);
int contract_terminal(void);
int contract_steering(void);
int contract_history(void);
int contract_loading(void);
int contract_payloads(void);
int contract_lists(void);
int contract_tasks(void);
int contract_queues(void);
int contract_eager(void);
int contract_embedded(void);
int contract_places(void);
int contract_foreseen(void);
int contract_repair(void);
int contract_move(void);
int contract_rewind(void);
int contract_resume(void);
int contract_retry(void);
int contract_states(void);
int contract_idle(void);
int contract_tokens(void);
int contract_rates(void);
int contract_nodes(void);
int contract_affinity(void);
int contract_reserved(void);
int contract_threads(void);
int contract_keeping(void);
int contract_edges(void);
int contract_limits(void);
int contract_files(void); // stores with a file
int contract_no_files(void);
int contract_steps(void); // stores whose transaction a step may join
int contract_steps_postgres(void);
int contract_no_steps(void); // the others
