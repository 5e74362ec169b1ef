// Events: publishing to a topic, signalling a run, replaying dead letters, removing what is kept.
//
//   publish -> waiters in order of arrival -> else kept -> expired, or taken by a later wait
//
//   [events-1] An event is accepted only together with its fate: delivered, kept, or dropped by
//        policy.
//   [events-2] CONSUME_ONE: at most one run takes it. CONSUME_ALL: every run that waits takes it,
//        and it stays for later ones; each run's cursor keeps it from seeing it twice.
//   [events-3] A waiter whose filter does not match is passed over and keeps its place.
//   [events-4] A replayed dead letter behaves like a fresh event, and is removed in the same
//        operation.
//   [events-5] Who waits is served, however full the topic is. The cap is for what is kept for
//        later: events that nobody has taken are never dropped for room, those that somebody has
//        taken are, oldest first. A new one that was taken at once and finds no room is not kept.
//
// Not here: policies, cursors, used keys (events/topics.c); waits (waits/wait.c).
#include "store/kernel/events/events.h"
#include "store/kernel/quarantine.h"
#include "store/kernel/runs/runs.h"
#include "store/kernel/waits/waits.h"

// ---- waiters ----

static const WaitItem *item_of_waiter(const WaitSet *set, int64_t waiter) {
    for (size_t i = 0; i < set->count; i++) {
        if (set->items[i].waiter == waiter) return &set->items[i];
    }
    return NULL;
}

// Delivers to one waiter unless it does not want this event.
static Status waiter_serve(Kernel *kernel, const WaiterRow *waiter, const EventRow *event,
                           bool *ret_is_served) {
    *ret_is_served = false;
    Run run;
    Status status = run_load(kernel, waiter->run, &run);
    if (status == ERR_NOT_FOUND) return kernel_corrupt(kernel, "a waiter has no run");
    TRY(status);
    // Another waiter of the same run, on an earlier place of this page, may have taken it.
    if (run.row.state != RUN_SUSPENDED || run.row.generation != waiter->generation) return OK;
    WaitSet set;
    TRY(run_waits(kernel, &run, &set));
    Delivery delivery = {
        .item = item_of_waiter(&set, waiter->key), .outcome = OUTCOME_OK, .data = event->payload};
    if (!delivery.item) {
        run_blame(kernel, &run);
        return kernel_corrupt(kernel, "a waiter is in no wait set");
    }
    if (!event_matches(kernel, delivery.item, event->payload)) return OK;         // [events-3]
    if (event->key != 0) TRY(cursor_set(kernel, &run, event->topic, event->key)); // [events-2]
    *ret_is_served = true;
    return wait_deliver(kernel, &run, &delivery, 1);
}

static Status waiters_serve(Kernel *kernel, const EventRow *event, int64_t max,
                            int64_t *ret_count) {
    int64_t after = 0;
    *ret_count = 0;
    // Most topics have one waiter or none; the page grows when there are more.
    for (int64_t limit = max == 1 ? 8 : PAGE_ROWS;; limit = PAGE_ROWS) {
        WaiterRow wanted = {.topic = event->topic}, *waiters = NULL;
        size_t count = 0;
        Scan scan = scan_of(TABLE_WAITERS, WAITERS_BY_TOPIC, &wanted, limit);
        scan.after_key = after;
        TRY(kernel_scan(kernel, &scan, &waiters, &count));
        for (size_t i = 0; i < count; i++) {
            bool is_served;
            after = waiters[i].key;
            TRY(waiter_serve(kernel, &waiters[i], event, &is_served));
            *ret_count += is_served;
            if (*ret_count == max) return OK;
        }
        if ((int64_t)count < limit) return OK;
    }
}

// ---- publish ----

static Status event_keep(Kernel *kernel, EventRow *event) {
    TRY(kernel_insert(kernel, TABLE_EVENTS, event));
    kernel_count(kernel, COUNTER_EVENTS, 1);
    kernel_note_due(kernel, event->due_at_ms);
    return topic_change_pending(kernel, event->topic, 1);
}

static Status event_refuse(Kernel *kernel, const EventSpec *event, WhenFull when_full,
                           int64_t cap) {
    if (when_full == FULL_REFUSES) {
        return kernel_refuse(kernel, ERR_LIMIT, "TOPIC_FULL",
                             "the topic \"%.*s\" has %lld pending events, its limit, and nobody "
                             "waits for this one: let runs take some, remove some, or raise the "
                             "cap",
                             STR_ARG(event->topic), (long long)cap);
    }
    DeadLetterRow letter = {.id = event->id,
                            .topic = event->topic,
                            .reason = STR("topic full"),
                            .payload = event->payload};
    return dead_letter_add(kernel, &letter);
}

// The event as it would be kept.
static EventRow event_row_new(const Kernel *kernel, const EventSpec *event, const TopicRow *topic) {
    int64_t expire_ms = topic->expire_ms > 0 ? topic->expire_ms : kernel->config.event_retention_ms;
    return (EventRow){.topic = event->topic,
                      .id = event->id,
                      .created_at_ms = kernel_now(kernel),
                      .due_at_ms = kernel_now(kernel) + expire_ms,
                      .payload = event->payload};
}

typedef struct Room { // on a topic, for one more event
    bool is_there;    // once these are gone
    EventRow *taken;
    size_t taken_count;
} Room;

static Status room_find(Kernel *kernel, const TopicRow *topic, int64_t cap, Room *ret_room) {
    int64_t excess = topic->pending_count - cap + 1;
    *ret_room = (Room){.is_there = excess <= 0};
    if (ret_room->is_there || topic->consume == CONSUME_ONE) return OK;
    EventRow wanted = {.run = event_taken_mark(topic->name)}, *rows = NULL;
    size_t count = 0;
    Scan scan = scan_of(TABLE_EVENTS, EVENTS_BY_RUN, &wanted,
                        excess < ROOM_ROWS_MAX ? excess : ROOM_ROWS_MAX);
    TRY(kernel_scan(kernel, &scan, &rows, &count));
    ret_room->is_there = (int64_t)count == scan.limit; // a lowered cap takes several events
    ret_room->taken = rows;
    for (size_t i = 0; i < count; i++) {
        if (str_equal(rows[i].topic, topic->name)) rows[ret_room->taken_count++] = rows[i];
    }
    return OK;
}

static Status event_route(Kernel *kernel, const EventSpec *event, WhenFull when_full,
                          Published *ret_published) {
    TopicRow topic;
    bool is_stored;
    TRY(topic_load(kernel, event->topic, &topic, &is_stored));
    EventRow row = event_row_new(kernel, event, &topic);
    int64_t cap = topic.cap > 0 ? topic.cap : kernel->config.events_per_topic;
    int64_t *resumed_count = &ret_published->resumed_count;
    Room room = {0};
    if (topic.consume == CONSUME_ONE) {
        TRY(waiters_serve(kernel, &row, 1, resumed_count));
        if (*resumed_count == 1) return OK;
    }
    if (topic.visible != VISIBLE_AFTER_WAIT) TRY(room_find(kernel, &topic, cap, &room));
    if (room.is_there) row.key = kernel_next_key(kernel);
    if (topic.consume == CONSUME_ALL) TRY(waiters_serve(kernel, &row, INT64_MAX, resumed_count));
    if (*resumed_count > 0) row.run = event_taken_mark(topic.name);
    if (room.is_there) {
        TRY(event_keep(kernel, &row));
        for (size_t i = 0; i < room.taken_count; i++) TRY(event_remove(kernel, &room.taken[i]));
        ret_published->is_kept = true;
        return OK;
    }
    if (*resumed_count > 0 || topic.visible == VISIBLE_AFTER_WAIT) return OK; // [events-5]
    return event_refuse(kernel, event, when_full, cap);
}

Status event_publish(Kernel *kernel, const EventSpec *event, WhenFull when_full,
                     Published *ret_published) {
    *ret_published = (Published){0};
    Str scope = STR_NULL;
    if (event->is_deduplicated) {
        scope = arena_printf(&kernel->scratch, "event:%.*s", STR_ARG(event->topic));
        DedupeRow known;
        Status status = dedupe_find(kernel, scope, event->id, &known);
        if (status == OK) {
            ret_published->is_duplicate = true;
            return OK;
        }
        if (status != ERR_NOT_FOUND) return status;
    }
    TRY(event_route(kernel, event, when_full, ret_published));
    if (!event->is_deduplicated) return OK;
    DedupeRow used = {.scope = scope, .id = event->id};
    return dedupe_add(kernel, &used);
}

Status apply_publish(Kernel *kernel, Op *op) {
    const EventSpec *event = &op->in.publish.event;
    TRY(kernel_check_name(kernel, "the topic", event->topic, LIMIT_TOPIC_SIZE));
    TRY(kernel_check_name(kernel, "the event id", event->id, LIMIT_KEY_SIZE));
    TRY(kernel_check_size(kernel, "the payload", event->payload, LIMIT_PAYLOAD_SIZE));
    Published published;
    TRY(event_publish(kernel, event, FULL_REFUSES, &published));
    op->out.publish.resumed_count = published.resumed_count;
    op->out.publish.is_kept = published.is_kept;
    op->out.publish.is_duplicate = published.is_duplicate;
    return OK;
}

// ---- signals ----

static Status signal_count(Kernel *kernel, Run *run, int64_t *ret_count) {
    RunFacts *facts = &run->facts;
    if (!(facts->may_have & MAY_HAVE_SIGNALS)) facts->signal_count = 0;
    else if (!facts->has_signal_count) {
        EventRow wanted = {.run = run->row.key}, *rows = NULL;
        size_t count = 0;
        ArenaMark mark = arena_mark(&kernel->scratch);
        Scan scan = scan_of(TABLE_EVENTS, EVENTS_BY_RUN, &wanted, LIMIT_SIGNALS_PER_RUN);
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        arena_rewind(&kernel->scratch, mark);
        facts->signal_count = (int64_t)count;
    }
    facts->has_signal_count = true;
    *ret_count = facts->signal_count;
    return OK;
}

Status signal_remove(Kernel *kernel, Run *run, const EventRow *event) {
    TRY(kernel_remove(kernel, TABLE_EVENTS, event));
    kernel_count(kernel, COUNTER_SIGNALS, -1);
    RunFacts *facts = &run->facts;
    if (facts->has_signal_count && facts->signal_count > 0) facts->signal_count--;
    bool is_last = facts->has_signal_count && facts->signal_count == 0;
    if (is_last) facts->may_have &= ~(uint32_t)MAY_HAVE_SIGNALS;
    run_keep_facts(kernel, run);
    return OK;
}

typedef struct Signal {
    Str name, id, payload;
} Signal;

static Status signal_keep(Kernel *kernel, Run *run, const Signal *signal) {
    EventRow row = {.key = kernel_next_key(kernel),
                    .run = run->row.key,
                    .name = signal->name,
                    .id = signal->id,
                    .created_at_ms = kernel_now(kernel),
                    .payload = signal->payload};
    TRY(kernel_insert(kernel, TABLE_EVENTS, &row));
    kernel_count(kernel, COUNTER_SIGNALS, 1);
    if (run->facts.has_signal_count) run->facts.signal_count++;
    run->facts.may_have |= MAY_HAVE_SIGNALS;
    run_keep_facts(kernel, run);
    return OK;
}

static const WaitItem *signal_item(const WaitSet *set, Str name) {
    for (size_t i = 0; i < set->count; i++) {
        const WaitItem *item = &set->items[i];
        if (item->kind == WAIT_SIGNAL && str_equal(item->name, name)) return item;
    }
    return NULL;
}

// The run waits, but not for this: its readers are told. One that executes may still come to it.
static Status signal_note_unhandled(Kernel *kernel, Run *run, Str name) {
    if (run->row.state != RUN_SUSPENDED) return OK;
    LogRow entry = {.kind = LOG_UNHANDLED,
                    .position = NO_POSITION,
                    .name = name,
                    .data = run->row.idle_since_ms != 0 ? STR("true") : STR("false")};
    grown_push(kernel, run);
    return run_log(kernel, run, &entry);
}

// Delivered to a wait, or kept. Refuses when too many are kept already.
static Status signal_put(Kernel *kernel, Run *run, const Signal *signal, bool *ret_is_delivered) {
    *ret_is_delivered = false;
    if (run->row.state == RUN_SUSPENDED) {
        WaitSet set;
        TRY(run_waits(kernel, run, &set));
        Delivery delivery = {.item = signal_item(&set, signal->name),
                             .outcome = OUTCOME_OK,
                             .data = signal->payload};
        if (delivery.item) {
            *ret_is_delivered = true;
            return wait_deliver(kernel, run, &delivery, 1);
        }
    }
    int64_t count;
    TRY(signal_count(kernel, run, &count));
    if (count >= LIMIT_SIGNALS_PER_RUN) {
        return kernel_refuse(kernel, ERR_LIMIT, "TOO_MANY_SIGNALS",
                             "the run \"%.*s\" has %lld unread signals, the limit",
                             STR_ARG(run->row.id), (long long)count);
    }
    TRY(signal_keep(kernel, run, signal));
    wait_tell_running(kernel, run);
    return signal_note_unhandled(kernel, run, signal->name);
}

static Status signal_check_run(Kernel *kernel, const Run *run) {
    if (!run_state_is_terminal(run->row.state)) return OK;
    return kernel_refuse(kernel, ERR_TERMINAL, "RUN_TERMINAL",
                         "the run \"%.*s\" has %s and takes no signals", STR_ARG(run->row.id),
                         run_state_name(run->row.state));
}

Status apply_signal(Kernel *kernel, Op *op) {
    TRY(kernel_check_name(kernel, "the signal name", op->in.signal.name, LIMIT_NAME_SIZE));
    TRY(kernel_check_size(kernel, "the signal id", op->in.signal.id, LIMIT_KEY_SIZE));
    TRY(kernel_check_size(kernel, "the payload", op->in.signal.payload, LIMIT_PAYLOAD_SIZE));
    if (op->in.signal.is_deduplicated) {
        TRY(kernel_check_name(kernel, "the signal id", op->in.signal.id, LIMIT_KEY_SIZE));
    }
    Run run;
    TRY(run_require(kernel, op->in.signal.run_id, &run));
    DedupeRow used = {.id = op->in.signal.id, .run = run.row.key};
    if (op->in.signal.is_deduplicated) { // also when it was the one that ended the run
        DedupeRow known;
        used.scope = dedupe_signal_scope(kernel, run.row.key);
        Status status = dedupe_find(kernel, used.scope, used.id, &known);
        op->out.signal.is_duplicate = status == OK;
        if (status != ERR_NOT_FOUND) return status;
    }
    TRY(signal_check_run(kernel, &run));
    Signal signal = {op->in.signal.name, op->in.signal.id, op->in.signal.payload};
    TRY(signal_put(kernel, &run, &signal, &op->out.signal.is_delivered));
    return op->in.signal.is_deduplicated ? dedupe_add(kernel, &used) : OK;
}

// ---- removing what is pending ----

static Status pending_remove(Kernel *kernel, Run *run, const EventRow *event) {
    return run ? signal_remove(kernel, run, event) : event_remove(kernel, event);
}

static bool pending_is_meant(const EventRemoval *removal, const Run *run, const EventRow *event) {
    if (!run) return !event_is_signal(event) && str_equal(event->topic, removal->topic);
    if (event->run != run->row.key) return false;
    return str_is_null(removal->name) || str_equal(event->name, removal->name);
}

static Status pending_remove_one(Kernel *kernel, Run *run, const EventRemoval *removal,
                                 EventRemovalReply *reply) {
    EventRow wanted = {.key = removal->key}, event;
    Status status = kernel_get(kernel, TABLE_EVENTS, &wanted, &event);
    if (status != OK && status != ERR_NOT_FOUND) return status;
    if (status == OK && pending_is_meant(removal, run, &event)) {
        reply->removed_count = 1;
        return pending_remove(kernel, run, &event);
    }
    if (run) {
        return kernel_refuse(kernel, ERR_NOT_FOUND, "SIGNAL_NOT_FOUND",
                             "the run \"%.*s\" has no such pending signal %lld",
                             STR_ARG(run->row.id), (long long)removal->key);
    }
    return kernel_refuse(kernel, ERR_NOT_FOUND, "EVENT_NOT_FOUND",
                         "the topic \"%.*s\" has no pending event %lld", STR_ARG(removal->topic),
                         (long long)removal->key);
}

// Those that are there now, a part at a time: what comes meanwhile is not meant.
static Status pending_remove_all(Kernel *kernel, Run *run, const EventRemoval *removal,
                                 EventRemovalReply *reply) {
    EventRow wanted = {.run = run ? run->row.key : 0, .topic = removal->topic};
    int64_t after = removal->after_key, newest = removal->up_to_key;
    if (newest == 0) newest = kernel->counters[COUNTER_NEXT_KEY];
    reply->newest_key = newest;
    for (uint32_t seen = 0; seen < LIMIT_REMOVED_EVENTS; seen += REMOVE_PAGE_ROWS) {
        EventRow *rows = NULL;
        size_t count = 0;
        Scan scan =
            scan_of(TABLE_EVENTS, run ? EVENTS_BY_RUN : EVENTS_BY_TOPIC, &wanted, REMOVE_PAGE_ROWS);
        scan.after_key = after;
        ArenaMark mark = arena_mark(&kernel->scratch);
        TRY(kernel_scan(kernel, &scan, &rows, &count));
        for (size_t i = 0; i < count && rows[i].key <= newest; i++) {
            after = rows[i].key;
            if (!pending_is_meant(removal, run, &rows[i])) continue;
            TRY(pending_remove(kernel, run, &rows[i]));
            reply->removed_count++;
        }
        bool is_last = count < REMOVE_PAGE_ROWS || rows[count - 1].key > newest;
        arena_rewind(&kernel->scratch, mark);
        if (is_last) return OK;
    }
    reply->next_key = after;
    return OK;
}

static Status pending_remove_meant(Kernel *kernel, Run *run, Op *op) {
    const EventRemoval *removal = &op->in.remove_events;
    EventRemovalReply *reply = &op->out.remove_events;
    if (removal->key != 0) return pending_remove_one(kernel, run, removal, reply);
    return pending_remove_all(kernel, run, removal, reply);
}

Status apply_remove_events(Kernel *kernel, Op *op) {
    TRY(kernel_check_name(kernel, "the topic", op->in.remove_events.topic, LIMIT_TOPIC_SIZE));
    return pending_remove_meant(kernel, NULL, op);
}

Status apply_remove_signals(Kernel *kernel, Op *op) {
    Run run;
    TRY(run_require(kernel, op->in.remove_events.run_id, &run));
    return pending_remove_meant(kernel, &run, op);
}

// ---- dead letters ----

static Status dead_letter_require(Kernel *kernel, int64_t key, DeadLetterRow *ret_letter) {
    DeadLetterRow wanted = {.key = key};
    Status status = kernel_get(kernel, TABLE_DEAD_LETTERS, &wanted, ret_letter);
    if (status != ERR_NOT_FOUND) return status;
    return kernel_refuse(kernel, ERR_NOT_FOUND, "DEAD_LETTER_NOT_FOUND",
                         "there is no dead letter %lld", (long long)key);
}

static Status dead_letter_drop(Kernel *kernel, const DeadLetterRow *letter) {
    kernel_count(kernel, COUNTER_DEAD_LETTERS, -1);
    return kernel_remove(kernel, TABLE_DEAD_LETTERS, letter);
}

Status apply_replay_dead_letter(Kernel *kernel, Op *op) { // [events-4]
    DeadLetterRow letter;
    TRY(dead_letter_require(kernel, op->in.dead_letter.key, &letter));
    if (str_is_null(letter.run_id)) {
        EventSpec event = {.topic = letter.topic, .id = letter.id, .payload = letter.payload};
        Published published;
        TRY(event_publish(kernel, &event, FULL_REFUSES, &published));
        op->out.dead_letter.resumed_count = published.resumed_count;
        return dead_letter_drop(kernel, &letter);
    }
    Run run;
    TRY(run_require(kernel, letter.run_id, &run));
    TRY(signal_check_run(kernel, &run));
    Signal signal = {letter.name, letter.id, letter.payload};
    bool is_delivered;
    TRY(signal_put(kernel, &run, &signal, &is_delivered));
    op->out.dead_letter.resumed_count = is_delivered;
    return dead_letter_drop(kernel, &letter);
}

Status apply_remove_dead_letter(Kernel *kernel, Op *op) {
    DeadLetterRow letter;
    TRY(dead_letter_require(kernel, op->in.dead_letter.key, &letter));
    return dead_letter_drop(kernel, &letter);
}
