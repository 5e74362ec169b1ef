// Topics: their policies, what is pending on them, who has seen what, and the keys and letters
// that events leave behind.
//
//   [topics-1] pending_count of a topic equals its EventRows; a topic that has none and was not set
//        by a person has no row.
//   [topics-2] A used key is remembered for the event retention, a day at least; past that it is as
//        if it had never been used, swept or not.
//
// Not here: publishing and signalling (events/events.c).
#include "store/kernel/events/events.h"
#include "store/kernel/runs/runs.h"

Status topic_load(Kernel *kernel, Str name, TopicRow *ret_topic, bool *ret_is_stored) {
    const CachedTopic *cached = topic_cache_find(&kernel->topics, name);
    if (cached) {
        *ret_topic = cached->row;
        ret_topic->name = name;
        *ret_is_stored = cached->is_stored;
        return OK;
    }
    TopicRow wanted = {.name = name};
    Status status = kernel_get(kernel, TABLE_TOPICS, &wanted, ret_topic);
    *ret_is_stored = status == OK;
    if (status == ERR_NOT_FOUND) {
        *ret_topic = (TopicRow){.consume = kernel->config.default_consume, .visible = VISIBLE_ALL};
        status = OK;
    }
    TRY(status);
    ret_topic->name = name;
    topic_cache_put(&kernel->topics, ret_topic, *ret_is_stored);
    return OK;
}

Status topic_change_pending(Kernel *kernel, Str name, int64_t delta) { // [topics-1]
    TopicRow before, after;
    bool is_stored;
    TRY(topic_load(kernel, name, &before, &is_stored));
    after = before;
    after.pending_count += delta;
    if (after.pending_count < 0)
        return kernel_corrupt(kernel, "a topic counts fewer events than it has");
    bool is_kept = after.pending_count > 0 || after.is_explicit;
    if (!is_stored) {
        TRY(kernel_insert(kernel, TABLE_TOPICS, &after));
    } else if (is_kept) {
        TRY(kernel_update(kernel, TABLE_TOPICS, &before, &after));
    } else {
        TRY(kernel_remove(kernel, TABLE_TOPICS, &after));
    }
    topic_cache_put(&kernel->topics, &after, is_kept);
    return OK;
}

Status event_remove(Kernel *kernel, const EventRow *event) {
    TRY(kernel_remove(kernel, TABLE_EVENTS, event));
    kernel_count(kernel, COUNTER_EVENTS, -1);
    return topic_change_pending(kernel, event->topic, -1);
}

Status event_note_taken(Kernel *kernel, const EventRow *event) {
    if (event_is_taken(event)) return OK;
    EventRow taken = *event;
    taken.run = event_taken_mark(event->topic);
    return kernel_update_columns(kernel, TABLE_EVENTS, &taken,
                                 column_bit(TABLE_EVENTS, offsetof(EventRow, run)));
}

bool event_is_visible(const TopicRow *topic, const EventRow *event, const RunRow *run,
                      int64_t now_ms) {
    if (event->due_at_ms != 0 && event->due_at_ms <= now_ms) return false;
    switch ((TopicVisible)topic->visible) {
    case VISIBLE_ALL: return true;
    case VISIBLE_AFTER_CREATE: return event->key > run->key; // one sequence numbers both
    case VISIBLE_AFTER_WAIT: return false;                   // kept from before the policy
    }
    return false;
}

bool event_matches(const Kernel *kernel, const WaitItem *item, Str payload) {
    if (str_is_null(item->filter)) return true;
    return kernel->config.filter_matches && kernel->config.filter_matches(item->filter, payload);
}

// ---- cursors ----

Status cursor_get(Kernel *kernel, const Run *run, Str topic, int64_t *ret_event) {
    *ret_event = 0;
    if (!(run->facts.may_have & MAY_HAVE_CURSORS)) return OK;
    CursorRow wanted = {.run = run->row.key, .topic = topic}, cursor;
    Status status = kernel_get(kernel, TABLE_CURSORS, &wanted, &cursor);
    if (status == ERR_NOT_FOUND) return OK;
    TRY(status);
    *ret_event = cursor.last_event;
    return OK;
}

Status cursor_set(Kernel *kernel, Run *run, Str topic, int64_t event) {
    CursorRow cursor = {.run = run->row.key, .topic = topic, .last_event = event};
    Status status = kernel_insert_new(kernel, TABLE_CURSORS, &cursor);
    if (status == ERR_CONFLICT) {
        status = kernel_update_columns(kernel, TABLE_CURSORS, &cursor,
                                       column_bit(TABLE_CURSORS, offsetof(CursorRow, last_event)));
    }
    TRY(status);
    run->facts.may_have |= MAY_HAVE_CURSORS;
    run_keep_facts(kernel, run);
    return OK;
}

// ---- used keys ----

Status dedupe_find(Kernel *kernel, Str scope, Str id, DedupeRow *ret_row) {
    DedupeRow wanted = {.scope = scope, .id = id};
    TRY(kernel_get(kernel, TABLE_DEDUPE, &wanted, ret_row));
    return ret_row->due_at_ms <= kernel_now(kernel) ? ERR_NOT_FOUND : OK; // [topics-2]
}

Status dedupe_add(Kernel *kernel, const DedupeRow *row) {
    int64_t keep_ms = kernel->config.event_retention_ms;
    DedupeRow added = *row;
    if (keep_ms < DEDUPE_KEEP_MIN_MS) keep_ms = DEDUPE_KEEP_MIN_MS;
    added.due_at_ms = kernel_now(kernel) + keep_ms;
    kernel_note_due(kernel, added.due_at_ms);
    Status status = kernel_insert_new(kernel, TABLE_DEDUPE, &added);
    if (status != ERR_CONFLICT) return status;
    uint64_t changes = column_bit(TABLE_DEDUPE, offsetof(DedupeRow, run)) |
                       column_bit(TABLE_DEDUPE, offsetof(DedupeRow, digest)) |
                       column_bit(TABLE_DEDUPE, offsetof(DedupeRow, due_at_ms));
    return kernel_update_columns(kernel, TABLE_DEDUPE, &added, changes);
}

Str dedupe_signal_scope(Kernel *kernel, int64_t run) {
    return arena_printf(&kernel->scratch, "signal:%lld", (long long)run);
}

// ---- dead letters ----

Status dead_letter_add(Kernel *kernel, DeadLetterRow *letter) {
    letter->key = kernel_next_key(kernel);
    letter->created_at_ms = kernel_now(kernel);
    letter->due_at_ms = kernel_now(kernel) + kernel->config.event_retention_ms;
    kernel_note_due(kernel, letter->due_at_ms);
    kernel_count(kernel, COUNTER_DEAD_LETTERS, 1);
    return kernel_insert(kernel, TABLE_DEAD_LETTERS, letter);
}

Status apply_set_topic(Kernel *kernel, Op *op) {
    TopicRow before, after = op->in.set_topic.row;
    bool is_stored;
    TRY(kernel_check_name(kernel, "the topic", after.name, LIMIT_TOPIC_SIZE));
    TRY(topic_load(kernel, after.name, &before, &is_stored));
    row_copy_columns(&tables[TABLE_TOPICS], op->in.set_topic.kept, &before, &after);
    bool is_known = after.consume >= CONSUME_ONE && after.consume <= CONSUME_ALL &&
                    after.visible >= VISIBLE_ALL && after.visible <= VISIBLE_AFTER_WAIT;
    if (!is_known || after.expire_ms < 0 || after.cap < 0) {
        return kernel_refuse(kernel, ERR_INVALID, "BAD_TOPIC_POLICY",
                             "the policy of topic \"%.*s\" has a value out of range",
                             STR_ARG(after.name));
    }
    after.is_explicit = 1;
    after.pending_count = before.pending_count;
    if (is_stored) {
        TRY(kernel_update(kernel, TABLE_TOPICS, &before, &after));
    } else {
        TRY(kernel_insert(kernel, TABLE_TOPICS, &after));
    }
    topic_cache_put(&kernel->topics, &after, true);
    return OK;
}
