// Tables: the one description of every durable row, from which each backend makes its schema,
// its statements and its copies.
//
//   [tables-1] Every field of a row struct is a column, in the order of the struct; a field that is
//        forgotten here, or listed with the wrong type, does not compile.
//   [tables-2] Key columns stand first.
//   [tables-3] An index lists only what it is ordered by before the primary key; the primary key
//        always follows as the last part of the order (see column.h), so it is not listed.
//
// Adding a column: one line in the struct, one line here, one step in store/sqlite/migrations.c.
#include "base/array.h"
#include "base/assert.h"
#include "model/rows.h"
#include <assert.h>

// Whole numbers that mean something to those who loop over columns.
enum {
    MEANING_SHIFT = 4,
    COLUMN_KEY = COLUMN_I64 | COLUMN_IS_KEY << MEANING_SHIFT,
    COLUMN_DUE = COLUMN_I64 | COLUMN_IS_DUE << MEANING_SHIFT,
};
#define STORED_TYPE(type) ((type) & ((1 << MEANING_SHIFT) - 1))

#define RUN_COLUMNS(COLUMN)                                                                        \
    COLUMN(RunRow, key, COLUMN_KEY)                                                                \
    COLUMN(RunRow, id, COLUMN_TEXT)                                                                \
    COLUMN(RunRow, workflow, COLUMN_TEXT)                                                          \
    COLUMN(RunRow, definition, COLUMN_I64)                                                         \
    COLUMN(RunRow, kind, COLUMN_I64)                                                               \
    COLUMN(RunRow, state, COLUMN_I64)                                                              \
    COLUMN(RunRow, owner, COLUMN_I64)                                                              \
    COLUMN(RunRow, epoch, COLUMN_I64)                                                              \
    COLUMN(RunRow, generation, COLUMN_I64)                                                         \
    COLUMN(RunRow, incarnation, COLUMN_I64)                                                        \
    COLUMN(RunRow, priority, COLUMN_I64)                                                           \
    COLUMN(RunRow, claim_rank, COLUMN_I64)                                                         \
    COLUMN(RunRow, due_at_ms, COLUMN_DUE)                                                          \
    COLUMN(RunRow, deadline_at_ms, COLUMN_I64)                                                     \
    COLUMN(RunRow, keep_ms, COLUMN_I64)                                                            \
    COLUMN(RunRow, created_at_ms, COLUMN_I64)                                                      \
    COLUMN(RunRow, updated_at_ms, COLUMN_I64)                                                      \
    COLUMN(RunRow, started_at_ms, COLUMN_I64)                                                      \
    COLUMN(RunRow, finished_at_ms, COLUMN_I64)                                                     \
    COLUMN(RunRow, idle_since_ms, COLUMN_I64)                                                      \
    COLUMN(RunRow, parent, COLUMN_KEY)                                                             \
    COLUMN(RunRow, parent_position, COLUMN_I64)                                                    \
    COLUMN(RunRow, depth, COLUMN_I64)                                                              \
    COLUMN(RunRow, close_policy, COLUMN_I64)                                                       \
    COLUMN(RunRow, leftover_policy, COLUMN_I64)                                                    \
    COLUMN(RunRow, paused_state, COLUMN_I64)                                                       \
    COLUMN(RunRow, is_pause_wanted, COLUMN_I64)                                                    \
    COLUMN(RunRow, cancel_at_ms, COLUMN_I64)                                                       \
    COLUMN(RunRow, attempts, COLUMN_I64)                                                           \
    COLUMN(RunRow, input_seq, COLUMN_I64)                                                          \
    COLUMN(RunRow, result_seq, COLUMN_I64)                                                         \
    COLUMN(RunRow, log_seq, COLUMN_I64)                                                            \
    COLUMN(RunRow, tasks_ended_key, COLUMN_I64)                                                    \
    COLUMN##_AS(RunRow, affinity, COLUMN_I64, "home") COLUMN(RunRow, retries, COLUMN_I64)          \
        COLUMN(RunRow, phase, COLUMN_I64) COLUMN(RunRow, place, COLUMN_I64)                        \
            COLUMN(RunRow, queue, COLUMN_TEXT) COLUMN(RunRow, tags, COLUMN_TEXT)                   \
                COLUMN(RunRow, leftover_topic, COLUMN_TEXT) COLUMN(RunRow, waits, COLUMN_BYTES)    \
                    COLUMN(RunRow, snapshot, COLUMN_BYTES) COLUMN(RunRow, task, COLUMN_BYTES)

#define LOG_COLUMNS(COLUMN)                                                                        \
    COLUMN(LogRow, run, COLUMN_KEY)                                                                \
    COLUMN(LogRow, seq, COLUMN_I64)                                                                \
    COLUMN(LogRow, at_ms, COLUMN_I64)                                                              \
    COLUMN(LogRow, kind, COLUMN_I64)                                                               \
    COLUMN(LogRow, position, COLUMN_I64)                                                           \
    COLUMN(LogRow, iteration, COLUMN_I64)                                                          \
    COLUMN(LogRow, attempt, COLUMN_I64)                                                            \
    COLUMN(LogRow, outcome, COLUMN_I64)                                                            \
    COLUMN(LogRow, slot, COLUMN_I64)                                                               \
    COLUMN(LogRow, name, COLUMN_TEXT)                                                              \
    COLUMN(LogRow, data, COLUMN_TEXT)

#define WAITER_COLUMNS(COLUMN)                                                                     \
    COLUMN(WaiterRow, key, COLUMN_KEY)                                                             \
    COLUMN(WaiterRow, topic, COLUMN_TEXT)                                                          \
    COLUMN(WaiterRow, run, COLUMN_KEY)                                                             \
    COLUMN(WaiterRow, generation, COLUMN_I64)                                                      \
    COLUMN(WaiterRow, slot, COLUMN_I64)

#define EVENT_COLUMNS(COLUMN)                                                                      \
    COLUMN(EventRow, key, COLUMN_KEY)                                                              \
    COLUMN(EventRow, run, COLUMN_KEY)                                                              \
    COLUMN(EventRow, topic, COLUMN_TEXT)                                                           \
    COLUMN(EventRow, name, COLUMN_TEXT)                                                            \
    COLUMN(EventRow, id, COLUMN_TEXT)                                                              \
    COLUMN(EventRow, created_at_ms, COLUMN_I64)                                                    \
    COLUMN(EventRow, due_at_ms, COLUMN_DUE)                                                        \
    COLUMN(EventRow, payload, COLUMN_TEXT)

#define TOPIC_COLUMNS(COLUMN)                                                                      \
    COLUMN(TopicRow, name, COLUMN_TEXT)                                                            \
    COLUMN(TopicRow, consume, COLUMN_I64)                                                          \
    COLUMN(TopicRow, visible, COLUMN_I64)                                                          \
    COLUMN(TopicRow, expire_ms, COLUMN_I64)                                                        \
    COLUMN(TopicRow, cap, COLUMN_I64)                                                              \
    COLUMN(TopicRow, pending_count, COLUMN_I64)                                                    \
    COLUMN(TopicRow, is_explicit, COLUMN_I64)

#define CURSOR_COLUMNS(COLUMN)                                                                     \
    COLUMN(CursorRow, run, COLUMN_KEY)                                                             \
    COLUMN(CursorRow, topic, COLUMN_TEXT)                                                          \
    COLUMN(CursorRow, last_event, COLUMN_I64)

#define DEAD_LETTER_COLUMNS(COLUMN)                                                                \
    COLUMN(DeadLetterRow, key, COLUMN_KEY)                                                         \
    COLUMN(DeadLetterRow, id, COLUMN_TEXT)                                                         \
    COLUMN(DeadLetterRow, run_id, COLUMN_TEXT)                                                     \
    COLUMN(DeadLetterRow, topic, COLUMN_TEXT)                                                      \
    COLUMN(DeadLetterRow, name, COLUMN_TEXT)                                                       \
    COLUMN(DeadLetterRow, reason, COLUMN_TEXT)                                                     \
    COLUMN(DeadLetterRow, created_at_ms, COLUMN_I64)                                               \
    COLUMN(DeadLetterRow, due_at_ms, COLUMN_DUE)                                                   \
    COLUMN(DeadLetterRow, payload, COLUMN_TEXT)

#define TASK_COLUMNS(COLUMN)                                                                       \
    COLUMN(TaskRow, key, COLUMN_KEY)                                                               \
    COLUMN(TaskRow, id, COLUMN_TEXT)                                                               \
    COLUMN(TaskRow, run, COLUMN_KEY)                                                               \
    COLUMN(TaskRow, position, COLUMN_I64)                                                          \
    COLUMN(TaskRow, name, COLUMN_TEXT)                                                             \
    COLUMN(TaskRow, queue, COLUMN_TEXT)                                                            \
    COLUMN(TaskRow, state, COLUMN_I64)                                                             \
    COLUMN(TaskRow, priority, COLUMN_I64)                                                          \
    COLUMN(TaskRow, claim_rank, COLUMN_I64)                                                        \
    COLUMN(TaskRow, key_rank, COLUMN_I64)                                                          \
    COLUMN(TaskRow, attempt, COLUMN_I64)                                                           \
    COLUMN(TaskRow, token, COLUMN_I64)                                                             \
    COLUMN(TaskRow, max_attempts, COLUMN_I64)                                                      \
    COLUMN(TaskRow, backoff_ms, COLUMN_I64)                                                        \
    COLUMN(TaskRow, backoff_max_ms, COLUMN_I64)                                                    \
    COLUMN(TaskRow, backoff_factor_pct, COLUMN_I64)                                                \
    COLUMN(TaskRow, jitter_pct, COLUMN_I64)                                                        \
    COLUMN(TaskRow, start_timeout_ms, COLUMN_I64)                                                  \
    COLUMN(TaskRow, run_timeout_ms, COLUMN_I64)                                                    \
    COLUMN(TaskRow, heartbeat_ms, COLUMN_I64)                                                      \
    COLUMN(TaskRow, due_at_ms, COLUMN_DUE)                                                         \
    COLUMN(TaskRow, close_at_ms, COLUMN_I64)                                                       \
    COLUMN(TaskRow, is_cancel_wanted, COLUMN_I64)                                                  \
    COLUMN(TaskRow, created_at_ms, COLUMN_I64)                                                     \
    COLUMN(TaskRow, started_at_ms, COLUMN_I64)                                                     \
    COLUMN(TaskRow, finished_at_ms, COLUMN_I64)                                                    \
    COLUMN(TaskRow, phase, COLUMN_I64)                                                             \
    COLUMN(TaskRow, worker, COLUMN_TEXT)                                                           \
    COLUMN(TaskRow, non_retryable, COLUMN_TEXT)                                                    \
    COLUMN(TaskRow, concurrency_key, COLUMN_TEXT)                                                  \
    COLUMN(TaskRow, input, COLUMN_TEXT)                                                            \
    COLUMN(TaskRow, result, COLUMN_TEXT)                                                           \
    COLUMN(TaskRow, error, COLUMN_TEXT)                                                            \
    COLUMN(TaskRow, progress, COLUMN_TEXT)                                                         \
    COLUMN(TaskRow, secrets, COLUMN_TEXT)

#define DEFINITION_COLUMNS(COLUMN)                                                                 \
    COLUMN(DefinitionRow, key, COLUMN_KEY)                                                         \
    COLUMN(DefinitionRow, name, COLUMN_TEXT)                                                       \
    COLUMN(DefinitionRow, version, COLUMN_TEXT)                                                    \
    COLUMN(DefinitionRow, kind, COLUMN_I64)                                                        \
    COLUMN(DefinitionRow, is_current, COLUMN_I64)                                                  \
    COLUMN(DefinitionRow, created_at_ms, COLUMN_I64)                                               \
    COLUMN(DefinitionRow, config, COLUMN_TEXT)                                                     \
    COLUMN(DefinitionRow, source, COLUMN_TEXT)                                                     \
    COLUMN(DefinitionRow, code, COLUMN_BYTES)                                                      \
    COLUMN(DefinitionRow, file, COLUMN_TEXT)

#define NODE_COLUMNS(COLUMN)                                                                       \
    COLUMN(NodeRow, key, COLUMN_KEY)                                                               \
    COLUMN(NodeRow, name, COLUMN_TEXT)                                                             \
    COLUMN(NodeRow, lease_until_ms, COLUMN_I64)                                                    \
    COLUMN(NodeRow, started_at_ms, COLUMN_I64)                                                     \
    COLUMN(NodeRow, last_batch, COLUMN_I64)                                                        \
    COLUMN(NodeRow, resident_count, COLUMN_I64)                                                    \
    COLUMN(NodeRow, version, COLUMN_TEXT)                                                          \
    COLUMN(NodeRow, workers, COLUMN_TEXT)

#define DEDUPE_COLUMNS(COLUMN)                                                                     \
    COLUMN(DedupeRow, scope, COLUMN_TEXT)                                                          \
    COLUMN(DedupeRow, id, COLUMN_TEXT)                                                             \
    COLUMN(DedupeRow, run, COLUMN_KEY)                                                             \
    COLUMN(DedupeRow, digest, COLUMN_BYTES)                                                        \
    COLUMN(DedupeRow, due_at_ms, COLUMN_DUE)

#define TAG_COLUMNS(COLUMN)                                                                        \
    COLUMN(TagRow, tag, COLUMN_TEXT)                                                               \
    COLUMN(TagRow, run, COLUMN_KEY)

#define COUNTER_COLUMNS(COLUMN)                                                                    \
    COLUMN(CounterRow, number, COLUMN_I64)                                                         \
    COLUMN(CounterRow, value, COLUMN_I64)

#define SCHEDULE_COLUMNS(COLUMN)                                                                   \
    COLUMN(ScheduleRow, key, COLUMN_KEY)                                                           \
    COLUMN(ScheduleRow, name, COLUMN_TEXT)                                                         \
    COLUMN(ScheduleRow, workflow, COLUMN_TEXT)                                                     \
    COLUMN(ScheduleRow, run_kind, COLUMN_I64)                                                      \
    COLUMN(ScheduleRow, input, COLUMN_TEXT)                                                        \
    COLUMN(ScheduleRow, queue, COLUMN_TEXT)                                                        \
    COLUMN(ScheduleRow, tags, COLUMN_TEXT)                                                         \
    COLUMN(ScheduleRow, priority, COLUMN_I64)                                                      \
    COLUMN(ScheduleRow, timeout_ms, COLUMN_I64)                                                    \
    COLUMN(ScheduleRow, keep_ms, COLUMN_I64)                                                       \
    COLUMN(ScheduleRow, given, COLUMN_I64)                                                         \
    COLUMN(ScheduleRow, kind, COLUMN_I64)                                                          \
    COLUMN(ScheduleRow, spec, COLUMN_TEXT)                                                         \
    COLUMN(ScheduleRow, zone, COLUMN_TEXT)                                                         \
    COLUMN(ScheduleRow, jitter_ms, COLUMN_I64)                                                     \
    COLUMN(ScheduleRow, overlap, COLUMN_I64)                                                       \
    COLUMN(ScheduleRow, grace_ms, COLUMN_I64)                                                      \
    COLUMN(ScheduleRow, catch_up_ms, COLUMN_I64)                                                   \
    COLUMN(ScheduleRow, is_paused, COLUMN_I64)                                                     \
    COLUMN(ScheduleRow, next_at_ms, COLUMN_I64)                                                    \
    COLUMN(ScheduleRow, due_at_ms, COLUMN_DUE)                                                     \
    COLUMN(ScheduleRow, last_at_ms, COLUMN_I64)                                                    \
    COLUMN(ScheduleRow, last_run, COLUMN_I64)                                                      \
    COLUMN(ScheduleRow, last_run_id, COLUMN_TEXT)                                                  \
    COLUMN(ScheduleRow, awaited_run, COLUMN_KEY)                                                   \
    COLUMN(ScheduleRow, queued_at_ms, COLUMN_I64)                                                  \
    COLUMN(ScheduleRow, tick_count, COLUMN_I64)                                                    \
    COLUMN(ScheduleRow, skipped_count, COLUMN_I64)                                                 \
    COLUMN(ScheduleRow, missed_count, COLUMN_I64)                                                  \
    COLUMN(ScheduleRow, failed_count, COLUMN_I64)                                                  \
    COLUMN(ScheduleRow, created_at_ms, COLUMN_I64)                                                 \
    COLUMN(ScheduleRow, updated_at_ms, COLUMN_I64)                                                 \
    COLUMN(ScheduleRow, last_error, COLUMN_TEXT)

#define QUEUE_COLUMNS(COLUMN)                                                                      \
    COLUMN(QueueRow, name, COLUMN_TEXT)                                                            \
    COLUMN(QueueRow, is_explicit, COLUMN_I64)                                                      \
    COLUMN(QueueRow, max_running, COLUMN_I64)                                                      \
    COLUMN(QueueRow, max_per_key, COLUMN_I64)                                                      \
    COLUMN(QueueRow, rate_count, COLUMN_I64)                                                       \
    COLUMN(QueueRow, rate_period_ms, COLUMN_I64)                                                   \
    COLUMN(QueueRow, is_paused, COLUMN_I64)                                                        \
    COLUMN(QueueRow, queued_count, COLUMN_I64)                                                     \
    COLUMN(QueueRow, blocked_count, COLUMN_I64)                                                    \
    COLUMN(QueueRow, running_count, COLUMN_I64)                                                    \
    COLUMN(QueueRow, rate_at_ms, COLUMN_I64)                                                       \
    COLUMN(QueueRow, rate_used, COLUMN_I64)                                                        \
    COLUMN(QueueRow, adjust_from, COLUMN_I64)                                                      \
    COLUMN(QueueRow, due_at_ms, COLUMN_DUE)

#define TASK_KEY_COLUMNS(COLUMN)                                                                   \
    COLUMN(TaskKeyRow, key, COLUMN_KEY)                                                            \
    COLUMN(TaskKeyRow, queue, COLUMN_TEXT)                                                         \
    COLUMN(TaskKeyRow, name, COLUMN_TEXT)                                                          \
    COLUMN(TaskKeyRow, running_count, COLUMN_I64)                                                  \
    COLUMN(TaskKeyRow, ready_count, COLUMN_I64)                                                    \
    COLUMN(TaskKeyRow, blocked_count, COLUMN_I64)

#define SNAPSHOT_COLUMNS(COLUMN)                                                                   \
    COLUMN(SnapshotRow, run, COLUMN_KEY)                                                           \
    COLUMN(SnapshotRow, number, COLUMN_I64)                                                        \
    COLUMN(SnapshotRow, log_seq, COLUMN_I64)                                                       \
    COLUMN(SnapshotRow, start_seq, COLUMN_I64)                                                     \
    COLUMN(SnapshotRow, end_seq, COLUMN_I64)                                                       \
    COLUMN(SnapshotRow, position, COLUMN_I64)                                                      \
    COLUMN(SnapshotRow, place, COLUMN_I64)                                                         \
    COLUMN(SnapshotRow, snapshot, COLUMN_BYTES)                                                    \
    COLUMN(SnapshotRow, state, COLUMN_BYTES)

#define PLACE_COLUMNS(COLUMN)                                                                      \
    COLUMN(PlaceRow, definition, COLUMN_I64)                                                       \
    COLUMN(PlaceRow, place, COLUMN_I64)                                                            \
    COLUMN(PlaceRow, waiting_count, COLUMN_I64)                                                    \
    COLUMN(PlaceRow, failed_count, COLUMN_I64)                                                     \
    COLUMN(PlaceRow, example, COLUMN_I64)

#define STATE_COLUMNS(COLUMN)                                                                      \
    COLUMN(StateRow, run, COLUMN_KEY)                                                              \
    COLUMN(StateRow, name, COLUMN_TEXT)                                                            \
    COLUMN(StateRow, digest, COLUMN_I64)                                                           \
    COLUMN(StateRow, value, COLUMN_TEXT)

#define TOKEN_COLUMNS(COLUMN)                                                                      \
    COLUMN(TokenRow, key, COLUMN_KEY)                                                              \
    COLUMN(TokenRow, id, COLUMN_TEXT)                                                              \
    COLUMN(TokenRow, name, COLUMN_TEXT)                                                            \
    COLUMN(TokenRow, hash, COLUMN_TEXT)                                                            \
    COLUMN(TokenRow, hint, COLUMN_TEXT)                                                            \
    COLUMN(TokenRow, scopes, COLUMN_I64)                                                           \
    COLUMN(TokenRow, created_at_ms, COLUMN_I64)                                                    \
    COLUMN(TokenRow, expires_at_ms, COLUMN_I64)

#define RATE_COLUMNS(COLUMN)                                                                       \
    COLUMN(RateRow, step_ms, COLUMN_I64)                                                           \
    COLUMN(RateRow, from_ms, COLUMN_I64)                                                           \
    COLUMN(RateRow, source, COLUMN_I64)                                                            \
    COLUMN(RateRow, points, COLUMN_TEXT)

// [tables-1] The array size is negative, which no compiler accepts, when type and field disagree.
#define TYPE_FITS(Row, field, type)                                                                \
    sizeof(char[_Generic(((Row *)0)->field, int64_t                                                \
                         : STORED_TYPE(type) == COLUMN_I64, Str                                    \
                         : STORED_TYPE(type) != COLUMN_I64)                                        \
                    ? 1                                                                            \
                    : -1])
#define COLUMN_ENTRY(Row, field, type) COLUMN_ENTRY_AS(Row, field, type, #field)
#define COLUMN_PLACE(Row, field, type) AT_##Row##_##field,
#define COLUMN_SIZE(Row, field, type)  +sizeof(((Row *)0)->field)
// For a column that is stored under another name than that of its field.
#define COLUMN_ENTRY_AS(Row, field, type, name)                                                    \
    {name, (ColumnType)STORED_TYPE(type),                                                          \
     (uint16_t)(offsetof(Row, field) + 0 * TYPE_FITS(Row, field, type)),                           \
     (ColumnMeaning)((type) >> MEANING_SHIFT)},
#define COLUMN_PLACE_AS(Row, field, type, name) COLUMN_PLACE(Row, field, type)
#define COLUMN_SIZE_AS(Row, field, type, name)  COLUMN_SIZE(Row, field, type)

#define DEFINE_COLUMNS(name, Row, COLUMNS)                                                         \
    enum { COLUMNS(COLUMN_PLACE) AT_##Row##_COUNT };                                               \
    static const Column name[] = {COLUMNS(COLUMN_ENTRY)};                                          \
    static_assert(sizeof(Row) == 0 COLUMNS(COLUMN_SIZE), "a field of " #Row " is not listed")

DEFINE_COLUMNS(run_columns, RunRow, RUN_COLUMNS);
DEFINE_COLUMNS(log_columns, LogRow, LOG_COLUMNS);
DEFINE_COLUMNS(waiter_columns, WaiterRow, WAITER_COLUMNS);
DEFINE_COLUMNS(event_columns, EventRow, EVENT_COLUMNS);
DEFINE_COLUMNS(topic_columns, TopicRow, TOPIC_COLUMNS);
DEFINE_COLUMNS(cursor_columns, CursorRow, CURSOR_COLUMNS);
DEFINE_COLUMNS(dead_letter_columns, DeadLetterRow, DEAD_LETTER_COLUMNS);
DEFINE_COLUMNS(task_columns, TaskRow, TASK_COLUMNS);
DEFINE_COLUMNS(definition_columns, DefinitionRow, DEFINITION_COLUMNS);
DEFINE_COLUMNS(node_columns, NodeRow, NODE_COLUMNS);
DEFINE_COLUMNS(dedupe_columns, DedupeRow, DEDUPE_COLUMNS);
DEFINE_COLUMNS(tag_columns, TagRow, TAG_COLUMNS);
DEFINE_COLUMNS(counter_columns, CounterRow, COUNTER_COLUMNS);
DEFINE_COLUMNS(schedule_columns, ScheduleRow, SCHEDULE_COLUMNS);
DEFINE_COLUMNS(queue_columns, QueueRow, QUEUE_COLUMNS);
DEFINE_COLUMNS(task_key_columns, TaskKeyRow, TASK_KEY_COLUMNS);
DEFINE_COLUMNS(snapshot_columns, SnapshotRow, SNAPSHOT_COLUMNS);
DEFINE_COLUMNS(state_columns, StateRow, STATE_COLUMNS);
DEFINE_COLUMNS(place_columns, PlaceRow, PLACE_COLUMNS);
DEFINE_COLUMNS(token_columns, TokenRow, TOKEN_COLUMNS);
DEFINE_COLUMNS(rate_columns, RateRow, RATE_COLUMNS);

static const IndexSpec run_indexes[] = {
    [RUNS_BY_ID] = {"by_id", 1, {AT_RunRow_id}, COLUMN_NONE, true},
    [RUNS_BY_PHASE] = {"by_phase", 1, {AT_RunRow_phase}, COLUMN_NONE, false},
    [RUNS_BY_OWNER] =
        {"by_owner", 2, {AT_RunRow_owner, AT_RunRow_claim_rank}, AT_RunRow_claim_rank, false},
    [RUNS_BY_DUE] = {"by_due", 1, {AT_RunRow_due_at_ms}, AT_RunRow_due_at_ms, false},
    [RUNS_BY_PARENT] = {"by_parent", 1, {AT_RunRow_parent}, AT_RunRow_parent, false},
    [RUNS_BY_IDLE] = {"by_idle", 1, {AT_RunRow_idle_since_ms}, AT_RunRow_idle_since_ms, false},
};
static const IndexSpec waiter_indexes[] = {
    [WAITERS_BY_TOPIC] = {"by_topic", 1, {AT_WaiterRow_topic}, COLUMN_NONE, false},
};
static const IndexSpec event_indexes[] = {
    [EVENTS_BY_TOPIC] = {"by_topic", 1, {AT_EventRow_topic}, AT_EventRow_topic, false},
    [EVENTS_BY_RUN] = {"by_run", 1, {AT_EventRow_run}, AT_EventRow_run, false},
    [EVENTS_BY_DUE] = {"by_due", 1, {AT_EventRow_due_at_ms}, AT_EventRow_due_at_ms, false},
};
static const IndexSpec dead_letter_indexes[] = {
    [DEAD_LETTERS_BY_DUE] =
        {"by_due", 1, {AT_DeadLetterRow_due_at_ms}, AT_DeadLetterRow_due_at_ms, false},
};
static const IndexSpec task_indexes[] = {
    [TASKS_BY_ID] = {"by_id", 1, {AT_TaskRow_id}, COLUMN_NONE, true},
    [TASKS_BY_QUEUE] =
        {"by_queue", 2, {AT_TaskRow_queue, AT_TaskRow_claim_rank}, AT_TaskRow_claim_rank, false},
    [TASKS_BY_RUN] = {"by_run", 1, {AT_TaskRow_run}, AT_TaskRow_run, false},
    [TASKS_BY_DUE] = {"by_due", 1, {AT_TaskRow_due_at_ms}, AT_TaskRow_due_at_ms, false},
    [TASKS_BY_PHASE] = {"by_phase", 1, {AT_TaskRow_phase}, AT_TaskRow_phase, false},
    [TASKS_BY_KEY] = {"by_key",
                      3,
                      {AT_TaskRow_queue, AT_TaskRow_concurrency_key, AT_TaskRow_key_rank},
                      AT_TaskRow_key_rank,
                      false},
    [TASKS_BY_NAME] = {"by_name",
                       3,
                       {AT_TaskRow_queue, AT_TaskRow_name, AT_TaskRow_claim_rank},
                       AT_TaskRow_claim_rank,
                       false},
};
static const IndexSpec definition_indexes[] = {
    [DEFINITIONS_BY_NAME] = {"by_name", 1, {AT_DefinitionRow_name}, COLUMN_NONE, false},
    [DEFINITIONS_BY_VERSION] =
        {"by_version", 2, {AT_DefinitionRow_name, AT_DefinitionRow_version}, COLUMN_NONE, true},
};
static const IndexSpec dedupe_indexes[] = {
    [DEDUPE_BY_DUE] = {"by_due", 1, {AT_DedupeRow_due_at_ms}, AT_DedupeRow_due_at_ms, false},
};
static const IndexSpec tag_indexes[] = {
    [TAGS_BY_RUN] = {"by_run", 1, {AT_TagRow_run}, COLUMN_NONE, false},
};
static const IndexSpec schedule_indexes[] = {
    [SCHEDULES_BY_NAME] = {"by_name", 1, {AT_ScheduleRow_name}, COLUMN_NONE, true},
    [SCHEDULES_BY_DUE] = {"by_due", 1, {AT_ScheduleRow_due_at_ms}, AT_ScheduleRow_due_at_ms, false},
    [SCHEDULES_BY_AWAITED] =
        {"by_awaited", 1, {AT_ScheduleRow_awaited_run}, AT_ScheduleRow_awaited_run, false},
};
static const IndexSpec queue_indexes[] = {
    [QUEUES_BY_DUE] = {"by_due", 1, {AT_QueueRow_due_at_ms}, AT_QueueRow_due_at_ms, false},
};
static const IndexSpec task_key_indexes[] = {
    [TASK_KEYS_BY_NAME] =
        {"by_name", 2, {AT_TaskKeyRow_queue, AT_TaskKeyRow_name}, COLUMN_NONE, true},
    [TASK_KEYS_BY_QUEUE] = {"by_queue", 1, {AT_TaskKeyRow_queue}, COLUMN_NONE, false},
};
static const IndexSpec state_indexes[] = {
    [STATES_BY_VALUE] = {"by_value",
                         3,
                         {AT_StateRow_name, AT_StateRow_digest, AT_StateRow_run},
                         COLUMN_NONE,
                         false},
};

static const IndexSpec token_indexes[] = {
    [TOKENS_BY_ID] = {"by_id", 1, {AT_TokenRow_id}, COLUMN_NONE, true},
    [TOKENS_BY_HASH] = {"by_hash", 1, {AT_TokenRow_hash}, COLUMN_NONE, true},
};

#define TABLE(number, table_name, Row, keys, columns)                                              \
    [number] = {table_name, number, keys, COUNT_OF(columns), 0, sizeof(Row), columns, NULL}
#define INDEXED(number, table_name, Row, keys, columns, indexes)                                   \
    [number] = {table_name,        number,      keys,    COUNT_OF(columns),                        \
                COUNT_OF(indexes), sizeof(Row), columns, indexes}

const Table tables[TABLE_COUNT] = {
    INDEXED(TABLE_RUNS, "runs", RunRow, 1, run_columns, run_indexes),
    TABLE(TABLE_LOG, "log", LogRow, 2, log_columns),
    INDEXED(TABLE_WAITERS, "waiters", WaiterRow, 1, waiter_columns, waiter_indexes),
    INDEXED(TABLE_EVENTS, "events", EventRow, 1, event_columns, event_indexes),
    TABLE(TABLE_TOPICS, "topics", TopicRow, 1, topic_columns),
    TABLE(TABLE_CURSORS, "cursors", CursorRow, 2, cursor_columns),
    INDEXED(TABLE_DEAD_LETTERS, "dead_letters", DeadLetterRow, 1, dead_letter_columns,
            dead_letter_indexes),
    INDEXED(TABLE_TASKS, "tasks", TaskRow, 1, task_columns, task_indexes),
    INDEXED(TABLE_DEFINITIONS, "definitions", DefinitionRow, 1, definition_columns,
            definition_indexes),
    TABLE(TABLE_NODES, "nodes", NodeRow, 1, node_columns),
    INDEXED(TABLE_DEDUPE, "dedupe", DedupeRow, 2, dedupe_columns, dedupe_indexes),
    INDEXED(TABLE_TAGS, "tags", TagRow, 2, tag_columns, tag_indexes),
    TABLE(TABLE_COUNTERS, "counters", CounterRow, 1, counter_columns),
    INDEXED(TABLE_SCHEDULES, "schedules", ScheduleRow, 1, schedule_columns, schedule_indexes),
    INDEXED(TABLE_QUEUES, "queues", QueueRow, 1, queue_columns, queue_indexes),
    INDEXED(TABLE_TASK_KEYS, "task_keys", TaskKeyRow, 1, task_key_columns, task_key_indexes),
    TABLE(TABLE_SNAPSHOTS, "snapshots", SnapshotRow, 2, snapshot_columns),
    INDEXED(TABLE_STATES, "states", StateRow, 2, state_columns, state_indexes),
    INDEXED(TABLE_TOKENS, "tokens", TokenRow, 1, token_columns, token_indexes),
    TABLE(TABLE_RATES, "rates", RateRow, 3, rate_columns),
    TABLE(TABLE_PLACES, "places", PlaceRow, 2, place_columns),
};

const Str TEXT_KEPT = {"", 0};

uint64_t table_text_bits(TableNumber table) {
    uint64_t bits = 0;
    for (uint8_t i = 0; i < tables[table].column_count; i++)
        if (tables[table].columns[i].type != COLUMN_I64) bits |= UINT64_C(1) << i;
    return bits;
}

uint64_t column_bit(TableNumber table, size_t offset) {
    for (uint8_t i = 0; i < tables[table].column_count; i++) {
        if (tables[table].columns[i].offset == offset) return UINT64_C(1) << i;
    }
    UNREACHABLE();
}
