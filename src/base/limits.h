// Limits: every size that a client controls and every bound of the engine's own, in one table.
//
// LIMIT_X is the value in force, LIMIT_X_MAX the one that is documented (docs/limits.md) and the
// ceiling of arrays. They are the same, always, in everything that is shipped: nothing there calls
// limits_set. Tests and the simulator lower them before they begin, so that what happens at a limit
// happens within a few operations. [limits-1] They are written while no other thread reads them,
// and never while a store is open that was opened under others.
#pragma once
#include "base/status.h"
#include "base/text/str.h"
#include <stddef.h>
#include <stdint.h>

// name, field, what is documented, the smallest under which the engine works, meaning
#define LIMITS(X)                                                                                  \
    X(RUN_ID_SIZE, run_id_size, 255, 100, "bytes of a caller's run id")                            \
    X(NAME_SIZE, name_size, 255, 64, "workflow, step, signal, task, queue names")                  \
    X(TOPIC_SIZE, topic_size, 255, 64, "bytes of a topic")                                         \
    X(KEY_SIZE, key_size, 255, 100, "idempotency keys, event ids")                                 \
    X(SCHEDULE_NAME_SIZE, schedule_name_size, 200, 32, "a tick's run id holds it and the tick")    \
    X(BACKFILL_TICKS, backfill_ticks, 1000, 1, "runs started by one backfill")                     \
    X(TAG_COUNT, tag_count, 16, 2, "tags of a run")                                                \
    X(TAG_SIZE, tag_size, 128, 80, "bytes of one tag")                                             \
    X(PAYLOAD_SIZE, payload_size, 4 << 20, 16 << 10,                                               \
      "input, result, event and signal payloads, step results")                                    \
    X(CODE_SIZE, code_size, 8 << 20, 1 << 20, "what one script is compiled to")                    \
    X(ERROR_SIZE, error_size, 64 << 10, 2 << 10, "error text kept with a run")                     \
    X(SNAPSHOT_SIZE, snapshot_size, 1 << 20, 64 << 10, "default ceiling of a flow snapshot")       \
    X(STATE_SIZE, state_size, 16 << 10, 256, "one value of State.set")                             \
    X(STATES_PER_RUN, states_per_run, 100, 4, "keys of State.set")                                 \
    X(WAITS_PER_RUN, waits_per_run, 10000, 32, "items in one wait set")                            \
    X(SIGNALS_PER_RUN, signals_per_run, 10000, 1000, "pending signals of one run")                 \
    X(EVENTS_PER_TOPIC, events_per_topic, 10000, 1000, "pending events of one topic, by default")  \
    X(REMOVED_EVENTS, removed_events, 256, 1,                                                      \
      "pending events or signals removed by one operation")                                        \
    X(EFFECTS_PER_TURN, effects_per_turn, 20000, 200,                                              \
      "tasks, children, emits, log lines of one turn")                                             \
    X(EARLIER_LOG, earlier_log, 1000, 1, "log entries kept from before a continue-as")             \
    X(TOKEN_COUNT, token_count, 1000, 1, "tokens of a store")                                      \
    X(LIST_PAGE, list_page, 1000, 1, "rows in one page of any listing")                            \
    X(BATCH_OPS, batch_ops, 4096, 1, "operations in one commit")                                   \
    X(JSON_DEPTH, json_depth, 512, 64, "nesting of JSON text that is accepted")                    \
    X(CHILD_DEPTH, child_depth, 64, 4, "runs that start runs that start runs")                     \
    X(RUN_ATTEMPTS, run_attempts, 1000, 100, "of a run with a retry policy")                       \
    X(SCHEMA_DEPTH, schema_depth, 32, 8, "schemas inside schemas")                                 \
    X(PAGE_ROWS, page_rows, 256, 1, "rows read at a time by loops without a limit")                \
    X(READ_CHUNK, read_chunk, 128, 1, "rows that a listing fetches at a time")                     \
    X(READ_LOOKS, read_looks, 4000, 1, "rows that a listing looks at for one page")                \
    X(EXPECT_LOOKUPS, expect_lookups, 16384, 1,                                                    \
      "rows that a batch fetches ahead, before it is applied")                                     \
    X(FETCH_ROWS, fetch_rows, 4096, 2, "rows of one fetch from a server")                          \
    X(REPLAY_ROWS, replay_rows, 4096, 1, "rows fetched ahead when a batch is applied again")       \
    X(ROW_CACHE_SIZE, row_cache_size, 96 << 20, 1,                                                 \
      "bytes of the rows that a server's store keeps in memory")                                   \
    X(RUN_CACHE_SIZE, run_cache_size, 32 << 20, 1, "bytes of runs kept between batches")           \
    X(KNOWN_RUNS, known_runs, 65536, 1, "runs of which more than their row is remembered")         \
    X(TASK_CACHE_SIZE, task_cache_size, 8 << 20, 1, "bytes of tasks kept between batches")         \
    X(WAIT_CACHE_SIZE, wait_cache_size, 16 << 20, 1, "bytes of wait sets kept in a batch")         \
    X(CACHED_TOPICS, cached_topics, 4096, 1, "topics kept between batches")                        \
    X(CACHED_QUEUES, cached_queues, 4096, 1, "queues kept between batches")                        \
    X(CACHED_MODULES, cached_modules, 1000, 1, "compiled scripts kept in memory")                  \
    X(RELEASES_PER_BATCH, releases_per_batch, 256, 1,                                              \
      "parked runs that leave memory with one commit")                                             \
    X(EVICTED_RUNS, evicted_runs, 262144, 1,                                                       \
      "runs with work under way that left memory, and are known to have")                          \
    X(ADOPT_ROWS, adopt_rows, 256, 1, "runs taken up at a time after a restart")                   \
    X(CLAIM_LOOKS, claim_looks, 2000, 1, "rows of one queue that one claim looks at in vain")      \
    X(SETTLE_STEPS, settle_steps, 1000, 1, "tasks of one key that one operation moves")            \
    X(FIRE_TICKS, fire_ticks, 2000, 1, "ticks of schedules that one firing looks at")              \
    X(FIRE_STARTS, fire_starts, 100, 1, "and those of them that want a run")                       \
    X(FIRE_ROWS, fire_rows, 1000, 1, "rows that one firing or sweep looks at")                     \
    X(PURGE_ROWS, purge_rows, 20000, 1, "rows that one sweep removes")

#define LIMITS_CONSTANT(NAME, name, most, least, meaning) LIMIT_##NAME##_MAX = most,
enum { LIMITS(LIMITS_CONSTANT) };
#undef LIMITS_CONSTANT

typedef struct Limits {
#define LIMITS_FIELD(NAME, name, most, least, meaning) uint32_t name;
    LIMITS(LIMITS_FIELD)
#undef LIMITS_FIELD
} Limits;

extern const Limits *const limits_in_force;

#define LIMIT_RUN_ID_SIZE        (limits_in_force->run_id_size)
#define LIMIT_NAME_SIZE          (limits_in_force->name_size)
#define LIMIT_TOPIC_SIZE         (limits_in_force->topic_size)
#define LIMIT_KEY_SIZE           (limits_in_force->key_size)
#define LIMIT_SCHEDULE_NAME_SIZE (limits_in_force->schedule_name_size)
#define LIMIT_BACKFILL_TICKS     (limits_in_force->backfill_ticks)
#define LIMIT_TAG_COUNT          (limits_in_force->tag_count)
#define LIMIT_TAG_SIZE           (limits_in_force->tag_size)
#define LIMIT_PAYLOAD_SIZE       (limits_in_force->payload_size)
#define LIMIT_CODE_SIZE          (limits_in_force->code_size)
#define LIMIT_ERROR_SIZE         (limits_in_force->error_size)
#define LIMIT_SNAPSHOT_SIZE      (limits_in_force->snapshot_size)
#define LIMIT_STATE_SIZE         (limits_in_force->state_size)
#define LIMIT_STATES_PER_RUN     (limits_in_force->states_per_run)
#define LIMIT_WAITS_PER_RUN      (limits_in_force->waits_per_run)
#define LIMIT_SIGNALS_PER_RUN    (limits_in_force->signals_per_run)
#define LIMIT_EVENTS_PER_TOPIC   (limits_in_force->events_per_topic)
#define LIMIT_REMOVED_EVENTS     (limits_in_force->removed_events)
#define LIMIT_EFFECTS_PER_TURN   (limits_in_force->effects_per_turn)
#define LIMIT_EARLIER_LOG        (limits_in_force->earlier_log)
#define LIMIT_TOKEN_COUNT        (limits_in_force->token_count)
#define LIMIT_LIST_PAGE          (limits_in_force->list_page)
#define LIMIT_BATCH_OPS          (limits_in_force->batch_ops)
#define LIMIT_JSON_DEPTH         (limits_in_force->json_depth)
#define LIMIT_CHILD_DEPTH        (limits_in_force->child_depth)
#define LIMIT_RUN_ATTEMPTS       (limits_in_force->run_attempts)
#define LIMIT_SCHEMA_DEPTH       (limits_in_force->schema_depth)
#define LIMIT_PAGE_ROWS          (limits_in_force->page_rows)
#define LIMIT_READ_CHUNK         (limits_in_force->read_chunk)
#define LIMIT_READ_LOOKS         (limits_in_force->read_looks)
#define LIMIT_EXPECT_LOOKUPS     (limits_in_force->expect_lookups)
#define LIMIT_FETCH_ROWS         (limits_in_force->fetch_rows)
#define LIMIT_REPLAY_ROWS        (limits_in_force->replay_rows)
#define LIMIT_ROW_CACHE_SIZE     (limits_in_force->row_cache_size)
// A task that is leased for longer has a row of its own from the beginning.
#define LIMIT_EMBEDDED_LEASE_MS  (2 * 60 * 1000)
#define LIMIT_RUN_CACHE_SIZE     (limits_in_force->run_cache_size)
#define LIMIT_KNOWN_RUNS         (limits_in_force->known_runs)
#define LIMIT_TASK_CACHE_SIZE    (limits_in_force->task_cache_size)
#define LIMIT_WAIT_CACHE_SIZE    (limits_in_force->wait_cache_size)
#define LIMIT_CACHED_TOPICS      (limits_in_force->cached_topics)
#define LIMIT_CACHED_QUEUES      (limits_in_force->cached_queues)
#define LIMIT_CACHED_MODULES     (limits_in_force->cached_modules)
#define LIMIT_RELEASES_PER_BATCH (limits_in_force->releases_per_batch)
#define LIMIT_EVICTED_RUNS       (limits_in_force->evicted_runs)
#define LIMIT_ADOPT_ROWS         (limits_in_force->adopt_rows)
#define LIMIT_CLAIM_LOOKS        (limits_in_force->claim_looks)
#define LIMIT_SETTLE_STEPS       (limits_in_force->settle_steps)
#define LIMIT_FIRE_TICKS         (limits_in_force->fire_ticks)
#define LIMIT_FIRE_STARTS        (limits_in_force->fire_starts)
#define LIMIT_FIRE_ROWS          (limits_in_force->fire_rows)
#define LIMIT_PURGE_ROWS         (limits_in_force->purge_rows)

// Ranges of what people choose.
enum { PRIORITY_MIN = -1000, PRIORITY_MAX = 1000 };
enum { SNAPSHOTS_KEPT_DEFAULT = 10, SNAPSHOTS_KEPT_MAX = 1000 };

#define LIMIT_DURATION_MS (100LL * 365 * 24 * 3600 * 1000) // a hundred years

typedef struct LimitInfo {
    const char *name; // "batch_ops"
    const char *meaning;
    uint32_t most, least;
    size_t offset; // in Limits
} LimitInfo;

extern const LimitInfo limit_infos[];
extern const size_t limit_count;

// For tests and the simulator only, see [limits-1].
void limits_set(const LimitInfo *info, uint32_t value); // least … most
uint32_t limits_get(const LimitInfo *info);             // the value in force
void limits_reset(void);                                // all as they are documented
// "batch_ops=2,list_page=3", "smallest": each is lowered as far as the engine works, or nothing.
// False for what is not understood.
bool limits_read(Str text);
