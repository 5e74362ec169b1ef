// Checks: what operations are asked with, before anything is read or written for it.
//
// A refusal is an answer to whoever asked. The rooms that do what is asked rely on these checks and
// do not repeat them. Whether what is named exists is for them to find out.
//
// Not here: names and sizes themselves (kernel/rows.c), what a definition says of its runs' input
// (runs/create.c).
#include "store/kernel/check.h"
#include "model/spec.h"
#include "model/trace.h"

enum { TAGS_SIZE_MAX = LIMIT_TAG_COUNT_MAX * (LIMIT_TAG_SIZE_MAX + 1) };

bool tag_next(TagReader *reader, Str *ret_tag) {
    while (reader->rest.len > 0) {
        const char *end = memchr(reader->rest.data, '\n', reader->rest.len);
        size_t len = end ? (size_t)(end - reader->rest.data) : reader->rest.len;
        Str tag = {reader->rest.data, len};
        size_t step = end ? len + 1 : len;
        reader->rest = (Str){reader->rest.data + step, reader->rest.len - step};
        if (tag.len == 0) continue;
        *ret_tag = tag;
        return true;
    }
    return false;
}

static Status tags_check(Kernel *kernel, Str tags) {
    tags = tags_without_trace(tags); // which comes on top of what people may give
    TagReader reader = {tags};
    Str tag;
    uint32_t count = 0;
    while (tag_next(&reader, &tag)) {
        TRY(kernel_check_size(kernel, "a tag", tag, LIMIT_TAG_SIZE));
        if (++count > LIMIT_TAG_COUNT) {
            return kernel_refuse(kernel, ERR_LIMIT, "TOO_MANY_TAGS",
                                 "a run may have at most %d tags", LIMIT_TAG_COUNT);
        }
    }
    return kernel_check_size(kernel, "the list of tags", tags, TAGS_SIZE_MAX);
}

Status check_run_spec(Kernel *kernel, const RunSpec *spec) {
    TRY(kernel_check_name(kernel, "the run id", spec->id, LIMIT_RUN_ID_SIZE));
    TRY(kernel_check_name(kernel, "the workflow name", spec->workflow, LIMIT_NAME_SIZE));
    TRY(kernel_check_size(kernel, "the input", spec->input, LIMIT_PAYLOAD_SIZE));
    TRY(kernel_check_size(kernel, "the idempotency key", spec->dedupe_key, LIMIT_KEY_SIZE));
    TRY(kernel_check_size(kernel, "the queue name", spec->queue, LIMIT_NAME_SIZE));
    TRY(kernel_check_size(kernel, "the leftover topic", spec->leftover_topic, LIMIT_TOPIC_SIZE));
    TRY(tags_check(kernel, spec->tags));
    Diag diag;
    Status status = spec_check_number(SPEC_PRIORITY, NULL, (double)spec->priority, &diag);
    if (status != OK) return kernel_refuse(kernel, status, diag.code, "%s", diag.message);
    if (spec->kind < 0 || spec->kind > RUN_CODE) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_KIND", "a run is native, flow or code");
    }
    if (spec->timeout_ms < 0 || spec->timeout_ms > LIMIT_DURATION_MS ||
        spec->keep_ms > LIMIT_DURATION_MS) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_DURATION",
                             "a time-out is not negative and at most a hundred years");
    }
    return OK;
}

static bool is_duration(int64_t ms) { return ms >= 0 && ms <= LIMIT_DURATION_MS; }

Status check_task_spec(Kernel *kernel, const TaskSpec *spec) {
    TRY(kernel_check_name(kernel, "the task id", spec->id, LIMIT_RUN_ID_SIZE));
    TRY(kernel_check_name(kernel, "the task name", spec->name, LIMIT_NAME_SIZE));
    TRY(kernel_check_size(kernel, "the queue name", spec->queue, LIMIT_NAME_SIZE));
    TRY(kernel_check_size(kernel, "the concurrency key", spec->concurrency_key, LIMIT_KEY_SIZE));
    TRY(kernel_check_size(kernel, "the input", spec->input, LIMIT_PAYLOAD_SIZE));
    TRY(kernel_check_size(kernel, "the list of secrets", spec->secrets, LIMIT_PAYLOAD_SIZE));
    TRY(kernel_check_size(kernel, "the list of errors not retried", spec->non_retryable,
                          LIMIT_ERROR_SIZE));
    bool is_good = is_duration(spec->delay_ms) && is_duration(spec->backoff_ms) &&
                   is_duration(spec->backoff_max_ms) && is_duration(spec->start_timeout_ms) &&
                   is_duration(spec->run_timeout_ms) && is_duration(spec->heartbeat_ms) &&
                   spec->max_attempts >= 0 && spec->backoff_factor_pct >= 0;
    if (!is_good) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_DURATION",
                             "a duration or count of the task \"%.*s\" is out of range",
                             STR_ARG(spec->id));
    }
    Diag diag;
    Status status = spec_check_number(SPEC_PRIORITY, NULL, (double)spec->priority, &diag);
    if (status != OK) return kernel_refuse(kernel, status, diag.code, "%s", diag.message);
    return OK;
}

Status check_log_entry(Kernel *kernel, const LogRow *entry) {
    if (entry->kind <= 0 || entry->kind >= LOG_KIND_COUNT || entry->outcome < 0 ||
        entry->outcome >= OUTCOME_COUNT) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_LOG_ENTRY",
                             "a log entry has an unknown kind or outcome");
    }
    TRY(kernel_check_size(kernel, "the name of a log entry", entry->name, LIMIT_NAME_SIZE));
    return kernel_check_size(kernel, "the data of a log entry", entry->data, LIMIT_PAYLOAD_SIZE);
}

Status check_effects(Kernel *kernel, const TurnCommit *turn, const RunRow *run) {
    size_t effect_count = turn->log_count + turn->child_count + turn->task_count +
                          turn->event_count + turn->state_count;
    if (effect_count > LIMIT_EFFECTS_PER_TURN) {
        return kernel_refuse(kernel, ERR_LIMIT, "TOO_MANY_EFFECTS",
                             "a turn with %zu effects; at most %d are allowed", effect_count,
                             LIMIT_EFFECTS_PER_TURN);
    }
    if (turn->child_count > 0 && run->depth + 1 > LIMIT_CHILD_DEPTH) {
        return kernel_refuse(kernel, ERR_LIMIT, "CHILD_DEPTH",
                             "runs may be nested %d deep, not deeper", LIMIT_CHILD_DEPTH);
    }
    for (size_t i = 0; i < turn->log_count; i++) TRY(check_log_entry(kernel, &turn->log[i]));
    for (size_t i = 0; i < turn->child_count; i++) {
        TRY(check_run_spec(kernel, &turn->children[i]));
    }
    for (size_t i = 0; i < turn->task_count; i++) {
        TRY(check_task_spec(kernel, &turn->tasks[i]));
    }
    for (size_t i = 0; i < turn->event_count; i++) {
        const EventSpec *event = &turn->events[i];
        TRY(kernel_check_name(kernel, "the topic", event->topic, LIMIT_TOPIC_SIZE));
        TRY(kernel_check_name(kernel, "the event id", event->id, LIMIT_KEY_SIZE));
        TRY(kernel_check_size(kernel, "the payload", event->payload, LIMIT_PAYLOAD_SIZE));
    }
    for (size_t i = 0; i < turn->state_count; i++) {
        TRY(kernel_check_name(kernel, "the key of a state", turn->states[i].name, LIMIT_NAME_SIZE));
        TRY(kernel_check_size(kernel, "the value of a state", turn->states[i].value,
                              LIMIT_STATE_SIZE));
    }
    TRY(kernel_check_size(kernel, "the snapshot", turn->snapshot, LIMIT_SNAPSHOT_SIZE));
    return kernel_check_size(kernel, "the result", turn->result, LIMIT_PAYLOAD_SIZE);
}

static Status item_check(Kernel *kernel, const WaitItem *item) {
    bool is_timer = item->kind == WAIT_TIMER || item->kind == WAIT_RETRY;
    if (item->kind < WAIT_EVENT || item->kind >= WAIT_KIND_COUNT || item->deadline_at_ms < 0 ||
        (is_timer && item->deadline_at_ms == 0)) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_WAIT",
                             "a wait has an unknown kind or no deadline where it needs one");
    }
    if (item->kind == WAIT_EVENT || item->kind == WAIT_SIGNAL) {
        TRY(kernel_check_name(kernel, "the name of a wait", item->name, LIMIT_NAME_SIZE));
    }
    return kernel_check_size(kernel, "the filter of a wait", item->filter, LIMIT_ERROR_SIZE);
}

Status check_waits(Kernel *kernel, const WaitSet *set, const RunRow *run) {
    if (set->count == 0 || (set->mode != WAIT_FIRST && set->mode != WAIT_EACH)) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_WAIT",
                             "a run parks on at least one wait, for the first or for each");
    }
    if (set->count > LIMIT_WAITS_PER_RUN) {
        return kernel_refuse(kernel, ERR_LIMIT, "TOO_MANY_WAITS",
                             "a wait set of %zu items; at most %d are allowed", set->count,
                             LIMIT_WAITS_PER_RUN);
    }
    for (size_t i = 0; i < set->count; i++) {
        TRY(item_check(kernel, &set->items[i]));
        bool may_group = set->mode == WAIT_EACH && run->kind == RUN_FLOW;
        bool is_good =
            wait_item_has_good_group(&set->items[i]) && (may_group || set->items[i].group == 0);
        if (!is_good) {
            return kernel_refuse(kernel, ERR_INVALID, "BAD_WAIT",
                                 "only tasks and children of scripts are waited for in groups");
        }
    }
    return OK;
}
